"""Finds the size at which an increasing count reaches a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

_INTERPOLATED = 8
"""After this number of guesses, every second guess is the middle of the range. Six guesses are
enough for a count that is almost a power of the size.
"""


def smallest_reaching(
    measure: Callable[[int], float | None], target: float, low: int, high: int
) -> int | None:
    """Returns the smallest number from `low` to `high` at which a nondecreasing measure reaches
    `target`. None if there is no such number, or if the measure is unknown at a guess.

    Most counts grow nearly as a power of a size. Each guess is therefore on the line through the
    last two guesses in logarithmic coordinates.

    >>> smallest_reaching(lambda n: n * n, 50, 1, 100), smallest_reaching(lambda n: n, 9, 1, 8)
    (8, None)
    """
    last = measure(high)
    if last is None or last < target:
        return None
    known = [(high, last)]
    while low < high:
        middle = (low + high) // 2
        guess = middle
        if len(known) < _INTERPOLATED or len(known) % 2:
            guess = min(max(low, _interpolated_guess(known, target, low, high)), high - 1)
        reached = measure(guess)
        if reached is None and guess != middle:
            guess, reached = middle, measure(middle)
        if reached is None:
            return None
        known.append((guess, reached))
        low, high = (low, guess) if reached >= target else (guess + 1, high)
    return low


def _interpolated_guess(
    known: Sequence[tuple[int, float]], target: float, low: int, high: int
) -> int:
    """Returns the point at which the line through the last two guesses reaches the target, in
    logarithmic coordinates. If the line does not rise, returns the geometric mean of the range.
    """
    if len(known) > 1:
        (left, less), (right, more) = sorted(known[-2:])
        if 0 < left < right and 0 < less < more and target > 0:
            rise = math.log(more / less) / math.log(right / left)
            exponent = math.log(target / less) / rise
            if abs(exponent) < math.log(max(2, high)):
                return math.ceil(left * math.exp(exponent))
    return math.isqrt(max(0, low) * max(0, high))
