"""Models efficiency over threads and sizes as ``E(p, n) = C - A*f(p) + B*f(p)*g(n)``, and computes
its contours.

This family of models is from Shudler 2018, sec. 5.4.2. `C` is the maximum efficiency, `A*f(p)` the
loss from more threads, and `B*f(p)*g(n)` the gain from larger sizes. `A` and `B` have the signs
that fit the points. A contour of a constant efficiency is an isoefficiency function (sec. 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regionpredict.constant import Constant
from regionpredict.errors import InputError
from regionpredict.fit.model.fitted_model import TOO_FAR
from regionpredict.fit.model.terms import (
    FloatArray,
    Term,
    evaluate_all,
    evaluate_term,
    rarity_of_term,
    term_text,
)

_THREAD_POWERS = (0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0, 1.25, 4 / 3, 1.5, 1.75, 2.0)
_SIZE_POWERS = (
    0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0, 1.25, 4 / 3, 1.5, 5 / 3, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0,
    3.5, 4.0, 4.5, 5.0,
)  # fmt: skip
THREAD_TERMS: tuple[Term, ...] = (
    (0.0, 1.0),
    (0.0, 2.0),
    *((power, float(log)) for power in _THREAD_POWERS for log in (0, 1)),
)
SIZE_TERMS: tuple[Term, ...] = (
    (0.0, 1.0),
    (0.0, 2.0),
    *((power, float(log)) for power in _SIZE_POWERS for log in (0, 1)),
)
LEAST_POINTS = 6
LARGEST = 1e18
"""Maximum of sizes and threads in searches."""
_RIVALS = 12
_WORSE = 1.5  # ratio to the best mean square error up to which models count as equally good
_RARE = 0.02  # share of the mean square error that an unusual term must gain
_EXACT = 1e-12  # mean square error below which all models are the same
_STEPS = 16  # thread counts beyond the measured ones at which the efficiency is checked
_GROWTH = 1e-9  # minimum increase of the efficiency between two steps, above rounding errors
_DRIFT = Constant(
    0.13, "1 per doubling", "measured",
    "median of 25 simulated programs of tests/benchmarks/bench_isoefficiency.py; for tables with "
    "too few points to leave the largest threads or sizes out",
)  # fmt: skip
_TURNS = 2  # iterations for an interval's end, since the misfit depends on the solution
_NORMAL = {0.8: 1.2816, 0.9: 1.6449, 0.95: 1.96}


@dataclass(frozen=True, slots=True)
class Misfit:
    """The standard error of a model due to its wrong functional form.

    `within` is the error in the range of the measured points. `per_doubling` is an additional error
    for each doubling of threads and of sizes beyond this range. A range is `(least, most)`. The
    errors of both axes are added, since a wrong model is wrong in the same direction along both.
    """

    within: float
    per_doubling: tuple[float, float]
    ranges: tuple[tuple[float, float], tuple[float, float]]

    def standard_error(self, threads: float, size: float) -> float:
        """Returns the standard error of the efficiency for a number of threads and a size."""
        beyond = [
            error * math.log2(max(least / value, value / most, 1.0))
            for error, (least, most), value in zip(
                self.per_doubling, self.ranges, (threads, size), strict=True
            )
        ]
        return self.within + sum(beyond)


NO_MISFIT = Misfit(0.0, (0.0, 0.0), ((1.0, 1.0), (1.0, 1.0)))
"""The misfit of a published model, which has no measured points."""


@dataclass(frozen=True, eq=False)
class EfficiencySurface:
    """A model of efficiency: the coefficients, the terms of the threads `p` and the size `n`, and
    the covariance of the coefficients.

    `covariance` has shape `(3, 3)`, for `(constant, loss, gain)`. `rrmse` is the root mean square
    error divided by the mean efficiency. `adjusted_r2` is the adjusted coefficient of
    determination, or None if the efficiencies are constant or too few. `rivals` are other models
    that explain the points about equally well, and `misfit` is the error at points that were not
    fitted.
    """

    constant: float
    loss: float
    gain: float
    of_threads: Term
    of_size: Term
    covariance: FloatArray
    rrmse: float = 0.0
    adjusted_r2: float | None = None
    rivals: tuple[EfficiencySurface, ...] = ()
    misfit: Misfit = NO_MISFIT

    def value(self, threads: float, size: float) -> float:
        """Returns the value of the formula, which may be outside the range 0 to 1."""
        f = float(evaluate_term(self.of_threads, threads))
        return (
            self.constant - self.loss * f + self.gain * f * float(evaluate_term(self.of_size, size))
        )

    def efficiency(self, threads: float, size: float) -> float:
        """Returns the efficiency E(p, n), limited to the range 0 to 1."""
        return min(max(self.value(threads, size), 0.0), 1.0)

    def spread(self, threads: float, size: float) -> float:
        """Returns the standard error of the value that follows from the covariance of the
        coefficients.
        """
        f = float(evaluate_term(self.of_threads, threads))
        row = np.array([1.0, -f, f * float(evaluate_term(self.of_size, size))])
        return math.sqrt(max(float(row @ self.covariance @ row), 0.0))

    def text(self) -> str:
        """Returns the formula of the model as text, with binary logarithms."""
        f, g = term_text("p", self.of_threads), term_text("n", self.of_size)
        first = f"{'-' if self.loss >= 0 else '+'} {abs(self.loss):.4g}*{f}"
        second = f"{'+' if self.gain >= 0 else '-'} {abs(self.gain):.4g}*{f}*{g}"
        return f"{self.constant:.4g} {first} {second}"


@dataclass(frozen=True, slots=True)
class Solution:
    """A size or number of threads that keeps an efficiency, and its interval with probability
    `level`. `value` or `high` is None if no number up to `LARGEST` keeps the efficiency. `low` is
    also None if even the smallest number may keep it.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float


