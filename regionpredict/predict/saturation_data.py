"""The traffic of a region on p threads of a machine, in what the time needs: seconds and bytes."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

from regionpredict.analysis.balance import Schedule
from regionpredict.analysis.groups import Nest
from regionpredict.analysis.groups_lines import lattice_lines
from regionpredict.analysis.traffic import CacheLevel, LevelTraffic, traffic
from regionpredict.machine import Machine
from regionpredict.predict.saturation_memory import MixedBandwidth

LINE = 64
PAGE = 4096
PREFETCHED_STREAMS = 32
"""Streams that the second cache's prefetcher follows (Intel optimization manual, "streamer")."""
_COUNTS = 10
"""Numbers of threads whose traffic is counted at most."""
_STRAIGHT = 0.01
"""Deviation from a straight line that is let pass."""


@dataclass(frozen=True, slots=True)
class Data:
    """What the whole region moves on p threads.

    `from_cache` are seconds of one core for the lines from the second cache and beyond, `memory`
    bytes, `writes` the share of them that is written back, `scattered` the lines from memory that
    no prefetcher foresees.
    """

    from_cache: float
    memory: float
    writes: float
    scattered: float


@dataclass(frozen=True, slots=True)
class _Knot:
    """A number of threads whose traffic has been counted.

    `totals` are bytes below each cache, `lines` (cache, bytes from it, share of write-backs among
    them).
    """

    totals: tuple[float, ...]
    lines: tuple[tuple[int, float, float], ...]
    memory: float
    writes: float
    scattered: float


