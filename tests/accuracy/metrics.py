"""Measures of agreement: errors, ranks, choices, regret, calibration, bootstrap intervals.

Plain arithmetic on lists, nothing of the package: tests hold each to a case by hand.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median
from typing import NamedTuple, TypeVar

SEED = 20_000
RESAMPLES = 1000
Item = TypeVar("Item")


class Interval(NamedTuple):
    """A value with the 95 % interval of its bootstrap."""

    value: float
    low: float
    high: float


def relative_errors(
    predicted: dict[int, float], measured: dict[int, float], base: int
) -> list[float]:
    """|predicted / measured - 1| of the speedup over `base` threads, at all others.

    The base itself is right by definition and left out.

    >>> relative_errors({1: 2.0, 2: 1.0, 4: 0.5}, {1: 8.0, 2: 4.0, 4: 4.0}, 1)
    [0.0, 1.0]
    """
    return [
        abs((predicted[base] / predicted[t]) / (measured[base] / measured[t]) - 1.0)
        for t in measured
        if t != base and t in predicted
    ]


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation; ties share their mean rank. None for fewer than 5, or where all are equal.

    >>> spearman([1, 2, 3, 4, 5], [10, 20, 30, 40, 50])
    1.0
    >>> spearman([1, 2, 3, 4, 5], [5, 4, 3, 2, 1])
    -1.0
    """
    if len(first) < 5:
        return None
    a, b = _ranks(first), _ranks(second)
    middle = (len(a) + 1) / 2
    across = sum((x - middle) * (y - middle) for x, y in zip(a, b, strict=True))
    spread = sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b)
    return across / math.sqrt(spread) if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranks = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for at in order[begin:end]:
            ranks[at] = (begin + end + 1) / 2
        begin = end
    return ranks


def geometric_mean(values: Sequence[float]) -> float:
    """The n-th root of the product.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return math.exp(mean(math.log(value) for value in values))


def brier(confidence: Sequence[float], right: Sequence[bool]) -> float:
    """Mean square of confidence minus outcome (Brier 1950): 0 is best, 0.25 knows nothing.

    >>> brier([1.0, 0.5], [True, False])
    0.125
    """
    return mean((c - float(r)) ** 2 for c, r in zip(confidence, right, strict=True))


def calibration_error(confidence: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error: |share right - mean confidence| of each bin, by its members.

    >>> calibration_error([0.9, 0.9], [True, False])
    0.4
    """
    total = 0.0
    for number in range(bins):
        inside = [
            (c, r) for c, r in zip(confidence, right, strict=True)
            if min(bins - 1, int(c * bins)) == number
        ]  # fmt: skip
        if inside:
            gap = mean(float(r) for _, r in inside) - mean(c for c, _ in inside)
            total += len(inside) * abs(gap)
    return total / len(confidence)


def bootstrap(items: Sequence[Item], statistic: Callable[[Sequence[Item]], float]) -> Interval:
    """The statistic with the 2.5 and 97.5 percentiles over resampled items (Efron 1979)."""
    draw = random.Random(SEED)
    found = sorted(statistic(draw.choices(items, k=len(items))) for _ in range(RESAMPLES))
    return Interval(statistic(items), found[round(0.025 * (RESAMPLES - 1))],
                    found[round(0.975 * (RESAMPLES - 1))])  # fmt: skip


def share(flags: Sequence[bool]) -> float:
    """How many of the flags are set, from 0 to 1."""
    return mean(float(flag) for flag in flags)


def middle(values: Sequence[float]) -> float:
    """The median."""
    return median(values)


def time_at(seconds: Mapping[int, float], threads: int) -> float:
    """The time on so many threads: between two counts that were measured, a power of the number.

    >>> round(time_at({4: 8.0, 16: 4.0}, 8), 3), time_at({4: 8.0, 16: 4.0}, 16)
    (5.657, 4.0)
    """
    if threads in seconds:
        return seconds[threads]
    below = max(count for count in seconds if count < threads)
    above = min(count for count in seconds if count > threads)
    part = math.log(threads / below) / math.log(above / below)
    return seconds[below] ** (1.0 - part) * seconds[above] ** part
