"""What imbalance on the critical path costs (Boehme 2014, sections 5.2.3 and 5.2.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.analysis import Analysis

_Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PathImpact:
    """Tables (locations x call paths) in seconds; `indicator` is by call path.

    `activities` are what locations do of the kind that is on the path, `off_path` the rest of
    what they do. `imbalance` maps their idle time onto the call paths that are longer on the path;
    `inter` is the part of it where the idle location never runs the call path, `intra` the rest.
    `indicator` is how much longer a call path is on the path than on an average location. `idle`
    is the path's length without what each location does; it is negative where a location is busy
    for longer, as before MPI_Init and after the path's end.
    """

    path: _Table
    activities: _Table
    off_path: _Table
    imbalance: _Table
    intra: _Table
    inter: _Table
    indicator: NDArray[np.float64]
    idle: NDArray[np.float64]


def path_impact(analysis: Analysis) -> PathImpact:
    """Excess times of the path over each location, scaled to the location's idle time."""
    ticks, busy_ticks = analysis.replay.path, _busy(analysis)
    on_path = np.minimum(ticks.sum(axis=0), busy_ticks)
    per_second = analysis.trace.ticks_per_second
    path: _Table = ticks / per_second
    busy: _Table = busy_ticks / per_second
    total = path.sum(axis=0)
    excess, idle = _excess(total, busy, np.zeros(busy.shape, dtype=bool))
    imbalance = _mapped(path, total, excess, idle)
    inter = _mapped(path, total, *_excess(total, busy, busy > 0))
    return PathImpact(
        path=path,
        activities=on_path / per_second,
        off_path=(busy_ticks - on_path) / per_second,
        imbalance=imbalance,
        intra=np.maximum(imbalance - inter, 0.0),
        inter=inter,
        indicator=np.where(total > 0, np.maximum(total - busy.mean(axis=0), 0.0), 0.0),
        idle=idle,
    )


def _busy(analysis: Analysis) -> NDArray[np.int64]:
    """Ticks of each location and call path without waits."""
    points = analysis.points
    waited = np.zeros_like(analysis.paths.exclusive)
    waiting = points.wait > 0
    np.add.at(waited, (points.location[waiting], points.node[waiting]), points.wait[waiting])
    exclusive = analysis.paths.exclusive
    return exclusive - np.minimum(exclusive, waited)


def _excess(total: _Table, busy: _Table, own: NDArray[np.bool_]) -> tuple[_Table, _Table]:
    """Excess time by location and call path, and the idle time of each location.

    Call paths in `own` count as if the location spent on them what the path does.
    """
    excess = np.where(own, 0.0, np.maximum(total - busy, 0.0))
    spent = np.where(own, np.maximum(total, busy), busy)
    return excess, total.sum() - spent.sum(axis=1)


def _mapped(path: _Table, total: _Table, excess: _Table, idle: _Table) -> _Table:
    """Each location's idle time by excess, on the locations where the path ran."""
    sums = excess.sum(axis=1)
    scale = np.divide(idle, sums, out=np.zeros_like(idle), where=sums > 0)
    cost = (excess * scale[:, None]).sum(axis=0)
    share = np.divide(path, total, out=np.zeros_like(path), where=total > 0)
    mapped: _Table = np.maximum(share * cost, 0.0)
    return mapped
