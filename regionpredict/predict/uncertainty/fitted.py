"""The values fitted to measured curves: the shipped constants, or those of another fit."""

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
    """The standard deviations of a speed: per doubling of threads, and per doubling of packages or
    of threads per core.
    """

    threads: float
    places: float


class FittedCurves(NamedTuple):
    """How measured curves relate to predicted ones, and the share of right hints.

    `creep` is the gain per doubling of threads if memory bandwidth takes all the time. `lost` is
    the share of the predicted growth that is not reached. Both are in logarithms, and `spreads` are
    the deviations from them. A band extends to `reach` standard deviations. `even` and `slope`
    convert a probability to a confidence in log odds, and `most` is the largest confidence.
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
