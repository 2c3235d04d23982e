"""Derives efficiencies over threads and sizes from a table of times or of efficiencies."""

from __future__ import annotations

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series

PROCESSORS = (
    "p", "threads", "ranks", "processes", "procs", "cores", "nodes", "n_threads", "n_ranks",
    "num_threads", "num_ranks", "nprocs", "n_nodes", "num_nodes", "jobsize",
)  # fmt: skip
"""The known names of parameters that count processors."""


def efficiencies_of(
    series: Series, processors: str | None = None
) -> tuple[list[tuple[float, float]], list[float]]:
    """Returns points `(p, n)` and the efficiency at each point.

    The values of a metric with "efficiency" in its name are efficiencies. Other values are times,
    and the efficiency is relative to the smallest number of processors at the same size. These
    reference points are omitted, since their efficiency is 1 by definition. Raises `InputError`
    unless there are two parameters and one of them counts processors.
    """
    if len(series.parameters) != 2:
        raise InputError(
            f"isoefficiency needs processors and a size, the parameters are "
            f"{', '.join(series.parameters)}",
            remedy="give a table of p, n and time, or of p, n and efficiency",
        )
    names = [processors] if processors is not None else list(PROCESSORS)
    known = [name for name in series.parameters if name in names]
    if len(known) != 1:
        raise InputError(
            f"unknown which of {' and '.join(series.parameters)} counts processors",
            remedy="name it: --processors NAME",
        )
    column = series.parameters.index(known[0])
    values = {
        (point[column], point[1 - column]): float(np.mean(repetitions))
        for point, repetitions in zip(series.points, series.values, strict=True)
    }
    if "efficiency" in series.metric.lower():
        return list(values), list(values.values())
    points: list[tuple[float, float]] = []
    efficiencies: list[float] = []
    for (threads, size), time in values.items():
        fewest = min(threads for threads, other in values if other == size)
        if threads > fewest and time > 0:
            points.append((threads, size))
            efficiencies.append(values[fewest, size] * fewest / (threads * time))
    return points, efficiencies
