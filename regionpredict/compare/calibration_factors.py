"""Correction factors of the saturation model, fitted to measured times by iteratively reweighted
ridge regression.

Each Gauss-Newton step solves a ridge regression. Here theta are the logarithms of the factors,
f(theta) the model's logarithmic times on one thread and speedups, and y the measured values:

    min over theta'  sum w_i ((y - f(theta) - J (theta' - theta))_i / s_i)^2 + alpha |theta'|^2,

The ridge (Hoerl and Kennard 1970) draws factors toward 1. `s` is the median absolute residual of
the previous step, separately for times and speedups. The model may be wrong by one factor in all
times of a region and right in its speedup. The goal is the speedup. Times only separate the
factors, so they count a third as much. `w` are Huber's weights (Huber 1964). They reduce the
influence of regions whose time has causes that the model does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from regionpredict.compare.calibration_samples import Sample
from regionpredict.machine import Machine
from regionpredict.machine.corrections import FACTORS
from regionpredict.machine.quantity import Quantity
from regionpredict.predict import Prediction, SaturationDerivation

FloatArray = NDArray[np.float64]
Predictor = Callable[[Machine], Sequence[Prediction]]
"""Predicts all regions on a machine, with a curve over the measured thread counts."""

ALPHA = 1.0 / math.log(2.0) ** 2
"""The ridge parameter: a factor of two costs as much as a residual of one standard deviation."""
TIMES_WEIGH = 1.0 / 3.0
"""The weight of the logarithm of a time relative to that of a speedup, each divided by its own
spread.
"""
MOST = 8.0
"""The maximum factor. The minimum is its reciprocal."""
STEP = 0.1
SMALL = 0.02
"""A factor closer to 1 than this is left out. Smaller steps end the iteration."""
_STEPS = 6
_SLOPES = 1
HUBER = 1.345
"""Residuals beyond this number of standard deviations have less weight. With this value, the
estimate is 95 % efficient for normal residuals (Huber 1964).
"""
_DEVIATION = 1.4826  # standard deviation over median absolute deviation of normal residuals
_LEAST_SCALE = 0.03


class _Rows(NamedTuple):
    """One row per time on one thread or speedup. `timed` marks the times, and `sample` has the
    index of the sample.
    """

    value: FloatArray
    timed: NDArray[np.bool_]
    sample: NDArray[np.int64]


def with_factors(machine: Machine, factors: Mapping[str, float]) -> Machine:
    """Returns the machine with these correction factors."""
    known = {
        name: Quantity(factor, "", "measured", "fitted to measurements")
        for name, factor in factors.items()
    }
    return replace(machine, corrections=replace(machine.corrections, factors=known))


class Model:
    """The saturation model of a set of samples as a function of the factors' logarithms."""

    def __init__(self, predictor: Predictor, machine: Machine, samples: Sequence[Sample]) -> None:
        self.predictor = predictor
        self.machine = machine
        self.samples = tuple(samples)
        self.measured = _measured_rows([sample.seconds for sample in samples], samples)
        self._known: dict[tuple[float, ...], tuple[Sequence[Prediction], FloatArray]] = {}

    def predictions(self, theta: FloatArray) -> Sequence[Prediction]:
        """Returns all predictions with these factors."""
        return self._predict_with(theta)[0]

    def rows(self, theta: FloatArray) -> FloatArray:
        """Returns logarithms of predicted times on one thread and of speedups, in the order of
        `measured.value`.
        """
        return self._predict_with(theta)[1]

    def _predict_with(self, theta: FloatArray) -> tuple[Sequence[Prediction], FloatArray]:
        key = tuple(round(float(part), 9) for part in theta)
        if key not in self._known:
            predictions = self.predictor(with_factors(self.machine, factors_of(theta)))
            times = [predicted_seconds(predictions[sample.index]) for sample in self.samples]
            self._known[key] = (predictions, _measured_rows(times, self.samples).value)
        return self._known[key]

    def slopes(self, theta: FloatArray) -> FloatArray:
        """Returns the derivatives of `rows` by each logarithm, with shape (rows, factors), by
        finite differences.
        """
        base = self.rows(theta)
        columns = []
        for place in range(len(FACTORS)):
            moved = theta.copy()
            moved[place] += STEP
            columns.append((self.rows(moved) - base) / STEP)
        return np.stack(columns, axis=1)


def predicted_seconds(prediction: Prediction) -> dict[int, float]:
    """Returns the predicted time of one execution in seconds, by thread count."""
    derivation = prediction.derivation
    assert isinstance(derivation, SaturationDerivation)
    return {point.threads: point.seconds for point in derivation.points}


def _measured_rows(times: Sequence[Mapping[int, float]], samples: Sequence[Sample]) -> _Rows:
    """Returns ln T(1) and ln S(n) of each sample, for the measured thread counts."""
    logarithms: list[float] = []
    timed: list[bool] = []
    owner: list[int] = []
    for place, (by_count, sample) in enumerate(zip(times, samples, strict=True)):
        for count in sorted(sample.seconds):
            alone = by_count[1]
            logarithms.append(math.log(alone) if count == 1 else math.log(alone / by_count[count]))
            timed.append(count == 1)
            owner.append(place)
    return _Rows(
        np.array(logarithms), np.array(timed, dtype=np.bool_), np.array(owner, dtype=np.int64)
    )


def factors_of(theta: FloatArray) -> dict[str, float]:
    """Returns the factors by name, without those equal to 1."""
    return {
        name: math.exp(float(part))
        for name, part in zip(FACTORS, theta, strict=True)
        if abs(float(part)) >= SMALL
    }


def fit_factors(model: Model, sample_positions: Sequence[int]) -> FloatArray:
    """Returns the logarithms of the factors that best fit the samples at the positions
    `sample_positions`. Measurements of other samples are not used.
    """
    use = np.isin(model.measured.sample, np.asarray(sample_positions))
    target, timed = model.measured.value[use], model.measured.timed[use]
    theta = np.zeros(len(FACTORS))
    limit = math.log(MOST)
    for number in range(_STEPS):
        residual = target - model.rows(theta)[use]
        scale = _residual_scales(residual, timed)
        residual = residual / scale
        if number <= _SLOPES:  # later steps are small, so slopes are reused
            slopes = model.slopes(theta)[use]
        weight = np.minimum(1.0, HUBER / np.maximum(np.abs(residual), 1e-12))
        ridge = Ridge(alpha=ALPHA, fit_intercept=False)
        scaled = slopes / scale[:, None]
        ridge.fit(scaled, residual + scaled @ theta, sample_weight=weight)
        step = np.clip(np.asarray(ridge.coef_), -limit, limit) - theta
        theta = theta + np.clip(step, -1.0, 1.0)
        if float(np.abs(step).max()) < SMALL:
            break
    return theta


def _residual_scales(residual: FloatArray, timed: NDArray[np.bool_]) -> FloatArray:
    """Returns the spread of the times or speedups, divided by their weight, for each row.

    The spread is around the median. A deviation that all rows share is not noise, and factors
    correct it.
    """
    scale = np.ones(len(residual))
    for kind, weight in ((timed, TIMES_WEIGH), (~timed, 1.0)):
        if kind.any():
            own = residual[kind]
            spread = _DEVIATION * float(np.median(np.abs(own - np.median(own))))
            scale[kind] = max(spread, _LEAST_SCALE) / weight
    return scale
