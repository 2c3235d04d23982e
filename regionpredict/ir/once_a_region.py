"""Caches properties of a region that do not depend on sizes.

A region is predicted at dozens of sizes, and each prediction needs the same properties of its
statements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_KEPT = 32
"""The number of regions for which the results of one function are cached."""


def once_a_region(compute: Callable[[T], R]) -> Callable[[T], R]:
    """Caches the results of `compute` for the most recent regions. Regions never change.

    Regions are compared by identity, since a full comparison costs as much as most results.

    >>> asked = []
    >>> length = once_a_region(lambda region: asked.append(region) or len(region))
    >>> one = ("loop",)
    >>> length(one), length(one), len(asked)
    (1, 1, 1)
    """
    known: dict[int, tuple[T, R]] = {}

    @wraps(compute)
    def cached(region: T) -> R:
        own = known.get(id(region))
        if own is None:
            if len(known) >= _KEPT:
                known.pop(next(iter(known)))
            # The region is stored, too, so that its id stays unique.
            own = known[id(region)] = region, compute(region)
        return own[1]

    return cached
