"""Computes waits over time: the seconds of each wait state in equal parts of the run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.profile import Severity
from regionpredict.trace.wait_classes import CAUSED

PARTS = 60
"""The default number of parts into which the run is divided."""


def severity(analysis: Analysis, parts: int = PARTS) -> Severity | None:
    """Returns the waiting time of all locations in each part of the run. A wait begins with its
    call. The result is None if no location waits.
    """
    trace, points = analysis.trace, analysis.points
    edges = np.linspace(0, int(trace.time.max(initial=0)), parts + 1)
    seconds = {}
    waiting = np.flatnonzero(points.wait > 0)
    begins = analysis.wait_begins(waiting)
    ends = begins + points.wait[waiting]
    for wait in CAUSED:
        chosen = points.kind[waiting] == wait
        if not np.any(chosen):
            continue
        waited = _summed_time_until(ends[chosen], edges) - _summed_time_until(begins[chosen], edges)
        seconds[wait.metric] = tuple((np.diff(-waited) / trace.ticks_per_second).tolist())
    if not seconds:
        return None
    return Severity(float(edges[-1]) / parts / trace.ticks_per_second, seconds)


def _summed_time_until(times: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns for each edge the sum of the time differences to all earlier `times`, in ticks."""
    part = np.searchsorted(edges, times)  # the first edge at or after each time
    count = np.cumsum(np.bincount(part, minlength=len(edges))[: len(edges)])
    total = np.cumsum(np.bincount(part, times, minlength=len(edges))[: len(edges)])
    until: NDArray[np.float64] = edges * count - total
    return until
