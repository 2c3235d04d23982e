"""Computes the probability that a choice of threads is right: that its speed is within the allowed
loss of the best speed.

The uncertainty of the curve gives a probability for each choice. Measured curves give the share of
such choices that are right. A linear function of log odds maps one to the other (Platt 2000).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from regionpredict.predict.machine_uncertainty import NO_MOVES, Moves, quotient_deviation
from regionpredict.predict.uncertainty.constants import LEAST_DOUBT, SURE_STEP
from regionpredict.predict.uncertainty.doubts import Doubt, remaining_confidence
from regionpredict.predict.uncertainty.fitted import SHIPPED, FittedCurves
from regionpredict.predict.uncertainty.outlook import ExpectedSpeedup


def chance_of(
    outlook: Sequence[ExpectedSpeedup], threads: int, within: float, moves: Moves = NO_MOVES
) -> float:
    """Returns the probability, from 0 to 1, that no other number of threads is faster than
    `threads` by more than the allowed loss `within`.

    Only the strongest rivals with fewer and with more threads count, and both are assumed to be
    independent. `moves` is the effect of uncertain machine figures. These
    never increase the probability of a choice that is probably wrong.
    """
    own = next(expected for expected in outlook if expected.threads == threads)
    allowed = -math.log1p(-within)
    fewer = more = 1.0
    for expected in outlook:
        if expected.threads == threads:
            continue
        deviation = math.sqrt(abs(expected.variance - own.variance))
        spare = allowed - (expected.gain - own.gain)
        if moves and spare > 0.0:
            deviation = math.hypot(deviation, quotient_deviation(moves, threads, expected.threads))
        likely = _normal_distribution(spare, deviation)
        if expected.threads < threads:
            fewer = min(fewer, likely)
        else:
            more = min(more, likely)
    return fewer * more


def _normal_distribution(value: float, spread: float) -> float:
    """Returns the cumulative normal distribution with mean 0 and standard deviation `spread`."""
    if spread <= 0.0:
        return 1.0 if value >= 0.0 else 0.0
    return (1.0 + math.erf(value / spread / math.sqrt(2))) / 2


def log_odds(chance: float) -> float:
    """Returns the log odds of a probability, which is limited to `LEAST_DOUBT` from 0 and 1.

    >>> log_odds(0.5), log_odds(1.0) == log_odds(1.0 - LEAST_DOUBT.value)
    (0.0, True)
    """
    bounded = min(1.0 - LEAST_DOUBT.value, max(LEAST_DOUBT.value, chance))
    return math.log(bounded / (1.0 - bounded))


def confidence_of(
    chance: float, *, doubts: Sequence[Doubt] = (), fitted: FittedCurves = SHIPPED
) -> float:
    """Returns the expected share of right hints with this probability and these doubts, rounded."""
    return rounded_confidence(chance_without_doubts(chance, fitted) * remaining_confidence(doubts))


def chance_without_doubts(chance: float, fitted: FittedCurves = SHIPPED) -> float:
    """Returns the expected share of right hints with this probability, for regions without
    doubts.
    """
    odds = math.exp(fitted.even + fitted.slope * log_odds(chance))
    return min(fitted.most, odds / (1.0 + odds))


def rounded_confidence(sure: float) -> float:
    """Rounds a confidence to steps of `SURE_STEP`.

    >>> rounded_confidence(0.913), rounded_confidence(0.72)
    (0.9, 0.7)
    """
    return round(SURE_STEP.value * round(sure / SURE_STEP.value), 3)
