"""What is fitted to measured curves, as one value: the constants that ship, or another fit."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.predict.uncertainty.constants import (
    BAND_REACH,
    CREEP,
    EVEN_ODDS,
    LOST_GROWTH,
    MOST_SURE,
    ODDS_SLOPE,
    PLACES_SPREAD,
    THREADS_SPREAD,
)


class Spreads(NamedTuple):
    """Standard deviation of a speed: a doubling of threads, and beside it one of the packages in
    use, or of the threads on a core."""

    threads: float
    places: float


class Fitted(NamedTuple):
    """How measured curves go beside predicted ones, and how often hints are right.

    `creep` is gained a doubling of threads where memory's bandwidth is the time, `lost` the share
    of the predicted growth that is not reached, both in logarithms; `spreads` are those around what
    is left. A band reaches `reach` standard deviations; `even` and `slope` make a confidence of a
    chance, in log odds, `most` is the largest.
    """

    creep: float
    lost: float
    spreads: Spreads
    reach: float
    even: float
    slope: float
    most: float


SHIPPED = Fitted(
    CREEP.value,
    LOST_GROWTH.value,
    Spreads(THREADS_SPREAD.value, PLACES_SPREAD.value),
    BAND_REACH.value,
    EVEN_ODDS.value,
    ODDS_SLOPE.value,
    MOST_SURE.value,
)
