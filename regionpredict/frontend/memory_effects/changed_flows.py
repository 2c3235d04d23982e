"""Adds facts that only the whole program shows to the record of a function's memory effects.

Each function is read before the other functions are known. Later facts are the targets of calls
through pointers, the loops that threads share by thread number, and classes with a single object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from regionpredict.frontend.memory_effects.function_effects import CLASS_END, Names, names_in
from regionpredict.frontend.syntax import For
from regionpredict.ir.flow import (
    Block,
    CallEvent,
    Choice,
    Event,
    Flow,
    PassedArguments,
    Place,
    changed_flow,
)
from regionpredict.ir.source import Span

Choices = Mapping[tuple[Span, str], tuple[Choice, ...]]
"""The key is the place of a call, and the text of its function pointer or the name of its
function.
"""
Handing = Mapping[tuple[Span, str], PassedArguments]
"""The key is the place of a call and the name of its function."""


def with_choices(flow: Flow, choices: Choices, handing: Handing) -> Flow:
    """The record with resolved calls and passed functions."""

    def change(event: Event) -> Event:
        if not isinstance(event, CallEvent):
            return event
        meant = choices.get((event.span, event.pointer or event.function), ())
        given = handing.get((event.span, event.function))
        if given is not None:
            event = event._replace(**given._asdict())
        return event._replace(choices=meant) if meant else event

    return changed_flow(flow, change)


def with_calls_through_pointers(flows: Iterable[Flow], pointed: Collection[Span]) -> list[Flow]:
    """Marks the functions at these places as called through pointers."""
    return [replace(flow, pointed=flow.span in pointed) for flow in flows]


def worksharing_block(loop: For, objects: Mapping[str, str]) -> Block:
    """A loop as an empty worksharing block. `objects` has the same meaning as in
    `with_object_names`.
    """
    return _named(Block("share", (), loop.span, names_in(loop)), objects)


def with_manual_worksharing(flow: Flow, shared: Mapping[Span, Names]) -> Flow:
    """Turns the loops at these places into worksharing loops with these names."""

    def change(event: Event) -> Event:
        if isinstance(event, Block) and event.kind == "loop" and event.span in shared:
            return Block("share", event.body, event.span, shared[event.span])
        return event

    return changed_flow(flow, change) if shared else flow


def with_object_names(flow: Flow, objects: Mapping[str, str]) -> Flow:
    """The record in which members of classes with a single object have one name in the whole
    program.

    `d.m_x` is also recorded as a member of its class. It is renamed if the class has a single
    object.
    """
    return changed_flow(
        flow, lambda event: _named(event, objects) if isinstance(event, Block) else event
    )


def _named(block: Block, objects: Mapping[str, str]) -> Block:
    names: dict[str, Place] = {}
    known: set[Place] = set()  # under the name of the only object
    for name, place in block.names:
        owner, marked, rest = name.partition(CLASS_END)
        if marked and owner in objects:
            names[f"{objects[owner]}.{rest}"] = place
            known.add(place)
    for name, place in block.names:
        if CLASS_END not in name and place not in known:
            names.setdefault(name, place)
    return replace(block, names=tuple(names.items()))
