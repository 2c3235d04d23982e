"""Finds calls that change no memory of their caller, so that their events can be skipped."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.analysis.callees import Callees
from regionpredict.analysis.history.library_functions import FILLS, HARMLESS, NEW
from regionpredict.ir.flow import Block, CallEvent, Copied, Flow, Link, Place, Returned, Write

_MAX_DEPTH = 40
"""Maximum call depth of a skipped function. Functions with deeper calls are not skipped."""


class EffectFree(NamedTuple):
    """A function that changes only its own variables, and calls only functions of this type.

    `events` is the number of events in one call. `functions` are the function and all functions
    that it calls. `depth` is the depth of the calls inside. `returns` says that the function
    returns an address, or a struct with addresses.
    """

    events: int
    functions: frozenset[str]
    depth: int
    returns: bool


class EffectFreeCalls:
    """Finds functions without effects. Each function is examined once."""

    def __init__(self, callees: Callees) -> None:
        self._callees = callees
        self._known: dict[int, EffectFree | None] = {}  # by the identity of a flow

    def of(self, flow: Flow) -> EffectFree | None:
        """Returns the summary of a called function. None if it has effects or is recursive."""
        return self._cached_summary(flow, 0)

    def _cached_summary(self, flow: Flow, depth: int) -> EffectFree | None:
        key = id(flow)
        if key not in self._known:
            self._known[key] = None  # the result for recursive calls
            if depth <= _MAX_DEPTH:
                self._known[key] = self._compute_summary(flow, depth)
        return self._known[key]

    def _compute_summary(self, flow: Flow, depth: int) -> EffectFree | None:
        number, inside, returns = 0, 0, False
        functions = {flow.function}
        waiting = [*flow.body]
        while waiting:
            event = waiting.pop()
            number += 1
            if isinstance(event, Block):
                if event.kind == "share":
                    return None
                waiting += event.body
            elif isinstance(event, CallEvent):
                called = self._callees.of(flow, event.function, event.file)
                if called is None:
                    if not _changes_local_variables(event):
                        return None
                    continue
                free = self._cached_summary(called, depth + 1) if _is_local(event.result) else None
                if free is None:
                    return None
                number += free.events
                functions |= free.functions
                inside = max(inside, 1 + free.depth)
            elif isinstance(event, Returned):
                returns = True
            elif not _is_local(_changed_memory(event)):
                return None
        return EffectFree(number, frozenset(functions), inside, returns)


def _changed_memory(event: Write | Link | Copied) -> Place:
    """Returns the memory that an event changes."""
    if isinstance(event, Write):
        return event.place
    return event.slot if isinstance(event, Link) else event.target


def _changes_local_variables(event: CallEvent) -> bool:
    """Whether a call of a function without a body changes only local variables."""
    if not _is_local(event.result):
        return False
    if event.function in NEW or event.function in HARMLESS:
        return True
    filled = FILLS.get(event.function)
    changed = event.arguments if filled is None else event.arguments[filled : filled + 1]
    return all(argument is None or _is_local(argument) for argument in changed)


def _is_local(place: Place) -> bool:
    return not place[0].startswith("::") and "*" not in place
