"""Simulates the lines that LRU caches load and write back, from a trace of all references.

Threads that share a cache alternate after each reference. Caches are fully associative,
write-allocate and write-back. They are empty at the start and are flushed at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regionpredict.workload.constants import NEAR_USE, PLACED_REFERENCES, TRACE_PLACES
from regionpredict.workload.counted_work import count_references
from regionpredict.workload.line_overlap import Lines, Volume
from regionpredict.workload.reference_trace import ReferenceTrace, Whole
from regionpredict.workload.stack_distances import Flags, LineRuns, References, stable_order

_Counts = tuple[Whole, Whole]
"""The loaded lines and the written-back lines, by array."""


class _CacheOrder(NamedTuple):
    """The references of a trace, sorted by cache and then by time.

    `order` are positions in the trace. `thread` is the thread of each reference. `begins` are the
    positions of each cache's first reference in this order.
    """

    order: Whole | slice
    thread: Whole
    begins: Whole


class _Lines(NamedTuple):
    """The line number of each reference, and the array of each line. The `shared` lines come first,
    followed by the `private` lines of one thread.
    """

    line: Whole
    array: Whole
    shared: int
    private: int


class _Caches(NamedTuple):
    """The distribution of iterations over threads and caches, and the start of unaligned arrays as
    one of several `alignments` within a line.
    """

    threads: int
    sharers: int
    chunk: int | None
    place: int
    alignments: int


class TracedTraffic:
    """The traffic of one trace, for any distribution of iterations and any cache size."""

    def __init__(self, trace: ReferenceTrace, line_bytes: int) -> None:
        self.trace = trace
        self.line_bytes = line_bytes
        self._aligned = np.array(trace.aligned, dtype=np.bool_)
        self._lines: dict[tuple[int, int], _Lines] = {}
        self._dealt: dict[tuple[int, int, int | None], _CacheOrder] = {}
        self._runs: dict[tuple[_Caches, int], LineRuns] = {}
        self._as_made: dict[_Caches, References] = {}
        # Arrays as long as the trace are kept only for the last distribution, to save memory.
        self._references: dict[_Caches, References] = {}
        self._touched: dict[_Caches, _Counts] = {}
        self._stores = np.flatnonzero(trace.written)

    def volume(self, threads: int, sharers: int, chunk: int | None, held: float) -> Volume:
        """Returns the lines, by array, that all caches together load and write back. Each cache has
        `held` lines and `sharers` threads.

        Without `chunk`, each thread has one block of iterations. The result is a mean over several
        starts of unaligned arrays within a line. Longer traces use fewer starts.
        """
        most = int(min(max(1.0, held), float(len(self.trace.byte))))
        alignments = 1 if self._aligned.all() else self._array_alignments()
        number = len(self.trace.arrays)
        read, written = np.zeros(number), np.zeros(number)
        for place in range(alignments):
            caches = _Caches(threads, sharers, chunk, place, alignments)
            brought, back = self._moved_lines(caches, most)
            read += brought
            written += back
        return {
            array: Lines(float(read[at]) / alignments, float(written[at]) / alignments)
            for at, array in enumerate(self.trace.arrays)
        }

    def _array_alignments(self) -> int:
        affordable = int(PLACED_REFERENCES.value) // len(self.trace.byte)
        return max(1, min(int(TRACE_PLACES.value), affordable))

    def _moved_lines(self, caches: _Caches, most: int) -> _Counts:
        lines = self._line_numbering(caches.place, caches.alignments)
        if lines.shared + lines.private * caches.sharers <= most:
            if caches.threads <= caches.sharers and not lines.private:
                # All threads share one cache that holds all lines.
                caches = caches._replace(threads=1, sharers=1, chunk=None)
            if caches not in self._touched:
                self._touched[caches] = self._traffic_if_all_fits(caches, lines)
            return self._touched[caches]
        near = min(most, int(NEAR_USE.value))
        if (caches, near) not in self._runs:
            self._runs[caches, near] = self._line_runs(caches, lines, near)
        return self._runs[caches, near].moved(most)

    def _traffic_if_all_fits(self, caches: _Caches, lines: _Lines) -> _Counts:
        """Returns the traffic of caches that hold all lines. Each line is loaded once, and each
        written line is written back once.
        """
        trace = self.trace
        count_references(len(trace.byte))
        line, number = lines.line, lines.shared + lines.private
        teams = -(-caches.threads // caches.sharers)
        if caches.threads > 1:
            thread = thread_of_iterations(trace.iterations, caches.threads, caches.chunk)
            line = line + (thread // caches.sharers * number * caches.sharers)[trace.iteration]
            if lines.private and caches.sharers > 1:
                own = (thread % caches.sharers * number)[trace.iteration]
                line = line + np.where(trace.private, own, 0)
        seen = np.zeros(number * teams * caches.sharers, dtype=np.bool_)
        seen[line] = True
        read = self._lines_by_array(lines, seen)
        seen[:] = False
        seen[line[self._stores]] = True
        return read, self._lines_by_array(lines, seen)

    def _lines_by_array(self, lines: _Lines, selected_lines: Flags) -> Whole:
        times = selected_lines.reshape(-1, len(lines.array)).sum(axis=0)
        number = len(self.trace.arrays)
        return np.bincount(lines.array, times, minlength=number).astype(np.int64)

    def _line_runs(self, caches: _Caches, lines: _Lines, near: int) -> LineRuns:
        distribution = (caches.threads, caches.sharers, caches.chunk)
        if distribution not in self._dealt:
            self._dealt = {distribution: cache_order(self.trace, *distribution)}
        dealt_out = self._dealt[distribution]
        # If each thread has one block and one cache, the order is that of the trace.
        as_made = caches.sharers == 1 and caches.chunk is None
        known = self._as_made if as_made else self._references
        key = caches._replace(threads=1) if as_made else caches
        if key not in known:
            if not as_made:
                known.clear()
            known[key] = self._references_by_cache(caches, lines, dealt_out)
        return LineRuns(known[key], dealt_out.begins, near)

    def _references_by_cache(
        self, caches: _Caches, lines: _Lines, dealt_out: _CacheOrder
    ) -> References:
        order, trace = dealt_out.order, self.trace
        line, number = lines.line[order], lines.shared + lines.private
        if caches.sharers > 1 and lines.private:
            own = dealt_out.thread % caches.sharers * lines.private
            line = line + np.where(line < lines.shared, 0, own)
            number += (caches.sharers - 1) * lines.private
        return References(line, number, trace.array[order], len(trace.arrays), trace.written[order])

    def _line_numbering(self, place: int, alignments: int) -> _Lines:
        """Returns the line numbers of all references for one start of unaligned arrays within a
        line. In long traces, each array has another start.
        """
        known = self._lines.get((place, alignments))
        if known is None:
            every = int(TRACE_PLACES.value)
            number = np.arange(len(self.trace.arrays)) if alignments < every else 0
            begin = (place * every // alignments + number) % every * self.line_bytes // every
            byte = self.trace.byte + np.where(self._aligned, 0, begin)[self.trace.array]
            known = self._lines[place, alignments] = self._line_numbers(byte // self.line_bytes)
        return known

    def _line_numbers(self, line: Whole) -> _Lines:
        """Numbers the touched lines of all arrays from zero, shared arrays first. `line` contains
        the line of each reference within its array.
        """
        trace = self.trace
        number = len(trace.arrays)
        own = np.zeros(number, dtype=np.bool_)
        own[trace.array[trace.private]] = True
        lowest = np.full(number, np.iinfo(np.int64).max)
        np.minimum.at(lowest, trace.array, line)
        highest = np.full(number, np.iinfo(np.int64).min)
        np.maximum.at(highest, trace.array, line)
        length = highest - lowest + 1
        shared_first = np.argsort(own, kind="stable")
        first = np.empty(number, dtype=np.int64)
        first[shared_first] = np.cumsum(length[shared_first]) - length[shared_first]
        line = line + (first - lowest)[trace.array]
        shared = int(length[~own].sum())
        touched, line = _without_gaps(line, int(length.sum()))
        array = shared_first[np.searchsorted(np.cumsum(length[shared_first]), touched, "right")]
        before = int(np.searchsorted(touched, shared))
        return _Lines(line, array, before, len(touched) - before)


def _without_gaps(line: Whole, number: int) -> tuple[Whole, Whole]:
    """Returns the sorted touched lines, and the index of each reference's line among them. All
    lines are below `number`.
    """
    if number > 4 * len(line):
        touched, line = np.unique(line, return_inverse=True)
        return touched, line
    seen = np.zeros(number, dtype=np.bool_)
    seen[line] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[line]


def cache_order(
    trace: ReferenceTrace, threads: int, sharers: int, chunk: int | None
) -> _CacheOrder:
    """Returns the references of a trace, sorted by cache and then by time."""
    order: Whole | slice = slice(None)
    thread = thread_of_iterations(trace.iterations, threads, chunk)
    if chunk is None:
        bounds = np.searchsorted(thread, np.arange(threads + 1))
        first = np.searchsorted(trace.iteration, bounds)
    else:
        thread = thread[trace.iteration]
        order = stable_order(thread, threads)
        first = np.append(0, np.cumsum(np.bincount(thread, minlength=threads)))
    if sharers > 1:
        taken = _interleaved_order(first, sharers)
        order = order[taken] if isinstance(order, np.ndarray) else taken
        thread = np.repeat(np.arange(threads), np.diff(first))[taken]
    # Caches without references are removed: they start at the same position as the next cache.
    begins, ends = first[:-1:sharers], np.append(first[sharers:-1:sharers], first[-1])
    return _CacheOrder(order, thread, begins[begins < ends])


def _interleaved_order(first: Whole, sharers: int) -> Whole:
    """Returns the order of references if each `sharers` consecutive threads alternate.

    `first` are the positions of each thread's first reference. Finished threads are skipped.
    """
    taken = np.empty(first[-1], dtype=np.int64)
    for thread in range(0, len(first) - 1, sharers):
        bounds = first[thread : thread + sharers + 1]
        lengths = np.diff(bounds)
        rounds = np.arange(lengths.max())
        going = len(lengths) - np.searchsorted(np.sort(lengths), rounds, side="right")
        place = bounds[0] + np.cumsum(going) - going
        for begin, length in zip(bounds.tolist(), lengths.tolist(), strict=False):
            taken[place[:length]] = np.arange(begin, begin + length)
            place[:length] += 1
    return taken


def thread_of_iterations(iterations: int, threads: int, chunk: int | None) -> Whole:
    """Returns the thread of each iteration for a static schedule: one block per thread, or chunks
    in turn.

    >>> thread_of_iterations(7, 3, None).tolist(), thread_of_iterations(7, 3, 2).tolist()
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
