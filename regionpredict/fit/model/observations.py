"""Summarizes the repetitions at each point, and estimates their weights and noise.

Noise is assumed to be proportional to the value, as for run times, unless the repetitions clearly
show constant or mixed noise (`noise.py`). Its size is estimated from their spread. With `r`
repetitions at each of `n` points, the noise has `n(r - 1)` degrees of freedom, independent of the
growth. Zero and negative values have no relative noise, so data with such values are scaled by
their largest value. The noise of means is the standard deviation. Other summaries are for data with
outliers, so their noise is estimated robustly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.fit.model.noise import noise_scales, robust_squares, without_hiccups
from regionpredict.fit.model.terms import FloatArray

Statistic = Literal["mean", "median", "minimum", "first-quartile"]
_STATISTICS: tuple[str, ...] = get_args(Statistic)

# Variance of each statistic relative to that of the mean, for normal noise and 5 repetitions. For
# the minimum, the ratio depends on the number of repetitions.
_VARIANCE_FACTOR: dict[str, float] = {
    "mean": 1.0,
    "median": 1.44,
    "first-quartile": 1.6,
}
# Variance of the minimum of n standard normal values, by integration of its density. More
# repetitions hardly decrease it.
_VARIANCE_OF_MINIMUM = (
    (1, 1.0), (2, 0.6817), (3, 0.5595), (4, 0.4917), (5, 0.4475), (6, 0.4159), (8, 0.3729),
    (10, 0.3443), (15, 0.301), (20, 0.2757), (30, 0.2458), (50, 0.2157), (100, 0.1844),
    (200, 0.1607), (500, 0.1372), (1000, 0.1235),
)  # fmt: skip
_LOG_COUNTS = np.log([count for count, _ in _VARIANCE_OF_MINIMUM])
_LEAST_VARIANCES = np.array([variance for _, variance in _VARIANCE_OF_MINIMUM])

_ENOUGH_REPETITIONS = 3.0  # degrees of freedom needed to estimate the noise
_LIKE_NOISE = 4.0  # ratio of the variances of misfit and noise up to which they are equal
_LOPSIDED = 0.5  # share of the relative spread at one point from which noise may not be relative
_SPARE_POINTS = 2  # minimum number of points beyond the coefficients if there are no repetitions
_EXACT = 1e-6  # relative variance that counts as zero


@dataclass(frozen=True, slots=True)
class Observations:
    """The measurements at `n` points: summaries of the repetitions, their weights and their noise.

    `y` has shape `(n,)`, in the unit of the metric. `weights` `(n,)` is the number of repetitions
    divided by the squared noise scale, so that weighted sums of squares are relative variances.
    `within` is the weighted sum of squares of the repetitions about their summary, and `dof` its
    degrees of freedom. `relative` says whether all values are positive. In this case, the noise
    scale is the value itself, unless the repetitions show another scale.
    """

    y: FloatArray
    weights: FloatArray
    within: float
    dof: float
    relative: bool

    @property
    def noise(self) -> float:
        """Relative standard deviation of one repetition, or `nan` without repetitions."""
        return float(np.sqrt(self.within / self.dof)) if self.dof > 0 else float("nan")

    @property
    def repetitions(self) -> float:
        """The mean number of repetitions per point."""
        return self.dof / len(self.y) + 1.0

    def explained(self, misfit: float, used: int) -> bool:
        """Returns whether the residual of a model with `used` coefficients is within the noise of
        the repetitions.

        `misfit` is the weighted residual sum of squares. Without enough repetitions, the model must
        go through all points, and the points must exceed the coefficients by two.
        """
        left = np.count_nonzero(self.weights) - used
        if left >= 1 and self.dof >= _ENOUGH_REPETITIONS:
            return bool(misfit <= left * _LIKE_NOISE * max(self.within / self.dof, _EXACT))
        return bool(left >= _SPARE_POINTS and misfit <= left * _EXACT)


def explained_rows(
    weights: FloatArray,
    within: FloatArray,
    dof: FloatArray,
    misfit: FloatArray,
    used: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Computes `Observations.explained` for `b` models at once. `weights` has shape `(b, n)`, and
    the other arguments have shape `(b,)`.
    """
    left = np.count_nonzero(weights, axis=1) - used
    noise_known = (left >= 1) & (dof >= _ENOUGH_REPETITIONS)
    variance = np.maximum(within / np.maximum(dof, 1.0), _EXACT)
    most = np.where(noise_known, _LIKE_NOISE * variance, _EXACT) * left
    return np.asarray((noise_known | (left >= _SPARE_POINTS)) & (misfit <= most))


