"""Computes success rates of hints and of trivial strategies, with their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.compare.verdicts import Comparison, Verdict

_Z95 = 1.959963984540054


class Rate(NamedTuple):
    """The success rate: `right` of `judged` hints, with the 95 % interval of the share, from 0 to
    1.
    """

    right: int
    judged: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        """The share of judged hints that is right. None if no hint was judged."""
        return self.right / self.judged if self.judged else None


def wilson(right: int, judged: int) -> Rate:
    """Returns the Wilson score interval of a share (Wilson 1927), which is valid for small
    numbers.

    >>> [round(end, 3) for end in wilson(8, 10)[2:]]
    [0.49, 0.943]
    """
    if judged == 0:
        return Rate(0, 0, 0.0, 1.0)
    share, weight = right / judged, _Z95**2 / judged
    centre = (share + weight / 2) / (1 + weight)
    half = _Z95 / (1 + weight) * math.sqrt(share * (1 - share) / judged + weight / (4 * judged))
    return Rate(right, judged, max(0.0, centre - half), min(1.0, centre + half))


def success(comparison: Comparison) -> Rate:
    """Returns the success rate of the hints."""
    judged = comparison.judged
    return wilson(sum(bool(verdict.right) for verdict in judged), len(judged))


def baselines(comparison: Comparison) -> dict[str, Rate]:
    """Returns the success rates of fixed hints for all regions: one, all, and the most frequent
    right value.

    The most frequent value is taken from the same regions, so no fixed hint is better.
    """
    judged, options = comparison.judged, comparison.options
    needs = Counter(verdict.needed for verdict in judged)
    majority = needs.most_common(1)[0][0] if needs else None
    return {
        f"always {options[0]}": wilson(needs[options[0]], len(judged)),
        f"always {options[-1]}": wilson(needs[options[-1]], len(judged)),
        f"majority ({majority})": wilson(needs[majority], len(judged)),
    }


def time_lost(verdicts: Sequence[Verdict]) -> float | None:
    """Returns the relative time lost: the time of all judged regions with their hints, divided by
    the time with their best numbers, minus one.

    A loop whose parallel region is also judged counts in that region.
    """
    inside = {region for verdict in verdicts for region in verdict.regions}
    verdicts = [verdict for verdict in verdicts if verdict.hint.id not in inside]
    best = sum(min(verdict.times.values()) for verdict in verdicts)
    if not verdicts or best <= 0:
        return None
    hinted = sum(min(verdict.times.values()) * (1 + (verdict.loss or 0.0)) for verdict in verdicts)
    return hinted / best - 1
