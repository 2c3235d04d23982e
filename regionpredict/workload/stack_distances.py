"""Computes the stack distance of each reference in a trace: the number of other lines since the
last use of its line.

An LRU cache of `n` lines hits at distances below `n`. One pass therefore gives the traffic of
caches of all sizes (Mattson, Gecsei, Slutz and Traiger 1970). References to one line at short
distances form a run, and only the first reference of a run can miss. Distances of runs are counted
by divide and conquer (Bentley 1980, sec. 3), with array operations on all blocks of a level.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regionpredict.workload.counted_work import count_references

Whole = NDArray[np.int64]
Small = NDArray[np.int32]
Flags = NDArray[np.bool_]
_DIGIT = 16
"""The number of bits that NumPy sorts in one pass of radix sort."""


class References:
    """The references to all caches, sorted by cache and then by time.

    Each reference has a `line` (below `lines`) and an `array` (below `arrays`). `written` marks
    stores. Values that do not depend on the start of caches are computed once.
    """

    def __init__(self, line: Whole, lines: int, array: Whole, arrays: int, written: Flags) -> None:
        self.number = len(line)
        self.arrays = arrays
        self.by_line = stable_order(line, lines)
        self.array = array
        self.written_before = np.append(0, np.cumsum(written[self.by_line]))
        ordered = line[self.by_line]
        self.again = np.zeros(self.number, dtype=np.bool_)
        np.equal(ordered[1:], ordered[:-1], out=self.again[1:])
        self.reuse_time = np.append(0, np.diff(self.by_line))
        self._starts: dict[int, Whole] = {}
        self._run_distances: dict[int, Whole] = {}

    def reuses_at_start(self, begins: Whole, near: int) -> Whole:
        """Returns the reuses of lines among the first `near` references to each cache, as positions
        in the order of lines. `begins` are the first references to each cache.
        """
        after = (begins[:, None] + np.arange(near)).ravel()
        begin = np.repeat(begins, near)
        inside = after < self.number
        after, begin = after[inside], begin[inside]
        positions = self._position_in_line_order[after]
        others: Whole = positions[
            self.again[positions] & (after - self.reuse_time[positions] < begin)
        ]
        return others

    @cached_property
    def _position_in_line_order(self) -> Whole:
        positions = np.empty_like(self.by_line)
        positions[self.by_line] = np.arange(len(positions))
        return positions

    def run_starts(self, near: int) -> Whole:
        """Returns the first reference of each run, as positions in the order of lines, as if there
        were a single cache.
        """
        if near not in self._starts:
            self._starts[near] = np.flatnonzero(~(self.again & (self.reuse_time <= near)))
        return self._starts[near]

    def stack_distances(self, near: int) -> Whole:
        """Returns the number of distinct other lines between the previous run on the same line and
        each run.

        Values for the first run on a line have no meaning.
        """
        if near not in self._run_distances:
            starts = self.run_starts(near)
            start, end = self.by_line[starts], self.by_line[_last_positions(starts, self.number)]
            first = ~self.again[starts]
            before: Whole = np.roll(end, 1)
            by_time = stable_order(start, self.number)
            ended = np.cumsum(np.bincount(end, minlength=self.number))
            # The order is the end of the previous run. First runs on a line come first.
            turn = np.empty(len(starts), dtype=np.int64)
            turn[by_time] = np.arange(len(starts))
            has_one = np.flatnonzero(~first)
            has_one = has_one[stable_order(before[has_one], self.number)]
            ranked = np.concatenate([np.sort(turn[first]), turn[has_one]])
            self._run_distances[near] = earlier_and_lower(ranked)[turn] - ended[before]
        return self._run_distances[near]


class LineRuns:
    """Runs of references to one line with fewer than `near` references in between, divided at the
    first reference to each cache (`begins`).

    All arrays are sorted by line, then by cache and time. Results are valid for caches of at least
    `near` lines.
    """

    def __init__(self, references: References, begins: Whole, near: int) -> None:
        count_references(references.number)
        by_line, starts = references.by_line, references.run_starts(near)
        if len(begins) > 1:
            others = np.sort(references.reuses_at_start(begins[1:], near))
            starts = np.sort(np.concatenate([starts, others]), kind="stable")
            starts = starts[np.append(True, starts[1:] > starts[:-1])]
        self._starts = starts
        ends = _last_positions(starts, references.number)
        self._references, self._near = references, near
        start, end = by_line[starts], by_line[ends]
        self.array = references.array[start]
        self.written = references.written_before[ends + 1] > references.written_before[starts]
        cache = np.searchsorted(begins, start, side="right")
        before = start - references.reuse_time[starts]
        self.first = ~references.again[starts] | (before < begins[cache - 1])
        # The number of references since the previous run is an upper bound of the stack distance.
        apart = start - np.roll(end, 1)
        self._longest = int(apart.max(initial=0, where=~self.first))
        self.touched = int(np.bincount(cache[self.first]).max())

    def moved(self, held: int) -> tuple[Whole, Whole]:
        """Returns the lines of each array that caches of `held` lines load and write back. Caches
        are empty at the start and are flushed at the end.
        """
        missed = self.first
        if held < min(self.touched, self._longest):
            missed = missed | (self._run_distances >= held)
        begins = np.flatnonzero(missed)
        array = self.array[begins]
        dirty = array[np.logical_or.reduceat(self.written, begins)]
        number = self._references.arrays
        return np.bincount(array, minlength=number), np.bincount(dirty, minlength=number)

    @cached_property
    def _run_distances(self) -> Whole:
        """The stack distance of each run."""
        known = self._references.stack_distances(self._near)
        places = np.searchsorted(self._references.run_starts(self._near), self._starts)
        distances: Whole = known[np.minimum(places, len(known) - 1)]
        return distances


def _last_positions(starts: Whole, number: int) -> Whole:
    """Returns the last position of each run. `number` is the number of all positions."""
    return np.append(starts[1:] - 1, number - 1)


def stable_order(numbers: Whole, most: int) -> Whole:
    """Returns the positions that sort `numbers` stably. All numbers are below `most`.

    >>> stable_order(np.array([70000, 3, 70000, 2]), 70001).tolist()
    [3, 1, 0, 2]
    """
    order: Whole = np.argsort((numbers & ((1 << _DIGIT) - 1)).astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, most.bit_length(), _DIGIT):
        digit = (numbers[order] >> shift & ((1 << _DIGIT) - 1)).astype(np.uint16)
        order = order[np.argsort(digit, kind="stable")]
    return order


def earlier_and_lower(ranked: Whole) -> Whole:
    """Returns for each position the number of earlier positions with a lower rank. `ranked`
    contains the positions in the order of rank.

    Blocks of positions are halved repeatedly. For each element of a right half, the elements of the
    left half with lower rank are counted.

    >>> earlier_and_lower(np.array([2, 0, 1])).tolist()
    [0, 1, 0]
    """
    place: Small = ranked.astype(np.int32)
    number = len(place)
    here = np.arange(number, dtype=np.int32)
    counted = np.zeros(number, dtype=np.int32)
    for level in range((number - 1).bit_length() - 1, -1, -1):
        half = 1 << level
        right = (place >> level) & 1
        rights = np.cumsum(right, dtype=np.int32) - right
        begin = here & np.int32(-2 * half)
        lefts = here - rights - (begin >> 1)
        counted += right * lefts
        moved_to = np.where(right, here + half - lefts, begin + lefts)
        place, counted = _scatter_numbers(place, moved_to), _scatter_numbers(counted, moved_to)
    return counted.astype(np.int64)


def _scatter_numbers(numbers: Small, targets: Small) -> Small:
    moved = np.empty_like(numbers)
    moved[targets] = numbers
    return moved
