"""The saturation model: a speedup curve from traffic, bandwidth curves, core time and overheads.

Time of a thread = its share of the work times (core time that no transfer hides + lines from the
caches + waiting for memory), plus OpenMP's costs. Equations and sources: docs/saturation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.balance import Schedule, largest_share, schedule_of
from regionpredict.analysis.firsttouch import Placement
from regionpredict.analysis.groups import Nest, nest_of
from regionpredict.analysis.groups_lines import lattice_lines
from regionpredict.analysis.traffic import CacheLevel, LevelTraffic, traffic
from regionpredict.machine import Machine
from regionpredict.predict.curve import CoreTime, Point, SaturationDerivation, saturation_point
from regionpredict.predict.density import predict_density
from regionpredict.predict.hints import WITHIN, hint_from
from regionpredict.predict.prediction import Prediction
from regionpredict.predict.saturation_core import core_time
from regionpredict.predict.saturation_memory import (
    PARALLEL_MISSES,
    domain_bandwidth,
    mixed_bandwidth,
    requesting_cores,
    together,
)
from regionpredict.predict.saturation_overheads import Overhead, overhead_of
from regionpredict.predict.saturation_sizes import values_for

LINE = 64
PAGE = 4096
PREFETCHED_STREAMS = 32
"""Streams that the second cache's prefetcher follows (Intel optimization manual, "streamer")."""
REUSE_SHARE = 0.5
"""Share of a cache that reuse can count on beside the streams (Stengel et al. 2015, sec. 2.4)."""
ASSUMED_PLACEMENT = Placement("parallel", "no first write of the arrays seen", True)


def predict_saturation(
    facts: RegionFacts,
    machine: Machine,
    *,
    threads: Sequence[int] = (),
    placement: Placement = ASSUMED_PLACEMENT,
    within: float = WITHIN,
    warm: bool = True,
) -> Prediction:
    """The prediction of one region: times on `threads` (all counts up to the cores if empty).

    `within` is the share of the best speed that a hint may lose. The density model's score and
    probability stay beside the curve.
    """
    density = predict_density(facts, machine)
    if density.status == "skipped":
        return _renamed(density)
    values, guessed = values_for(facts, machine)
    nest = nest_of(facts.region, values)
    if nest is None:
        return _renamed(density)
    model = _Model(facts, nest, machine, placement, warm)
    counts = sorted({1, *threads}) if threads else list(range(1, machine.cores + 1))
    points = model.points(counts)
    speedup = tuple((p.threads, p.speedup) for p in points if not threads or p.threads in threads)
    hint = hint_from(speedup, machine.cores_per_package, within)
    chosen = next(p for p in points if p.threads == hint.threads)
    assumed = [*facts.bindings.assumed, *guessed, *nest.assumed]
    if placement.assumed and machine.domains > 1 and machine.memory.shared_path is None:
        assumed.append("pages placed by a parallel first touch")
    partial = facts.status == "partial" or bool(nest.assumed)
    return Prediction(
        facts=facts,
        model="saturation",
        status="partial" if partial else "predicted",
        score=density.score,
        miss_probability=density.miss_probability,
        working_set_bytes=density.working_set_bytes,
        speedup=speedup,
        packages=hint.packages,
        threads=hint.threads,
        bottleneck=_limit(points, chosen),
        confidence=_confidence(hint.margin, len(guessed) + len(nest.assumed), partial=partial),
        borderline=hint.margin < within,
        assumed=tuple(assumed),
        diagnostics=density.diagnostics,
        derivation=SaturationDerivation(
            points=points,
            core=model.core,
            levels=model.levels(1),
            full_levels=model.levels(machine.cores),
            saturation=saturation_point({p.threads: p.speedup for p in points}),
            first_touch=placement.kind,
            placement_reason=placement.reason,
            within=within,
        ),
    )


def _renamed(density: Prediction) -> Prediction:
    return Prediction(
        facts=density.facts, model="saturation", status="skipped", score=None,
        miss_probability=None, working_set_bytes=None, speedup=(), packages=None, threads=None,
        bottleneck=None, confidence=0.0, borderline=False, assumed=(),
        diagnostics=density.diagnostics,
    )  # fmt: skip


