"""Waits in MPI's collective operations, at MPI_Init and at MPI_Finalize."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.event_trace import Collective, EventTrace, Finding, Kind
from regionpredict.trace.matching import Matches
from regionpredict.trace.mpi_regions import Call, call_of
from regionpredict.trace.sync_points import PointRows, point_rows
from regionpredict.trace.wait_classes import NO_WAIT, Wait

_Rows = NDArray[np.int64]

_ONE_TO_N = (Collective.BCAST, Collective.SCATTER, Collective.SCATTERV)
_N_TO_ONE = (Collective.GATHER, Collective.GATHERV, Collective.REDUCE)
_N_TO_N = (
    Collective.ALLGATHER,
    Collective.ALLGATHERV,
    Collective.ALLTOALL,
    Collective.ALLREDUCE,
    Collective.REDUCE_SCATTER,
    Collective.REDUCE_SCATTER_BLOCK,
)
_ANY_TO_ANY = (Collective.ALLTOALLV, Collective.ALLTOALLW)  # do not tell who waits for whom
_PREFIX = (Collective.SCAN, Collective.EXSCAN)
_SELDOM = np.iinfo(np.int64).min
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class CollectiveWaits:
    """Points, the groups of ranks they refer to, and waits that have no point.

    `scans` are rows (location, node, ticks) of MPI_Scan and MPI_Exscan; `init_completion` the
    same of MPI_Init.
    """

    points: tuple[PointRows, ...]
    groups: tuple[NDArray[np.int32], ...]
    scans: tuple[tuple[int, int, int], ...]
    init_completion: tuple[tuple[int, int, int], ...]
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class _Groups:
    """Groups of ranks, each once."""

    numbers: dict[tuple[int, ...], int]

    def of(self, ranks: tuple[int, ...]) -> int:
        return self.numbers.setdefault(ranks, len(self.numbers))


@dataclass(frozen=True, slots=True)
class _Table:
    """Collective operations in the order of their instances; `first` has where each begins."""

    event: _Rows
    location: NDArray[np.int32]
    rank: NDArray[np.int32]
    node: NDArray[np.int32]
    begin: _Rows  # times
    end: _Rows
    total: _Rows
    sent: _Rows
    received: _Rows
    root: NDArray[np.int32]
    first: _Rows  # of each instance, and their number
    operation: NDArray[np.uint8]  # of each instance
    communicator: NDArray[np.int32]


def collective_waits(trace: EventTrace, paths: CallPaths, matches: Matches) -> CollectiveWaits:
    """Points of every collective operation that all members of its communicator called.

    One-to-n operations wait for their root, n-to-one operations' roots for the latest sender,
    n-to-n operations and barriers for the latest rank. Where no bytes are moved nobody waits;
    alltoallv and alltoallw do not tell who waits for whom.
    """
    table, findings = _table(trace, paths, matches)
    groups = _Groups({})
    points: list[PointRows] = []
    scans: list[tuple[int, int, int]] = []
    for rows, rule in (
        (np.isin(table.operation, _ONE_TO_N), _one_to_n),
        (np.isin(table.operation, _N_TO_ONE), _n_to_one),
        (np.isin(table.operation, (*_N_TO_N, Collective.BARRIER)), _n_to_n),
    ):
        chosen = np.flatnonzero(rows)
        if len(chosen):
            points.extend(rule(trace, table, chosen, groups))
    for instance in np.flatnonzero(np.isin(table.operation, _PREFIX)):
        scans.extend(_prefix(trace, table, int(instance)))
    ends, completion = _init_and_finalize(trace, paths, groups, findings)
    points.extend(ends)
    ranks = tuple(np.array(members, dtype=np.int32) for members in groups.numbers)
    return CollectiveWaits(tuple(points), ranks, tuple(scans), tuple(completion), tuple(findings))


def _table(trace: EventTrace, paths: CallPaths, matches: Matches) -> tuple[_Table, list[Finding]]:
    operations = trace.operations
    sizes = np.array(
        [len(group.members or ()) for group in trace.communicators] or [0], dtype=np.int64
    )
    between = np.array([group.remote is not None for group in trace.communicators] or [False])
    kind = trace.kind[operations.event]
    ended = (kind == Kind.COLLECTIVE_END) & (matches.instance >= 0)
    findings = _not_analysed(kind, operations.collective[ended])
    across = ended & between[operations.communicator]
    if np.any(across):
        count = int(np.count_nonzero(across))
        findings.append(
            Finding("collective operations of inter-communicators, not analysed", count=count)
        )
    rows = np.flatnonzero(ended & ~across & (paths.operation_leave >= 0))
    rows = rows[sizes[operations.communicator[rows]] > 1]
    communicator = operations.communicator[rows].astype(np.int64)
    instance = matches.instance[rows]
    order = np.lexsort((operations.event[rows], instance, communicator))
    rows, communicator, instance = rows[order], communicator[order], instance[order]
    changes = np.ones(len(rows), dtype=bool)
    changes[1:] = (communicator[1:] != communicator[:-1]) | (instance[1:] != instance[:-1])
    first = np.flatnonzero(changes)
    counts = np.diff(np.append(first, len(rows)))
    whole = counts == sizes[communicator[first]] if len(first) else np.zeros(0, dtype=bool)
    if not np.all(whole):
        missing = int(np.count_nonzero(~whole))
        findings.append(Finding("collective operations that members miss", count=missing))
        rows = rows[np.repeat(whole, counts)]
        counts = counts[whole]
        first = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
    event = operations.event[rows]
    enter, leave = paths.operation_enter[rows], paths.operation_leave[rows]
    location = trace.locations_of(event)
    ranks = np.array([place.rank for place in trace.locations], dtype=np.int32)
    return _Table(
        event=event,
        location=location,
        rank=ranks[location],
        node=paths.operation_node[rows],
        begin=trace.time[_begins(trace, enter, event)],
        end=trace.time[event],
        total=trace.time[leave] - trace.time[enter],
        sent=operations.sent[rows],
        received=operations.received[rows],
        root=operations.root[rows],
        first=np.append(first, len(rows)).astype(np.int64),
        operation=operations.collective[rows[first]] if len(rows) else np.zeros(0, np.uint8),
        communicator=(operations.communicator[rows[first]] if len(rows) else np.zeros(0, np.int32)),
    ), findings


def _not_analysed(kind: NDArray[np.uint8], operations: NDArray[np.uint8]) -> list[Finding]:
    found = []
    for count, what in (
        (np.count_nonzero(kind == Kind.COLLECTIVE_COMPLETE), "non-blocking collective operations"),
        (np.count_nonzero(np.isin(operations, _ANY_TO_ANY)), "MPI_Alltoallv and MPI_Alltoallw"),
    ):
        if count:
            found.append(Finding(f"{what}, not analysed", count=int(count)))
    return found


def _begins(trace: EventTrace, enter: _Rows, event: _Rows) -> _Rows:
    """The event at which each operation begins: a record of its own, or the call's ENTER."""
    before = event - 1
    after = enter + 1
    begin = np.where(trace.kind[after] == Kind.COLLECTIVE_BEGIN, after, enter)
    return np.where(trace.kind[before] == Kind.COLLECTIVE_BEGIN, before, begin)


