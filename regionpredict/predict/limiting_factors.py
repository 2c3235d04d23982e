"""The bottleneck class of a hint."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.predict.constants import EFFICIENT
from regionpredict.predict.curve import Point

RESOURCES = ("compute", "cache", "memory-bandwidth")


def limit(points: Sequence[Point]) -> str:
    """The class of the largest loss on the most threads, against a perfect division of the work.

    On p threads, a term should be 1/p of its value on one. The excess is lost. A region that scales
    (`EFFICIENT`), or has only one thread count, is named after its largest term.
    """
    first, most = points[0], points[-1]
    p = most.threads / first.threads
    if most.threads == first.threads or most.speedup >= EFFICIENT.value * p * first.speedup:
        return max(RESOURCES, key=lambda name: most.terms[name])
    return max(most.terms, key=lambda name: most.terms[name] - first.terms[name] / p)
