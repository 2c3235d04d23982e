"""Determines the bottleneck of a speedup curve."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.predict.constants import EFFICIENT
from regionpredict.predict.curve import Point

RESOURCES = ("compute", "cache", "memory-bandwidth")


def bottleneck_of(points: Sequence[Point]) -> str:
    """Returns the bottleneck: the term of the time with the largest loss on the largest number of
    threads.

    The loss is the excess over 1/p of the term's value on one thread. If the region scales
    (`EFFICIENT`), or if the curve has one point, the bottleneck is the largest term.
    """
    first, most = points[0], points[-1]
    p = most.threads / first.threads
    if most.threads == first.threads or most.speedup >= EFFICIENT.value * p * first.speedup:
        return max(RESOURCES, key=lambda name: most.terms[name])
    return max(most.terms, key=lambda name: most.terms[name] - first.terms[name] / p)
