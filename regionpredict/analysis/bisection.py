"""The size at which a count that grows with it reaches a number."""

from __future__ import annotations

from collections.abc import Callable


def smallest_reaching(
    measure: Callable[[int], float | None], target: float, low: int, high: int
) -> int | None:
    """The smallest number from `low` to `high` whose measure, which never falls, is the target or
    more; None where there is none, or a measure that is asked for is not known.

    >>> smallest_reaching(lambda n: n * n, 50, 1, 100), smallest_reaching(lambda n: n, 9, 1, 8)
    (8, None)
    """
    last = measure(high)
    if last is None or last < target:
        return None
    while low < high:
        middle = (low + high) // 2
        reached = measure(middle)
        if reached is None:
            return None
        low, high = (low, middle) if reached >= target else (middle + 1, high)
    return low
