"""Combines forecasters by their accuracy at measured points that they did not use.

In the rolling-origin validation, each of the last points is an origin. From the points before an
origin, a later point is predicted. Its distance from the origin is about that of the target from
the end of the series, as a ratio. Each forecaster's weight is the reciprocal of its mean error, and
recent errors count more. The forecast is the weighted median of the forecasters' values (opinions),
so a single extreme opinion has little effect.

The errors of the combined forecast at these points determine its uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from regionpredict.fit.model.observations import Observations, leading_points
from regionpredict.fit.model.outlook import Outlook
from regionpredict.fit.model.terms import FloatArray, SearchSpace
from regionpredict.fit.search.criterion import Criterion
from regionpredict.fit.search.forecasters import (
    FEWEST,
    NAMES,
    applicable_forecasters,
    forecasts_by_forecaster,
)

_ORIGINS = 8  # number of origins; earlier ones have less than a sixth of the latest one's weight
_FADING = 0.8  # weight of an origin relative to the next one
_LEAST_ERROR = 0.01  # minimum error of the logarithm
_MOST_ERROR = 2.0  # maximum error of the logarithm
_UNKNOWN = 1.0  # weight, in origins, of the prior that all forecasters are equally accurate
_UNTESTED = 1.5  # assumed error of a forecaster without past forecasts, relative to the median
_AGREEMENT = 0.9  # quantile of the forecasts' distances that counts as disagreement
_PRIOR_ORIGINS = 8.0  # weight of the forecasters' disagreement, in numbers of past errors
_SPREAD = 0.6  # factor of the spread, since past errors are scaled by distance
_NORMAL_90 = 1.645
# Half-widths of 90 % intervals by Student's t, for 1 to 8 past errors. The disagreement counts as
# another half.
_STUDENT_90 = (3.705, 2.558, 2.222, 2.066, 1.975, 1.917, 1.876, 1.845)


class Forecaster:
    """Forecasts a series of one parameter. Values that depend only on the measured points are
    computed once.

    `x` `(n,)` is ascending and positive. All values of `observations` are positive.
    """

    def __init__(
        self,
        x: FloatArray,
        observations: Observations,
        space: SearchSpace,
        criterion: Criterion,
        max_terms: int,
    ) -> None:
        self._x = x
        self._seen = observations
        applicable = applicable_forecasters(x, observations.y)[:, None]

        def ask(count: int, at: FloatArray) -> FloatArray:
            before = leading_points(observations, count)
            forecasts = forecasts_by_forecaster(x[:count], before, at, space, criterion, max_terms)
            return np.where(applicable, forecasts, np.nan)

        self._ask: Callable[[int, FloatArray], FloatArray] = ask
        count = len(x)
        self._origins = range(max(FEWEST, count - _ORIGINS), count)
        self._past = [ask(origin, x[origin:]) for origin in self._origins]
        self._results: dict[float, PointForecast] = {}

    def at(self, values: FloatArray) -> Outlook:
        """Returns the outlook at parameter values `(k,)` beyond the largest measured value."""
        requested = values.tolist()
        new = np.array([value for value in dict.fromkeys(requested) if value not in self._results])
        if len(new):
            now = self._ask(len(self._x), new)
            for column, value in enumerate(new.tolist()):
                self._results[value] = (
                    now[:, column],
                    *self._combined_forecast(now[:, column], value),
                )
        return outlook_of(NAMES, [self._results[value] for value in requested])

    def _combined_forecast(self, now: FloatArray, value: float) -> tuple[float, float, FloatArray]:
        """The forecast, the standard deviation of its logarithm, and the weights `(f,)`."""
        x, y = self._x, self._seen.y
        ahead = np.log(value / x[-1])
        past_opinions, truths, scales = [], [], []
        for origin, opinion in zip(self._origins, self._past, strict=True):
            reach = np.log(x[origin:] / x[origin - 1])
            target = int(np.argmin(np.abs(reach - ahead)))
            past_opinions.append(opinion[:, target])
            truths.append(y[origin + target])
            # Errors grow with the distance. They are scaled if the series has no point at that
            # distance.
            scales.append(max(1.0, ahead / reach[target]))
        return combine_forecasts(past_opinions, truths, scales, now)


PointForecast = tuple[FloatArray, float, float, FloatArray]
"""The result for one point: the opinions `(f,)` of the forecasters, the combined forecast, its
spread, and the weights `(f,)`.
"""


def outlook_of(names: tuple[str, ...], results: Sequence[PointForecast]) -> Outlook:
    """Combines the results of `k` points into an outlook."""
    return Outlook(
        np.array([value for _, value, _, _ in results]),
        np.array([spread for _, _, spread, _ in results]),
        names,
        np.array([opinion for opinion, _, _, _ in results]).T,
        np.array([shares for _, _, _, shares in results]).T,
    )


def combine_forecasts(
    past_opinions: Sequence[FloatArray],
    truths: Sequence[float],
    scales: Sequence[float],
    now: FloatArray,
) -> tuple[float, float, FloatArray]:
    """The forecast, the standard deviation of its logarithm, and the weights `(f,)`.

    The forecast is NaN without any opinion. `past_opinions` are the opinions `(f,)` on each of the
    measured values `truths`, the oldest first. `scales` are the ratios of the target's distance to
    their distances. `now` has the opinions `(f,)` on the target.
    """
    errors: list[FloatArray] = []  # errors of the forecasters, `(f,)` each
    own: list[float] = []  # errors of the combined forecast, per requested distance
    for opinion, truth, scale in zip(past_opinions, truths, scales, strict=True):
        if not np.isfinite(opinion).any():
            continue
        forecast = _weighted_quantile(opinion, _forecaster_weights(errors, opinion), 0.5)
        with np.errstate(invalid="ignore"):
            errors.append(np.minimum(np.abs(np.log(opinion / truth)), _MOST_ERROR))
        own.append(min(abs(float(np.log(forecast / truth))) * scale, _MOST_ERROR))
    shares = _forecaster_weights(errors, now)
    if not np.isfinite(now).any():
        return float("nan"), float("nan"), shares
    forecast = _weighted_quantile(now, shares, 0.5)
    known = np.isfinite(now)
    deviations = np.minimum(np.abs(np.log(now[known] / forecast)), _MOST_ERROR)
    # Weighted by shares, too, so that wrong forecasters do not affect the spread of good ones.
    disagreement = _weighted_quantile(deviations, shares[known], _AGREEMENT)
    weights = _origin_weights(len(own))
    squares = float(weights @ np.square(own)) if own else 0.0
    past = (squares + _PRIOR_ORIGINS * disagreement**2) / (weights.sum() + _PRIOR_ORIGINS)
    spread = np.sqrt(past + _LEAST_ERROR**2)
    return forecast, float(spread) * _interval_factor(len(own)), shares


def _interval_factor(errors: int) -> float:
    """Returns the factor of a spread estimated from a few errors that makes 90 % intervals exact.

    >>> round(_interval_factor(1), 2), round(_interval_factor(8), 2)
    (1.35, 0.67)
    """
    return _SPREAD * _STUDENT_90[min(max(errors, 1), len(_STUDENT_90)) - 1] / _NORMAL_90


def _origin_weights(count: int) -> FloatArray:
    return np.asarray(_FADING ** np.arange(count - 1, -1, -1.0))


def _forecaster_weights(errors: list[FloatArray], now: FloatArray) -> FloatArray:
    """The weight of each forecaster from its errors so far, each with shape `(f,)`. It is zero
    without an opinion.
    """
    usable = np.isfinite(now)
    if errors:
        observations = np.array(errors)
        middle = np.nanmedian(observations, 1, keepdims=True)
        observations = np.where(
            np.isfinite(observations), observations, _UNTESTED * middle + _LEAST_ERROR
        )
        weights = _origin_weights(len(errors))
        known = weights.sum()
        mean = weights @ observations / known
        share = (mean + _LEAST_ERROR) ** (-known / (known + _UNKNOWN))
    else:
        share = np.ones(len(now))
    share = np.where(usable, share, 0.0)
    return np.asarray(share / max(float(share.sum()), 1e-300))


def _weighted_quantile(samples: FloatArray, shares: FloatArray, level: float) -> float:
    order = np.argsort(samples)
    below = np.cumsum(shares[order])
    return float(samples[order][np.searchsorted(below, level * below[-1])])
