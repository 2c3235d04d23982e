"""The parameters of the fit to measured curves, with the shipped values."""

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
    """Two quantities per doubling, such as standard deviations of the speedup: per doubling of
    threads, and per doubling of sockets or threads per core.
    """

    threads: float
    places: float


class FittedCurves(NamedTuple):
    """The parameters that relate measured curves to predicted curves, and probabilities to right
    hints.

    `creep` is the gain per doubling of threads if memory bandwidth takes all the time. `lost` is
    the share of the predicted growth that measured curves do not reach. Both refer to logarithms of
    the speedup, and `spreads` are the standard deviations. An interval extends to `reach` standard
    deviations. `even` and `slope` convert a probability to a confidence in log odds, and `most` is
    the largest confidence.
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
