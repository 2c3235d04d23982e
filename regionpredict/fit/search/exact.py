"""Fits measurements without noise by the term that goes through all points.

Counts of instructions and messages, and simulated times, have no noise. Therefore, priors do not
matter: only one term goes through all points.
"""

from __future__ import annotations

import numpy as np

from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.terms import CompiledSpace
from regionpredict.fit.search.one_parameter import BestModel

_NO_NOISE = 1e-24  # maximum relative variance of repetitions that differ only by rounding
_THROUGH = 1e-10  # maximum unexplained share of the variation if a term fits up to rounding
_VARIATION = 1e-20  # relative variance of points above which they differ by more than rounding
_NEEDED = 4  # minimum number of points: two for the coefficients, and two that confirm the term


def without_noise(observations: Observations) -> bool:
    """Returns whether all repetitions are equal, and there are enough points to identify a term."""
    return observations.within <= _NO_NOISE and len(observations.y) >= _NEEDED


def through_all(observations: Observations, space: CompiledSpace) -> BestModel | None:
    """Returns the model with a constant and one term that goes through all points up to rounding.
    The result is None if no term goes through all points.
    """
    y, w = observations.y, observations.weights
    total = w.sum()
    mean = float(w @ y / total)
    centred = y - mean
    weighted = w * centred
    variation = float(weighted @ centred)
    if not space.terms or variation <= _VARIATION * float(w @ (y * y)):
        return None
    column_mean = (space.columns @ w) / total
    column = space.columns - column_mean[:, None]
    norm = (column * column) @ w
    slope = (column @ weighted) / np.maximum(norm, 1e-300)
    left = centred - slope[:, None] * column
    misfit = (left * left) @ w
    index = int(misfit.argmin())
    if misfit[index] > _THROUGH * variation:
        return None
    return BestModel(index, mean - float(slope[index] * column_mean[index]), float(slope[index]))