def reason_to_withhold(
    model: EfficiencySurface, points: Sequence[tuple[float, float]], threads: float, size: float
) -> str:
    """Returns the reason why an answer with these threads and this size is not reliable. The result
    is empty if it is reliable.

    For a given size, more threads raise the efficiency only through their additional caches.
    Measurements would show this. If the model grows only beyond the measured threads, the growth is
    an artifact of the fit.
    """
    most = [max(point[axis] for point in points) for axis in (0, 1)]
    far = [
        f"{name} is more than {TOO_FAR:g} times the largest measured one"
        for name, value, largest in zip(("p", "n"), (threads, size), most, strict=True)
        if value > TOO_FAR * largest
    ]
    if far:
        return far[0]
    beyond = np.geomspace(most[0], max(threads, most[0]), _STEPS)
    values = [model.value(float(p), size) for p in beyond]
    if any(later > value + _GROWTH for value, later in pairwise(values)):
        return "the fitted efficiency grows with p there; measure more processors at larger sizes"
    return ""


def surface_with_coefficients(
    constant: float, loss: float, gain: float, of_threads: Term, of_size: Term
) -> EfficiencySurface:
    """Creates a model with known coefficients, for example from a publication."""
    return EfficiencySurface(constant, loss, gain, of_threads, of_size, np.zeros((3, 3)))


def fit_efficiency(
    points: Sequence[tuple[float, float]], efficiencies: Sequence[float]
) -> EfficiencySurface:
    """Fits the best model of the family to efficiencies at points `(p, n)`.

    Raises InputError for too few points, and if threads or sizes do not vary.
    """
    x = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    y = np.asarray(efficiencies, dtype=np.float64)
    threads, sizes = x[:, 0], x[:, 1]
    if len(y) < LEAST_POINTS or len(np.unique(threads)) < 2 or len(np.unique(sizes)) < 3:
        raise InputError(
            f"{len(y)} efficiencies on {len(np.unique(threads))} thread counts and "
            f"{len(np.unique(sizes))} different sizes: too few for a model",
            remedy="measure 2 thread counts above one and 3 sizes at least",
        )
    if x.min() <= 0 or not np.isfinite(y).all():
        raise InputError(
            "efficiencies are modelled at positive threads and sizes", remedy="leave out others"
        )
    misfit = _estimate_misfit(threads, sizes, y)
    best = _best_model(threads, sizes, y)
    rivals = tuple(replace(rival, misfit=misfit) for rival in best.rivals)
    return replace(best, rivals=rivals, misfit=misfit)


