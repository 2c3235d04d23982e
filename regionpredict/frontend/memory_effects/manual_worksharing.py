"""Converts loops of a record that threads share by their numbers to worksharing loops.

A function is read before its loop headers are known. Loops that distribute iterations over threads
become worksharing loops afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from regionpredict.frontend.memory_effects.function_effects import Names, names_in
from regionpredict.frontend.memory_effects.object_names import with_object_names
from regionpredict.frontend.syntax import For
from regionpredict.ir.flow import Block, Event, Flow
from regionpredict.ir.source import Span


def worksharing_block(loop: For, objects: Mapping[str, str]) -> Block:
    """A loop as an empty worksharing block. `objects` is as for `with_object_names`."""
    block = Block("share", (), loop.span, names_in(loop))
    (named,) = with_object_names(Flow("", (), (block,), loop.span), objects).body
    assert isinstance(named, Block)
    return named


def with_manual_worksharing(flow: Flow, shared: Mapping[Span, Names]) -> Flow:
    """The record with the loops at these places as worksharing loops with these names."""
    if not shared:
        return flow
    return replace(flow, body=tuple(_event(event, shared) for event in flow.body))


def _event(event: Event, shared: Mapping[Span, Names]) -> Event:
    if not isinstance(event, Block):
        return event
    body = tuple(_event(inner, shared) for inner in event.body)
    if event.kind == "loop" and event.span in shared:
        return Block("share", body, event.span, shared[event.span])
    return replace(event, body=body)