def _limit(points: Sequence[Point], chosen: Point) -> str:
    """What keeps the region from going faster: the class at the hint's number of threads."""
    return chosen.bottleneck


def _confidence(margin: float, guesses: int, *, partial: bool) -> float:
    """From 0.5 where two choices are equal to 0.95 where they are 30 % apart."""
    sure = 0.5 + 0.45 * min(1.0, margin / 0.3)
    return round(sure * 0.9 ** min(3, guesses) * (0.8 if partial else 1.0), 3)


@dataclass(slots=True)
class _Data:
    """Bytes of the whole region by where they come from, on p threads."""

    from_cache: float  # seconds of one core for lines from the second cache and beyond
    memory: float  # bytes
    writes: float  # the share of them that is written back
    scattered: float  # lines from memory that no prefetcher foresees


class _Model:
    """The terms of one region on one machine."""

    def __init__(
        self, facts: RegionFacts, nest: Nest, machine: Machine, placement: Placement, warm: bool
    ) -> None:
        self.nest = nest
        self.machine = machine
        self.placement = placement
        self.warm = warm
        self.schedule: Schedule = schedule_of(facts.region)
        self.core: CoreTime = core_time(facts, nest, machine)
        self.overhead: Overhead = overhead_of(facts, nest, machine, self.schedule)
        self.scattered = self._scattered()
        self._known: dict[int, tuple[LevelTraffic, ...]] = {}

    def levels(self, threads: int) -> tuple[LevelTraffic, ...]:
        """The traffic below each cache on `threads` threads."""
        if threads not in self._known:
            self._known[threads] = traffic(
                self.nest,
                self._caches(threads),
                threads,
                self.schedule,
                resident=1.0 / REUSE_SHARE if self.warm else None,
            )
        return self._known[threads]

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

    def points(self, counts: Sequence[int]) -> tuple[Point, ...]:
        """Times for every count; traffic is counted at some of them and read off in between."""
        made = []
        base = 0.0
        for threads in counts:
            terms, requesting, rate = self._terms(threads, self._data(threads))
            seconds = sum(terms.values())
            base = base or seconds
            label = max(terms, key=lambda name: terms[name])
            made.append(
                Point(threads, seconds, base / seconds if seconds else 1.0, label, terms,
                      requesting, rate)
            )  # fmt: skip
        return tuple(made)

    def _data(self, threads: int) -> _Data:
        knots = self._knots()
        right = next((k for k in knots if k >= threads), knots[-1])
        left = max((k for k in knots if k <= threads), default=right)
        if left == right:
            return self._data_at(threads if threads == left else left, threads)
        a, b = self._data_at(left, threads), self._data_at(right, threads)
        part = (threads - left) / (right - left)

        def between(x: float, y: float) -> float:
            return x + part * (y - x)

        return _Data(
            between(a.from_cache, b.from_cache), between(a.memory, b.memory),
            between(a.writes, b.writes), between(a.scattered, b.scattered),
        )  # fmt: skip

    def _knots(self) -> list[int]:
        """Counts at which the traffic is worked out: it changes with the sharers of a cache."""
        cores = self.machine.cores
        inside = [1, 2, 4, 8, 16, 32, 64, 128]
        edges = {c.shared_by_cores.whole for c in self.machine.caches} | {cores}
        return sorted({k for k in inside if k <= cores} | {e for e in edges if e <= cores})

    def _data_at(self, knot: int, threads: int) -> _Data:
        levels = self.levels(knot)
        seconds = 0.0
        for position in range(len(levels) - 1):
            here, below = levels[position], levels[position + 1]
            lines = max(0.0, here.total - below.total)
            if lines:
                writes = here.written / here.total if here.total else 0.0
                seconds += lines / self._cache_rate(position + 1, threads, writes)
        memory = levels[-1]
        scattered = sum(one.read / LINE for one in memory.arrays if one.array in self.scattered)
        share = memory.written / memory.total if memory.total else 0.0
        return _Data(seconds, memory.total, share, scattered)

    def _cache_rate(self, level: int, threads: int, writes: float) -> float:
        """B/s of one core from a cache, `threads` of them at work."""
        return machine_curve(self.machine, level, threads, writes)

    def _scattered(self) -> frozenset[str]:
        """Arrays whose lines no prefetcher foresees: gathers, walks over whole pages, and all of a
        loop that streams from more places at once than the prefetcher follows.
        """
        found = set()
        for loop in self.nest.loops():
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

    def _terms(self, threads: int, data: _Data) -> tuple[dict[str, float], float, float]:
        machine = self.machine
        share = largest_share(self.nest, threads, self.schedule)
        factor = machine.corrections.factor
        latency = machine.memory.latency_cycles.value / machine.clock_hz / PARALLEL_MISSES
        latency *= factor("scattered")
        waiting = data.scattered * max(0.0, latency - LINE / self._rate(1.0, 1, data.writes))
        from_cache = factor("cache") * data.from_cache
        overlapping = factor("compute") * self.core.overlapping
        transfers = factor("compute") * self.core.loading + from_cache
        busy = max(transfers, overlapping) + waiting
        requesting = requesting_cores(
            self._crowd(threads), busy, data.memory, lambda m: self._rate(m, threads, data.writes)
        )
        rate = self._rate(max(requesting, 1.0), threads, data.writes)
        memory = max(1.0, requesting) * data.memory / rate
        work = together(busy, memory)
        # The overlapped time is told to the two in the proportion of their squares.
        memory, busy = (memory * memory / work, busy * busy / work) if work else (0.0, 0.0)
        even = min(share, 1.0 / threads) if threads > 1 else 1.0
        costs, serial = self.overhead.at(threads, work * share)
        total = max(transfers, overlapping) + waiting
        cached = (from_cache + waiting) / total if total else 0.0
        if overlapping > transfers:
            cached = waiting / total
        terms = {
            "compute": even * busy * (1.0 - cached),
            "cache": even * busy * cached,
            "memory-bandwidth": even * memory,
            "imbalance": max(0.0, share - even) * work,
            "overhead": factor("overhead") * costs,
            "serialization": serial,
        }
        return terms, requesting, rate

    def _crowd(self, threads: int) -> float:
        """Threads that share the path of the busiest of them."""
        machine = self.machine
        if self.placement.kind == "serial" or machine.memory.shared_path is not None:
            return float(threads)
        return float(min(threads, machine.cores_per_domain))

    def _rate(self, requesting: float, threads: int, writes: float) -> float:
        """Traffic in B/s of the path that `requesting` cores share."""
        return self._path(requesting, threads, writes) / self.machine.corrections.factor("memory")

    def _path(self, requesting: float, threads: int, writes: float) -> float:
        machine = self.machine
        if machine.memory.shared_path is not None:
            domains = -(-threads // machine.cores_per_domain)
            each = domain_bandwidth(machine, max(1.0, requesting / domains), writes)
            ceiling = machine.memory.shared_path.traffic_bytes_per_s.value
            return min(each * domains if requesting > 1 else each, ceiling)
        rate = domain_bandwidth(machine, requesting, writes)
        if self.placement.kind == "serial" and threads > machine.cores_per_domain:
            remote = 1.0 - machine.cores_per_domain / threads
            slower = machine.memory.latency_cycles.value / max(
                1.0, machine.memory.remote_latency_cycles.value
            )
            rate *= 1.0 - remote * (1.0 - slower)
        return rate


def machine_curve(machine: Machine, level: int, threads: int, writes: float) -> float:
    """B/s that one core gets from the cache at `level` (0: the first) with `threads` at work."""
    cache = machine.caches[level]
    if not cache.bandwidth:
        return cache.bytes_per_cycle.value * machine.clock_hz
    cores = float(min(threads, cache.shared_by_cores.whole))
    return mixed_bandwidth(cache.bandwidth, cores, writes) / max(1.0, cores)
