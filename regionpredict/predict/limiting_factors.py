"""The bottleneck of a hint."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.predict.constants import EFFICIENT
from regionpredict.predict.curve import Point

RESOURCES = ("compute", "cache", "memory-bandwidth")


def limit(points: Sequence[Point]) -> str:
    """The bottleneck: the term that loses most on the largest number of threads, compared with a
    perfect division of the work.

    On p threads, a term should be 1/p of its value on one thread. The excess is its loss. If a
    region scales (`EFFICIENT`), or has only one thread count, the largest term is the bottleneck.
    """
    first, most = points[0], points[-1]
    p = most.threads / first.threads
    if most.threads == first.threads or most.speedup >= EFFICIENT.value * p * first.speedup:
        return max(RESOURCES, key=lambda name: most.terms[name])
    return max(most.terms, key=lambda name: most.terms[name] - first.terms[name] / p)
