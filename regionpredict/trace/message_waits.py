"""Finds late senders and late receivers (Boehme 2014, section 2.4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.columns import release_file_memory
from regionpredict.trace.event_trace import EventTrace, Kind, Paradigm
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches, matched_rows
from regionpredict.trace.mpi_regions import Call, call_of
from regionpredict.trace.probes import Probes, probes_of
from regionpredict.trace.sync_points import PointRows, point_rows
from regionpredict.trace.wait_classes import Wait
from regionpredict.trace.wrong_order import Messages, Order, wrong_order

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MisorderedWaits:
    """The waits for late senders whose messages were received in the wrong order. `wait` is in
    ticks, and `same` means that the earlier message has the same sender.
    """

    location: NDArray[np.int32]
    node: NDArray[np.int32]
    wait: _Rows
    same: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MessageWaits:
    """The synchronization points of messages. The `empty_` fields count waits for messages without
    a payload.
    """

    points: tuple[PointRows, ...]
    misordered: MisorderedWaits
    empty_late_senders: int
    empty_late_receivers: int


class _Operations:
    """Returns properties of operations for given rows. Columns for all operations would need too
    much memory.
    """

    def __init__(self, trace: EventTrace, paths: CallPaths) -> None:
        self.trace, self.paths = trace, paths
        calls = np.array(
            [call_of(region.name) for region in trace.regions] or [Call.OTHER], dtype=np.uint8
        )
        mpi = np.array([region.paradigm is Paradigm.MPI for region in trace.regions] or [False])
        # The last entry is for operations outside any region, whose node is -1.
        self._calls = np.append(calls[paths.region], np.uint8(Call.OTHER))
        self._mpi = np.append(mpi[paths.region], False)
        self._ranks = np.array([place.rank for place in trace.locations], dtype=np.int32)

    def event(self, rows: _Rows) -> _Rows:
        return self.trace.operations.event[rows]

    def sent(self, rows: _Rows) -> _Rows:
        """Returns the time of each operation's event."""
        return self.trace.time[self.event(rows)]

    def location(self, rows: _Rows) -> NDArray[np.int32]:
        return self.trace.locations_of(self.event(rows))

    def rank(self, rows: _Rows) -> NDArray[np.int32]:
        return self._ranks[self.location(rows)]

    def node(self, rows: _Rows) -> NDArray[np.int32]:
        return self.paths.operation_node[rows]

    def enter_event(self, rows: _Rows) -> _Rows:
        return self.paths.operation_enter[rows]

    def leave_event(self, rows: _Rows) -> _Rows:
        return self.paths.operation_leave[rows]

    def enter(self, rows: _Rows) -> _Rows:
        """Returns the time at which each operation's MPI call begins."""
        return self.trace.time[self.enter_event(rows)]

    def leave(self, rows: _Rows) -> _Rows:
        return self.trace.time[self.leave_event(rows)]

    def call(self, rows: _Rows) -> NDArray[np.uint8]:
        return self._calls[self.node(rows)]

    def in_mpi(self, rows: _Rows) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = self._mpi[self.node(rows)] & (self.leave_event(rows) >= 0)
        return inside


@dataclass(frozen=True, slots=True)
class _LateSenders:
    """The receives that wait for late sends. `candidates` marks events that enter a call which
    completes several requests and waits for a late sender.
    """

    receives: _Rows
    sends: _Rows
    idle: _Rows
    points: tuple[PointRows, PointRows]
    candidates: NDArray[np.bool_]


