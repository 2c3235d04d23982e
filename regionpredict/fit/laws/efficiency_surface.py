"""Efficiency over threads and sizes: ``E(p, n) = C - A*f(p) + B*f(p)*g(n)``, and its contours.

The family of Shudler 2018, sec. 5.4.2. `C` is the maximum efficiency, `A*f(p)` the loss from more
threads, and `B*f(p)*g(n)` the gain from larger sizes. `A` and `B` have the signs that fit the
points. A contour of a constant efficiency is an isoefficiency function (sec. 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.model.fitted_model import TOO_FAR
from regionpredict.fit.model.terms import FloatArray, Term, evaluate, rarity, term_text

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
_WORSE = 1.5  # ratio to the best mean square error: up to this, models count as equal
_RARE = 0.02  # share of the mean square error that an unusual term must gain
_EXACT = 1e-12  # mean square error below which all models are the same
_STEPS = 16  # of the processors at which growth is looked for
_GROWTH = 1e-9  # of the efficiency from one step to the next: above rounding errors
_NORMAL = {0.8: 1.2816, 0.9: 1.6449, 0.95: 1.96}


@dataclass(frozen=True, eq=False)
class EfficiencySurface:
    """A model: the coefficients, the terms of `p` and `n`, and their uncertainty.

    `covariance` has shape `(3, 3)`, for `(constant, loss, gain)`. `rrmse` is the root mean square
    error divided by the mean efficiency. `adjusted_r2` is the adjusted coefficient of
    determination, or None if the efficiencies are constant or too few. `rivals` are other models
    that explain the points about equally well.
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

    def value(self, threads: float, size: float) -> float:
        """The sum without limits. Outside 0 to 1 it is not an efficiency."""
        f = float(evaluate(self.of_threads, threads))
        return self.constant - self.loss * f + self.gain * f * float(evaluate(self.of_size, size))

    def efficiency(self, threads: float, size: float) -> float:
        """E(p, n), from 0 to 1."""
        return min(max(self.value(threads, size), 0.0), 1.0)

    def spread(self, threads: float, size: float) -> float:
        """The standard error of the value."""
        f = float(evaluate(self.of_threads, threads))
        row = np.array([1.0, -f, f * float(evaluate(self.of_size, size))])
        return math.sqrt(max(float(row @ self.covariance @ row), 0.0))

    def text(self) -> str:
        """The model as text, with binary logarithms."""
        f, g = term_text("p", self.of_threads), term_text("n", self.of_size)
        first = f"{'-' if self.loss >= 0 else '+'} {abs(self.loss):.4g}*{f}"
        second = f"{'+' if self.gain >= 0 else '-'} {abs(self.gain):.4g}*{f}*{g}"
        return f"{self.constant:.4g} {first} {second}"


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution and its interval with probability `level`. A value is None if there is none up to
    `LARGEST`. `low` is also None if even the smallest value may be enough.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float


def reason_to_withhold(
    model: EfficiencySurface, points: Sequence[tuple[float, float]], threads: float, size: float
) -> str:
    """Why an answer with these threads and this size is not reliable. Empty if it is.

    Threads never raise the efficiency of a given size, except by their caches, which measurements
    show. A surface that grows beyond the measured threads is an artifact of the fit.
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


def surface(
    constant: float, loss: float, gain: float, of_threads: Term, of_size: Term
) -> EfficiencySurface:
    """A model with known coefficients, for example published ones."""
    return EfficiencySurface(constant, loss, gain, of_threads, of_size, np.zeros((3, 3)))


def fit_efficiency(
    points: Sequence[tuple[float, float]], efficiencies: Sequence[float]
) -> EfficiencySurface:
    """The best model of the family for efficiencies at points `(p, n)`.

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
    candidates: list[tuple[float, float, EfficiencySurface]] = []
    for of_threads in THREAD_TERMS:
        f = evaluate(of_threads, threads)
        if not f.any() or np.ptp(f) == 0:
            continue
        for of_size in SIZE_TERMS:
            model = _fitted(f, evaluate(of_size, sizes), y, of_threads, of_size)
            if model is None:
                continue
            error = (model.rrmse * float(np.abs(y).mean())) ** 2
            price = 1.0 + _RARE * (rarity(of_threads) + rarity(of_size))
            candidates.append((max(error, _EXACT) * price, error, model))
    if not candidates:
        raise InputError(
            "no model of the family fits these efficiencies", remedy="measure more points"
        )
    candidates.sort(key=lambda item: item[0])
    best = candidates[0]
    rivals = [
        model
        for cost, _, model in candidates[1 : _RIVALS + 1]
        if cost <= _WORSE * max(best[0], _EXACT)
    ]
    chosen = best[2]
    return replace(chosen, rivals=tuple(rivals))


def _fitted(
    f: FloatArray, g: FloatArray, y: FloatArray, of_threads: Term, of_size: Term
) -> EfficiencySurface | None:
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
    """The smallest size at which `value`, which increases with it, reaches an efficiency."""
    return _turn(lambda n: value(n) >= efficiency, least)


def most_threads(value: Callable[[float], float], efficiency: float) -> float | None:
    """The largest number of threads at which `value`, which decreases with it, keeps an efficiency.

    None if even one thread does not, and `LARGEST` if any number does.
    """
    if value(1.0) < efficiency:
        return None
    turn = _turn(lambda p: value(p) < efficiency, 1.0)
    return LARGEST if turn is None else turn


def _turn(holds: Callable[[float], bool], least: float) -> float | None:
    """The point at which a condition becomes true, by bisection of the logarithm."""
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
    """The size that keeps an efficiency on `p` threads (Shudler 2018, question 4)."""
    sides = []
    for rival in (model, *model.rivals):
        for sign in (0.0, 1.0, -1.0):
            sides.append(
                smallest_size(
                    lambda n, model=rival, sign=sign: (  # type: ignore[misc]
                        model.value(threads, n) + sign * _NORMAL[level] * model.spread(threads, n)
                    ),
                    efficiency,
                )
            )
    return _solved(sides, level)


def threads_for(
    model: EfficiencySurface, size: float, efficiency: float, level: float = 0.9
) -> Solution:
    """The number of threads on which a size keeps an efficiency (question 5)."""
    sides = []
    for rival in (model, *model.rivals):
        for sign in (0.0, 1.0, -1.0):
            sides.append(
                most_threads(
                    lambda p, model=rival, sign=sign: (  # type: ignore[misc]
                        model.value(p, size) + sign * _NORMAL[level] * model.spread(p, size)
                    ),
                    efficiency,
                )
            )
    return _solved(sides, level)


def _solved(sides: Sequence[float | None], level: float) -> Solution:
    known = [side for side in sides if side is not None]
    open_ = len(known) < len(sides)
    return Solution(
        sides[0], min(known, default=None), None if open_ else max(known, default=None), level
    )