def summarise_repetitions(
    repetitions: Sequence[Sequence[float]], statistic: Statistic = "mean"
) -> Observations:
    """Computes the summary and noise of the repetitions at each of `n` points. NaN repetitions are
    ignored.

    Raises `InputError` if a point has no finite value.

    >>> o = summarise_repetitions([[1.0, 3.0], [4.0, 4.0]])
    >>> o.y.tolist(), o.within, o.dof
    ([2.0, 4.0], 0.5, 2.0)
    """
    if statistic not in _STATISTICS:
        raise InputError(
            f"unknown summary '{statistic}'", remedy=f"use one of {', '.join(_STATISTICS)}"
        )
    try:
        data = np.array(repetitions, dtype=np.float64)
    except (ValueError, TypeError):
        return _summarise_ragged(repetitions, statistic)
    if data.ndim == 1:
        data = data[:, None]
    if statistic != "mean":
        if not np.isfinite(data).all():
            return _summarise_ragged(repetitions, statistic)
        kept = without_hiccups(data)
        if kept is not None:
            # A repetition counts as slow if it took longer than the minimum.
            made = data.shape[1] if statistic == "minimum" else None
            return _summarise_ragged(kept, statistic, made)  # type: ignore[arg-type]
        y, within = summarise_block(data, statistic)
    else:
        y = _means_over_last_axis(data)
        if not all(map(isfinite, y.tolist())):
            return _summarise_ragged(repetitions, statistic)
        within = _sums_of_squares(data, y)
    count = data.shape[1]
    return _weighted_observations(y, within, count, count - 1.0, statistic)


def summarise_many(
    many: Sequence[Sequence[Sequence[float]]], statistic: Statistic
) -> list[Observations]:
    """Summarizes many series like `summarise`. Series with equal numbers of repetitions are
    processed together.
    """
    data = _as_array(many)
    if data is None or statistic != "mean" or not np.isfinite(data).all():
        return [summarise_repetitions(repetitions, statistic) for repetitions in many]
    y, within = summarise_block(data, statistic)
    count, points = float(data.shape[2]), y.shape[1]
    dof = (count - 1.0) * points
    positive = y.min(1) > 0
    squares = np.where(positive[:, None], y * y, 1.0)
    own = within / squares
    total = own.sum(1)
    plain = positive & (own.max(1) <= max(_LOPSIDED, 3.0 / points) * total)
    weights = count / squares
    return [
        Observations(summary, weight, size, dof, True)
        if alone
        else _weighted_observations(summary, spread, int(count), count - 1.0, statistic)
        for alone, summary, weight, size, spread in zip(
            plain.tolist(), y, weights, total.tolist(), within, strict=True
        )
    ]


def _as_array(many: Sequence[Sequence[Sequence[float]]]) -> FloatArray | None:
    """Converts the series to one array `(b, n, r)`. Returns None if their shapes differ, or if they
    are not numbers.
    """
    try:
        counts = set(map(len, chain.from_iterable(many)))
        points = set(map(len, many))
        if len(counts) != 1 or len(points) != 1 or not all(counts):
            return None
        # Creating an array from nested lists takes twice as long, since numpy first finds their
        # depth.
        flat = chain.from_iterable(chain.from_iterable(many))
        return np.fromiter(flat, np.float64).reshape(len(many), *points, *counts)
    except (ValueError, TypeError):
        return None


