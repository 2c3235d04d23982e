"""Computes the flat profile of a trace: time, visits and waits of each region over all its call
paths.
"""

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
"""The name in the profile for time outside all recorded functions."""


def flat_profile(
    analysis: Analysis, counted: Mapping[str, NDArray[np.float64]]
) -> tuple[RegionTotal, ...]:
    """Returns the totals of regions by name and kind over all locations, the longest exclusive time
    first.

    `counted` are the hardware counters by location and call path.
    """
    paths, points, trace = analysis.paths, analysis.points, analysis.trace
    second, nodes = trace.ticks_per_second, len(paths.region)
    caused = points.kind < Wait.EARLY_SCAN
    waited = np.bincount(points.node[caused], points.wait[caused], nodes)
    for _, node, ticks in analysis.scans:
        waited[node] += ticks
    sums: dict[tuple[str, str], list[float]] = {}
    instructions, cycles = _sum_by_path(counted, INSTRUCTIONS), _sum_by_path(counted, CYCLES)
    if instructions is None or cycles is None:
        instructions = cycles = np.zeros(nodes)
    columns = (
        paths.exclusive.sum(0) / second,
        paths.visits.sum(0),
        waited / second,
        instructions,
        cycles,
    )
    for number, *values in zip(paths.region.tolist(), *(c.tolist() for c in columns), strict=True):
        region = trace.regions[number]
        name = BETWEEN_CALLS if region.role is Role.PROGRAM else region.name
        key = name, _kind_of_region(region)
        sums[key] = [a + b for a, b in zip(sums.get(key, (0,) * len(columns)), values, strict=True)]
    found = (
        RegionTotal(
            name, kind, time, int(visits), wait, instructions / cycles if cycles > 0 else None
        )
        for (name, kind), (time, visits, wait, instructions, cycles) in sums.items()
    )
    return tuple(sorted(found, key=lambda one: (-one.seconds, one.region)))


def _sum_by_path(
    counted: Mapping[str, NDArray[np.float64]], names: Sequence[str]
) -> NDArray[np.float64] | None:
    """Returns the first counter with one of these names, summed by call path. The result is None if
    there is no such counter.
    """
    table = next((counted[name] for name in names if name in counted), None)
    return None if table is None else np.asarray(table.sum(0))


def _kind_of_region(region: Region) -> str:
    if region.role in (Role.IDLE, Role.PROGRAM):
        return "idle" if region.role is Role.IDLE else "user"
    return _KINDS[region.paradigm]
