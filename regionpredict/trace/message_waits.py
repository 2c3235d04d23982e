"""Late senders and late receivers (Boehme 2014, section 2.4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.event_trace import EventTrace, Kind, Paradigm
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches
from regionpredict.trace.mpi_regions import Call, call_of
from regionpredict.trace.sync_points import PointRows, point_rows
from regionpredict.trace.wait_classes import Wait
from regionpredict.trace.wrong_order import Messages, Order, wrong_order

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MisorderedWaits:
    """Late senders whose messages were received in the wrong order, a row each: `wait` in ticks,
    `same` where the message that was sent earlier comes from the same rank."""

    location: NDArray[np.int32]
    node: NDArray[np.int32]
    wait: _Rows
    same: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MessageWaits:
    """Points of messages; `empty_` ones are how many waits are for messages without a payload."""

    points: tuple[PointRows, ...]
    misordered: MisorderedWaits
    empty_late_senders: int
    empty_late_receivers: int


@dataclass(frozen=True, slots=True)
class _Operations:
    """The columns that the rules ask for, by operation."""

    event: _Rows
    location: NDArray[np.int32]
    rank: NDArray[np.int32]
    node: NDArray[np.int32]
    enter: _Rows  # times
    leave: _Rows
    enter_event: _Rows
    leave_event: _Rows
    call: NDArray[np.uint8]
    in_mpi: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _LateSenders:
    """Receives that wait and the sends they wait for, their points, and whether an event enters a
    call for many requests in which a sender was late."""

    receives: _Rows
    sends: _Rows
    idle: _Rows
    points: tuple[PointRows, PointRows]
    candidates: NDArray[np.bool_]


def message_waits(
    trace: EventTrace, paths: CallPaths, matches: Matches, kernels: Kernels
) -> MessageWaits:
    """Points of messages: where a rank waited, and where the other was late.

    A receive waits from entering its call until the sender enters the call that sends; a
    synchronous send waits until the receiver enters the call that posts the receive. Where a call
    completes several requests, the longest wait counts, and a late sender hides late receivers.
    Calls that test do not wait.
    """
    columns = _columns(trace, paths)
    kind = trace.kind[trace.operations.event]
    receives = np.flatnonzero(
        ((kind == Kind.RECEIVE) | (kind == Kind.RECEIVE_COMPLETE)) & (matches.mate >= 0)
    )
    sends = matches.mate[receives]
    inside = columns.in_mpi[receives] & columns.in_mpi[sends]
    receives, sends = receives[inside], sends[inside]
    late = _late_senders(columns, receives, sends, len(trace))
    late_receivers, blocked = _late_receivers(columns, matches, receives, sends, late.candidates)
    empty = trace.operations.sent <= 0
    return MessageWaits(
        (*late.points, *late_receivers),
        _misordered(trace, columns, receives, sends, late, kernels),
        int(np.count_nonzero(empty[late.sends])),
        int(np.count_nonzero(empty[blocked])),
    )


def _columns(trace: EventTrace, paths: CallPaths) -> _Operations:
    operations = trace.operations
    calls = np.array(
        [call_of(region.name) for region in trace.regions] or [Call.OTHER], dtype=np.uint8
    )
    mpi = np.array([region.paradigm is Paradigm.MPI for region in trace.regions] or [False])
    location = trace.locations_of(operations.event)
    ranks = np.array([place.rank for place in trace.locations], dtype=np.int32)
    node = paths.operation_node
    inside = (node >= 0) & (paths.operation_leave >= 0)
    region = np.where(inside, paths.region[np.maximum(node, 0)] if len(paths.region) else 0, 0)
    return _Operations(
        event=operations.event,
        location=location,
        rank=ranks[location],
        node=node,
        enter=trace.time[np.maximum(paths.operation_enter, 0)],
        leave=trace.time[np.maximum(paths.operation_leave, 0)],
        enter_event=paths.operation_enter,
        leave_event=paths.operation_leave,
        call=calls[region],
        in_mpi=inside & mpi[region],
    )


def _late_senders(columns: _Operations, receives: _Rows, sends: _Rows, events: int) -> _LateSenders:
    idle = np.minimum(columns.enter[sends], columns.leave[receives]) - columns.enter[receives]
    waits = (idle > 0) & (columns.call[receives] != Call.TEST)
    receives, sends, idle = receives[waits], sends[waits], idle[waits]
    many = columns.call[receives] == Call.WAIT_MANY
    candidates = np.zeros(events, dtype=bool)
    candidates[columns.enter_event[receives[many]]] = True
    chosen = np.concatenate(
        [np.flatnonzero(~many), _longest(columns.enter_event[receives], idle, receives, many)]
    )
    receives, sends, idle = receives[chosen], sends[chosen], idle[chosen]
    after = np.maximum(columns.leave[receives] - columns.leave[sends], 0)
    waiting = point_rows(
        columns.event[receives],
        columns.location[receives],
        columns.node[receives],
        columns.leave[receives] - columns.enter[receives],
        wait=idle,
        completion=after,
        kind=int(Wait.LATE_SENDER),
        cause=columns.event[sends],
        partner=columns.rank[sends],
    )
    late = point_rows(
        columns.event[sends],
        columns.location[sends],
        columns.node[sends],
        columns.leave[sends] - columns.enter[sends],
        completion=np.maximum(columns.leave[sends] - columns.leave[receives], 0),
        partner=columns.rank[receives],
    )
    return _LateSenders(receives, sends, idle, (waiting, late), candidates)


def _misordered(
    trace: EventTrace,
    columns: _Operations,
    receives: _Rows,
    sends: _Rows,
    late: _LateSenders,
    kernels: Kernels,
) -> MisorderedWaits:
    """A late sender in a call for many requests is known from the call's end on."""
    many = columns.call[late.receives] == Call.WAIT_MANY
    known = np.where(many, columns.leave_event[late.receives], columns.event[late.receives])
    sent = trace.time[columns.event]
    there = Messages(
        columns.event[receives], columns.location[receives], sent[sends], columns.rank[sends]
    )
    waited = Messages(
        known, columns.location[late.receives], sent[late.sends], columns.rank[late.sends]
    )
    order = wrong_order(len(trace.locations), there, waited, kernels)
    rows = np.flatnonzero(order != Order.RIGHT)
    return MisorderedWaits(
        columns.location[late.receives[rows]],
        columns.node[late.receives[rows]],
        late.idle[rows],
        order[rows] == Order.SAME_SOURCE,
    )