def _members(table: _Table, chosen: _Rows) -> tuple[_Rows, _Rows]:
    """Rows of the chosen instances, and for each row its instance's place in `chosen`."""
    counts = table.first[chosen + 1] - table.first[chosen]
    owner = np.repeat(np.arange(len(chosen)), counts)
    starts = np.cumsum(counts) - counts
    rows = np.arange(counts.sum()) - np.repeat(starts, counts) + table.first[chosen][owner]
    return rows, owner


def _reduce(
    function: np.ufunc, values: _Rows, owner: _Rows, where: NDArray[np.bool_], empty: int
) -> _Rows:
    """The least or largest of the values of each instance, as far as `where` counts them."""
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    found: _Rows = function.reduceat(np.where(where, values, empty), starts)
    return found


def _first_row(rows: _Rows, owner: _Rows, where: NDArray[np.bool_], count: int) -> _Rows:
    """The first row of each instance that `where` holds for, -1 where there is none."""
    found = np.full(count, -1, dtype=np.int64)
    picked = np.flatnonzero(where)[::-1]
    found[owner[picked]] = rows[picked]
    return found


def _points(
    table: _Table,
    rows: _Rows,
    idle: _Rows,
    completion: _Rows,
    kind: NDArray[np.uint8] | int,
    cause: _Rows,
    partner: NDArray[np.int32] | int = -1,
    group: NDArray[np.int32] | int = -1,
) -> PointRows:
    return point_rows(
        table.event[rows],
        table.location[rows],
        table.node[rows],
        table.total[rows],
        wait=idle,
        completion=completion,
        kind=kind,
        cause=table.event[cause],
        partner=partner,
        group=group,
    )


