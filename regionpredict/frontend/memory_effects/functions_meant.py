"""Adds the targets of calls through pointers to the record of a function."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from regionpredict.ir.flow import Block, CallEvent, Choice, Event, Flow, PassedArguments
from regionpredict.ir.source import Span

Choices = Mapping[tuple[Span, str], tuple[Choice, ...]]
"""The key is a call's place, and the text of its function pointer or the name of its function."""


Handing = Mapping[tuple[Span, str], PassedArguments]
"""The key is a call's place and the name of its function."""


def with_choices(flow: Flow, choices: Choices, handing: Handing) -> Flow:
    """The record with resolved calls and passed functions."""
    return replace(flow, body=tuple(_event(event, choices, handing) for event in flow.body))


def with_pointed(flows: Iterable[Flow], pointed: Collection[Span]) -> list[Flow]:
    """The records, with functions at these places marked as called through pointers."""
    return [replace(flow, pointed=flow.span in pointed) for flow in flows]


def _event(event: Event, choices: Choices, handing: Handing) -> Event:
    if isinstance(event, Block):
        body = tuple(_event(inner, choices, handing) for inner in event.body)
        return replace(event, body=body)
    if not isinstance(event, CallEvent):
        return event
    meant = choices.get((event.span, event.pointer or event.function), ())
    given = handing.get((event.span, event.function))
    if given is not None:
        event = event._replace(**given._asdict())
    return event._replace(choices=meant) if meant else event
