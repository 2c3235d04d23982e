"""Computes the cost of imbalance on the critical path (Boehme 2014, sections 5.2.3 and 5.2.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.path_time import PathShare, path_share

_Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PathImpact:
    """The cost of imbalance as tables (locations x call paths) in seconds. `indicator` is by call
    path.

    `activities` is the busy time of a location in a call path, up to the time of this call path on
    the critical path. `off_path` is the remaining busy time. Both cover the whole run. The other
    tables include only the busy time during the path. `imbalance` assigns the idle time of
    locations to the call paths that take longer on the path. `inter` is the part for which the idle
    location never runs the call path, and `intra` the rest. `indicator` is the time of a call path
    on the path minus that on an average location. `share` has the time of each location during the
    path.
    """

    path: _Table
    activities: _Table
    off_path: _Table
    imbalance: _Table
    intra: _Table
    inter: _Table
    indicator: NDArray[np.float64]
    share: PathShare


def path_impact(analysis: Analysis) -> PathImpact:
    """Computes the cost of imbalance from the time that call paths take longer on the critical path
    than on each location.
    """
    per_second = analysis.trace.ticks_per_second
    ticks = analysis.replay.path
    share = path_share(analysis)
    whole_run = _busy_ticks(analysis)
    on_path = np.minimum(ticks.sum(axis=0), whole_run)
    path: _Table = ticks / per_second
    busy: _Table = share.busy / per_second
    total = path.sum(axis=0)
    imbalance, inter = mapped_idle_time(path, busy)
    return PathImpact(
        path=path,
        activities=on_path / per_second,
        off_path=(whole_run - on_path) / per_second,
        imbalance=imbalance,
        intra=np.maximum(imbalance - inter, 0.0),
        inter=inter,
        indicator=np.where(total > 0, np.maximum(total - busy.mean(axis=0), 0.0), 0.0),
        share=share,
    )


def mapped_idle_time(path: _Table, busy: _Table) -> tuple[_Table, _Table]:
    """Assigns the idle time of locations to the call paths that take longer on the critical path,
    and to the locations of the path.

    The second returned table includes only call paths that the idle location never runs.
    """
    total = path.sum(axis=0)
    imbalance = _mapped_idle_time(
        path, total, *_excess_and_idle_time(total, busy, np.zeros(busy.shape, dtype=bool))
    )
    return imbalance, _mapped_idle_time(path, total, *_excess_and_idle_time(total, busy, busy > 0))


def _busy_ticks(analysis: Analysis) -> NDArray[np.int64]:
    """Returns the ticks of each location and call path, without waits."""
    points = analysis.points
    waited = np.zeros_like(analysis.paths.exclusive)
    waiting = points.wait > 0
    np.add.at(waited, (points.location[waiting], points.node[waiting]), points.wait[waiting])
    exclusive = analysis.paths.exclusive
    return exclusive - np.minimum(exclusive, waited)


def _excess_and_idle_time(
    total: _Table, busy: _Table, own: NDArray[np.bool_]
) -> tuple[_Table, _Table]:
    """Returns the excess time of the critical path by location and call path, and the idle time of
    each location.

    Call paths in `own` count as if the location spent as much time in them as the path.
    """
    excess = np.where(own, 0.0, np.maximum(total - busy, 0.0))
    spent = np.where(own, np.maximum(total, busy), busy)
    return excess, total.sum() - spent.sum(axis=1)


def _mapped_idle_time(path: _Table, total: _Table, excess: _Table, idle: _Table) -> _Table:
    """Distributes each location's idle time in proportion to the excess, and assigns it to the
    locations of the critical path.
    """
    sums = excess.sum(axis=1)
    scale = np.divide(idle, sums, out=np.zeros_like(idle), where=sums > 0)
    cost = (excess * scale[:, None]).sum(axis=0)
    share = np.divide(path, total, out=np.zeros_like(path), where=total > 0)
    mapped: _Table = np.maximum(share * cost, 0.0)
    return mapped
