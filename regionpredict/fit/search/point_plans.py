"""Prepares the part of a model search that depends only on the measured points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.model.terms import CompiledSpace, FloatArray, SearchSpace
from regionpredict.fit.search.options import Options
from regionpredict.fit.search.several_parameters import Grid

DEFAULT_NAMES = ("p", "q", "r", "s", "t", "u", "v", "w")
MOST_PLANS = 256

Points = Sequence[Sequence[float]] | Sequence[float]


@dataclass(frozen=True, slots=True)
class PointPlan:
    """The measured points, prepared for the search.

    `points` has shape `(n, m)`. `order` merges repeated points, or is None. `active` are the
    parameters with more than one value. Either `single` is the search space at the values of one
    parameter, or `grid` is the grid of several parameters.
    """

    points: FloatArray
    order: tuple[tuple[int, ...], ...] | None
    active: tuple[int, ...]
    names: tuple[str, ...]
    single: CompiledSpace | None
    grid: Grid | None


MOST_PARAMETERS = 5
"""The maximum number of parameters with several values. The number of products of their terms grows
exponentially: five parameters take up to 20 s, and six take minutes.
"""


def plan_of(points: Points, names: tuple[str, ...] | None, options: Options) -> PointPlan:
    """Returns the plan for points with one number per parameter.

    Plans for the last `MOST_PLANS` sets of points are cached by their values, so repeated fits at
    the same points are cheaper.

    Raises `InputError` for points that are not finite numbers, differ in length, or do not match
    `names`. It is also raised for fewer than `options.min_points` different points, and for more
    than `MOST_PARAMETERS` parameters with several values.

    >>> first = plan_of([1, 2, 4, 8, 16], None, Options())
    >>> plan_of([1, 2, 4, 8, 16], None, Options()) is first
    True
    """
    try:
        return _cached_plan(tuple(points), names, options.space, options.min_points)
    except TypeError:  # the points are lists or arrays
        try:
            rows = tuple(tuple(np.atleast_1d(point).tolist()) for point in points)
            return _cached_plan(rows, names, options.space, options.min_points)
        except (ValueError, TypeError) as error:
            raise InputError(
                "the points are not numbers, or differ in length",
                remedy="give every point one number per parameter",
            ) from error


@lru_cache(maxsize=MOST_PLANS)
def _cached_plan(
    points: tuple[tuple[float, ...] | float, ...], names: tuple[str, ...] | None,
    space: SearchSpace, min_points: int,
) -> PointPlan:  # fmt: skip
    try:
        x = np.array([np.atleast_1d(p) for p in points], dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(
            "the points are not numbers, or differ in length",
            remedy="give every point one number per parameter",
        ) from error
    if x.ndim != 2 or not x.size:
        raise InputError("there are no points", remedy="give at least 5 points")
    if not np.isfinite(x).all():
        raise InputError("a point is not finite", remedy="leave it out")
    names = names or DEFAULT_NAMES[: x.shape[1]]
    if len(names) != x.shape[1]:
        raise InputError(
            f"{len(names)} parameter names for points of {x.shape[1]} numbers",
            remedy="name every parameter once",
        )
    unique: dict[tuple[float, ...], list[int]] = {}
    for index, point in enumerate(x.tolist()):
        unique.setdefault(tuple(point), []).append(index)
    order = None
    if len(unique) < len(x):
        order = tuple(tuple(group) for group in unique.values())
        x = np.array(list(unique))
    if len(x) < min_points:
        raise InputError(
            f"{len(x)} different points, at least {min_points} are needed",
            remedy="measure more, or lower the minimum (--min-points; min_points in YAML)",
        )
    active = tuple(np.flatnonzero((x != x[0]).any(axis=0)).tolist())
    if len(active) > MOST_PARAMETERS:
        varying = ", ".join(names[index] for index in active)
        raise InputError(
            f"{len(active)} parameters have several values ({varying}), at most {MOST_PARAMETERS} "
            "can be modelled",
            remedy="choose the parameters (--parameter for the columns of a table)",
        )
    if len(active) > 1:
        return PointPlan(x, order, active, names, None, Grid.of(x, active, space))
    compiled = space.compiled(x[:, active[0] if active else 0])
    return PointPlan(x, order, active, names, compiled, None)
