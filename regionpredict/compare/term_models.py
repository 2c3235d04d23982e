"""Fits models that consist of the terms of the prediction to measured times over sizes and threads.

The prediction gives the terms of a region's time: its own loops determine how work and traffic grow
with sizes and threads (the static prior). The measurements give the factor of each term:

    T(n, p) = c_compute T_compute(n, p) + c_memory T_memory(n, p) + c_overhead T_overhead(n, p)

Here T are the predicted terms, and c is a factor for each. If a factor differs much from 1, model
and measurement disagree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from regionpredict.compare.calibration_samples import Samples
from regionpredict.errors import InputError
from regionpredict.fit import fit
from regionpredict.predict import Prediction, points_of

FloatArray = NDArray[np.float64]
GROUPS = {
    "compute": ("compute", "imbalance"),
    "memory": ("cache", "memory-bandwidth"),
    "overhead": ("overhead", "serialization"),
}
"""The factors of a model, and the predicted terms that each factor scales."""
SPREAD = 0.1
"""The assumed relative spread of the factors of one region around their common value. Assumed. With
noisy times, the factor of a term that is small at all measured sizes must not follow from the noise
of the others, since it may be large at the size of interest. Exact times determine factors freely.
"""
NEARNESS = 1.0
"""The exponent of a measured time's weight. The weight is its number of iterations relative to the
largest, to this power. A machine's factor for a term changes where data exceed a cache, so sizes
close to the requested one matter most. Assumed. With both values, the mean error at the left-out
largest size is 10.8 % over 85 regions of the samples (median 5.1 %). Spreads of 0.05 to 1.5 and
powers of 0.5 to 3 give 10.7 to 12.7 % (4.7 to 5.7 %). Errors beyond 100 % count as 100 %.
"""
_LEAST_RIDGE = 1e-12
LEAST_SIZES = 2
LEAST_HELD_OUT = 3
"""The minimum number of sizes for leaving out the largest, so that a search still has two."""
PARTS_FROM = 1.5
"""The ratio of measured to predicted time from which measurement and prediction disagree."""


class SizedTime(NamedTuple):
    """A region at one size and number of threads: measured seconds of one execution, and the
    predicted seconds of each term. `iterations` is the mean of its loop.
    """

    iterations: float
    threads: int
    seconds: float
    terms: Mapping[str, float]

    @property
    def predicted(self) -> float:
        """Returns the predicted seconds without factors."""
        return sum(self.terms.values())


class HeldOut(NamedTuple):
    """Relative errors at the largest size, which is left out of the fit (medians over thread
    counts).

    They are given for the model with terms, for a search without terms (None if it finds no model),
    and for the prediction alone.
    """

    terms: float
    search: float | None
    prediction: float


@dataclass(frozen=True, slots=True)
class TermModel:
    """One region's model: a factor for each of `GROUPS` in its prediction.

    `parts_at` is the first measured (iterations, threads), by size and then by threads, at which
    prediction and measurement disagree. None if there is none. `most_off` is the group with the
    largest effect on the times. `held_out` is None with fewer than three sizes.
    """

    region: str
    factors: Mapping[str, float]
    most_off: str
    error: float
    sizes: tuple[float, ...]
    parts_at: tuple[float, int] | None
    held_out: HeldOut | None

    def seconds(self, terms: Mapping[str, float]) -> float:
        """Returns the time for a prediction's terms at any size and number of threads."""
        return _total_seconds(self.factors, terms)


def sized_times(predictions: Sequence[Prediction], samples: Samples) -> dict[str, list[SizedTime]]:
    """Returns the measurements of one campaign at one size, by region, next to the prediction at
    that size.
    """
    times: dict[str, list[SizedTime]] = {}
    for sample in samples.samples:
        prediction = predictions[sample.index]
        iterations = prediction.facts.iterations.value
        terms = {point.threads: point.terms for point in points_of(prediction)}
        times[prediction.facts.region.id] = [
            SizedTime(float(iterations or 0), threads, seconds, terms[threads])
            for threads, seconds in sample.seconds.items()
            if threads in terms
        ]
    return times


