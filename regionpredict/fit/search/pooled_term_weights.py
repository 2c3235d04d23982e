"""What the call paths of one program say together of how common each term is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.fit.model.terms import CompiledSpace, FloatArray
from regionpredict.fit.search.criterion import Criterion

MANY_PATHS = 30
"""Call paths that together tell how common terms are; fewer do not."""

_PRIOR_PATHS = 150.0  # paths' worth of belief in the rarities


def learned_prices(
    chosen: NDArray[np.intp], space: CompiledSpace, criterion: Criterion
) -> FloatArray:
    """What the prior's price of each term `(h,)` changes by.

    `chosen` are the terms of the paths that grow.

    The terms' frequencies, after as many paths as `_PRIOR_PATHS` that have them as the rarities
    say. The commonest keeps its price, so that growth is no easier to believe.
    """
    expected = np.exp(-0.5 * criterion.rarity * space.rarity)
    expected = expected / expected.sum()
    seen = np.bincount(chosen, minlength=len(expected))
    share = (seen + _PRIOR_PATHS * expected) / (len(chosen) + _PRIOR_PATHS)
    price = -2.0 * np.log(share)
    usual = criterion.rarity * (space.rarity - space.rarity.min())
    return np.asarray(price - price.min() - usual)
