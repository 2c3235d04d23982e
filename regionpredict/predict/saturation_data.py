"""The traffic of a region on p threads of a machine, in what the time needs: seconds and bytes."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

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
REUSE_SHARE = 0.5
"""Share of a cache that reuse can count on beside the streams (Stengel et al. 2015, sec. 2.4)."""


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

    `lines` are (cache, bytes from it, share of write-backs among them).
    """

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
                resident=1.0 / REUSE_SHARE if self.warm else None,
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

    def _thread_counts(self) -> list[int]:
        """Counts at which the traffic is worked out: it changes with the sharers of a cache."""
        cores = self.machine.cores
        inside = [1, 2, 4, 8, 16, 32, 64, 128]
        edges = {c.shared_by_cores.whole for c in self.machine.caches} | {cores}
        return sorted({k for k in inside if k <= cores} | {e for e in edges if e <= cores})

    def _caches(self, threads: int) -> list[CacheLevel]:
        found: list[CacheLevel] = []
        for cache in self.machine.caches:
            sharers = min(threads, cache.shared_by_cores.whole)
            size = cache.size_bytes.value * REUSE_SHARE
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
        return _Knot(tuple(lines), totals[-1], share, scattered)

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
