"""Estimates how common terms are from all call paths of a program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.fit.model.terms import CompiledSpace, FloatArray
from regionpredict.fit.search.criterion import Criterion

MANY_PATHS = 30
"""Minimum number of call paths for this estimate."""

_PRIOR_PATHS = 150.0  # weight of the prior rarities, in call paths


def learned_prices(
    chosen: NDArray[np.intp], space: CompiledSpace, criterion: Criterion
) -> FloatArray:
    """The change of each term's price `(h,)`.

    `chosen` are the terms of the paths with growth.

    It follows from the terms' frequencies, with `_PRIOR_PATHS` additional paths distributed by the
    rarities. The most common term keeps its price, so that growth is not accepted more easily.
    """
    expected = np.exp(-0.5 * criterion.rarity * space.rarity)
    expected = expected / expected.sum()
    seen = np.bincount(chosen, minlength=len(expected))
    share = (seen + _PRIOR_PATHS * expected) / (len(chosen) + _PRIOR_PATHS)
    price = -2.0 * np.log(share)
    usual = criterion.rarity * (space.rarity - space.rarity.min())
    return np.asarray(price - price.min() - usual)