def message_waits(
    trace: EventTrace,
    paths: CallPaths,
    matches: Matches,
    kernels: Kernels,
    span: tuple[int, int] | None = None,
) -> MessageWaits:
    """Finds the synchronization points of messages: where a rank waited, and where its partner was
    late.

    With `span`, the result has only waits of the locations between these two positions, which must
    be whole ranks.

    A receive waits from its call until the sender enters the sending call. A synchronous send waits
    until the receiver enters the call that posts the receive. If a call completes several requests,
    its longest wait is used, and late senders take precedence over late receivers. MPI_Test and
    similar calls never wait. MPI_Probe waits like a receive of the message that it finds.
    """
    operations = _Operations(trace, paths)
    received, sent = (
        matched_rows(trace, matches, kinds, span)
        for kinds in ((Kind.RECEIVE, Kind.RECEIVE_COMPLETE), (Kind.SEND, Kind.SEND_REQUEST))
    )
    receives, sends = _pairs_in_mpi(operations, received, matches.mate[received])
    late = _late_senders(operations, receives, sends, len(trace))
    probed, probed_sends = _probe_waits(operations, probes_of(trace, matches, span))
    release_file_memory()
    misordered = _misordered_waits(trace, operations, receives, sends, late, kernels)
    release_file_memory()
    sends, receives = _pairs_in_mpi(operations, sent, matches.mate[sent])
    late_receivers, blocked = _late_receivers(operations, matches, receives, sends, late.candidates)
    empty = trace.operations.sent
    return MessageWaits(
        (*late.points, *probed, *late_receivers),
        misordered,
        int(np.count_nonzero(empty[np.concatenate([late.sends, probed_sends])] <= 0)),
        int(np.count_nonzero(empty[blocked] <= 0)),
    )


def join_waits(parts: Sequence[MessageWaits]) -> MessageWaits:
    """Combines the waits of several spans, which are in ascending order."""
    columns = [[getattr(part.misordered, field.name) for part in parts]
               for field in fields(MisorderedWaits)]  # fmt: skip
    return MessageWaits(
        tuple(points for kind in zip(*(part.points for part in parts), strict=True)
              for points in kind),
        MisorderedWaits(*map(np.concatenate, columns)),
        sum(part.empty_late_senders for part in parts),
        sum(part.empty_late_receivers for part in parts),
    )  # fmt: skip


def _pairs_in_mpi(operations: _Operations, rows: _Rows, others: _Rows) -> tuple[_Rows, _Rows]:
    inside = operations.in_mpi(rows) & operations.in_mpi(others)
    return rows[inside], others[inside]


def _late_senders(
    operations: _Operations, receives: _Rows, sends: _Rows, events: int
) -> _LateSenders:
    idle = np.minimum(operations.enter(sends), operations.leave(receives)) - operations.enter(
        receives
    )
    waits = (idle > 0) & (operations.call(receives) != Call.TEST)
    receives, sends, idle = receives[waits], sends[waits], idle[waits]
    many = operations.call(receives) == Call.WAIT
    candidates = np.zeros(events, dtype=bool)
    candidates[operations.enter_event(receives[many])] = True
    chosen = np.concatenate(
        [
            np.flatnonzero(~many),
            _longest_waits(operations.enter_event(receives), idle, receives, many),
        ]
    )
    receives, sends, idle = receives[chosen], sends[chosen], idle[chosen]
    after = np.maximum(operations.leave(receives) - operations.leave(sends), 0)
    points = _points_of_wait(operations, receives, sends, idle, after, Wait.LATE_SENDER)
    return _LateSenders(receives, sends, idle, points, candidates)


def _probe_waits(
    operations: _Operations, probes: Probes
) -> tuple[tuple[PointRows, PointRows], _Rows]:
    """Returns the synchronization points of MPI_Probe, and the sends that the calls wait for."""
    time, enter, leave, sends = operations.trace.time, probes.enter, probes.leave, probes.send
    idle = operations.enter(sends) - time[enter]
    waits = (idle > 0) & operations.in_mpi(sends)
    enter, leave, idle, sends = enter[waits], leave[waits], idle[waits], sends[waits]
    after = np.maximum(time[leave] - operations.leave(sends), 0)
    location = operations.trace.locations_of(leave)
    probing = point_rows(
        leave,
        location,
        operations.paths.event_node[leave],
        time[leave] - time[enter],
        wait=idle,
        completion=after,
        kind=int(Wait.LATE_SENDER),
        cause=operations.event(sends),
        partner=operations.rank(sends),
    )
    sending = point_rows(
        operations.event(sends),
        operations.location(sends),
        operations.node(sends),
        operations.leave(sends) - operations.enter(sends),
        completion=np.maximum(operations.leave(sends) - time[leave], 0),
        partner=operations.rank(probes.receive[waits]),
    )
    return (probing, sending), sends


