"""The probability that a choice of threads is right: its loss against the best speed is within the
allowed loss.

The spreads give the probability that another thread count is better. Measured curves give the share
of such choices that are right. A line in log odds connects the two (Platt 2000).
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
    """The probability, from 0 to 1, that no other thread count is better than `threads` by more
    than the allowed loss. Only the strongest rivals with fewer and with more threads are
    considered.

    Consecutive steps are independent, and so are both sides. The strongest rival of each side
    represents it. Doubtful figures count as far as they change the ratio between a rival and the
    choice (`moves`). They do not favor a choice that is probably wrong.
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
    """The cumulative normal distribution with mean 0."""
    if spread <= 0.0:
        return 1.0 if value >= 0.0 else 0.0
    return (1.0 + math.erf(value / spread / math.sqrt(2))) / 2


def log_odds(chance: float) -> float:
    """The log odds of a probability. The probability is limited so that at least `LEAST_DOUBT`
    remains.

    >>> log_odds(0.5), log_odds(1.0) == log_odds(1.0 - LEAST_DOUBT.value)
    (0.0, True)
    """
    bounded = min(1.0 - LEAST_DOUBT.value, max(LEAST_DOUBT.value, chance))
    return math.log(bounded / (1.0 - bounded))


def confidence_of(
    chance: float, *, doubts: Sequence[Doubt] = (), fitted: FittedCurves = SHIPPED
) -> float:
    """The share of such hints that are right, from 0 to 1, rounded."""
    return rounded_confidence(undoubted(chance, fitted) * remaining_confidence(doubts))


def undoubted(chance: float, fitted: FittedCurves = SHIPPED) -> float:
    """The share of right hints among those with this probability, for regions without doubts."""
    odds = math.exp(fitted.even + fitted.slope * log_odds(chance))
    return min(fitted.most, odds / (1.0 + odds))


def rounded_confidence(sure: float) -> float:
    """The confidence, rounded for output.

    >>> rounded_confidence(0.913), rounded_confidence(0.72)
    (0.9, 0.7)
    """
    return round(SURE_STEP.value * round(sure / SURE_STEP.value), 3)
