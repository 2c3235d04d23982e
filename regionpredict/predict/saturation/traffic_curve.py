"""Computes the data traffic of a region on p threads of a machine, in bytes and in seconds."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.machine.thread_places import cache_sharers, threads_of_second_caches
from regionpredict.predict.saturation.constants import (
    COUNTED_TEAMS,
    CURVE_WORK,
    STAYING,
    STRAIGHT,
)
from regionpredict.predict.saturation.memory_bandwidth import cache_bandwidths
from regionpredict.predict.saturation.strided_walks import StridedWalks, widest_step
from regionpredict.workload import (
    NOT_ASKED,
    ArrayTraffic,
    CacheContents,
    CacheLevel,
    Carrier,
    LevelTraffic,
    TrafficCounter,
    unprefetched_arrays,
)


class Data(NamedTuple):
    """The data traffic of the whole region on p threads.

    `from_cache` is the time of one core for lines from caches beyond the first level, in seconds,
    and `from_own` is the part from private caches. `memory` is the memory traffic in bytes, and
    `writes` is the share of write-backs. `scattered` is the number of lines without prefetching.
    `walking` is the time of one core for page walks of wide strides, in seconds.
    """

    from_cache: float
    from_own: float
    memory: float
    writes: float
    scattered: float
    walking: float


@dataclass(frozen=True, slots=True)
class _CountedTraffic:
    """The counted traffic at one number of threads, as an interpolation node.

    `totals` are the bytes between each cache and the next level, and the number of scattered lines.
    `lines` contains (cache, bytes from this cache, share of write-backs). `walking` has the same
    meaning as in `Data`.
    """

    totals: tuple[float, ...]
    lines: tuple[tuple[int, float, float], ...]
    memory: _Memory
    walking: float


class _Memory(NamedTuple):
    """The memory traffic with write-allocate for all missed stores.

    `moved` is the total in bytes, including `written` bytes of write-backs. `claimed` bytes are
    read only because of write-allocate. `scattered` is the number of lines without prefetching, and
    `scattered_claims` is the number of such lines read only because of write-allocate.
    """

    moved: float
    written: float
    claimed: float
    scattered: float
    scattered_claims: float


class TrafficCurve:
    """The traffic of one region on one machine, counted at some numbers of threads and interpolated
    in between.

    `edges` are numbers with exact traffic: one thread, all sharers of a cache, and all cores.
    """

    def __init__(
        self, counter: TrafficCounter, machine: Machine, *, contents: CacheContents,
        only_written: frozenset[str] = frozenset(), write_allocation: bool = True,
        lasting: bool = True, walks: StridedWalks | None = None,
    ) -> None:  # fmt: skip
        """`contents` are the initial contents of the caches. `only_written` are arrays that the
        region never reads. `walks` counts page walks of wide strides, if not None.
        """
        self.counter = counter
        self.machine = machine
        self.contents = contents
        self._lasting = machine.processor.lasting_share.value if lasting else 0.0
        self._scattered = unprefetched_arrays(
            counter.nest, line_bytes=counter.line_bytes,
            streams=machine.processor.prefetched_streams.value, stride_bytes=widest_step(machine),
        )  # fmt: skip
        self._walks = walks
        self._only_written = only_written
        self._allocates = write_allocation
        self._levels: dict[int, tuple[LevelTraffic, ...]] = {}
        self._counted: dict[int, _CountedTraffic] = {}
        self._walking: dict[int, float] = {}
        self._rates: dict[tuple[int, int, float], float] = {}
        self._read_off: dict[int, Data] = {}
        self._bandwidth = cache_bandwidths(machine)
        self._cores = machine.cores
        self._shared = [cache.shared_by_cores.whole for cache in machine.caches]
        # Beyond one thread per second-level cache, threads share these caches.
        turn = threads_of_second_caches(machine)
        self.edges = sorted(
            count for count in {1, *self._shared, self._cores, turn} if count <= self._cores
        )
        self._between: list[int] | None = None
        self._fewer = False

    @property
    def cut(self) -> bool:
        """Whether the budget excluded some traffic counts or enumerations."""
        return self._fewer or self.counter.is_closed_form

    @property
    def has_wide_strides(self) -> bool:
        """Whether page walks for wide strides are counted."""
        return self._walks is not None and bool(self._walks.arrays)

    def levels(self, threads: int) -> tuple[LevelTraffic, ...]:
        """Returns the traffic between each cache and the next level on `threads` threads. The last
        entry is memory traffic.
        """
        levels = self._counted_levels(threads)
        spared = 1.0 - self._write_allocated_share(threads)
        memory = LevelTraffic(
            tuple(
                array._replace(read=array.read - spared * self._claimed_bytes(array))
                for array in levels[-1].arrays
            )
        )
        return (*levels[:-1], memory)

    def carried_levels(self, threads: int) -> tuple[LevelTraffic, ...]:
        """Returns the result of `levels` with the carrier of every array's reuse."""
        levels = self.levels(threads)
        if all(array.carrier is not NOT_ASKED for level in levels for array in level.arrays):
            return levels
        estimated = self.counter.traffic(
            self._caches_for(threads), threads, contents=self.contents, estimated=True
        )
        carriers = [{own.array: own.carrier for own in level.arrays} for level in estimated]
        return tuple(
            LevelTraffic(tuple(
                moved._replace(carrier=known.get(moved.array, Carrier(None, 0.0)))
                for moved in level.arrays
            ))
            for level, known in zip(levels, carriers, strict=True)
        )  # fmt: skip

    def _write_allocated_share(self, threads: int) -> float:
        """Returns the share of missed stores that read their line first (write-allocate)."""
        if not self._allocates:
            return 0.0
        return self.machine.write_allocate(min(threads, self.machine.cores_per_domain))

    def _claimed_bytes(self, moved: ArrayTraffic) -> float:
        """Returns the bytes that are read from memory only because of write-allocate."""
        return min(moved.read, moved.written) if moved.array in self._only_written else 0.0

    def _counted_levels(self, threads: int) -> tuple[LevelTraffic, ...]:
        """Returns the traffic of all levels with write-allocate for every missed store."""
        levels = self._levels.get(threads)
        if levels is None:
            levels = self.counter.traffic(
                self._caches_for(threads), threads, contents=self.contents
            )
            self._levels[threads] = levels
        return levels

    def at(self, threads: int) -> Data:
        """Returns the traffic on `threads` threads, either counted or interpolated."""
        data = self._read_off.get(threads)
        if data is None:
            data = self._read_off[threads] = self._computed_traffic(threads)
        return data

    def count_at(self, threads: int) -> None:
        """Counts the traffic on `threads` threads exactly instead of interpolating it."""
        if threads not in self._read_off:
            self._read_off[threads] = self._interpolated_data(
                self._counted_traffic(threads), threads
            )

    def _computed_traffic(self, threads: int) -> Data:
        knots = self._knots_for(threads)
        position = bisect_left(knots, threads)
        right = self._counted_traffic(knots[position])
        if knots[position] == threads:
            return self._interpolated_data(right, threads)
        left = self._counted_traffic(knots[position - 1])
        a = self._interpolated_data(left, threads)
        if left == right:
            return a
        b = self._interpolated_data(right, threads)
        part = (threads - knots[position - 1]) / (knots[position] - knots[position - 1])
        return Data(
            a.from_cache + part * (b.from_cache - a.from_cache),
            a.from_own + part * (b.from_own - a.from_own),
            a.memory + part * (b.memory - a.memory),
            a.writes + part * (b.writes - a.writes),
            a.scattered + part * (b.scattered - a.scattered),
            a.walking + part * (b.walking - a.walking),
        )

    def sources(self, threads: int) -> tuple[int, ...]:
        """Returns the cache levels that supply lines to this number of threads. The first-level
        cache has number 0.
        """
        knots = self._knots_for(threads)
        near = knots[bisect_left(knots, threads)]
        return tuple(cache for cache, _, _ in self._counted_traffic(near).lines)

    def keeps_more(self, threads: int) -> bool:
        """Whether more caches keep data between executions on this number of threads, and save most
        of the memory traffic of one thread.
        """
        return (
            bool(self.contents.own) and self.at(threads).memory < STAYING.value * self.at(1).memory
        )

    def _knots_for(self, threads: int) -> list[int]:
        """Returns the numbers of threads with counted traffic, for an interpolation at `threads`.

        With several threads per core, the result has two numbers with the same number of threads
        per core.
        """
        cores = self._cores
        if threads in self.edges:
            return self.edges
        if threads <= cores:
            if self._between is None:
                self._between = self._thread_counts()
            return self._between
        each = (threads - 1) // cores
        return [each * cores + 1, (each + 1) * cores]

    def _thread_counts(self) -> list[int]:
        """Returns the numbers of threads at which traffic is counted, so that it is almost linear
        in between.

        The search starts with `edges` and halves the interval with the largest deviation from a
        line, on a logarithmic scale. It ends if all deviations are small, or at the limit of counts
        or of work.
        """
        counts = list(self.edges)
        waiting = [(self._nonlinearity(a, b, a), a, b) for a, b in pairwise(counts)]
        while waiting and len(counts) < COUNTED_TEAMS.value:
            waiting.sort()
            bend, left, right = waiting.pop()
            middle = round(math.sqrt(left * right))
            if bend < STRAIGHT.value or not left < middle < right:
                continue
            if self.counter.work > CURVE_WORK.value:
                self._fewer = True
                break
            counts.append(middle)
            bend = self._nonlinearity(left, right, middle)
            if bend >= STRAIGHT.value:
                waiting += [
                    (min(bend, self._nonlinearity(left, middle, left)), left, middle),
                    (min(bend, self._nonlinearity(middle, right, middle)), middle, right),
                ]
        return sorted(counts)

    def _nonlinearity(self, left: int, right: int, middle: int) -> float:
        """Returns the relative deviation of the bytes at `middle` from the line between `left` and
        `right`. If `middle` is `left`, the result is the relative difference between both ends.
        """
        part = (middle - left) / (right - left) if middle > left else 1.0
        worst = 0.0
        ends = self._counted_traffic(left).totals, self._counted_traffic(right).totals
        for a, b, c in zip(*ends, self._counted_traffic(middle).totals, strict=True):
            if a or b or c:
                worst = max(worst, abs(a + part * (b - a) - c) / max(a, b, c))
        return worst

    def _caches_for(self, threads: int) -> list[CacheLevel]:
        levels: list[CacheLevel] = []
        for cache, cores in zip(self.machine.caches, self._shared, strict=True):
            most = cache_sharers(self.machine, cores, threads)
            sharers = min(threads, most)
            size = cache.size_bytes.value
            if levels and cache.policy in ("victim", "exclusive"):
                above = levels[-1]
                size += above.size * sharers / above.sharers
            levels.append(CacheLevel(size, most, self._lasting if cores > 1 else 0.0))
        return levels

    def _counted_traffic(self, threads: int) -> _CountedTraffic:
        knot = self._counted.get(threads)
        if knot is None:
            knot = self._counted[threads] = self._count_traffic(threads)
        return knot

    def _count_traffic(self, threads: int) -> _CountedTraffic:
        levels = self._counted_levels(threads)
        totals = [level.total for level in levels]
        lines = []
        for position in range(len(levels) - 1):
            moved = totals[position] - totals[position + 1]
            if moved > 0:
                lines.append((position + 1, moved, levels[position].written / totals[position]))
        arrays = levels[-1].arrays
        unforeseen = [array for array in arrays if array.array in self._scattered]
        line = self.counter.line_bytes
        memory = _Memory(
            levels[-1].total,
            levels[-1].written,
            sum(map(self._claimed_bytes, arrays)),
            sum(traffic.read for traffic in unforeseen) / line,
            sum(map(self._claimed_bytes, unforeseen)) / line,
        )
        walking = self._walking_at(threads) if self.has_wide_strides else 0.0
        return _CountedTraffic((*totals, memory.scattered), tuple(lines), memory, walking)

    def _walking_at(self, threads: int) -> float:
        """Returns the time for page walks in seconds, interpolated between `edges` of nearly equal
        times.
        """
        position = bisect_left(self.edges, threads)
        if threads < self._cores and self.edges[position] != threads:
            left, right = self.edges[position - 1 : position + 1]
            a, b = self._counted_walking(left), self._counted_walking(right)
            if abs(a - b) <= STRAIGHT.value * max(a, b):
                return a + (threads - left) / (right - left) * (b - a)
        return self._counted_walking(threads)

    def _counted_walking(self, threads: int) -> float:
        seconds = self._walking.get(threads)
        if seconds is None and self._walks is not None:
            caches = self._caches_for(threads)
            seconds = self._walking[threads] = self._walks.seconds(threads, caches)
        return seconds or 0.0

    def _interpolated_data(self, knot: _CountedTraffic, threads: int) -> Data:
        seconds = own = 0.0
        for cache, lines, written in knot.lines:
            each = lines / self._cache_rate(cache, threads, written)
            seconds += each
            if self._shared[cache] == 1:
                own += each
        spared = 1.0 - self._write_allocated_share(threads)
        moved = knot.memory.moved - spared * knot.memory.claimed
        scattered = knot.memory.scattered - spared * knot.memory.scattered_claims
        writes = knot.memory.written / moved if moved else 0.0
        return Data(seconds, own, moved, writes, scattered, knot.walking)

    def _cache_rate(self, level: int, threads: int, writes: float) -> float:
        """Returns the bandwidth in B/s that one of `threads` threads gets from the cache at `level`
        (0 is the first).
        """
        shared = self._shared[level]
        cores = min(threads, cache_sharers(self.machine, shared, threads), shared)
        rate = self._rates.get((level, cores, writes))
        if rate is None:
            cache = self.machine.caches[level]
            if cache.bandwidth:
                rate = self._bandwidth[level].bandwidth_at_writes(writes)(cores) / cores
            else:
                rate = cache.bytes_per_cycle.value * self.machine.clock_hz
            self._rates[level, cores, writes] = rate
        return rate
