"""Forecasts series whose formula is uncertain because of noise.

Several formulas may explain the points within their noise. With large noise, even a constant
explains growth. Therefore, the median of the candidate formulas is averaged with the forecast of
the simple forecasters (views). The weights are the reciprocal variances of the logarithms. If the
formula agrees with the average, only the formula is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.outlook import Outlook
from regionpredict.fit.model.terms import FloatArray

CANDIDATES = "candidates"
"""The name of the median of all candidate formulas in the list of forecasters."""

_AGREEMENT = 0.25  # maximum difference of equal forecasts, in smaller standard deviations
_LEVELS = (0.05, 0.5, 0.95)
_NORMAL_90 = NormalDist().inv_cdf(_LEVELS[-1])
_LEAST = 1e-12  # minimum lower end of an interval, relative to the median


@dataclass(frozen=True, slots=True)
class UncertainFormula:
    """A model of noisy points, with forecasts (`views`) of the same points by simple
    forecasters.
    """

    model: FittedModel
    views: Callable[[FloatArray], Outlook]

    def at(self, points: FloatArray) -> Outlook | None:
        """Returns the outlook at points `(k, m)`, or None if the formula is the forecast at all of
        them.
        """
        views = self.views(points)
        low, median, high = np.array(
            [self.model.formula_quantiles(point[None], _LEVELS) for point in points]
        ).T
        usable = (median > 0) & np.isfinite(views.values)
        middle = np.where(usable, median, 1.0)
        distance = np.log(middle / np.where(usable, views.values, 1.0))
        spread = np.log(np.maximum(high, middle) / np.maximum(low, _LEAST * middle))
        spread = np.maximum(spread / (2 * _NORMAL_90), _LEAST)
        other = np.where(usable, views.spread, np.inf)
        share = 1.0 / (1.0 + (spread / other) ** 2)
        average = middle * np.exp(-(1 - share) * distance)
        alone = self.model.formula_values(points)
        with np.errstate(divide="ignore"):
            away = np.abs(np.log(np.maximum(alone, 0.0) / average))
        agree = ~usable | (away <= _AGREEMENT * np.minimum(spread, other))
        if agree.all():
            return None
        share = np.where(agree, 1.0, share)
        rest = np.where(agree, 0.0, other**2 + share * distance**2)
        return Outlook(
            np.where(agree, alone, average),
            np.sqrt(share * spread**2 + (1 - share) * rest),  # of a mixture of both
            (CANDIDATES, *views.forecasters),
            np.vstack([median, views.opinions]),
            np.vstack([share, (1 - share) * views.shares]),
        )