def _late_receivers(
    columns: _Operations, matches: Matches, receives: _Rows, sends: _Rows, hidden: NDArray[np.bool_]
) -> tuple[list[PointRows], _Rows]:
    """The points, and the sends that wait."""
    completions, requests = matches.other[sends], matches.other[receives]
    usable = (completions >= 0) & (requests >= 0)
    usable &= columns.in_mpi[completions] & columns.in_mpi[requests]
    completions, requests, sends = completions[usable], requests[usable], sends[usable]
    idle = columns.enter[requests] - columns.enter[completions]
    call = columns.call[completions]
    many = (call == Call.WAIT_MANY) & ~hidden[columns.enter_event[completions]]
    one = (call == Call.BLOCKING_SEND) | (call == Call.WAIT_ONE)
    waits = (idle > 0) & (columns.leave[completions] > columns.enter[requests]) & (one | many)
    completions, requests, idle = completions[waits], requests[waits], idle[waits]
    many, sends = many[waits], sends[waits]
    # The reference goes backwards: of equal waits that of the last send counts.
    longest = _longest(columns.enter_event[completions], idle, -sends, many)
    chosen = np.concatenate([np.flatnonzero(~many), longest])
    completions, requests, idle = completions[chosen], requests[chosen], idle[chosen]
    waiting = point_rows(
        columns.event[completions],
        columns.location[completions],
        columns.node[completions],
        columns.leave[completions] - columns.enter[completions],
        wait=idle,
        # As the reference has it: at most 0, where the receiver left its call later.
        completion=np.minimum(columns.leave[completions] - columns.leave[requests], 0),
        kind=int(Wait.LATE_RECEIVER),
        cause=columns.event[requests],
        partner=columns.rank[requests],
    )
    late = point_rows(
        columns.event[requests],
        columns.location[requests],
        columns.node[requests],
        columns.leave[requests] - columns.enter[requests],
        completion=np.maximum(columns.leave[requests] - columns.leave[completions], 0),
        partner=columns.rank[completions],
    )
    return [waiting, late], sends[chosen]


def _longest(call: _Rows, idle: _Rows, place: _Rows, rows: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Of those rows the one with the longest wait in each call, of equals the first by place."""
    chosen = np.flatnonzero(rows)
    order = chosen[np.lexsort((place[chosen], -idle[chosen], call[chosen]))]
    first = np.ones(len(order), dtype=bool)
    first[1:] = call[order[1:]] != call[order[:-1]]
    return order[first]
