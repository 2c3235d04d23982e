"""Counts the distinct lines of several reference groups of one array: the sum of their lines minus
the overlap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Level = tuple[float, float]
"""A level of a lattice of addresses: (bytes per step, steps)."""


class Lines(NamedTuple):
    """The cache lines of one array: the number `touched`, and the number `written`."""

    touched: float
    written: float

    def times(self, factor: float) -> Lines:
        """Returns both numbers of lines, multiplied by `factor`."""
        return Lines(self.touched * factor, self.written * factor)

    def plus(self, other: Lines) -> Lines:
        """Returns the sums of touched lines and of written lines."""
        return Lines(self.touched + other.touched, self.written + other.written)


Volume = dict[str, Lines]
"""The touched and written lines by array name."""


class GroupLines(NamedTuple):
    """The lines of one reference group, and the byte range of one thread's lines in the array.

    `team` contains (distance in bytes, number of threads) for each thread level.
    """

    touched: float
    written: float
    low: float
    high: float
    team: tuple[Level, ...]
    levels: tuple[Level, ...]
    offsets: tuple[float, ...]
    origin: float  # the address of the first step without offsets
    slanted: bool = False  # the iteration space is triangular
    strides: tuple[float, ...] = ()  # strides of levels with several steps, widest first


def union_of(parts: Sequence[GroupLines], line_bytes: float) -> Lines:
    """Returns the distinct lines of several groups of one array. The overlap follows from the
    groups' byte ranges and from the share of lines touched in each range.
    """
    kept: list[GroupLines] = []
    touched = written = 0.0
    for part in sorted(_without_duplicates(parts), key=lambda lines: -lines.touched):
        extra, fresh = part.touched, part.written
        for other in kept:
            if extra <= 0.0 and fresh <= 0.0:
                break
            share = _covered_share(part, other, line_bytes)
            extra -= part.touched * share
            fresh -= part.written * share * (1.0 if other.written else 0.0)
        kept.append(part)
        touched += max(0.0, extra)
        written += max(0.0, fresh)
    return Lines(touched, min(written, touched))


def _without_duplicates(parts: Sequence[GroupLines]) -> list[GroupLines]:
    """Removes groups with the same addresses, and keeps the one with the most written lines. Calls
    of one function may touch the same lines hundreds of times.
    """
    most: dict[GroupLines, GroupLines] = {}
    for part in parts:
        place = part._replace(written=0.0)
        known = most.get(place)
        if known is None or known.written < part.written:
            most[place] = part
    return list(most.values())


def _covered_share(part: GroupLines, other: GroupLines, line_bytes: float) -> float:
    """Returns the share of the lines of `part` that `other` touches, too."""
    low, high, other_low, other_high = part.low, part.high, other.low, other.high
    touched = other.touched
    if part.team == other.team:
        for _, threads in other.team:
            touched /= threads
    else:
        reach, other_reach = _thread_extent(part.team) / 2, _thread_extent(other.team) / 2
        low, high = low - reach, high + reach
        other_low, other_high = other_low - other_reach, other_high + other_reach
    overlap = min(high, other_high) - max(low, other_low)
    if overlap <= 0:
        return 0.0
    if part.team == other.team and _contains_accesses(other, part, line_bytes):
        return 1.0
    density = 1.0
    if part.team != other.team or not _cover_same_lines(part, other, line_bytes):
        density = min(1.0, touched * line_bytes / max(line_bytes, other_high - other_low))
    return overlap / (high - low) * density


def _cover_same_lines(part: GroupLines, other: GroupLines, line_bytes: float) -> bool:
    """Whether two groups touch the same lines except at their ends, like `b[k][j]` and `b[i][j]`
    over the same range.
    """
    if part.slanted or other.slanted:
        return False
    if part.strides != other.strides:
        return False
    ahead = part.origin + part.offsets[0] - (other.origin + other.offsets[0])
    for stride in part.strides:
        ahead = math.remainder(ahead, stride)
    return abs(ahead) <= line_bytes / 2


def _thread_extent(team: tuple[Level, ...]) -> float:
    """Returns the number of bytes from the first to the last thread."""
    return sum(abs(distance) * (threads - 1) for distance, threads in team)


def _contains_accesses(other: GroupLines, part: GroupLines, line_bytes: float) -> bool:
    """Whether every access of `part` is inside a contiguous run of `other`. For example, `a[j][i]`
    contains `a[j][0]`.
    """
    rest = list(other.levels)
    for level in part.levels:
        if level not in rest:
            return False
        rest.remove(level)
    reach = sum(abs(stride) * (steps - 1) for stride, steps in rest)
    span = float(line_bytes)
    for stride, steps in sorted((abs(stride), steps) for stride, steps in rest):
        if stride > span:
            return False
        span += stride * (steps - 1)
    ahead = part.origin + part.offsets[0] - (other.origin + other.offsets[0])
    down = sum(min(0.0, stride * (steps - 1)) for stride, steps in rest)
    beyond = part.offsets[-1] - part.offsets[0] - (other.offsets[-1] - other.offsets[0])
    return down - line_bytes / 2 <= ahead and ahead + beyond <= down + reach + line_bytes / 2
