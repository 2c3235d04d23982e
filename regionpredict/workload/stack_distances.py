"""Stack distances of the references that reach caches. A stack distance is the number of other
lines between two uses of a line.

An LRU cache of `n` lines hits if fewer than `n` other lines were accessed in between. One pass
therefore gives the traffic of caches of all sizes (Mattson, Gecsei, Slutz and Traiger 1970).
References with a short distance form a run, and only the first one can miss. The distances of runs
are counted by merging blocks of them (Bentley 1980, sec. 3), all blocks of a level at once.
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
"""The number of bits that numpy sorts in one pass of radix sort."""


class References:
    """The references to caches, grouped by cache. The references of a cache are in order.

    Each reference has a `line` (below `lines`) and an `array` (below `arrays`), and says whether it
    is `written`. Values that do not depend on the start of caches are computed once.
    """

    def __init__(self, line: Whole, lines: int, array: Whole, arrays: int, written: Flags) -> None:
        self.number = len(line)
        self.arrays = arrays
        self.by_line = in_order_of(line, lines)
        self.array = array
        self.written_before = np.append(0, np.cumsum(written[self.by_line]))
        ordered = line[self.by_line]
        self.again = np.zeros(self.number, dtype=np.bool_)
        np.equal(ordered[1:], ordered[:-1], out=self.again[1:])
        self.reuse_time = np.append(0, np.diff(self.by_line))
        self._starts: dict[int, Whole] = {}
        self._distances: dict[int, Whole] = {}

    def reuses_at_start(self, begins: Whole, near: int) -> Whole:
        """The reuses of lines among the first `near` references after a cache starts, as positions
        in the order of lines.
        """
        after = (begins[:, None] + np.arange(near)).ravel()
        begin = np.repeat(begins, near)
        inside = after < self.number
        after, begin = after[inside], begin[inside]
        stands = self._stands[after]
        others: Whole = stands[self.again[stands] & (after - self.reuse_time[stands] < begin)]
        return others

    @cached_property
    def _stands(self) -> Whole:
        stands = np.empty_like(self.by_line)
        stands[self.by_line] = np.arange(len(stands))
        return stands

    def run_starts(self, near: int) -> Whole:
        """The first references of runs in a single cache, as positions in the order of lines."""
        if near not in self._starts:
            self._starts[near] = np.flatnonzero(~(self.again & (self.reuse_time <= near)))
        return self._starts[near]

    def distances(self, near: int) -> Whole:
        """The number of other lines between the previous run on the same line and each run.

        These are the runs that are active, and the runs that started after the previous run of
        their line ended. The value for a first run is not used.
        """
        if near not in self._distances:
            starts = self.run_starts(near)
            start, end = self.by_line[starts], self.by_line[_ends(starts, self.number)]
            first = ~self.again[starts]
            before: Whole = np.roll(end, 1)
            by_time = in_order_of(start, self.number)
            ended = np.cumsum(np.bincount(end, minlength=self.number))
            # Sorted by the end of the previous run. First runs, which have none, come first.
            turn = np.empty(len(starts), dtype=np.int64)
            turn[by_time] = np.arange(len(starts))
            has_one = np.flatnonzero(~first)
            has_one = has_one[in_order_of(before[has_one], self.number)]
            ranked = np.concatenate([np.sort(turn[first]), turn[has_one]])
            self._distances[near] = earlier_and_lower(ranked)[turn] - ended[before]
        return self._distances[near]


class LineRuns:
    """Runs of references to one line with fewer than `near` other lines in between. Caches start at
    some of the references.

    All arrays are in the order of lines. For one line in one cache, they are in the order of time.
    Requested caches have at least `near` lines. Between two runs in one cache, the lines are the
    same as in a single cache.
    """

    def __init__(self, references: References, begins: Whole, near: int) -> None:
        count_references(references.number)
        by_line, starts = references.by_line, references.run_starts(near)
        if len(begins) > 1:
            others = np.sort(references.reuses_at_start(begins[1:], near))
            starts = np.sort(np.concatenate([starts, others]), kind="stable")
            starts = starts[np.append(True, starts[1:] > starts[:-1])]
        self._starts = starts
        ends = _ends(starts, references.number)
        self._references, self._near = references, near
        start, end = by_line[starts], by_line[ends]
        self.array = references.array[start]
        self.written = references.written_before[ends + 1] > references.written_before[starts]
        cache = np.searchsorted(begins, start, side="right")
        before = start - references.reuse_time[starts]
        self.first = ~references.again[starts] | (before < begins[cache - 1])
        # References since the end of the previous run on the same line, an upper bound of the lines
        # in between.
        apart = start - np.roll(end, 1)
        self._longest = int(apart.max(initial=0, where=~self.first))
        self.touched = int(np.bincount(cache[self.first]).max())

    def moved(self, held: int) -> tuple[Whole, Whole]:
        """The lines of each array that caches of `held` lines load and write back. Caches are empty
        at the start and are flushed at the end.
        """
        missed = self.first
        if held < min(self.touched, self._longest):
            missed = missed | (self._distances >= held)
        begins = np.flatnonzero(missed)
        array = self.array[begins]
        dirty = array[np.logical_or.reduceat(self.written, begins)]
        number = self._references.arrays
        return np.bincount(array, minlength=number), np.bincount(dirty, minlength=number)

    @cached_property
    def _distances(self) -> Whole:
        """The number of other lines between the previous run on the same line and each run."""
        known = self._references.distances(self._near)
        places = np.searchsorted(self._references.run_starts(self._near), self._starts)
        distances: Whole = known[np.minimum(places, len(known) - 1)]
        return distances


def _ends(starts: Whole, number: int) -> Whole:
    """The last positions of runs that start at `run_starts`. There are `number` positions."""
    return np.append(starts[1:] - 1, number - 1)


def in_order_of(numbers: Whole, most: int) -> Whole:
    """The places of numbers less than `most`, in a stable order by number.

    >>> in_order_of(np.array([70000, 3, 70000, 2]), 70001).tolist()
    [3, 1, 0, 2]
    """
    order: Whole = np.argsort((numbers & ((1 << _DIGIT) - 1)).astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, most.bit_length(), _DIGIT):
        digit = (numbers[order] >> shift & ((1 << _DIGIT) - 1)).astype(np.uint16)
        order = order[np.argsort(digit, kind="stable")]
    return order


def earlier_and_lower(ranked: Whole) -> Whole:
    """For each position, the number of earlier positions with a lower rank. `ranked` are the
    positions by rank.

    Blocks of places are processed from the largest to the smallest, each in order of rank. For each
    element of the right half, the earlier elements of the left half are counted. Then the halves
    are separated.

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
        place, counted = _moved(place, moved_to), _moved(counted, moved_to)
    return counted.astype(np.int64)


def _moved(numbers: Small, targets: Small) -> Small:
    moved = np.empty_like(numbers)
    moved[targets] = numbers
    return moved
