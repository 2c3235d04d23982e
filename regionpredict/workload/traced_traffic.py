"""Lines that caches move, by a trace of all references: least recently used goes first.

Threads of one cache take turns, reference by reference. Caches are fully associative, allocate
lines that are written and write them back; they are empty at first and flushed at the end.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regionpredict.workload.constants import TRACE_PLACES
from regionpredict.workload.line_overlap import Lines, Volume
from regionpredict.workload.reference_trace import ReferenceTrace, Whole

_FAR = 40
"""Bits of a line's number within its array: above them stand the array and its thread."""
_MANY = 20
"""Bits of an array's number."""


class TracedTraffic:
    """The traffic of one trace, whoever has its iterations and however large the caches are."""

    def __init__(self, trace: ReferenceTrace, line_bytes: int) -> None:
        self.trace = trace
        self.line_bytes = line_bytes
        self._streams: dict[tuple[int, int, int | None, int], list[_Stream]] = {}

    def volume(self, threads: int, sharers: int, chunk: int | None, held: float) -> Volume:
        """Lines by array that all caches of `held` lines move together, `sharers` threads each.

        Threads have a block each, as even as can be, or chunks in turn. Arrays that may begin
        anywhere begin at several places of a line: the mean of these.
        """
        places = 1 if self.trace.aligned else int(TRACE_PLACES.value)
        number = len(self.trace.arrays)
        read, written = np.zeros(number), np.zeros(number)
        for place in range(places):
            for stream in self._caches(threads, sharers, chunk, place * self.line_bytes // places):
                brought, back = stream.moved(held)
                read += np.bincount(brought, minlength=number)
                written += np.bincount(back, minlength=number)
        return {
            array: Lines(float(read[at]) / places, float(written[at]) / places)
            for at, array in enumerate(self.trace.arrays)
        }

    def _caches(self, threads: int, sharers: int, chunk: int | None, begin: int) -> list[_Stream]:
        asked = (threads, sharers, chunk, begin)
        streams = self._streams.get(asked)
        if streams is None:
            streams = self._streams[asked] = list(self._dealt(*asked))
        return streams

    def _dealt(
        self, threads: int, sharers: int, chunk: int | None, begin: int
    ) -> Iterator[_Stream]:
        """What reaches each cache."""
        trace = self.trace
        thread = dealt(trace.iterations, threads, chunk)[trace.iteration]
        own = np.where(trace.private, thread + 1, 0)
        line = (trace.byte + begin) // self.line_bytes + (1 << (_FAR - 1))
        line += ((own << _MANY) + trace.array) << _FAR
        order = np.argsort(thread, kind="stable")
        if sharers > 1:
            cache = thread[order] // sharers
            turn = np.arange(len(order)) - np.searchsorted(thread[order], thread[order])
            order = order[np.lexsort((thread[order], turn, cache))]
        cache = thread[order] // sharers
        _, begins = np.unique(cache, return_index=True)
        line, written = line[order], trace.written[order]
        for first, last in pairwise([*begins.tolist(), len(order)]):
            yield _Stream(line[first:last], written[first:last])


class _Stream:
    """References that reach one cache."""

    def __init__(self, line: Whole, written: NDArray[np.bool_]) -> None:
        # A line used twice in a row is used once, as far as a cache goes.
        new = np.flatnonzero(np.append(True, line[1:] != line[:-1]))
        self.line = line[new]
        self.written = np.logical_or.reduceat(written, new)
        self.touched = np.unique(self.line)
        self.stored = np.unique(self.line[self.written])

    def moved(self, held: float) -> tuple[Whole, Whole]:
        """The arrays of the lines brought in, and of those written back, one for each line."""
        if len(self.touched) <= held:
            return _array_of(self.touched), _array_of(self.stored)
        most = max(1, int(held))
        brought: list[int] = []
        back: list[int] = []
        cache: OrderedDict[int, bool] = OrderedDict()
        newest, lost = cache.move_to_end, cache.popitem
        for line, written in zip(self.line.tolist(), self.written.tolist(), strict=True):
            if line in cache:
                newest(line)
                if written:
                    cache[line] = True
                continue
            brought.append(line)
            if len(cache) >= most:
                gone, dirty = lost(last=False)
                if dirty:
                    back.append(gone)
            cache[line] = written
        back += [line for line, dirty in cache.items() if dirty]
        return _array_of(np.array(brought)), _array_of(np.array(back, dtype=np.int64))


def _array_of(lines: Whole) -> Whole:
    return (lines >> _FAR) & ((1 << _MANY) - 1)


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
