"""The flat profile of a trace: time, visits and waits of each region over all its call paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Paradigm, Region, Role
from regionpredict.trace.factors import INSTRUCTIONS
from regionpredict.trace.nominal_run import CYCLES
from regionpredict.trace.profile import RegionTotal
from regionpredict.trace.wait_classes import Wait

_KINDS = {
    Paradigm.USER: "user",
    Paradigm.MPI: "MPI",
    Paradigm.OPENMP: "OpenMP",
    Paradigm.OTHER: "other",
}

BETWEEN_CALLS = "(between calls)"
"""The name of the time that a trace assigns to no function."""


def flat_profile(
    analysis: Analysis, counted: Mapping[str, NDArray[np.float64]]
) -> tuple[RegionTotal, ...]:
    """Exclusive times of regions by name and kind, over all locations. The longest comes first.

    `counted` are the hardware counters by location and call path.
    """
    paths, points, trace = analysis.paths, analysis.points, analysis.trace
    second, nodes = trace.ticks_per_second, len(paths.region)
    caused = points.kind < Wait.EARLY_SCAN
    waited = np.bincount(points.node[caused], points.wait[caused], nodes)
    for _, node, ticks in analysis.scans:
        waited[node] += ticks
    sums: dict[tuple[str, str], list[float]] = {}
    done, spent = _sum_by_path(counted, INSTRUCTIONS), _sum_by_path(counted, CYCLES)
    if done is None or spent is None:
        done = spent = np.zeros(nodes)
    columns = paths.exclusive.sum(0) / second, paths.visits.sum(0), waited / second, done, spent
    for number, *values in zip(paths.region.tolist(), *(c.tolist() for c in columns), strict=True):
        region = trace.regions[number]
        name = BETWEEN_CALLS if region.role is Role.PROGRAM else region.name
        key = name, _kind(region)
        sums[key] = [a + b for a, b in zip(sums.get(key, (0,) * len(columns)), values, strict=True)]
    found = (
        RegionTotal(name, kind, time, int(visits), wait, done / spent if spent > 0 else None)
        for (name, kind), (time, visits, wait, done, spent) in sums.items()
    )
    return tuple(sorted(found, key=lambda one: (-one.seconds, one.region)))


def _sum_by_path(
    counted: Mapping[str, NDArray[np.float64]], names: Sequence[str]
) -> NDArray[np.float64] | None:
    """The first counter that has one of these names, by call path. None if there is none."""
    table = next((counted[name] for name in names if name in counted), None)
    return None if table is None else np.asarray(table.sum(0))


def _kind(region: Region) -> str:
    if region.role in (Role.IDLE, Role.PROGRAM):
        return "idle" if region.role is Role.IDLE else "user"
    return _KINDS[region.paradigm]