def _estimate_misfit(threads: FloatArray, sizes: FloatArray, y: FloatArray) -> Misfit:
    """Returns the errors of predictions for thread counts and sizes that are left out of the fit.
    Errors at the largest thread count or size are divided by the doublings from the next smaller
    one. Errors between the smallest and the largest determine `within`.
    """
    drift, within, ranges = [], [], []
    for axis in (threads, sizes):
        least, *inner, most = np.unique(axis).tolist()
        last = _error_at_held_out_points(threads, sizes, y, axis == most)
        step = math.log2(most / (inner or [least])[-1])
        drift.append(_DRIFT.value if last is None else last / step)
        within += [_error_at_held_out_points(threads, sizes, y, axis == at) for at in inner]
        ranges.append((least, most))
    known = [error for error in within if error is not None]
    mean = math.sqrt(float(np.square(known).mean())) if known else _DRIFT.value
    return Misfit(mean, (drift[0], drift[1]), (ranges[0], ranges[1]))


def _error_at_held_out_points(
    threads: FloatArray, sizes: FloatArray, y: FloatArray, out: NDArray[np.bool_]
) -> float | None:
    """Returns the root mean square error at points that are left out of the fit. The result is None
    if too few points remain.
    """
    kept = ~out
    if (
        np.count_nonzero(kept) < LEAST_POINTS
        or len(np.unique(threads[kept])) < 2
        or len(np.unique(sizes[kept])) < 3
    ):
        return None
    part = _best_model(threads[kept], sizes[kept], y[kept])
    errors = [
        part.value(float(p), float(n)) - value
        for p, n, value in zip(threads[out], sizes[out], y[out], strict=True)
    ]
    return math.sqrt(float(np.square(errors).mean()))


def _best_model(threads: FloatArray, sizes: FloatArray, y: FloatArray) -> EfficiencySurface:
    """Returns the model with the smallest error, including its rivals."""
    candidates: list[tuple[float, Term, Term]] = []
    size_columns = evaluate_all(SIZE_TERMS, sizes)
    for of_threads in THREAD_TERMS:
        f = evaluate_term(of_threads, threads)
        if not f.any() or np.ptp(f) == 0:
            continue
        for of_size, error in zip(SIZE_TERMS, _mean_square_errors(f, size_columns, y), strict=True):
            price = 1.0 + _RARE * (rarity_of_term(of_threads) + rarity_of_term(of_size))
            if math.isfinite(error):
                candidates.append((max(error, _EXACT) * price, of_threads, of_size))
    candidates.sort(key=lambda item: item[0])
    models = [
        model
        for cost, of_threads, of_size in candidates[: _RIVALS + 1]
        if cost <= _WORSE * max(candidates[0][0], _EXACT)
        and (model := _fit_terms(threads, sizes, y, of_threads, of_size)) is not None
    ]
    if not models:
        raise InputError(
            "no model of the family fits these efficiencies", remedy="measure more points"
        )
    return replace(models[0], rivals=tuple(models[1:]))


def _mean_square_errors(f: FloatArray, size_columns: FloatArray, y: FloatArray) -> list[float]:
    """Returns the mean square error of the fit with each size term (row of `size_columns`). NaN if
    the fit's columns are linearly dependent.
    """
    columns = np.stack(
        [np.ones_like(size_columns), np.broadcast_to(-f, size_columns.shape), f * size_columns],
        axis=2,
    )
    scale = np.abs(columns).max(axis=1, keepdims=True)
    usable = (np.isfinite(scale) & (scale > 0)).all(axis=(1, 2))
    scaled = np.divide(columns, scale, out=np.zeros_like(columns), where=usable[:, None, None])
    left, singular, _ = np.linalg.svd(scaled, full_matrices=False)
    usable &= singular[:, -1] > np.finfo(np.float64).eps * len(y) * singular[:, 0]
    explained = np.einsum("kij,kj->ki", left, np.einsum("kij,i->kj", left, y))
    errors = np.where(usable, np.square(y - explained).mean(axis=1), np.nan)
    return [float(error) for error in errors]


