"""The sizes that keep an efficiency, over threads: what pictures of isoefficiency draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from regionpredict.fit.laws.efficiency_surface import LARGEST, smallest_size
from regionpredict.tasks.isoefficiency.models import Isoefficiency

REACH = 4.0
"""How far beyond the largest measured size and threads pictures go."""


class SizeLine(NamedTuple):
    """(p, n): the smallest n that keeps the efficiency by a function, `key`, which `label` tells in
    words; without those p that no size suits."""

    key: str
    label: str
    points: tuple[tuple[float, float], ...]


def size_lines(
    result: Isoefficiency, efficiency: float, threads: Sequence[float]
) -> tuple[SizeLine, ...]:
    """The line of each function that has a model: E_ac, E_cf, E_ub."""
    functions: list[tuple[str, str, Callable[[float, float], float | None]]] = []
    if result.actual is not None:
        functions.append(("E_ac", "E_ac, the program", result.actual.value))
    if result.free is not None:
        functions.append(("E_cf", "E_cf, without contention", result.free.value))
    if result.parallelism is not None:
        functions.append(("E_ub", "E_ub, no scheduler exceeds", result.bound))
    return tuple(
        SizeLine(key, label, _line(value, efficiency, threads)) for key, label, value in functions
    )


def _line(
    value: Callable[[float, float], float | None], efficiency: float, threads: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    points: list[tuple[float, float]] = []
    for p in threads:
        size = smallest_size(partial(_known, value, p), efficiency)
        if size is not None and size < LARGEST:
            points.append((p, size))
    return tuple(points)


def _known(value: Callable[[float, float], float | None], threads: float, size: float) -> float:
    """An efficiency, 0 where there is none."""
    return value(threads, size) or 0.0
