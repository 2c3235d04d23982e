"""Estimates the frequencies of terms from all call paths of a program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.fit.model.terms import CompiledSpace, FloatArray
from regionpredict.fit.search.criterion import Criterion

MANY_PATHS = 30
"""The minimum number of call paths for estimating the frequencies of terms."""

_PRIOR_PATHS = 150.0  # weight of the prior rarities, in call paths


def learned_prices(
    selected_terms: NDArray[np.intp], space: CompiledSpace, criterion: Criterion
) -> FloatArray:
    """Returns the change of each term's price `(h,)` due to the terms' frequencies.

    `selected_terms` are the selected terms of the call paths with growth.

    The frequencies include `_PRIOR_PATHS` additional call paths distributed by the prior rarities.
    The most common term keeps its price, so that growth is not accepted more easily.
    """
    expected = np.exp(-0.5 * criterion.rarity * space.rarity)
    expected = expected / expected.sum()
    seen = np.bincount(selected_terms, minlength=len(expected))
    share = (seen + _PRIOR_PATHS * expected) / (len(selected_terms) + _PRIOR_PATHS)
    price = -2.0 * np.log(share)
    usual = criterion.rarity * (space.rarity - space.rarity.min())
    return np.asarray(price - price.min() - usual)
