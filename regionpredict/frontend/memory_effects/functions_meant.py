"""What calls through pointers mean, put into the record of a function once the program is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from regionpredict.ir.flow import Block, Choice, Event, Flow, Handed
from regionpredict.ir.source import Span

Choices = Mapping[tuple[Span, str], tuple[Choice, ...]]
"""By a call's place, and the text of its pointer or the name of its function."""


def with_choices(flow: Flow, choices: Choices) -> Flow:
    """The record whose calls know what they may mean."""
    return replace(flow, body=tuple(_event(event, choices) for event in flow.body))


def with_pointed(flows: Iterable[Flow], pointed: Collection[Span]) -> list[Flow]:
    """The records, of which those at these places may be called through a pointer."""
    return [replace(flow, pointed=flow.span in pointed) for flow in flows]


def _event(event: Event, choices: Choices) -> Event:
    if isinstance(event, Block):
        return replace(event, body=tuple(_event(inner, choices) for inner in event.body))
    if not isinstance(event, Handed):
        return event
    meant = choices.get((event.span, event.pointer or event.function))
    return event if meant is None else event._replace(choices=meant)
