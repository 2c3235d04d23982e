"""What is fitted to measured curves, as one value: the constants that ship, or another fit."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.predict.sureness.constants import (
    ASSUMED_SPREAD,
    BAND_REACH,
    CACHE_SPREAD,
    CORE_SPREAD,
    CREEP,
    EVEN_ODDS,
    GATHER_SPREAD,
    LOST_GROWTH,
    MEMORY_SPREAD,
    ODDS_SLOPE,
    OPENMP_SPREAD,
)


class Spreads(NamedTuple):
    """Standard deviation of a speed a doubling of threads, by what the time is spent on."""

    core: float
    cache: float
    memory: float
    gather: float
    openmp: float


class Fitted(NamedTuple):
    """How measured curves go beside predicted ones, and how often hints are right.

    `creep` is gained a doubling of threads where memory's bandwidth is the time, `lost` the share
    of the predicted growth that is not reached, both in logarithms; `spreads` are those without,
    `assumed` times those with an assumption that decides. A band reaches `reach` standard
    deviations; `even` and `slope` make a confidence of a chance, in log odds.
    """

    creep: float
    lost: float
    spreads: Spreads
    assumed: float
    reach: float
    even: float
    slope: float


SHIPPED = Fitted(
    CREEP.value,
    LOST_GROWTH.value,
    Spreads(
        CORE_SPREAD.value,
        CACHE_SPREAD.value,
        MEMORY_SPREAD.value,
        GATHER_SPREAD.value,
        OPENMP_SPREAD.value,
    ),
    ASSUMED_SPREAD.value,
    BAND_REACH.value,
    EVEN_ODDS.value,
    ODDS_SLOPE.value,
)
