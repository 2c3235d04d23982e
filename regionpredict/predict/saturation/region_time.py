"""Computes the time of one region and its terms on any number of threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.machine.corrections import FACTORS
from regionpredict.machine.thread_places import (
    ThreadPlaces,
    speed_of_cores,
    thread_places,
    threads_on_a_physical_core,
)
from regionpredict.predict.curve import CoreTime, Point
from regionpredict.predict.saturation.ablation import Parts
from regionpredict.predict.saturation.address_translation import walk_cycles
from regionpredict.predict.saturation.core import core_time
from regionpredict.predict.saturation.memory_bandwidth import (
    Overlap,
    memory_bandwidth,
    requesting_cores,
)
from regionpredict.predict.saturation.memory_overflow import overflow_of, overflowing_share
from regionpredict.predict.saturation.memory_paths import MemoryPaths, PageShares
from regionpredict.predict.saturation.openmp_overheads import (
    line_turns,
    overhead_seconds,
    spread_updates,
)
from regionpredict.predict.saturation.page_faults_and_coherence import DataTransfers
from regionpredict.predict.saturation.serial_queue import SerialBody, added_by_serial_bodies
from regionpredict.predict.saturation.strided_walks import StridedWalks
from regionpredict.predict.saturation.team_costs import team_cost
from regionpredict.predict.saturation.traffic_curve import Data, TrafficCurve
from regionpredict.workload import (
    CacheContents,
    Execution,
    TrafficCounter,
    Work,
    Workload,
    WorkProfile,
    gathers_of,
    largest_share,
    piece_count,
    piece_length,
)


class WorkTime(NamedTuple):
    """The seconds that one core would need for all the work, at the speed of one of several
    concurrent threads.

    `total` is the sum of `busy`, the core's own time, and `memory`, the waiting for memory. `late`
    is the part of `memory` due to latency. `cached` is the share of `busy` spent waiting for
    caches. On average, `requesting` threads of the fullest domain wait at the same time, and
    together get `rate` B/s. If pages are in other domains, both numbers are those of all threads.
    """

    total: float
    busy: float
    memory: float
    late: float
    cached: float
    requesting: float
    rate: float

    def terms(self, share: float) -> tuple[float, float, float]:
        """Returns a thread's seconds for this share of the work: (compute, caches, memory)."""
        return (
            share * self.busy * (1.0 - self.cached),
            share * (self.busy * self.cached + self.late),
            share * (self.memory - self.late),
        )


class _CoreOnlyTime(NamedTuple):
    """The seconds of one core for all the work if all data are in the first-level cache.

    `overlapping` overlaps with data transfers, and `loading` does not. `sharing` threads run on the
    core.
    """

    sharing: float
    overlapping: float
    loading: float