def term_model(region: str, times: Sequence[SizedTime]) -> TermModel | None:
    """Fits the model of one region. None if fewer than two sizes were measured."""
    sizes = tuple(sorted({time.iterations for time in times}))
    if len(sizes) < LEAST_SIZES:
        return None
    ordered = sorted(times, key=lambda time: (time.iterations, time.threads))
    factors = _fit_factors(ordered)
    errors = [abs(_total_seconds(factors, time.terms) / time.seconds - 1) for time in ordered]
    held_out = _held_out(ordered, sizes[-1]) if len(sizes) >= LEAST_HELD_OUT else None
    return TermModel(
        region, factors, _most_off(factors, ordered), median(errors), sizes,
        _first_disagreement(ordered), held_out,
    )  # fmt: skip


def _group_seconds(name: str, terms: Mapping[str, float]) -> float:
    """Returns the predicted seconds of one group of terms."""
    return sum(terms.get(term, 0.0) for term in GROUPS[name])


def _total_seconds(factors: Mapping[str, float], terms: Mapping[str, float]) -> float:
    return sum(factor * _group_seconds(name, terms) for name, factor in factors.items())


def _most_off(factors: Mapping[str, float], times: Sequence[SizedTime]) -> str:
    """Returns the group whose factor changes the times most, with equal weight for each time."""

    def change(name: str) -> float:
        moved = [abs(factors[name] - 1) * _group_seconds(name, t.terms) / t.seconds for t in times]
        return sum(moved)

    return max(factors, key=change)


def _fit_factors(times: Sequence[SizedTime]) -> dict[str, float]:
    """Fits factors by non-negative least squares of relative errors, drawn to the common factor of
    all terms.

    The common factor is the median ratio of measured to predicted time. Sizes close to the largest
    have the largest weight.
    """
    largest = max(time.iterations for time in times)
    nearness = np.array([(time.iterations / largest) ** NEARNESS for time in times])
    weights = nearness / math.sqrt(float(np.square(nearness).mean()))
    rows = np.array([
        [_group_seconds(name, time.terms) / time.seconds for name in GROUPS] for time in times
    ])  # fmt: skip
    common = median(time.seconds / time.predicted for time in times)
    names = [name for name, column in zip(GROUPS, rows.T, strict=True) if column.any()]
    rows = rows[:, rows.any(axis=0)]
    free = _regularized_factors(rows, weights, common, _LEAST_RIDGE)
    left = max(1, len(rows) - len(names))
    noise = float(np.square(weights * (rows @ free - 1)).sum()) / left
    factors = _regularized_factors(rows, weights, common, max(noise / SPREAD**2, _LEAST_RIDGE))
    return {name: float(factor) for name, factor in zip(names, factors, strict=True)}


def _regularized_factors(
    rows: FloatArray, weights: FloatArray, common: float, ridge: float
) -> FloatArray:
    """Minimizes |w (rows c - 1)|^2 + ridge |c / common - 1|^2 over c >= 0."""
    count = rows.shape[1]
    weight = math.sqrt(ridge)
    left = np.vstack([weights[:, None] * rows, weight / common * np.eye(count)])
    right = np.concatenate([weights, np.full(count, weight)])
    solved: FloatArray = LinearRegression(positive=True, fit_intercept=False).fit(left, right).coef_
    return solved


def _first_disagreement(times: Sequence[SizedTime]) -> tuple[float, int] | None:
    for time in times:
        ratio = time.seconds / time.predicted
        if max(ratio, 1 / ratio) > PARTS_FROM:
            return time.iterations, time.threads
    return None


def _held_out(times: Sequence[SizedTime], largest: float) -> HeldOut:
    known = [time for time in times if time.iterations < largest]
    asked = [time for time in times if time.iterations == largest]
    factors = _fit_factors(known)
    return HeldOut(
        median(abs(_total_seconds(factors, time.terms) / time.seconds - 1) for time in asked),
        _search_error(known, asked),
        median(abs(time.predicted / time.seconds - 1) for time in asked),
    )


def _search_error(known: Sequence[SizedTime], held_out: Sequence[SizedTime]) -> float | None:
    """Returns the error of a model search over iterations and threads that does not use the
    prediction.
    """
    several = len({time.threads for time in known}) > 1

    def point(time: SizedTime) -> tuple[float, ...]:
        return (time.iterations, float(time.threads)) if several else (time.iterations,)

    try:
        model = fit(
            [point(time) for time in known], [[time.seconds] for time in known],
            min_points=LEAST_SIZES,
        )  # fmt: skip
    except InputError:
        return None
    expected = model.formula_values(np.array([point(time) for time in held_out]))
    errors = [
        abs(float(value) / time.seconds - 1) for value, time in zip(expected, held_out, strict=True)
    ]
    return median(errors)
