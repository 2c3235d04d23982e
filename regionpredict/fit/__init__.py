"""Empirical scaling models: points in, one `FittedModel` out; knows no region and no file.

The door is `fit(points, values)`; `fit_many` is the same for many call paths with the same
points.
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