class LoopTime:
    """The time of a region's loops on one machine, without OpenMP overhead.

    Traffic is counted only for the requested numbers of threads.
    """

    def __init__(
        self, workload: Workload, work: Work, counter: TrafficCounter, machine: Machine, *,
        contents: CacheContents, parts: Parts,
    ) -> None:  # fmt: skip
        self.machine = machine
        self.parts = parts
        self.static = workload.schedule.kind == "static"
        self.touched = float(workload.table.working_set_bytes or 0)
        self.line_bytes = workload.line_bytes
        self.core: CoreTime = core_time(work.bodies, machine, workload.line_bytes, parts)
        begins_with = contents if parts.reuse_between_runs else CacheContents()
        strided = StridedWalks(counter, machine, begins_with) if parts.page_walks else None
        self.traffic = TrafficCurve(
            counter, machine, contents=begins_with, only_written=workload.only_written,
            write_allocation=parts.write_allocation, lasting=parts.lasting_share, walks=strided,
        )  # fmt: skip
        self._placement = workload.placement
        walks = walk_cycles(
            gathers_of(counter.nest, machine.page_bytes), machine, workload.line_bytes
        )
        self.walking = walks / machine.clock_hz if parts.page_walks else 0.0
        self._overlap = Overlap(parts.overlap)
        self._bandwidth = memory_bandwidth(machine)
        self._asking: dict[tuple[float, ...], float] = {}
        self._placed: dict[int, ThreadPlaces] = {}
        self._factor = {name: machine.corrections.factor(name) for name in FACTORS}
        peak = machine.memory.peak_bytes_per_s
        self._peak = math.inf if peak is None else peak.value

    @cached_property
    def _remote_memory_paths(self) -> MemoryPaths | None:
        """The memory paths to pages in other domains. None if all threads use their own domain."""
        machine, shared = self.machine, self.machine.memory.shared_path
        if not self.parts.placement or machine.domains < 2 or shared is not None:
            return None
        if self.pages.all_own:
            return None
        return MemoryPaths(machine, self.pages, static=self.static, domain=self._domain_rate)

    @cached_property
    def pages(self) -> PageShares:
        """The shares of memory traffic by the NUMA placement of the pages."""
        placement = self._placement
        home = placement.domain or 0
        if placement.kind == "interleave":
            return PageShares(0.0, 1.0)
        for threads in (1, self.machine.cores):
            memory = self.traffic.levels(threads)[-1]
            if memory.total:
                serial = [array for array in memory.arrays if placement.is_serial(array.array)]
                single = sum(array.read + array.written for array in serial) / memory.total
                return PageShares(single, home=home)
        return PageShares(0.0)

    @property
    def far(self) -> bool:
        """Whether threads use pages in other domains."""
        return self._remote_memory_paths is not None

    def least(self, threads: int) -> WorkTime:
        """Returns a lower bound of the time: the time with all data in the first-level cache."""
        own = self._core_only_time(threads)
        busy = max(own.overlapping, own.loading)
        walking = own.sharing * self._factor["scattered"] * self.walking
        total = self._overlap.total(busy, walking)
        busy, memory = self._overlap.shares(busy, walking)
        return WorkTime(total, busy, memory, memory, 0.0, 0.0, 0.0)

    def _core_only_time(self, threads: int) -> _CoreOnlyTime:
        """Returns the core's time without data transfers. Threads on one core share its execution
        ports, but their latencies overlap.
        """
        sharing, compute = (
            self._threads_per_core(threads),
            self._factor["compute"] / self._relative_speed(threads),
        )
        slots = sharing * compute * self.core.slots
        # The operating system time-slices threads beyond the hardware threads.
        turns = max(1.0, sharing / self.machine.threads_per_physical_core)
        overlapping = max(slots, turns * compute * self.core.overlapping)
        return _CoreOnlyTime(sharing, overlapping, sharing * compute * self.core.loading)

    def at(self, threads: int) -> WorkTime:
        """Returns the time of all the work at the speed of one of `threads` threads."""
        machine, factor = self.machine, self._factor
        data = self.traffic.at(threads)
        waiting = 0.0
        if data.scattered:
            misses = machine.processor.outstanding_misses.value
            latency = machine.memory.latency_cycles.value / machine.clock_hz / misses
            latency *= factor["scattered"]
            line = self.line_bytes / self._path_bandwidth(1.0, 1, data.writes)
            waiting = data.scattered * max(0.0, latency - line)
        waiting += factor["scattered"] * (self.walking + data.walking)
        sharing, overlapping, loading = self._core_only_time(threads)
        waiting *= sharing
        own = data.from_own / self._relative_speed(threads)
        from_cache = sharing * factor["cache"] * (data.from_cache - data.from_own + own)
        transfers = loading + from_cache
        busy = max(transfers, overlapping)
        memory, requesting, rate = self._waiting(
            self._sharing_threads(threads), threads, busy, data, waiting
        )
        beyond = overflowing_share(machine, self.touched, threads)
        if beyond and not self.far:
            memory = self._overflow_waiting(beyond, threads, busy, data, waiting)
        work = self._overlap.total(busy, memory)
        asked = memory
        busy, memory = self._overlap.shares(busy, memory)
        # The part of waiting due to latency. Rounding must not make it larger than the total.
        late = min(memory, waiting * memory / asked) if asked else 0.0
        cached = from_cache / transfers if transfers > overlapping else 0.0
        return WorkTime(work, busy, memory, late, cached, requesting, rate)

    def requested_load(self, requested: float, threads: int) -> float:
        """Returns the bandwidth that all threads request, relative to the bandwidth of the memory
        path. Each thread requests `requested` B/s.
        """
        crowd = self._sharing_threads(threads)
        return (
            crowd
            * requested
            / self._path_bandwidth(crowd, threads, self.traffic.at(threads).writes)
        )

    def _waiting(
        self, crowd: float, threads: int, busy: float, data: Data, delay: float
    ) -> tuple[float, float, float]:
        """Returns the seconds of waiting for memory for all the work, the mean number of waiting
        threads, and their bandwidth in B/s.

        `delay` is the latency of lines without prefetching, which is added to the transfer time.
        """
        requesting = self._requesting_threads(crowd, threads, busy, data, delay)
        rate = self._path_bandwidth(max(requesting, 1.0), threads, data.writes)
        return max(1.0, requesting) * data.memory / rate + delay, requesting, rate

    def _overflow_waiting(
        self, share: float, threads: int, busy: float, data: Data, delay: float
    ) -> float:
        """Returns the seconds of waiting if a `share` of the data is in the next domain."""
        halves = overflow_of(share, self._sharing_threads(threads), static=self.static)
        known = self.machine.memory
        farther = known.remote_latency_cycles.value / known.latency_cycles.value
        waits = self._waiting(halves.near, threads, busy, data, delay)[0]
        near = self._overlap.total(busy, waits)
        # Bandwidth decreases with latency, because the number of lines in flight is constant
        # (Little's law).
        slow = data._replace(memory=farther * data.memory)
        far = self._overlap.total(
            busy, self._waiting(halves.far, threads, busy, slow, farther * delay)[0]
        )
        mixed = (1.0 - halves.last) * near + halves.last * far
        # A static schedule waits for the slower one: threads with near pages, or with far pages.
        work = max(near, mixed) if self.static else mixed
        return self._overlap.waiting(work, busy)

    def _requesting_threads(
        self, crowd: float, threads: int, busy: float, data: Data, delay: float
    ) -> float:
        """Returns the mean number of threads on the busiest path that wait for memory. Results are
        cached.
        """
        if not self.parts.queue:
            return crowd if data.memory else 0.0
        alike = float(threads) if self.machine.memory.shared_path is not None else crowd
        asked = (crowd, alike, busy, data.memory, data.writes, delay)
        requesting = self._asking.get(asked)
        if requesting is None:
            requesting = self._asking[asked] = requesting_cores(
                crowd,
                busy,
                data.memory,
                self._rates_of(threads, data.writes),
                delay,
                self._overlap,
            )
        return requesting

    def _relative_speed(self, threads: int) -> float:
        """Returns the speed of a core relative to the first core at the clock in the machine file.
        It depends on the core type and on the active cores of its socket.
        """
        if not self.parts.turbo:
            return 1.0
        speed = speed_of_cores(self.machine, threads, static=self.static)
        busy = min(self._thread_placement(threads).together, self.machine.cores_per_package)
        return speed * self.machine.relative_clock(busy)

    def _threads_per_core(self, threads: int) -> float:
        """Returns the number of threads on the fullest core, or the mean for dynamic schedules."""
        if not self.parts.hardware_threads:
            return 1.0
        return threads_on_a_physical_core(self.machine, threads, static=self.static)

    def _sharing_threads(self, threads: int) -> float:
        """Returns the number of threads that share the busiest memory path."""
        if self.machine.memory.shared_path is not None or self.far:
            return float(threads)
        return float(self._thread_placement(threads).crowd)

    def _thread_placement(self, threads: int) -> ThreadPlaces:
        """Returns the cached placement of the threads on cores."""
        places = self._placed.get(threads)
        if places is None:
            places = self._placed[threads] = thread_places(self.machine, threads)
        return places

    def _rates_of(self, threads: int, writes: float) -> Callable[[float], float]:
        """Returns `_path_bandwidth` as a function of the number of requesting cores, for fast
        repeated evaluation.
        """
        if self.machine.memory.shared_path is not None or self._remote_memory_paths is not None:
            return lambda requesting: self._path_bandwidth(requesting, threads, writes)
        bandwidth, peak = self._bandwidth.bandwidth_at_writes(writes), self._peak
        factor = self._factor["memory"]
        if factor == 1.0 and peak == math.inf:
            return bandwidth
        return lambda requesting: min(bandwidth(requesting), peak) / factor

    def _path_bandwidth(self, requesting: float, threads: int, writes: float) -> float:
        """Returns the bandwidth in B/s of the memory path that `requesting` cores share."""
        return self._path_rate(requesting, threads, writes) / self._factor["memory"]

    def _path_rate(self, requesting: float, threads: int, writes: float) -> float:
        machine = self.machine
        if machine.memory.shared_path is not None:
            ceiling = machine.memory.shared_path.traffic_bytes_per_s.value
            return min(self._rate_of_separate_domains(requesting, threads, writes), ceiling)
        if self._remote_memory_paths is not None:
            return self._remote_memory_paths.rate(requesting, threads, writes)
        return self._domain_rate(requesting, writes)

    def _rate_of_separate_domains(self, requesting: float, threads: int, writes: float) -> float:
        """Returns the total bandwidth in B/s of domains that each serve their own cores.

        With a static schedule, all threads are as slow as those of the fullest domain. Other
        schedules keep all domains busy.
        """
        if requesting <= 1.0:
            return self._domain_rate(requesting, writes)
        asking, places = requesting / threads, self._thread_placement(threads)
        if self.static:
            full = self._domain_rate(max(1.0, asking * places.crowd), writes)
            return full * threads / places.crowd
        return sum(
            self._domain_rate(max(1.0, asking * own), writes) for own in places.by_domain if own
        )

    def _domain_rate(self, cores: float, writes: float) -> float:
        """Returns the bandwidth of one NUMA domain with `cores` requesting cores in B/s."""
        return min(self._bandwidth.bandwidth_at_writes(writes)(cores), self._peak)


