"""Finds waits at OpenMP barriers, and the starts of parallel regions (Boehme 2014, section
2.4.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.event_trace import EventTrace, Finding, Kind, Paradigm, Role
from regionpredict.trace.sync_points import PointRows, point_rows
from regionpredict.trace.wait_classes import NO_WAIT, Wait

_BARRIERS = {
    Role.BARRIER: Wait.OMP_EXPLICIT_BARRIER,
    Role.IMPLICIT_BARRIER: Wait.OMP_IMPLICIT_BARRIER,
}


def team_waits(trace: EventTrace, paths: CallPaths) -> tuple[list[PointRows], list[Finding]]:
    """Returns the synchronization points of barriers and parallel regions. The k-th barriers of all
    threads of a rank form one group of points, and so do their k-th parallel regions.

    Threads wait for the thread that enters the barrier last. Nested parallel regions are not
    supported.
    """
    kinds = np.full(len(trace.regions) + 1, NO_WAIT, dtype=np.uint8)
    parallel = np.zeros(len(trace.regions) + 1, dtype=bool)
    for number, region in enumerate(trace.regions):
        if region.paradigm is Paradigm.OPENMP:
            kinds[number] = int(_BARRIERS.get(region.role, NO_WAIT))
            parallel[number] = region.role is Role.PARALLEL
    of_mark = paths.region[paths.mark_node] if len(paths.mark_node) else np.zeros(0, np.int32)
    if not np.any(parallel[of_mark]):
        return [], []
    location = trace.locations_of(paths.mark_leave)
    rank = np.array([place.rank for place in trace.locations], dtype=np.int32)[location]
    forks, fork_times = _forks_before(trace, rank, trace.time[paths.mark_enter])
    inside = forks >= 0
    parallel_regions = _points_of_parallel_regions(
        trace, paths, parallel[of_mark] & inside, location, rank, forks, fork_times
    )
    barriers, findings = _points_of_barriers(
        trace, paths, kinds[of_mark], inside, location, rank, forks
    )
    return [*parallel_regions, *barriers], findings


def _forks_before(
    trace: EventTrace,
    rank: NDArray[np.int32],
    time: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the number of the rank's last fork before each instance of a region (-1 before the
    first fork), and the time of this fork.
    """
    number = np.full(len(rank), -1, dtype=np.int64)
    when = np.zeros(len(rank), dtype=np.int64)
    for at, place in enumerate(trace.locations):
        if at and trace.locations[at - 1].rank == place.rank:
            continue  # the first thread of a rank forks
        rows = slice(int(trace.starts[at]), int(trace.starts[at + 1]))
        times = trace.time[rows][trace.kind[rows] == Kind.FORK]
        mine = np.flatnonzero(rank == place.rank)
        if len(times) and len(mine):
            number[mine] = np.searchsorted(times, time[mine], side="right") - 1
            known = mine[number[mine] >= 0]
            when[known] = times[number[known]]
    return number, when


def _points_of_parallel_regions(
    trace: EventTrace,
    paths: CallPaths,
    selected_rows: NDArray[np.bool_],
    location: NDArray[np.int32],
    rank: NDArray[np.int32],
    forks: NDArray[np.int64],
    fork_times: NDArray[np.int64],
) -> list[PointRows]:
    rows = np.flatnonzero(selected_rows)
    order = np.lexsort((location[rows], forks[rows], rank[rows]))
    rows = rows[order]
    first = _changed_rows(rank[rows], forks[rows])
    owner = np.cumsum(first) - 1
    enter = paths.mark_enter[rows]
    time = trace.time[enter]
    starts = np.flatnonzero(first)
    earliest = np.minimum.reduceat(time, starts)[owner]
    return [
        point_rows(
            enter,
            location[rows],
            paths.mark_node[rows],
            time - fork_times[rows],
            completion=time - earliest,
            cause=enter[starts][owner],  # the first thread, on which the critical path continues
            is_team=True,
        )
    ]


def _points_of_barriers(
    trace: EventTrace,
    paths: CallPaths,
    kind: NDArray[np.uint8],
    inside: NDArray[np.bool_],
    location: NDArray[np.int32],
    rank: NDArray[np.int32],
    forks: NDArray[np.int64],
) -> tuple[list[PointRows], list[Finding]]:
    rows = np.flatnonzero((kind != NO_WAIT) & inside)
    if not len(rows):
        return [], []
    order = np.lexsort((paths.mark_leave[rows], forks[rows], location[rows]))
    rows = rows[order]
    new = _changed_rows(location[rows], forks[rows])
    begin = np.flatnonzero(new)[np.cumsum(new) - 1]
    place = np.arange(len(rows)) - begin  # number of the barrier on its thread since the fork
    order = np.lexsort((location[rows], place, forks[rows], rank[rows]))
    rows, place = rows[order], place[order]
    first = _changed_rows(rank[rows], forks[rows], place)
    owner = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    enter, leave = trace.time[paths.mark_enter[rows]], trace.time[paths.mark_leave[rows]]
    latest = np.maximum.reduceat(enter, starts)
    last = np.full(len(starts), -1, dtype=np.int64)
    picked = np.flatnonzero(enter == latest[owner])[::-1]
    last[owner[picked]] = picked
    event = paths.mark_leave[rows]
    findings = []
    sizes = np.bincount(owner)
    alone = int(np.count_nonzero(sizes == 1))
    if alone and len(trace.locations) > len(trace.ranks):
        findings.append(Finding("barriers that only one thread reached", count=alone))
    points = point_rows(
        event,
        location[rows],
        paths.mark_node[rows],
        leave - enter,
        wait=np.maximum(np.minimum(latest[owner], leave) - enter, 0),
        kind=kind[rows],
        cause=event[last[owner]],
        is_team=True,
    )
    return [points], findings


def _changed_rows(*columns: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Returns a mask of the rows in which any column differs from the previous row."""
    changed = np.ones(len(columns[0]), dtype=bool)
    if len(changed) > 1:
        changed[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changed
