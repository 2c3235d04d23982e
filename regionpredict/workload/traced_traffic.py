"""Lines that caches move, by a trace of all references: least recently used goes first.

Threads of one cache take turns, reference by reference. Caches are fully associative, allocate
lines that are written and write them back; they are empty at first and flushed at the end.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.workload.constants import TRACE_PLACES
from regionpredict.workload.line_overlap import Lines, Volume
from regionpredict.workload.reference_trace import ReferenceTrace, Whole

_FAR = 40
"""Bits of a line's number within its array: above them stands the array."""


class _Turns(NamedTuple):
    """The references in the `order` in which they come to caches, one cache after the other: the
    `cache` of each in that order, and, as the trace has them, whose `own` copy each is of: 0 is
    everybody's."""

    own: Whole
    order: Whole
    cache: Whole


class TracedTraffic:
    """The traffic of one trace, whoever has its iterations and however large the caches are."""

    def __init__(self, trace: ReferenceTrace, line_bytes: int) -> None:
        self.trace = trace
        self.line_bytes = line_bytes
        self._caches: dict[tuple[int, int, int | None, int], _Caches] = {}
        self._turns: dict[tuple[int, int, int | None], _Turns] = {}
        self._lines: dict[int, tuple[Whole, Whole]] = {}

    def volume(self, threads: int, sharers: int, chunk: int | None, held: float) -> Volume:
        """Lines by array that all caches of `held` lines move together, `sharers` threads each.

        Threads have a block each, as even as can be, or chunks in turn. Arrays that may begin
        anywhere begin at several places of a line: the mean of these.
        """
        places = 1 if self.trace.aligned else int(TRACE_PLACES.value)
        number = len(self.trace.arrays)
        read, written = np.zeros(number), np.zeros(number)
        for place in range(places):
            asked = (threads, sharers, chunk, place * self.line_bytes // places)
            caches = self._caches.get(asked)
            if caches is None:
                caches = self._caches[asked] = self._dealt(*asked)
            brought, back = caches.moved(held)
            read += brought
            written += back
        return {
            array: Lines(float(read[at]) / places, float(written[at]) / places)
            for at, array in enumerate(self.trace.arrays)
        }

    def _dealt(self, threads: int, sharers: int, chunk: int | None, begin: int) -> _Caches:
        """What reaches each cache."""
        turns = self._order(threads, sharers, chunk)
        line, array = self._numbered(begin)
        line = (line + turns.own * len(array))[turns.order]
        written = self.trace.written[turns.order]
        return _Caches(line, written, turns.cache, array, len(self.trace.arrays))

    def _numbered(self, begin: int) -> tuple[Whole, Whole]:
        """The line of each reference, numbered from 0 on, and the array of each number."""
        known = self._lines.get(begin)
        if known is None:
            line = (self.trace.byte + begin) // self.line_bytes + (1 << (_FAR - 1))
            lines, number = np.unique((self.trace.array << _FAR) + line, return_inverse=True)
            known = self._lines[begin] = number, lines >> _FAR
        return known

    def _order(self, threads: int, sharers: int, chunk: int | None) -> _Turns:
        known = self._turns.get((threads, sharers, chunk))
        if known is not None:
            return known
        trace = self.trace
        thread = dealt(trace.iterations, threads, chunk)[trace.iteration]
        order = np.argsort(thread, kind="stable")
        if sharers > 1:
            cache = thread[order] // sharers
            turn = np.arange(len(order)) - np.searchsorted(thread[order], thread[order])
            order = order[np.lexsort((thread[order], turn, cache))]
        own = np.where(trace.private, thread + 1, 0)
        turns = self._turns[threads, sharers, chunk] = _Turns(own, order, thread[order] // sharers)
        return turns


class _Caches:
    """References that reach the caches of one level, one cache after the other."""

    def __init__(
        self, line: Whole, written: NDArray[np.bool_], cache: Whole, array: Whole,
        arrays: int,
    ) -> None:  # fmt: skip
        """`array` of each line, whose numbers begin anew with what each thread has for itself."""
        # A line used twice in a row is used once, as far as a cache goes.
        again = (line[1:] == line[:-1]) & (cache[1:] == cache[:-1])
        new = np.flatnonzero(np.append(True, ~again))
        self._line, self._cache = line[new], cache[new]
        self._written = np.logical_or.reduceat(written, new)
        self._array = array
        self._arrays = arrays
        used = self._cache * (int(self._line.max()) + 1) + self._line
        self._read = self._by_cache(used)
        self._stored = self._by_cache(used[self._written])
        self._touched = self._read.sum(axis=1)

    def _by_cache(self, used: Whole) -> Whole:
        """How many different ones of these lines each cache has, by array."""
        rows = int(self._cache[-1]) + 1
        if not len(used):
            return np.zeros((rows, self._arrays), dtype=np.int64)
        used = np.sort(used)
        used = used[np.append(True, used[1:] != used[:-1])]
        cache, line = np.divmod(used, int(self._line.max()) + 1)
        place = cache * self._arrays + self._array[line % len(self._array)]
        return np.bincount(place, minlength=rows * self._arrays).reshape(rows, self._arrays)

    def moved(self, held: float) -> tuple[Whole, Whole]:
        """By array, the lines brought into caches of `held` lines, and those written back."""
        fits = self._touched <= held
        read, stored = self._read[fits].sum(axis=0), self._stored[fits].sum(axis=0)
        if fits.all():
            return read, stored
        brought: list[int] = []
        back: list[int] = []
        first = np.searchsorted(self._cache, np.arange(len(fits) + 1))
        for at in np.flatnonzero(~fits).tolist():
            own = slice(first[at], first[at + 1])
            _least_recently_used(
                self._line[own].tolist(), self._written[own].tolist(), max(1, int(held)), brought,
                back,
            )  # fmt: skip
        return read + self._counts(brought), stored + self._counts(back)

    def _counts(self, lines: Sequence[int]) -> Whole:
        numbers = np.array(lines, dtype=np.int64) % len(self._array)
        return np.bincount(self._array[numbers], minlength=self._arrays)


def _least_recently_used(
    lines: Sequence[int], written: Sequence[bool], most: int, brought: list[int], back: list[int]
) -> None:
    """Adds the lines that one cache of `most` lines brings in, and those that it writes back."""
    cache: OrderedDict[int, bool] = OrderedDict()
    newest, lost = cache.move_to_end, cache.popitem
    room = most
    for line, writes in zip(lines, written, strict=True):
        if line in cache:
            newest(line)
            if writes:
                cache[line] = True
            continue
        brought.append(line)
        if room:
            room -= 1
        else:
            gone, dirty = lost(last=False)
            if dirty:
                back.append(gone)
        cache[line] = writes
    back += [line for line, dirty in cache.items() if dirty]


def dealt(iterations: int, threads: int, chunk: int | None) -> Whole:
    """The thread of each iteration: a block each, as even as can be, or chunks in turn.

    >>> dealt(7, 3, None).tolist(), dealt(7, 3, 2).tolist()
    ([0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2, 0])
    """
    number = np.arange(iterations)
    if chunk is not None:
        return number // chunk % threads
    least, more = divmod(iterations, threads)
    longer = more * (least + 1)
    return np.where(
        number < longer, number // (least + 1), more + (number - longer) // max(1, least)
    )