class RegionTime:
    """The time of one region on one machine: its loops, its serial bodies and OpenMP overhead."""

    def __init__(
        self, workload: Workload, execution: Execution, machine: Machine, *,
        contents: CacheContents,
        parts: Parts,
        counters: Sequence[TrafficCounter] = (),
    ) -> None:  # fmt: skip
        """`counters` are the traffic counters for the work and for each serial body, from
        `counters_of`. Pass counters that have already counted some traffic.
        """
        self.machine = machine
        self.schedule = workload.schedule
        self.profile = execution.work.profile
        self.synchronisation = execution.synchronisation
        self.counters = counters or counters_of(workload, execution)
        counter, *others = self.counters
        self.transfers = DataTransfers(workload, execution, counter, machine)
        self.loops = LoopTime(
            workload, execution.work, counter, machine, contents=contents, parts=parts
        )
        self.core = self.loops.core
        self.serial: tuple[SerialBody, ...] = ()
        for work, own in zip(execution.serial, others, strict=True):
            body = LoopTime(workload, work.work, own, machine, contents=contents, parts=parts)
            seconds = sum(body.at(1).terms(1.0))
            self.serial += (SerialBody(work.kind, work.visits, seconds),)
            notes = [f"{note} (in {work.kind}, one thread at a time)" for note in body.core.notes]
            self.core = self.core._replace(notes=(*self.core.notes, *notes))
        # The time of the work without serial bodies on one thread.
        self._alone = self.loops.at(1).total if self.serial else 0.0
        self._overhead = machine.corrections.factor("overhead")
        self._works: dict[int, WorkTime] = {}

    @property
    def traffic(self) -> TrafficCurve:
        """The traffic by number of threads."""
        return self.loops.traffic

    @property
    def far(self) -> bool:
        """Whether threads use pages in other domains."""
        return self.loops.far

    @property
    def touched(self) -> float:
        """The bytes that the region accesses. 0 if unknown."""
        return self.loops.touched

    def points(
        self, counts: Sequence[int], profile: WorkProfile | None = None
    ) -> tuple[Point, ...]:
        """Returns the times at every thread count. Speedups are relative to the first count.

        `profile` replaces the distribution of work along the parallel loop.
        """
        made = []
        base = 0.0
        for threads in counts:
            work = self._work_time(self._threads_with_work(threads))
            terms = self._time_terms(threads, work, profile or self.profile)
            seconds = sum(terms.values())
            base = base or seconds
            label = max(terms, key=lambda name: terms[name])
            made.append(
                Point(threads, seconds, base / seconds if seconds else 1.0, label, terms,
                      work.requesting, work.rate, self.traffic.at(threads).memory)
            )  # fmt: skip
        return tuple(made)

    def times_at_few(self, counts: Sequence[int]) -> tuple[Point, ...]:
        """Returns the `points` of a few thread counts, without counting traffic at other counts."""
        for threads in counts:
            self.traffic.count_at(self._threads_with_work(threads))
        return self.points(counts)

    def least(self, counts: Sequence[int]) -> tuple[Point, ...]:
        """Returns lower bounds of the times of `points`, without counting traffic.

        All data are assumed to be in the first-level cache, and no thread waits for a lock.
        """
        made = []
        for threads in counts:
            work = self.loops.least(self._threads_with_work(threads))
            terms = self._time_terms(threads, work, self.profile, crowded=False)
            made.append(Point(threads, sum(terms.values()), 1.0, "compute", terms, 0.0, 0.0))
        return tuple(made)

    def _work_time(self, threads: int) -> WorkTime:
        work = self._works.get(threads)
        if work is None:
            work = self._works[threads] = self.loops.at(threads)
        return work

    def _threads_with_work(self, threads: int) -> int:
        """Returns the number of threads that have work. Other threads do not request memory."""
        pieces = piece_count(self.synchronisation.iterations, threads, self.schedule)
        return int(max(1.0, min(threads, pieces)))

    def _time_terms(
        self, threads: int, work: WorkTime, profile: WorkProfile, *, crowded: bool = True
    ) -> dict[str, float]:
        """Returns the terms of the time in seconds. Waiting for locks is included only if
        `crowded`.
        """
        share = largest_share(profile, threads, self.schedule)
        even = min(share, 1.0 / threads) if threads > 1 else 1.0
        pace = work.total
        if profile.skew is not None and crowded and share > even:
            # At the end, only a few threads are active and share the memory bandwidth.
            pace = self._work_time(1 << int(math.log2(1.0 / share))).total
        waits = max(0.0, share - even) * pace
        busy = work.total * min(share, even) + waits
        added = self._added_by_serial(threads, busy) if self.serial and crowded else 0.0
        costs, serial = overhead_seconds(
            self.synchronisation, self.schedule, self.machine, threads,
            busy if crowded else math.inf, locks=not self.serial,
        )  # fmt: skip
        serial += sum(
            spread_updates(updates, self.machine, threads, busy if crowded else math.inf)
            for updates in self.transfers.spread_updates(threads)
        )
        serial += sum(
            line_turns(writes.updates, self.machine, threads, busy if crowded else math.inf)
            for writes in self.transfers.in_one_line
        )
        moved = self.transfers.at(threads)
        compute, cache, memory = work.terms(even)
        return {
            "compute": compute,
            "cache": cache + moved.lines,
            "memory-bandwidth": memory,
            "imbalance": waits,
            "overhead": self._overhead * (costs + moved.exchange) + moved.pages,
            "serialization": serial + added,
        }

    def _added_by_serial(self, threads: int, busy: float) -> float:
        """Returns the seconds that serial bodies add to the time of the busiest thread."""
        lock = team_cost(self.machine, "critical", threads) / threads / self.machine.clock_hz
        length = piece_length(self.synchronisation.iterations, threads, self.schedule)
        return added_by_serial_bodies(self.serial, threads, busy, self._alone, lock, length)


def counters_of(workload: Workload, execution: Execution) -> list[TrafficCounter]:
    """Returns traffic counters for a region's concurrent work and for each of its serial bodies."""
    works = (execution.work, *(work.work for work in execution.serial))
    return [workload.traffic_of(work) for work in works]