def _misordered_waits(
    trace: EventTrace,
    operations: _Operations,
    receives: _Rows,
    sends: _Rows,
    late: _LateSenders,
    kernels: Kernels,
) -> MisorderedWaits:
    """Finds messages received in the wrong order. In a call that completes several requests, a late
    sender counts from the end of the call.
    """
    many = operations.call(late.receives) == Call.WAIT
    known = np.where(many, operations.leave_event(late.receives), operations.event(late.receives))
    there = Messages(
        operations.event(receives),
        operations.location(receives),
        operations.sent(sends),
        operations.rank(sends),
    )
    waited = Messages(
        known,
        operations.location(late.receives),
        operations.sent(late.sends),
        operations.rank(late.sends),
    )
    order = wrong_order(len(trace.locations), there, waited, kernels)
    rows = np.flatnonzero(order != Order.RIGHT)
    return MisorderedWaits(
        operations.location(late.receives[rows]),
        operations.node(late.receives[rows]),
        late.idle[rows],
        order[rows] == Order.SAME_SOURCE,
    )


def _late_receivers(
    operations: _Operations,
    matches: Matches,
    receives: _Rows,
    sends: _Rows,
    hidden: NDArray[np.bool_],
) -> tuple[tuple[PointRows, PointRows], _Rows]:
    """Returns the synchronization points of late receivers, and the waiting sends."""
    completions, requests = matches.other[sends], matches.other[receives]
    usable = (completions >= 0) & (requests >= 0)
    usable &= operations.in_mpi(completions) & operations.in_mpi(requests)
    completions, requests, sends = completions[usable], requests[usable], sends[usable]
    idle = operations.enter(requests) - operations.enter(completions)
    call = operations.call(completions)
    many = (call == Call.WAIT) & ~hidden[operations.enter_event(completions)]
    single = call == Call.BLOCKING_SEND
    waits = (
        (idle > 0) & (operations.leave(completions) > operations.enter(requests)) & (single | many)
    )
    completions, requests, idle = completions[waits], requests[waits], idle[waits]
    many, sends = many[waits], sends[waits]
    # Among equally long waits, the last send is used, since the reference tool runs backwards.
    longest = _longest_waits(operations.enter_event(completions), idle, -sends, many)
    chosen = np.concatenate([np.flatnonzero(~many), longest])
    completions, requests, idle = completions[chosen], requests[chosen], idle[chosen]
    # As in the reference tool, the completion of a late receiver is at most 0.
    after = np.minimum(operations.leave(completions) - operations.leave(requests), 0)
    points = _points_of_wait(operations, completions, requests, idle, after, Wait.LATE_RECEIVER)
    return points, sends[chosen]


def _points_of_wait(
    operations: _Operations, waiting: _Rows, late: _Rows, idle: _Rows, after: _Rows, kind: Wait
) -> tuple[PointRows, PointRows]:
    """Returns the synchronization points of waiting operations and of the late operations. `idle`
    and `after` are the waiting and completion times, and `kind` is the wait state.
    """
    return (
        point_rows(
            operations.event(waiting),
            operations.location(waiting),
            operations.node(waiting),
            operations.leave(waiting) - operations.enter(waiting),
            wait=idle,
            completion=after,
            kind=int(kind),
            cause=operations.event(late),
            partner=operations.rank(late),
        ),
        point_rows(
            operations.event(late),
            operations.location(late),
            operations.node(late),
            operations.leave(late) - operations.enter(late),
            completion=np.maximum(operations.leave(late) - operations.leave(waiting), 0),
            partner=operations.rank(waiting),
        ),
    )


def _longest_waits(
    call: _Rows, idle: _Rows, place: _Rows, rows: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Returns the row of the longest wait of each call, restricted to the mask `rows`. Ties are
    broken by `place`.
    """
    chosen = np.flatnonzero(rows)
    order = chosen[np.lexsort((place[chosen], -idle[chosen], call[chosen]))]
    first = np.ones(len(order), dtype=bool)
    first[1:] = call[order[1:]] != call[order[:-1]]
    return order[first]
