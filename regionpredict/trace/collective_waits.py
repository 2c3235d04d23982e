"""Finds wait states in MPI's collective operations, in MPI_Init and in MPI_Finalize."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.collective_table import (
    N_TO_N,
    N_TO_ONE,
    ONE_TO_N,
    PREFIX,
    CollectiveTable,
)
from regionpredict.trace.event_trace import Collective, EventTrace, Finding
from regionpredict.trace.mpi_regions import Call, call_of
from regionpredict.trace.sync_points import PointRows, point_rows
from regionpredict.trace.wait_classes import NO_WAIT, Wait

_Rows = NDArray[np.int64]

_SELDOM = np.iinfo(np.int64).min
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class CollectiveWaits:
    """The synchronization points of collective operations, the groups of ranks that they refer to,
    and waits without a point.

    `scans` are the waits in MPI_Scan and MPI_Exscan as (location, node, ticks). `init_completion`
    has the completion times of MPI_Init in the same form.
    """

    points: tuple[PointRows, ...]
    groups: tuple[NDArray[np.int32], ...]
    scans: tuple[tuple[int, int, int], ...]
    init_completion: tuple[tuple[int, int, int], ...]
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class _Groups:
    """Groups of ranks without duplicates."""

    numbers: dict[tuple[int, ...], int]

    def of(self, ranks: tuple[int, ...]) -> int:
        return self.numbers.setdefault(ranks, len(self.numbers))


def collective_waits(
    trace: EventTrace, paths: CallPaths, table: CollectiveTable
) -> CollectiveWaits:
    """Finds the synchronization points of the collective operations that all members of their
    communicators called.

    One-to-n operations wait for their root. Roots of n-to-one operations wait for the latest
    sender. N-to-n operations and barriers wait for the latest rank. A rank is late if it begins the
    operation late. In a non-blocking operation, the other ranks wait in the call that completes it.
    Without data there is no wait. The trace of alltoallv and alltoallw does not show who waits for
    whom.
    """
    findings = list(table.findings)
    groups = _Groups({})
    points: list[PointRows] = []
    scans: list[tuple[int, int, int]] = []
    for rows, rule in (
        (np.isin(table.operation, ONE_TO_N), _one_to_n),
        (np.isin(table.operation, N_TO_ONE), _n_to_one),
        (np.isin(table.operation, (*N_TO_N, Collective.BARRIER)), _n_to_n),
    ):
        chosen = np.flatnonzero(rows)
        if len(chosen):
            points.extend(rule(trace, table, chosen, groups))
    points.append(_start_points(trace, table, groups))
    for instance in np.flatnonzero(np.isin(table.operation, PREFIX)):
        scans.extend(_prefix_waits(table, int(instance)))
    ends, completion = _init_and_finalize(trace, paths, groups, findings)
    points.extend(ends)
    ranks = tuple(np.array(members, dtype=np.int32) for members in groups.numbers)
    return CollectiveWaits(tuple(points), ranks, tuple(scans), tuple(completion), tuple(findings))


def _start_points(trace: EventTrace, table: CollectiveTable, groups: _Groups) -> PointRows:
    """Returns the points at which non-blocking operations start. Other ranks may wait for these."""
    rows, owner = _rows_of_members(table, np.arange(len(table.operation)))
    everyone = _communicator_groups(trace, table, np.arange(len(table.operation)), groups)
    later = table.late_event[rows] != table.event[rows]
    at, of = rows[later], owner[later]
    return point_rows(
        table.late_event[at],
        table.location[at],
        table.post_node[at],
        table.post_total[at],
        group=everyone[of],
        members=everyone[of],
    )


def _rows_of_members(table: CollectiveTable, operations: _Rows) -> tuple[_Rows, _Rows]:
    """Returns the table rows of the chosen operations, and for each row the position of its
    operation in `operations`.
    """
    counts = table.first[operations + 1] - table.first[operations]
    owner = np.repeat(np.arange(len(operations)), counts)
    starts = np.cumsum(counts) - counts
    rows = np.arange(counts.sum()) - np.repeat(starts, counts) + table.first[operations][owner]
    return rows, owner


def _reduce_per_operation(
    function: np.ufunc, values: _Rows, owner: _Rows, where: NDArray[np.bool_], empty: int
) -> _Rows:
    """Returns the smallest or largest value in each operation, restricted to rows where the mask
    `where` is set.
    """
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    array: _Rows = function.reduceat(np.where(where, values, empty), starts)
    return array


def _first_row_per_operation(
    rows: _Rows, owner: _Rows, where: NDArray[np.bool_], count: int
) -> _Rows:
    """Returns the first row of each operation where the mask `where` is set, or -1."""
    array = np.full(count, -1, dtype=np.int64)
    picked = np.flatnonzero(where)[::-1]
    array[owner[picked]] = rows[picked]
    return array


def _points_of_rows(
    table: CollectiveTable,
    rows: _Rows,
    idle: _Rows,
    completion: _Rows,
    kind: NDArray[np.uint8] | int,
    cause: _Rows,
    partner: NDArray[np.int32] | int = -1,
    group: NDArray[np.int32] | int = -1,
    members: NDArray[np.int32] | int = -1,
) -> PointRows:
    return point_rows(
        table.event[rows],
        table.location[rows],
        table.node[rows],
        table.total[rows],
        wait=idle,
        completion=completion,
        kind=kind,
        cause=table.late_event[cause],
        partner=partner,
        group=group,
        members=members,
    )


def _communicator_groups(
    trace: EventTrace, table: CollectiveTable, operations: _Rows, groups: _Groups
) -> NDArray[np.int32]:
    """Returns for each operation the number of the group of all members of its communicator."""
    numbers = np.empty(len(operations), dtype=np.int32)
    for communicator in np.flatnonzero(np.bincount(table.communicator[operations])).tolist():
        members = trace.communicators[communicator].members or ()
        numbers[table.communicator[operations] == communicator] = groups.of(tuple(sorted(members)))
    return numbers


def _one_to_n(
    trace: EventTrace, table: CollectiveTable, operations: _Rows, groups: _Groups
) -> list[PointRows]:
    rows, owner = _rows_of_members(table, operations)
    is_root = table.rank[rows] == table.root[rows]
    root = _first_row_per_operation(rows, owner, is_root, len(operations))
    moves = (root >= 0) & (table.sent[np.maximum(root, 0)] > 0)
    late = table.posted[root[owner]]
    waits = moves[owner] & ~is_root & (table.received[rows] > 0) & (table.begin[rows] < late)
    earliest = _reduce_per_operation(np.minimum, table.end[rows], owner, waits, _NEVER)
    at, of = rows[waits], owner[waits]
    until = np.minimum(late[waits], table.end[at])
    receivers = _points_of_rows(
        table,
        at,
        until - table.begin[at],
        np.maximum(table.end[at] - np.maximum(earliest[of], until), 0),
        int(Wait.LATE_BROADCAST),
        root[of],
        partner=table.rank[root[of]],
    )
    busy = np.flatnonzero(moves & (earliest < _NEVER))
    sources = root[busy]
    after = np.maximum(table.end[sources] - np.maximum(earliest[busy], table.begin[sources]), 0)
    numbers = _rank_groups(table, at, of, busy, len(operations), groups)
    everyone = _communicator_groups(trace, table, operations[busy], groups)
    roots = _points_of_rows(
        table, sources, after * 0, after, NO_WAIT, sources, group=numbers, members=everyone
    )
    return [receivers, roots]


def _rank_groups(
    table: CollectiveTable, rows: _Rows, owner: _Rows, busy: _Rows, count: int, groups: _Groups
) -> NDArray[np.int32]:
    """Returns for each selected operation the number of the group of the ranks in `rows`."""
    bounds = np.searchsorted(owner, np.arange(count + 1))
    return np.array(
        [
            groups.of(tuple(sorted(table.rank[rows[bounds[at] : bounds[at + 1]]].tolist())))
            for at in busy
        ],
        dtype=np.int32,
    )


def _n_to_one(
    trace: EventTrace, table: CollectiveTable, operations: _Rows, groups: _Groups
) -> list[PointRows]:
    rows, owner = _rows_of_members(table, operations)
    root = _first_row_per_operation(
        rows, owner, table.rank[rows] == table.root[rows], len(operations)
    )
    moves = (root >= 0) & (table.received[np.maximum(root, 0)] > 0)
    sends = table.sent[rows] > 0
    latest = _reduce_per_operation(np.maximum, table.posted[rows], owner, sends, _SELDOM)
    sender = _first_row_per_operation(
        rows, owner, sends & (table.posted[rows] == latest[owner]), len(operations)
    )
    busy = np.flatnonzero(moves & (table.begin[root] < latest))
    roots, senders, late = root[busy], sender[busy], latest[busy]
    earliest = np.minimum(table.end[roots], table.end[senders])
    everyone = _communicator_groups(trace, table, operations[busy], groups)
    row = []
    for at, other, kind in (
        (roots, senders, int(Wait.EARLY_REDUCE)),
        (senders, roots, NO_WAIT),
    ):
        until = np.minimum(late, table.end[at])
        row.append(
            _points_of_rows(
                table,
                at,
                np.maximum(until - table.begin[at], 0),
                np.maximum(table.end[at] - np.maximum(earliest, until), 0),
                kind,
                senders,
                partner=table.rank[other],
                members=everyone,
            )
        )
    return row


def _n_to_n(
    trace: EventTrace, table: CollectiveTable, operations: _Rows, groups: _Groups
) -> list[PointRows]:
    rows, owner = _rows_of_members(table, operations)
    everyone = np.ones(len(rows), dtype=bool)
    barrier = (table.operation[operations] == Collective.BARRIER)[owner]
    moving = barrier | (table.sent[rows] > 0) | (table.received[rows] > 0)
    latest = _reduce_per_operation(np.maximum, table.posted[rows], owner, everyone, _SELDOM)
    earliest = _reduce_per_operation(np.minimum, table.end[rows], owner, everyone, _NEVER)
    full = (earliest > latest)[owner] | barrier
    # If some call ends before the latest call begins, only receivers wait for the latest sender.
    sends = full | (table.sent[rows] > 0)
    latest = _reduce_per_operation(np.maximum, table.posted[rows], owner, sends & moving, _SELDOM)
    last = _first_row_per_operation(
        rows, owner, sends & moving & (table.posted[rows] == latest[owner]), len(operations)
    )
    waits = (table.received[rows] > 0) & (table.begin[rows] < latest[owner])
    synchronising = moving & (full | waits | (rows == last[owner]))
    earliest = _reduce_per_operation(np.minimum, table.end[rows], owner, synchronising, _NEVER)
    at, of = rows[synchronising], owner[synchronising]
    until = np.minimum(latest[of], table.end[at])
    kind = np.where(barrier[synchronising], Wait.WAIT_BARRIER, Wait.WAIT_NXN).astype(np.uint8)
    whole = np.bincount(of, minlength=len(operations)) == np.bincount(
        owner, minlength=len(operations)
    )
    everyone = _communicator_groups(trace, table, operations, groups)
    numbers = everyone.copy()
    partial = np.flatnonzero(~whole)
    numbers[partial] = _rank_groups(table, at, of, partial, len(operations), groups)
    return [
        _points_of_rows(
            table,
            at,
            np.maximum(until - table.begin[at], 0),
            np.maximum(table.end[at] - np.maximum(earliest[of], until), 0),
            kind,
            last[of],
            group=numbers[of],
            members=everyone[of],
        )
    ]


def _prefix_waits(table: CollectiveTable, instance: int) -> list[tuple[int, int, int]]:
    """Returns the waits for lower ranks of the communicator that begin the operation later."""
    rows = range(int(table.first[instance]), int(table.first[instance + 1]))
    prefix_waits = []
    latest = _SELDOM
    for row in rows:
        begin, end = int(table.begin[row]), int(table.end[row])
        if table.sent[row] == 0 and table.received[row] == 0:
            continue
        if table.sent[row] > 0:
            latest = max(latest, int(table.posted[row]))
        idle = min(latest, end) - begin
        if idle > 0:
            prefix_waits.append((int(table.location[row]), int(table.node[row]), idle))
    return prefix_waits


def _init_and_finalize(
    trace: EventTrace, paths: CallPaths, groups: _Groups, findings: list[Finding]
) -> tuple[list[PointRows], list[tuple[int, int, int]]]:
    """Finds the points at which all ranks synchronize in MPI_Init and MPI_Finalize. Time in
    MPI_Init does not count as waiting.
    """
    calls = np.array(
        [call_of(region.name) for region in trace.regions] or [Call.OTHER], dtype=np.uint8
    )
    of_mark = calls[paths.region[paths.mark_node]] if len(paths.mark_node) else np.zeros(0)
    world = groups.of(trace.ranks)
    points = []
    completions: list[tuple[int, int, int]] = []
    for call in (Call.INIT, Call.FINALIZE):
        marks = np.flatnonzero(of_mark == call)
        event = paths.mark_leave[marks]
        location = trace.locations_of(event)
        ranks = {trace.locations[int(at)].rank for at in location}
        if not len(marks) or len(ranks) != len(trace.ranks) or len(marks) != len(ranks):
            if len(marks):
                findings.append(Finding(f"MPI_{call.name.title()} is not called once by each rank"))
            continue
        enter, leave = trace.time[paths.mark_enter[marks]], trace.time[event]
        latest, earliest = int(enter.max()), int(leave.min())
        until = np.minimum(latest, leave)
        completion = np.maximum(leave - np.maximum(earliest, until), 0)
        node = paths.mark_node[marks]
        ends = call is Call.FINALIZE
        points.append(
            point_rows(
                event,
                location,
                node,
                leave - enter,
                wait=np.maximum(until - enter, 0) if ends else 0,
                completion=completion,
                kind=int(Wait.WAIT_FINALIZE) if ends else NO_WAIT,
                cause=int(event[int(np.argmax(enter))]) if ends else -1,
                group=world,
            )
        )
        if not ends:
            completions = [
                (int(at), int(path), int(ticks))
                for at, path, ticks in zip(location, node, completion, strict=True)
                if ticks > 0
            ]
    return points, completions