def _one_to_n(trace: EventTrace, table: _Table, chosen: _Rows, groups: _Groups) -> list[PointRows]:
    rows, owner = _members(table, chosen)
    is_root = table.rank[rows] == table.root[rows]
    root = _first_row(rows, owner, is_root, len(chosen))
    moves = (root >= 0) & (table.sent[np.maximum(root, 0)] > 0)
    late = table.begin[root[owner]]
    waits = moves[owner] & ~is_root & (table.received[rows] > 0) & (table.begin[rows] < late)
    earliest = _reduce(np.minimum, table.end[rows], owner, waits, _NEVER)
    at, of = rows[waits], owner[waits]
    until = np.minimum(late[waits], table.end[at])
    receivers = _points(
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
    numbers = _groups_of(table, at, of, busy, len(chosen), groups)
    roots = _points(table, sources, after * 0, after, NO_WAIT, sources, group=numbers)
    return [receivers, roots]


def _groups_of(
    table: _Table, rows: _Rows, owner: _Rows, busy: _Rows, count: int, groups: _Groups
) -> NDArray[np.int32]:
    """The group of the ranks in `rows` for each busy instance."""
    bounds = np.searchsorted(owner, np.arange(count + 1))
    return np.array(
        [groups.of(tuple(table.rank[rows[bounds[at] : bounds[at + 1]]].tolist())) for at in busy],
        dtype=np.int32,
    )


def _n_to_one(trace: EventTrace, table: _Table, chosen: _Rows, groups: _Groups) -> list[PointRows]:
    rows, owner = _members(table, chosen)
    root = _first_row(rows, owner, table.rank[rows] == table.root[rows], len(chosen))
    moves = (root >= 0) & (table.received[np.maximum(root, 0)] > 0)
    sends = table.sent[rows] > 0
    latest = _reduce(np.maximum, table.begin[rows], owner, sends, _SELDOM)
    sender = _first_row(rows, owner, sends & (table.begin[rows] == latest[owner]), len(chosen))
    busy = np.flatnonzero(moves & (table.begin[root] < latest))
    roots, senders, late = root[busy], sender[busy], latest[busy]
    earliest = np.minimum(table.end[roots], table.end[senders])
    found = []
    for at, other, kind in (
        (roots, senders, int(Wait.EARLY_REDUCE)),
        (senders, roots, NO_WAIT),
    ):
        until = np.minimum(late, table.end[at])
        found.append(
            _points(
                table,
                at,
                np.maximum(until - table.begin[at], 0),
                np.maximum(table.end[at] - np.maximum(earliest, until), 0),
                kind,
                senders,
                partner=table.rank[other],
            )
        )
    return found


def _n_to_n(trace: EventTrace, table: _Table, chosen: _Rows, groups: _Groups) -> list[PointRows]:
    rows, owner = _members(table, chosen)
    everyone = np.ones(len(rows), dtype=bool)
    barrier = (table.operation[chosen] == Collective.BARRIER)[owner]
    moving = barrier | (table.sent[rows] > 0) | (table.received[rows] > 0)
    latest = _reduce(np.maximum, table.begin[rows], owner, everyone, _SELDOM)
    earliest = _reduce(np.minimum, table.end[rows], owner, everyone, _NEVER)
    full = (earliest > latest)[owner] | barrier
    # Where calls overlap in part only, receivers wait for the latest sender, and nobody else.
    sends = full | (table.sent[rows] > 0)
    latest = _reduce(np.maximum, table.begin[rows], owner, sends & moving, _SELDOM)
    last = _first_row(
        rows, owner, sends & moving & (table.begin[rows] == latest[owner]), len(chosen)
    )
    waits = (table.received[rows] > 0) & (table.begin[rows] < latest[owner])
    synchronising = moving & (full | waits | (rows == last[owner]))
    earliest = _reduce(np.minimum, table.end[rows], owner, synchronising, _NEVER)
    at, of = rows[synchronising], owner[synchronising]
    until = np.minimum(latest[of], table.end[at])
    kind = np.where(barrier[synchronising], Wait.WAIT_BARRIER, Wait.WAIT_NXN).astype(np.uint8)
    whole = np.bincount(of, minlength=len(chosen)) == np.bincount(owner, minlength=len(chosen))
    numbers = np.empty(len(chosen), dtype=np.int32)
    for communicator in np.unique(table.communicator[chosen]):
        of_whole = whole & (table.communicator[chosen] == communicator)
        members = trace.communicators[int(communicator)].members or ()
        numbers[of_whole] = groups.of(tuple(sorted(members)))
    partial = np.flatnonzero(~whole)
    numbers[partial] = _groups_of(table, at, of, partial, len(chosen), groups)
    return [
        _points(
            table,
            at,
            np.maximum(until - table.begin[at], 0),
            np.maximum(table.end[at] - np.maximum(earliest[of], until), 0),
            kind,
            last[of],
            group=numbers[of],
        )
    ]


def _prefix(trace: EventTrace, table: _Table, instance: int) -> list[tuple[int, int, int]]:
    """Waits for lower ranks of the communicator that enter later."""
    members = trace.communicators[int(table.communicator[instance])].members or ()
    place = {rank: at for at, rank in enumerate(members)}
    rows = sorted(
        range(int(table.first[instance]), int(table.first[instance + 1])),
        key=lambda row: place[int(table.rank[row])],
    )
    found = []
    latest = _SELDOM
    for row in rows:
        begin, end = int(table.begin[row]), int(table.end[row])
        if table.sent[row] == 0 and table.received[row] == 0:
            continue
        if table.sent[row] > 0:
            latest = max(latest, begin)
        idle = min(latest, end) - begin
        if idle > 0:
            found.append((int(table.location[row]), int(table.node[row]), idle))
    return found


def _init_and_finalize(
    trace: EventTrace, paths: CallPaths, groups: _Groups, findings: list[Finding]
) -> tuple[list[PointRows], list[tuple[int, int, int]]]:
    """All ranks synchronise in MPI_Init and MPI_Finalize; nobody is said to wait in MPI_Init."""
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
