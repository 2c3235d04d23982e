"""Replays a run without the delays of a call path, to find the most rewarding optimization.

The *delay* of a call path is its additional time on the late location relative to the waiting one,
since both last synchronized (Boehme 2014, section 4.2.1). To remove the delay, the late location's
work on the call path is shortened proportionally. Then the recorded run is replayed
(`recorded_replay.py`). In operations of more than two locations, the last location is compared with
all waiting locations, and other late locations with the first. Locations that arrive in the same
tick are treated alike, so both delays of two equally late ranks are removed.

A delay cost is the waiting time of others because of a call path. A gain is the reduction of the
run time. Costs add up over ranks. A gain counts once, and is limited by other late locations.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError, UsageError
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.call_paths import nodes_after
from regionpredict.trace.cost_replay import last_synchronization
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.recorded_replay import RecordedRun, recorded_run

Rows = NDArray[np.int64]
_NONE = np.zeros(0, dtype=np.int64)
_ROW = 2 * _NONE.itemsize  # bytes of a begin and an end
_PAIRS = 2**22  # pairs of locations in memory at once


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of removing the delays of one call path.

    `delay_cost_s` are its costs (short- and long-term) in the original run, summed over ranks.
    `removed_s` is the removed work, summed over locations. `runtime_s` and `gain_s` are the
    resulting run time and the difference. `half_runtime_s` and `half_gain_s` are the same with half
    of each delay. `location` is the location with most of the removed work, or "".
    """

    callpath: str
    delay_cost_s: float
    removed_s: float
    runtime_s: float
    gain_s: float
    half_runtime_s: float
    half_gain_s: float
    location: str


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The effects of removing the delays of several call paths, the largest gain first. `runtime_s`
    is the original run time.

    `untried` is the number of other call paths with delay costs. `contradicted` is the number of
    waits that the replay ignores because recorded times contradict them.
    """

    runtime_s: float
    changes: tuple[Change, ...]
    untried: int
    contradicted: int


@dataclass(frozen=True, slots=True)
class _Comparisons:
    """The intervals of late locations, each with the intervals of all locations that wait for it.

    An interval has the rows from `begin` up to, but not including, `end`. The locations that wait
    for interval `i` have the intervals from `first[group[i]]` up to, but not including,
    `first[group[i] + 1]`. If many locations arrive in the same tick, most late locations have the
    same group.
    """

    begin: Rows
    end: Rows
    group: Rows
    first: Rows
    waiting_begin: Rows
    waiting_end: Rows


def what_if(
    analysis: Analysis, kernels: Kernels, callpath: str | None = None, most: int = 20
) -> WhatIf:
    """Replays the run without the delays of `callpath`, or of each of the `most` call paths with
    the largest delay costs.

    Raises UsageError for an unknown call path, and InputError for an inconsistent trace.
    """
    run = recorded_run(analysis.trace, analysis.matches)
    tick = 1.0 / analysis.trace.ticks_per_second
    costs = _costs_by_path(analysis)
    if callpath is not None and callpath not in analysis.names:
        raise UsageError(
            f"there is no call path '{callpath}'",
            remedy="trace delays --format csv lists them",
        )
    ranked = sorted((name for name in costs if costs[name] > 0), key=lambda name: -costs[name])
    chosen = [callpath] if callpath is not None else ranked[:most]
    end = int(run.ends(kernels).max(initial=0))
    compared = _late_and_waiting_intervals(analysis, run, kernels)
    node_after = nodes_after(analysis.trace, analysis.paths)
    changes = []
    for name in chosen:
        nodes = [at for at, other in enumerate(analysis.names) if other == name]
        ends, removed = [], np.zeros(len(analysis.trace), dtype=np.int64)
        for share in (1.0, 0.5):
            work = _work_without_delays(run, compared, node_after, nodes, share, kernels)
            ends.append(int(run.ends(kernels, work).max(initial=0)) if work is not None else end)
            if share == 1.0 and work is not None:
                removed = run.work - work
        by_location = np.add.reduceat(
            np.append(removed, 0), np.minimum(analysis.trace.starts[:-1], len(removed))
        ) * (np.diff(analysis.trace.starts) > 0)
        largest = int(np.argmax(by_location)) if by_location.any() else -1
        changes.append(
            Change(
                callpath=name,
                delay_cost_s=costs.get(name, 0.0),
                removed_s=int(removed.sum()) * tick,
                runtime_s=ends[0] * tick,
                gain_s=(end - ends[0]) * tick,
                half_runtime_s=ends[1] * tick,
                half_gain_s=(end - ends[1]) * tick,
                location="" if largest < 0 else str(analysis.trace.locations[largest]),
            )
        )
    changes.sort(key=lambda change: (-change.gain_s, -change.delay_cost_s, change.callpath))
    return WhatIf(
        runtime_s=end * tick,
        changes=tuple(changes),
        untried=0 if callpath is not None else max(len(ranked) - most, 0),
        contradicted=run.contradicted,
    )


def _costs_by_path(analysis: Analysis) -> dict[str, float]:
    """Returns the delay costs of each call path in seconds. Call paths with the same name are
    merged.
    """
    replay = analysis.replay
    by_node = (replay.short_term.sum(axis=(0, 1)) + replay.long_term.sum(axis=(0, 1))) / (
        analysis.trace.ticks_per_second
    )
    costs: dict[str, float] = {}
    for name, cost in zip(analysis.names, by_node.tolist(), strict=True):
        costs[name] = costs.get(name, 0.0) + cost
    return costs


def _late_and_waiting_intervals(
    analysis: Analysis, run: RecordedRun, kernels: Kernels
) -> _Comparisons:
    """Pairs late with waiting locations in each slot. The last locations are paired with all
    waiting locations, and other late locations with the first. Locations that arrive in the same
    tick are equally late.
    """
    time, coupled = analysis.trace.time, run.coupled
    slots, at = len(coupled.posts), time[coupled.event]
    latest, earliest = np.full(slots, -1), np.full(slots, np.iinfo(np.int64).max)
    np.maximum.at(latest, coupled.slot[coupled.is_post], at[coupled.is_post])
    np.minimum.at(earliest, coupled.slot[run.waits], at[run.waits])
    posts = coupled.is_post & (at > earliest[coupled.slot])
    needs = run.waits & (at < latest[coupled.slot])
    last, first = posts & (at == latest[coupled.slot]), needs & (at == earliest[coupled.slot])
    location = analysis.trace.locations_of(coupled.event)
    begins, ends, numbers = [], [], []
    groups: dict[bytes, int] = {}
    for pairs in (*_pairs_in_same_slot(coupled.slot, last, needs),
                  *_pairs_in_same_slot(coupled.slot, posts & ~last, first)):  # fmt: skip
        (late, waiting), (there, here) = coupled.event[pairs], location[pairs]
        begin = _interval_starts(analysis, run, kernels, late, there, here)
        others = np.stack(
            [_interval_starts(analysis, run, kernels, waiting, here, there), waiting], axis=1
        )
        order = np.lexsort((begin, late))
        late, begin, others = late[order], begin[order], others[order]
        changes = (np.diff(late) != 0) | (np.diff(begin) != 0)
        bounds = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(late)]])
        begins.append(begin[bounds[:-1]])
        ends.append(late[bounds[:-1]])
        numbers += [
            groups.setdefault(others[start:stop].tobytes(), len(groups))
            for start, stop in pairwise(bounds.tolist())
        ]
    sizes = [len(key) // _ROW for key in groups]
    rows = np.frombuffer(b"".join(groups), dtype=np.int64).reshape(-1, 2)
    return _Comparisons(
        np.concatenate([_NONE, *begins]),
        np.concatenate([_NONE, *ends]),
        np.array(numbers, dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        rows[:, 0],
        rows[:, 1],
    )


def _pairs_in_same_slot(
    slot: Rows, late: NDArray[np.bool_], waiting: NDArray[np.bool_]
) -> Iterator[Rows]:
    """Yields all pairs of a late and a waiting dependence in the same slot, a few million at a
    time, with shape `(2, k)`.
    """
    left, right = np.flatnonzero(late), np.flatnonzero(waiting)
    right = right[np.argsort(slot[right], kind="stable")]
    begin, end = (np.searchsorted(slot[right], slot[left], side) for side in ("left", "right"))
    count = end - begin
    left, begin, count = left[count > 0], begin[count > 0], count[count > 0]
    part = np.cumsum(count) // _PAIRS
    for rows in np.split(np.arange(len(left)), np.flatnonzero(np.diff(part)) + 1):
        if len(rows):
            some = count[rows]
            before = np.repeat(np.cumsum(some) - some, some)
            partner = np.repeat(begin[rows], some) + np.arange(some.sum()) - before
            yield np.stack([np.repeat(left[rows], some), right[partner]])


def _interval_starts(
    analysis: Analysis,
    run: RecordedRun,
    kernels: Kernels,
    events: Rows,
    location: NDArray[np.int32],
    other_locations: NDArray[np.int32],
) -> Rows:
    """Returns the start of each interval that ends with an event of `events` at `location`. It is
    the last synchronization with the location `other_locations`.
    """
    trace, points = analysis.trace, analysis.points
    rank = np.array([place.rank for place in trace.locations], dtype=np.int32)
    partner_rank = np.where(
        rank[location] == rank[other_locations], -1, rank[other_locations]
    ).astype(np.int32)
    order = np.argsort(events, kind="stable")
    point = np.empty(len(events), dtype=np.int64)
    point[order] = last_synchronization(
        trace, analysis.paths, points, kernels, events[order], partner_rank[order]
    )
    begin = trace.starts[location]
    known = point >= 0
    event = points.event[point[known]]
    begin[known] = run.start_of_call(event)
    return np.asarray(begin)


def _work_without_delays(
    run: RecordedRun,
    compared: _Comparisons,
    node_after: NDArray[np.int32],
    nodes: Sequence[int],
    share: float,
    kernels: Kernels,
) -> Rows | None:
    """Returns the work after each event without `share` of the delays of some call-tree nodes. None
    if these nodes have no delays.
    """
    pieces = np.flatnonzero(np.isin(node_after, nodes) & (run.work > 0))
    ticks = run.work[pieces].astype(np.float64)
    total = np.concatenate([[0.0], np.cumsum(ticks)])
    rows = (compared.begin, compared.end, compared.waiting_begin, compared.waiting_end)
    low, high, other_low, other_high = (np.searchsorted(pieces, row) for row in rows)
    mine, others = total[high] - total[low], total[other_high] - total[other_low]
    least = np.minimum.reduceat(others, compared.first[:-1]) if len(others) else others
    delay = mine - least[compared.group]
    chosen = np.flatnonzero(delay > 0)
    if not len(chosen):
        return None
    # Shorter intervals come first, since their reduction also shortens the longer ones.
    order = chosen[np.lexsort((-low[chosen], high[chosen]))]
    begin, end = low[order].astype(np.int64), high[order].astype(np.int64)
    most = mine[order] - share * delay[order]
    left = np.empty(len(pieces))
    columns = (ctypes.c_void_p(column.ctypes.data) for column in (begin, end, most, left))
    failed = kernels.load("what_if.c").rp_shorten(
        ctypes.c_int64(len(pieces)),
        ctypes.c_void_p(ticks.ctypes.data),
        ctypes.c_int64(len(order)),
        *columns,
    )
    if failed:
        raise InputError("not enough memory", remedy="filter the trace")
    work = run.work.copy()
    work[pieces] = np.rint(left).astype(np.int64)
    return np.asarray(work)