class RegionData:
    """The traffic of one region on one machine; counted at some thread counts, each once."""

    def __init__(self, nest: Nest, machine: Machine, schedule: Schedule, *, warm: bool) -> None:
        self.nest = nest
        self.machine = machine
        self.schedule = schedule
        self.warm = warm
        self._scattered = scattered_arrays(nest)
        self._levels: dict[int, tuple[LevelTraffic, ...]] = {}
        self._counted: dict[int, _Knot] = {}
        self._rates: dict[tuple[int, int, float], float] = {}
        self._bandwidth = [MixedBandwidth(cache.bandwidth) for cache in machine.caches]
        self._knots = self._thread_counts()

    def levels(self, threads: int) -> tuple[LevelTraffic, ...]:
        """The traffic below each cache on `threads` threads."""
        found = self._levels.get(threads)
        if found is None:
            found = self._levels[threads] = traffic(
                self.nest, self._caches(threads), threads, self.schedule,
                warm=self.warm,
            )  # fmt: skip
        return found

    def at(self, threads: int) -> Data:
        """The data on `threads` threads: counted, or read off between two counts."""
        knots = self._knots
        position = bisect_left(knots, threads)
        if position == len(knots):
            return self._data(self._knot(knots[-1]), threads)
        right = self._knot(knots[position])
        if knots[position] == threads or position == 0:
            return self._data(right, threads)
        left = self._knot(knots[position - 1])
        a = self._data(left, threads)
        if left == right:
            return a
        b = self._data(right, threads)
        part = (threads - knots[position - 1]) / (knots[position] - knots[position - 1])
        return Data(
            a.from_cache + part * (b.from_cache - a.from_cache),
            a.memory + part * (b.memory - a.memory),
            a.writes + part * (b.writes - a.writes),
            a.scattered + part * (b.scattered - a.scattered),
        )

    def stays(self, threads: int) -> bool:
        """Whether so many threads' caches keep data that one thread's cannot: half of its traffic
        with memory, or more, is gone.
        """
        return self.warm and self.at(threads).memory < 0.5 * self.at(1).memory

    def _thread_counts(self) -> list[int]:
        """Counts at which the traffic is worked out, so that it is straight in between.

        It bends where a cache is shared by all it can be. Between such counts the widest bend is
        halved (on a logarithmic scale) until each middle lies on its line or enough are known.
        """
        cores = self.machine.cores
        edges = {c.shared_by_cores.whole for c in self.machine.caches} | {1, cores}
        found = sorted(e for e in edges if e <= cores)
        waiting = [(self._bend(a, b, a), a, b) for a, b in pairwise(found)]
        while waiting and len(found) < _COUNTS:
            waiting.sort()
            bend, left, right = waiting.pop()
            middle = round(math.sqrt(left * right))
            if bend < _STRAIGHT or not left < middle < right:
                continue
            found.append(middle)
            bend = self._bend(left, right, middle)
            if bend >= _STRAIGHT:
                waiting += [
                    (min(bend, self._bend(left, middle, left)), left, middle),
                    (min(bend, self._bend(middle, right, middle)), middle, right),
                ]
        return sorted(found)

    def _bend(self, left: int, right: int, middle: int) -> float:
        """By what part the bytes at `middle` miss the line from `left` to `right`; at `left`
        itself the part by which the two differ.
        """
        part = (middle - left) / (right - left) if middle > left else 1.0
        worst = 0.0
        for a, b, c in zip(*map(self._totals, (left, right, middle)), strict=True):
            if a or b or c:
                worst = max(worst, abs(a + part * (b - a) - c) / max(a, b, c))
        return worst

    def _totals(self, threads: int) -> tuple[float, ...]:
        knot = self._knot(threads)
        return (*knot.totals, knot.scattered * LINE)

    def _caches(self, threads: int) -> list[CacheLevel]:
        found: list[CacheLevel] = []
        for cache in self.machine.caches:
            sharers = min(threads, cache.shared_by_cores.whole)
            size = cache.size_bytes.value
            if found and cache.policy in ("victim", "exclusive"):
                above = found[-1]
                size += above.size * sharers / max(1, above.sharers)
            found.append(CacheLevel(size, cache.shared_by_cores.whole))
        return found

    def _knot(self, threads: int) -> _Knot:
        found = self._counted.get(threads)
        if found is None:
            found = self._counted[threads] = self._count(threads)
        return found

    def _count(self, threads: int) -> _Knot:
        levels = self.levels(threads)
        totals = [level.total for level in levels]
        lines = []
        for position in range(len(levels) - 1):
            moved = totals[position] - totals[position + 1]
            if moved > 0:
                lines.append((position + 1, moved, levels[position].written / totals[position]))
        scattered = sum(one.read / LINE for one in levels[-1].arrays
                        if one.array in self._scattered)  # fmt: skip
        share = levels[-1].written / totals[-1] if totals[-1] else 0.0
        return _Knot(tuple(totals), tuple(lines), totals[-1], share, scattered)

    def _data(self, knot: _Knot, threads: int) -> Data:
        seconds = sum(
            moved / self._cache_rate(cache, threads, writes) for cache, moved, writes in knot.lines
        )
        return Data(seconds, knot.memory, knot.writes, knot.scattered)

    def _cache_rate(self, level: int, threads: int, writes: float) -> float:
        """B/s that one core gets from the cache at `level` (0: the first), `threads` at work."""
        cache = self.machine.caches[level]
        cores = min(threads, cache.shared_by_cores.whole)
        found = self._rates.get((level, cores, writes))
        if found is None:
            if cache.bandwidth:
                found = self._bandwidth[level].mixed(writes)(cores) / max(1, cores)
            else:
                found = cache.bytes_per_cycle.value * self.machine.clock_hz
            self._rates[level, cores, writes] = found
        return found


def scattered_arrays(nest: Nest) -> frozenset[str]:
    """Arrays whose lines no prefetcher foresees: gathers, walks over whole pages, and all of a
    loop that streams from more places at once than the prefetcher follows.
    """
    found = set()
    for loop in nest.loops():
        streams = 0.0
        for group in loop.groups:
            stride = abs(group.slopes.get(loop.variable, 0.0) * loop.step)
            if group.irregular or stride > PAGE / 2:
                found.add(group.array)
            elif stride:
                streams += lattice_lines((), group.offsets, group.element)
        if streams > PREFETCHED_STREAMS:
            found |= {group.array for group in loop.groups}
    return frozenset(found)
