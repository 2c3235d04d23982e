"""Computes the activities of locations during the critical path, between MPI_Init and
MPI_Finalize.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.cost_replay import CostReplay
from regionpredict.trace.event_trace import Kind

_Ticks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PathShare:
    """The time of locations during the critical path, in ticks. `busy` (locations x call paths)
    excludes waits. `waited` (by location) is time in waits, and `absent` time outside all regions.
    """

    busy: _Ticks
    waited: _Ticks
    absent: _Ticks


class _PathClock:
    """Measures time on the critical path up to a given time. Overlapping segments, which occur with
    unsynchronized clocks, count twice.
    """

    def __init__(self, replay: CostReplay) -> None:
        pieces = replay.segment_to > replay.segment_from
        begins, ends = replay.segment_from[pieces], replay.segment_to[pieces]
        times = np.concatenate([begins, ends])
        order = np.argsort(times, kind="stable")
        step = np.repeat(np.array([1, -1], dtype=np.int64), len(begins))
        self._times = times[order]
        self._running = np.cumsum(step[order])
        lengths = self._running[:-1] * np.diff(self._times)
        self._before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])

    @property
    def length(self) -> int:
        """The number of ticks of the whole critical path."""
        return int(self._before[-1])

    def at(self, time: _Ticks) -> _Ticks:
        """Returns the number of ticks of the critical path before each time."""
        if not len(self._times):
            return np.zeros(len(time), dtype=np.int64)
        row = np.searchsorted(self._times, time, side="right") - 1
        after = np.maximum(row, 0)
        since = np.where(row < 0, 0, time - self._times[after])
        ticks: _Ticks = self._before[after] + self._running[after] * since
        return ticks


def path_share(analysis: Analysis) -> PathShare:
    """Computes the time of all locations during the critical path."""
    trace, paths, points = analysis.trace, analysis.paths, analysis.points
    clock = _PathClock(analysis.replay)
    inside = np.zeros_like(paths.exclusive)
    waits = np.zeros_like(paths.exclusive)
    absent = np.full(len(trace.locations), clock.length, dtype=np.int64)
    for at in range(len(trace.locations)):
        start, stop = int(trace.starts[at]), int(trace.starts[at + 1])
        kind = trace.kind[start:stop]
        rows = start + np.flatnonzero((kind == Kind.ENTER) | (kind == Kind.LEAVE))
        node = paths.event_node[rows]
        node = np.where(trace.kind[rows] == Kind.LEAVE, paths.parent[node], node)[:-1]
        ticks = np.diff(clock.at(trace.time[rows]))
        known = node >= 0
        np.add.at(inside[at], node[known], ticks[known])
        absent[at] -= int(ticks[known].sum())
        low, high = np.searchsorted(points.event, [start, stop])
        waiting = low + np.flatnonzero(points.wait[low:high] > 0)
        # A wait begins when its location enters the call, which is the last change of region.
        before = np.searchsorted(rows, points.event[waiting]) - 1
        begin = trace.time[rows[before]]
        waited = clock.at(begin + points.wait[waiting]) - clock.at(begin)
        np.add.at(waits[at], points.node[waiting], waited)
    return PathShare(inside - np.minimum(inside, waits), waits.sum(axis=1), absent)
