"""Computes efficiencies over threads and sizes, and lines of constant efficiency, for plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from regionpredict.fit.laws.efficiency_surface import LARGEST, smallest_size
from regionpredict.tasks.isoefficiency.models import Isoefficiency

CONTOURS = (0.9, 0.7, 0.5, 0.3)
"""The default efficiencies of the lines, as in Shudler 2017, fig. 7."""
REACH = 4.0
"""The factor by which plots extend beyond the largest measured size and number of threads."""


class SizeLine(NamedTuple):
    """A line of constant efficiency through points (p, n). n is the smallest size that keeps the
    efficiency according to the function `key`. A p for which no size reaches the efficiency has no
    point.
    """

    key: str
    label: str
    points: tuple[tuple[float, float], ...]


def size_lines(
    result: Isoefficiency, efficiency: float, threads: Sequence[float]
) -> tuple[SizeLine, ...]:
    """Returns the lines of those functions E_ac, E_cf and E_ub that have a model."""
    functions: list[tuple[str, str, Callable[[float, float], float | None]]] = []
    if result.actual is not None:
        functions.append(("E_ac", "E_ac, the program", result.actual.value))
    if result.free is not None:
        functions.append(("E_cf", "E_cf, without contention", result.free.value))
    if result.parallelism is not None:
        functions.append(("E_ub", "E_ub, no scheduler exceeds", result.bound))
    return tuple(
        SizeLine(key, label, _line_points(value, efficiency, threads))
        for key, label, value in functions
    )


def _line_points(
    value: Callable[[float, float], float | None], efficiency: float, threads: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    points: list[tuple[float, float]] = []
    for p in threads:
        size = smallest_size(partial(_or_zero, value, p), efficiency)
        if size is not None and size < LARGEST:
            points.append((p, size))
    return tuple(points)


def _or_zero(value: Callable[[float, float], float | None], threads: float, size: float) -> float:
    """Returns an efficiency, or 0 if it is unknown."""
    return value(threads, size) or 0.0


def efficiency_surfaces(
    result: Isoefficiency,
    threads: Sequence[float] | np.ndarray,
    sizes: Sequence[float] | np.ndarray,
) -> dict[str, np.ndarray | None]:
    """Returns the modeled E_ac, E_cf, E_ub, delta_con = E_cf - E_ac and delta_str = E_ub - E_cf.
    Each has shape `(len(sizes), len(threads))`, or is None without a model. Efficiencies are
    limited to the range from 0 to E_ub, which models of E_ac and E_cf may exceed beyond the
    measured points.
    """
    p, n = np.asarray(threads, dtype=np.float64), np.asarray(sizes, dtype=np.float64)

    def grid(value: Callable[[float, float], float] | None) -> np.ndarray | None:
        if value is None:
            return None
        return np.array([[value(a, b) for a in p.tolist()] for b in n.tolist()])

    actual = grid(None if result.actual is None else result.actual.efficiency)
    free = grid(None if result.free is None else result.free.efficiency)
    bound = None
    if result.parallelism is not None:
        known = np.array([result.parallelism.predict((size,)) for size in n.tolist()])
        bound = np.clip(known[:, None] / p, 0.0, 1.0)
        actual = None if actual is None else np.minimum(actual, bound)
        free = None if free is None else np.minimum(free, bound)
    return {
        "E_ac": actual,
        "E_cf": free,
        "E_ub": bound,
        "delta_con": None if free is None or actual is None else free - actual,
        "delta_str": None if bound is None or free is None else bound - free,
    }
