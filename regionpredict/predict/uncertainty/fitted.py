"""The values fitted to measured curves: the shipped constants, or another fit."""

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
    """The standard deviation of a speed: per doubling of threads, and per doubling of packages or
    of threads per core."""

    threads: float
    places: float


class FittedCurves(NamedTuple):
    """The relation of measured to predicted curves, and the share of right hints.

    `creep` is the gain per doubling of threads if memory bandwidth is the time. `lost` is the share
    of the predicted growth that is not reached. Both are in logarithms, and `spreads` are around
    the rest. A band reaches `reach` standard deviations. `even` and `slope` turn a probability into
    a confidence in log odds, and `most` is the largest.
    """

    creep: float
    lost: float
    spreads: Spreads
    reach: float
    even: float
    slope: float
    most: float


SHIPPED = FittedCurves(
    CREEP.value,
    LOST_GROWTH.value,
    Spreads(THREADS_SPREAD.value, PLACES_SPREAD.value),
    BAND_REACH.value,
    EVEN_ODDS.value,
    ODDS_SLOPE.value,
    MOST_SURE.value,
)
