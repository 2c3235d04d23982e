"""What keeps a region from using all threads: the class that a hint names."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.predict.constants import EFFICIENT
from regionpredict.predict.curve import Point

RESOURCES = ("compute", "cache", "memory-bandwidth")


def limit(points: Sequence[Point]) -> str:
    """The class of the largest loss on the most threads, against a perfect division of the work.

    On p threads a term should be 1/p of what it is on one; what it exceeds that by is lost. A
    region that scales (`EFFICIENT`), or of which only one number of threads is known, is named
    after what it spends most of its time on.
    """
    first, most = points[0], points[-1]
    p = most.threads / first.threads
    if most.threads == first.threads or most.speedup >= EFFICIENT.value * p * first.speedup:
        return max(RESOURCES, key=lambda name: most.terms[name])
    return max(most.terms, key=lambda name: most.terms[name] - first.terms[name] / p)
