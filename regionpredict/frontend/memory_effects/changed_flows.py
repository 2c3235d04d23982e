"""Adds facts about the whole program to the memory effects of a function.

Each function is read before the other functions are known. The added facts are the targets of calls
through pointers, the loops that are shared by thread number, and classes with a single object.
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
"""Maps the location of a call, and the text of its function pointer or the name of its function, to
the possible targets.
"""
PassedByCall = Mapping[tuple[Span, str], PassedArguments]
"""Maps the location of a call and the name of its function to the passed arguments."""


def with_choices(flow: Flow, choices: Choices, handing: PassedByCall) -> Flow:
    """Returns the flow with the targets of calls and the passed arguments."""

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
    """Marks the functions at these locations as called through pointers."""
    return [replace(flow, pointed=flow.span in pointed) for flow in flows]


def worksharing_block(loop: For, objects: Mapping[str, str]) -> Block:
    """Returns a loop as an empty worksharing block. `objects` has the same meaning as in
    `with_object_names`.
    """
    return _with_object_names_in(Block("share", (), loop.span, names_in(loop)), objects)


def with_manual_worksharing(flow: Flow, shared: Mapping[Span, Names]) -> Flow:
    """Turns the loops at these locations into worksharing loops with these arrays."""

    def change(event: Event) -> Event:
        if isinstance(event, Block) and event.kind == "loop" and event.span in shared:
            return Block("share", event.body, event.span, shared[event.span])
        return event

    return changed_flow(flow, change) if shared else flow


def with_object_names(flow: Flow, objects: Mapping[str, str]) -> Flow:
    """Returns the flow with program-wide names for members of classes with a single object.

    `d.m_x` is also recorded as a member of its class. This record gets the name of the object if
    the class has a single object.
    """
    return changed_flow(
        flow,
        lambda event: _with_object_names_in(event, objects) if isinstance(event, Block) else event,
    )


def _with_object_names_in(block: Block, objects: Mapping[str, str]) -> Block:
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
