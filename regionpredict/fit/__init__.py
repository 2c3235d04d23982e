"""Empirical scaling models: points in, one `FittedModel` out; knows no region and no file.

The door is `fit(points, values)`; `fit_many` is the same for many call paths with the same
points.
"""

from regionpredict.fit.fitting import fit, fit_many
from regionpredict.fit.knowledge import Prior
from regionpredict.fit.model import FittedModel, Interval
from regionpredict.fit.single import Criterion
from regionpredict.fit.terms import SearchSpace

__all__ = ["Criterion", "FittedModel", "Interval", "Prior", "SearchSpace", "fit", "fit_many"]
