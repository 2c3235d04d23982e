"""Fits empirical scaling models. Input: points and values. Output: a `FittedModel`. This subpackage
is independent of regions.

The entry point is `fit(points, values)`. `fit_many` models many call paths with the same points.
"""

from regionpredict.fit.model.fitted_model import FittedModel, Interval
from regionpredict.fit.model.terms import SearchSpace
from regionpredict.fit.search.criterion import Criterion
from regionpredict.fit.search.fitting import fit, fit_many
from regionpredict.fit.search.prior import Prior

__all__ = [
    "Criterion",
    "FittedModel",
    "Interval",
    "Prior",
    "SearchSpace",
    "fit",
    "fit_many",
]