def _fit_terms(
    threads: FloatArray, sizes: FloatArray, y: FloatArray, of_threads: Term, of_size: Term
) -> EfficiencySurface | None:
    f, g = evaluate_term(of_threads, threads), evaluate_term(of_size, sizes)
    columns = np.stack([np.ones(len(y)), -f, f * g], axis=1)
    scale = np.abs(columns).max(axis=0)
    if not np.isfinite(scale).all() or not scale.all():
        return None
    scaled = columns / scale
    solution, _, rank, _ = np.linalg.lstsq(scaled, y, rcond=None)
    if rank < 3:
        return None
    residual = y - scaled @ solution
    squares = float(residual @ residual)
    freedom = max(len(y) - 3, 1)
    covariance = np.linalg.pinv(scaled.T @ scaled) * (squares / freedom) / np.outer(scale, scale)
    c = solution / scale
    rrmse = math.sqrt(squares / len(y)) / float(np.abs(y).mean() or 1.0)
    around = float(np.square(y - y.mean()).sum())
    r2 = None
    if around > 0 and len(y) > 3:
        r2 = 1 - squares / (len(y) - 3) * (len(y) - 1) / around
    return EfficiencySurface(
        float(c[0]), float(c[1]), float(c[2]), of_threads, of_size, covariance, rrmse, r2
    )


def smallest_size(
    value: Callable[[float], float], efficiency: float, least: float = 1.0
) -> float | None:
    """Returns the smallest size at which `value` reaches an efficiency. `value` must increase with
    the size.
    """
    return _smallest_solution(lambda n: value(n) >= efficiency, least)


def most_threads(value: Callable[[float], float], efficiency: float) -> float | None:
    """Returns the largest number of threads at which `value` keeps an efficiency. `value` must
    decrease with the threads.

    Returns None if even one thread does not keep the efficiency, and `LARGEST` if any number of
    threads keeps it.
    """
    if value(1.0) < efficiency:
        return None
    turn = _smallest_solution(lambda p: value(p) < efficiency, 1.0)
    return LARGEST if turn is None else turn


def _smallest_solution(holds: Callable[[float], bool], least: float) -> float | None:
    """Returns the smallest number at which a condition becomes true, by bisection of the
    logarithm.
    """
    if holds(least):
        return least
    if not holds(LARGEST):
        return None
    low, high = math.log(least), math.log(LARGEST)
    while low < (middle := (low + high) / 2) < high:
        if holds(math.exp(middle)):
            high = middle
        else:
            low = middle
    return math.exp(high)


def size_for(
    model: EfficiencySurface, threads: float, efficiency: float, level: float = 0.9
) -> Solution:
    """Returns the smallest size that keeps an efficiency on a number of threads (Shudler 2018,
    question 4).
    """
    return _solution_with_interval(
        model, level, lambda value: smallest_size(partial(value, threads), efficiency),
        lambda size: (threads, size),
    )  # fmt: skip


def threads_for(
    model: EfficiencySurface, size: float, efficiency: float, level: float = 0.9
) -> Solution:
    """Returns the largest number of threads on which a size keeps an efficiency (question 5)."""
    return _solution_with_interval(
        model, level, lambda value: most_threads(lambda p: value(p, size), efficiency),
        lambda threads: (threads, size), missing_is_low=True,
    )  # fmt: skip


def _solution_with_interval(
    model: EfficiencySurface,
    level: float,
    solve: Callable[[Callable[[float, float], float]], float | None],
    place: Callable[[float], tuple[float, float]],
    missing_is_low: bool = False,
) -> Solution:
    """Returns the solution of the model with its interval. The interval spans the solutions of the
    model and its rivals, after shifting each of them by its standard error in both directions. A
    missing solution counts as larger than all sizes, or with `missing_is_low` as less than one
    thread.
    """
    sides = []
    for rival in (model, *model.rivals):
        middle = solve(rival.value)
        sides.append(middle)
        for sign in (1.0, -1.0):
            side = middle
            for _ in range(_TURNS):
                far = rival.misfit.standard_error(*place(LARGEST if side is None else side))
                side = solve(partial(_shifted_value, rival, sign * _NORMAL[level], far))
            sides.append(side)
    known = [side for side in sides if side is not None]
    open_ = len(known) < len(sides)
    low = None if open_ and missing_is_low else min(known, default=None)
    high = None if open_ and not missing_is_low else max(known, default=None)
    return Solution(sides[0], low, high, level)


def _shifted_value(
    model: EfficiencySurface, deviations: float, misfit: float, threads: float, size: float
) -> float:
    return model.value(threads, size) + deviations * math.hypot(model.spread(threads, size), misfit)