def _means_over_last_axis(data: FloatArray) -> FloatArray:
    return np.asarray(np.add.reduce(data, -1) / data.shape[-1])


def _sums_of_squares(data: FloatArray, mean: FloatArray) -> FloatArray:
    """Returns the sums of squared deviations from the means."""
    deviation = data - mean[..., None]
    deviation *= deviation
    return np.asarray(np.add.reduce(deviation, -1))


def summarise_block(data: FloatArray, statistic: Statistic) -> tuple[FloatArray, FloatArray]:
    """Computes the summary, and the sum of squares of the noise, over the last axis of a block of
    repetitions.
    """
    if statistic == "mean":
        mean = _means_over_last_axis(data)
        return mean, _sums_of_squares(data, mean)
    within = robust_squares(data)
    if statistic == "median":
        return np.median(data, axis=-1), within
    if statistic == "minimum":
        return data.min(-1), within
    return np.quantile(data, 0.25, axis=-1), within


def variance_factor(statistic: Statistic, count: FloatArray | int) -> FloatArray | float:
    """Returns the variance of a summary of `count` repetitions relative to the variance of their
    mean.

    >>> round(float(variance_factor("minimum", 50)), 1)
    10.8
    """
    if statistic != "minimum":
        return _VARIANCE_FACTOR[statistic]
    variance_of_minimum = np.interp(np.log(count), _LOG_COUNTS, _LEAST_VARIANCES)
    return np.asarray(count * variance_of_minimum)


def _weighted_observations(
    y: FloatArray,
    within: FloatArray,
    count: FloatArray | int,
    dof: FloatArray | float,
    statistic: Statistic,
) -> Observations:
    """Creates observations from the summaries `y`. `within` is the sum of squares of the
    repetitions at each point, and `dof` its degrees of freedom.
    """
    factor = variance_factor(statistic, count)
    relative = min(y.tolist()) > 0
    squares = y * y if relative else np.full(len(y), float(np.abs(y).max()) ** 2 or 1.0)
    own = within / squares
    shares = own.tolist()
    total = sum(shares)
    if relative and max(shares) > max(_LOPSIDED, 3.0 / len(shares)) * total:
        other = noise_scales(y, within, dof)
        if other is not None:
            squares = other
            total = float(np.add.reduce(within / squares))
    return Observations(
        y=y,
        weights=(count / factor) / squares,
        within=total,
        dof=dof * len(y) if isinstance(dof, float) else float(np.add.reduce(dof)),
        relative=relative,
    )


def _summarise_ragged(
    repetitions: Sequence[Sequence[float]], statistic: Statistic, original_counts: int | None = None
) -> Observations:
    """Summarizes points with different numbers of repetitions. `original_counts` is the original
    number of repetitions at each point, if some were removed.
    """
    y, within, count = [], [], []
    for index, row in enumerate(repetitions):
        try:
            data = np.atleast_1d(np.array(row, dtype=np.float64))
        except (ValueError, TypeError) as error:
            raise InputError(
                f"point {index + 1}: {row!r} is not a list of numbers",
                remedy="give every point a list of repetitions",
            ) from error
        data = data[np.isfinite(data)]
        if not len(data):
            raise InputError(
                f"point {index + 1} has no finite value",
                remedy="measure it again or leave the point out",
            )
        centre, spread = summarise_block(data, statistic)
        y.append(float(centre))
        within.append(float(spread))
        count.append(float(len(data)))
    counts = np.array(count)
    return _weighted_observations(
        np.array(y), np.array(within), original_counts or counts, counts - 1.0, statistic
    )


def leading_points(observations: Observations, count: int) -> Observations:
    """Returns the observations at the first `count` points. The noise is still that of all
    repetitions.
    """
    return replace(observations, y=observations.y[:count], weights=observations.weights[:count])


def at_points(observations: Observations, selection: NDArray[np.generic]) -> Observations:
    """Returns the observations at some points, selected by indices or by a mask."""
    return replace(
        observations, y=observations.y[selection], weights=observations.weights[selection]
    )
