"""Derives the order of events that communication requires, and finds recorded times that violate
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.collective_table import (
    N_TO_N,
    N_TO_ONE,
    ONE_TO_N,
    PREFIX,
    CollectiveTable,
)
from regionpredict.trace.event_trace import Collective, EventTrace, Finding, Kind, Location
from regionpredict.trace.matching import Matches, matched_rows
from regionpredict.trace.team_conditions import team_conditions
from regionpredict.trace.thread_dependencies import Slots, Synchronisation

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Violations:
    """The clock violations between two locations: events of `to` that are earlier than a required
    event of `source`.

    `kind` is message, collective or thread (OpenMP's forks, joins and barriers). `largest` is in
    ticks.
    """

    kind: str
    source: Location
    to: Location
    count: int
    largest: int


class LateEvents(NamedTuple):
    """The events that violate the required order, as columns. `source` is the location of the
    latest required event, and `to` that of the dependent event. `ticks` is the time difference.
    """

    source: Rows
    to: Rows
    ticks: Rows


_WHAT = {
    "message": "messages received before they were sent",
    "collective": "collective operations left before all required members had entered",
    "thread": "forks, joins and barriers of OpenMP passed before the threads that they wait for",
}


def clock_conditions(
    trace: EventTrace, matches: Matches, table: CollectiveTable
) -> dict[str, Synchronisation]:
    """Returns the required events and the events that require them, by kind.

    A message is received after it was sent. In a one-to-all operation, no member ends before the
    root begins. In an all-to-one operation, the root does not end before the others begin. In an
    all-to-all operation, a barrier and MPI_Finalize, no member ends before all have begun. In a
    scan, no member ends before all lower ranks have begun.
    """
    return {"message": message_conditions(trace, matches), **group_conditions(trace, table)}


def group_conditions(trace: EventTrace, table: CollectiveTable) -> dict[str, Synchronisation]:
    """Returns the order conditions of collective operations and of threads."""
    return {
        "collective": _conditions_of_collectives(trace, table),
        "thread": team_conditions(trace),
    }


def violations(
    trace: EventTrace, late_events: Mapping[str, LateEvents]
) -> tuple[tuple[Violations, ...], tuple[Finding, ...]]:
    """Returns the violations by pair of locations, and findings about them."""
    violation: list[Violations] = []
    findings = []
    for kind, (source, to, late) in late_events.items():
        if not len(late):
            continue
        pairs, owner = np.unique(np.stack([source, to]), axis=1, return_inverse=True)
        owner = owner.reshape(-1)
        largest = np.zeros(pairs.shape[1], dtype=np.int64)
        np.maximum.at(largest, owner, late)
        counts = np.bincount(owner)
        violation += [
            Violations(kind, trace.locations[a], trace.locations[b], int(count), int(most))
            for (a, b), count, most in zip(pairs.T.tolist(), counts, largest, strict=True)
        ]
        worst = int(np.argmax(largest))
        a, b = pairs[:, worst].tolist()
        findings.append(
            Finding(
                f"{_WHAT[kind]}, by up to {late.max() / trace.ticks_per_second:.6g} s "
                f"(from {trace.locations[a]} to {trace.locations[b]}): clocks differ",
                count=len(late),
            )
        )
    return tuple(violation), tuple(findings)


def late_events(
    trace: EventTrace, conditions: Mapping[str, Synchronisation]
) -> dict[str, LateEvents]:
    """Returns the events that violate each kind of condition."""
    return {kind: _late_events(trace, condition) for kind, condition in conditions.items()}


def _late_events(trace: EventTrace, condition: Synchronisation) -> LateEvents:
    nothing = np.zeros(0, dtype=np.int64)
    if not len(condition.need):
        return LateEvents(nothing, nothing, nothing)
    latest = np.full(condition.count, np.iinfo(np.int64).min)
    np.maximum.at(latest, condition.post_slot, trace.time[condition.post])
    late = latest[condition.need_slot] - trace.time[condition.need]
    rows = np.flatnonzero(late > 0)
    if not len(rows):
        return LateEvents(nothing, nothing, nothing)
    last = np.flatnonzero(trace.time[condition.post] == latest[condition.post_slot])[::-1]
    event = np.zeros(condition.count, dtype=np.int64)
    event[condition.post_slot[last]] = condition.post[last]
    source = trace.locations_of(event[condition.need_slot[rows]])
    to = trace.locations_of(condition.need[rows])
    return LateEvents(source.astype(np.int64), to.astype(np.int64), late[rows])


def message_conditions(
    trace: EventTrace, matches: Matches, span: tuple[int, int] | None = None
) -> Synchronisation:
    """Returns the conditions that messages are received after they were sent. With `span`, only for
    messages to these locations.
    """
    event = trace.operations.event
    receives = matched_rows(trace, matches, (Kind.RECEIVE, Kind.RECEIVE_COMPLETE), span)
    slot = np.arange(len(receives))
    return Synchronisation(event[matches.mate[receives]], slot, event[receives], slot, len(slot))


def _conditions_of_collectives(trace: EventTrace, table: CollectiveTable) -> Synchronisation:
    slots = Slots()
    count = len(table.operation)
    owner = np.repeat(np.arange(count), np.diff(table.first))
    is_root = table.rank == table.root
    sends, receives = table.sent > 0, table.received > 0
    everyone = np.ones(len(owner), dtype=bool)
    for operations, posts, needs in (
        (ONE_TO_N, is_root & sends, ~is_root & receives),
        (N_TO_ONE, ~is_root & sends, is_root & receives),
        (N_TO_N, sends, receives),
        ((Collective.BARRIER,), everyone, everyone),
    ):
        chosen = np.isin(table.operation, operations)[owner]
        first = slots.new(count)
        post = np.flatnonzero(chosen & posts)
        need = np.flatnonzero(chosen & needs)
        slots.posts.append((table.begin_event[post], first + owner[post]))
        slots.needs.append((table.event[need], first + owner[need]))
    for instance in np.flatnonzero(np.isin(table.operation, PREFIX)).tolist():
        _add_scan_conditions(trace, table, instance, slots)
    return slots.synchronisation()


def _add_scan_conditions(
    trace: EventTrace, table: CollectiveTable, instance: int, slots: Slots
) -> None:
    """Adds the conditions of a scan: each member requires all members with lower ranks in the
    communicator.
    """
    ranks = trace.communicators[int(table.communicator[instance])].members or ()
    place = {rank: at for at, rank in enumerate(ranks)}
    rows = np.arange(table.first[instance], table.first[instance + 1])
    rows = rows[np.argsort([place[int(rank)] for rank in table.rank[rows]])]
    first = slots.new(len(rows))
    for at, row in enumerate(rows):
        lower = rows[:at][table.sent[rows[:at]] > 0]
        if len(lower) and table.received[row] > 0:
            slots.posts.append((table.begin_event[lower], np.full(len(lower), first + at)))
            slots.needs.append((table.event[[row]], np.array([first + at])))
