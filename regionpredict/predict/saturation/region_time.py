"""The time of one region on any number of threads, with its terms."""

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
    overheads,
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
    """The seconds of one core for all the work, at the speed of a thread in a given number of
    threads.

    `total` consists of `busy`, the core's own time, and `memory`, its waiting for memory. `late` is
    the latency part of `memory`, and `cached` the share of `busy` in which it waits for caches.
    `requesting` threads of the fullest domain wait at the same time, and get `rate` B/s. If pages
    are in other domains, all threads count.
    """

    total: float
    busy: float
    memory: float
    late: float
    cached: float
    requesting: float
    rate: float

    def terms(self, share: float) -> tuple[float, float, float]:
        """The time of one thread with a share of the work in seconds: (compute, caches, memory)."""
        return (
            share * self.busy * (1.0 - self.cached),
            share * (self.busy * self.cached + self.late),
            share * (self.memory - self.late),
        )


class _OwnTime(NamedTuple):
    """The seconds of one core for all the work with data in the first-level cache. `sharing`
    threads run on the core.

    `loading` does not overlap with data transfers.
    """

    sharing: float
    overlapping: float
    loading: float


class LoopTime:
    """The time of a region's loops on one machine, without OpenMP's costs.

    Each evaluation counts the traffic only for the requested numbers of threads.
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
    def _paths(self) -> MemoryPaths | None:
        """The paths to pages in other domains. None if all threads use their own domain."""
        machine, shared = self.machine, self.machine.memory.shared_path
        if not self.parts.placement or machine.domains < 2 or shared is not None:
            return None
        if self.pages.all_own:
            return None
        return MemoryPaths(machine, self.pages, static=self.static, domain=self._domain)

    @cached_property
    def pages(self) -> PageShares:
        """The shares of the memory traffic by the location of the pages."""
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
        return self._paths is not None

    def least(self, threads: int) -> WorkTime:
        """The time with all data in the first-level cache, which is a lower bound."""
        own = self._own(threads)
        busy = max(own.overlapping, own.loading)
        walking = own.sharing * self._factor["scattered"] * self.walking
        total = self._overlap.total(busy, walking)
        busy, memory = self._overlap.shares(busy, walking)
        return WorkTime(total, busy, memory, memory, 0.0, 0.0, 0.0)

    def _own(self, threads: int) -> _OwnTime:
        """The core's time without waiting for memory. Threads on one core share its ports and
        buffers, but each waits for its own results.
        """
        sharing, compute = (
            self._threads_per_core(threads),
            self._factor["compute"] / self._relative_speed(threads),
        )
        slots = sharing * compute * self.core.slots
        # Threads beyond the hardware threads take turns.
        turns = max(1.0, sharing / self.machine.threads_per_physical_core)
        overlapping = max(slots, turns * compute * self.core.overlapping)
        return _OwnTime(sharing, overlapping, sharing * compute * self.core.loading)

    def at(self, threads: int) -> WorkTime:
        """The time of all the work at the speed of one of `threads` threads."""
        machine, factor = self.machine, self._factor
        data = self.traffic.at(threads)
        waiting = 0.0
        if data.scattered:
            misses = machine.processor.outstanding_misses.value
            latency = machine.memory.latency_cycles.value / machine.clock_hz / misses
            latency *= factor["scattered"]
            line = self.line_bytes / self._rate(1.0, 1, data.writes)
            waiting = data.scattered * max(0.0, latency - line)
        waiting += factor["scattered"] * (self.walking + data.walking)
        sharing, overlapping, loading = self._own(threads)
        waiting *= sharing
        own = data.from_own / self._relative_speed(threads)
        from_cache = sharing * factor["cache"] * (data.from_cache - data.from_own + own)
        transfers = loading + from_cache
        busy = max(transfers, overlapping)
        memory, requesting, rate = self._waiting(self._crowd(threads), threads, busy, data, waiting)
        beyond = overflowing_share(machine, self.touched, threads)
        if beyond and not self.far:
            memory = self._overflowed(beyond, threads, busy, data, waiting)
        work = self._overlap.total(busy, memory)
        asked = memory
        busy, memory = self._overlap.shares(busy, memory)
        # The part of latency instead of bandwidth. It is limited to the total despite rounding.
        late = min(memory, waiting * memory / asked) if asked else 0.0
        cached = from_cache / transfers if transfers > overlapping else 0.0
        return WorkTime(work, busy, memory, late, cached, requesting, rate)

    def requested_load(self, asked: float, threads: int) -> float:
        """The load of threads that each request `asked` B/s, relative to the bandwidth of the
        path.
        """
        crowd = self._crowd(threads)
        return crowd * asked / self._rate(crowd, threads, self.traffic.at(threads).writes)

    def _waiting(
        self, crowd: float, threads: int, busy: float, data: Data, delay: float
    ) -> tuple[float, float, float]:
        """The seconds of waiting for memory for all the work, the number of threads that wait at
        the same time, and their B/s.

        `delay` is the latency of lines without prefetching, which is added to the time for their
        bandwidth.
        """
        requesting = self._requesting(crowd, threads, busy, data, delay)
        rate = self._rate(max(requesting, 1.0), threads, data.writes)
        return max(1.0, requesting) * data.memory / rate + delay, requesting, rate

    def _overflowed(
        self, share: float, threads: int, busy: float, data: Data, delay: float
    ) -> float:
        """The seconds of waiting if a `share` of the data is in the next domain's memory."""
        halves = overflow_of(share, self._crowd(threads), static=self.static)
        known = self.machine.memory
        farther = known.remote_latency_cycles.value / known.latency_cycles.value
        waits = self._waiting(halves.near, threads, busy, data, delay)[0]
        near = self._overlap.total(busy, waits)
        # The same number of lines in flight, each for longer, so bandwidth decreases in proportion
        # (Little's law).
        slow = data._replace(memory=farther * data.memory)
        far = self._overlap.total(
            busy, self._waiting(halves.far, threads, busy, slow, farther * delay)[0]
        )
        mixed = (1.0 - halves.last) * near + halves.last * far
        # The slower of the thread with far pages and those with pages in their own domain.
        work = max(near, mixed) if self.static else mixed
        return self._overlap.waiting(work, busy)

    def _requesting(
        self, crowd: float, threads: int, busy: float, data: Data, delay: float
    ) -> float:
        """The number of threads in a group that wait for memory. It is computed once for equal
        groups.
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
        """The speed of a core, given its kind and the active cores of its package. The first core
        has speed 1 at the clock in the machine file.
        """
        if not self.parts.turbo:
            return 1.0
        speed = speed_of_cores(self.machine, threads, static=self.static)
        busy = min(self._places(threads).together, self.machine.cores_per_package)
        return speed * self.machine.relative_clock(busy)

    def _threads_per_core(self, threads: int) -> float:
        """The number of threads on the fullest core, or the average if the schedule is dynamic."""
        if not self.parts.hardware_threads:
            return 1.0
        return threads_on_a_physical_core(self.machine, threads, static=self.static)

    def _crowd(self, threads: int) -> float:
        """The number of threads that share the busiest path."""
        if self.machine.memory.shared_path is not None or self.far:
            return float(threads)
        return float(self._places(threads).crowd)

    def _places(self, threads: int) -> ThreadPlaces:
        """The places of the threads. They are cached for the search of the waiting cores."""
        places = self._placed.get(threads)
        if places is None:
            places = self._placed[threads] = thread_places(self.machine, threads)
        return places

    def _rates_of(self, threads: int, writes: float) -> Callable[[float], float]:
        """`_rate` by the number of requesting cores. It is cached for the search of the waiting
        cores.
        """
        if self.machine.memory.shared_path is not None or self._paths is not None:
            return lambda requesting: self._rate(requesting, threads, writes)
        bandwidth, peak = self._bandwidth.mixed(writes), self._peak
        factor = self._factor["memory"]
        if factor == 1.0 and peak == math.inf:
            return bandwidth
        return lambda requesting: min(bandwidth(requesting), peak) / factor

    def _rate(self, requesting: float, threads: int, writes: float) -> float:
        """The traffic in B/s of the path that `requesting` cores share."""
        return self._path(requesting, threads, writes) / self._factor["memory"]

    def _path(self, requesting: float, threads: int, writes: float) -> float:
        machine = self.machine
        if machine.memory.shared_path is not None:
            ceiling = machine.memory.shared_path.traffic_bytes_per_s.value
            return min(self._own_paths(requesting, threads, writes), ceiling)
        if self._paths is not None:
            return self._paths.rate(requesting, threads, writes)
        return self._domain(requesting, writes)

    def _own_paths(self, requesting: float, threads: int, writes: float) -> float:
        """The traffic in B/s of domains that each serve their own cores.

        Static pieces are equal, so the threads of the fullest domain finish last. Other schedules
        keep all domains busy.
        """
        if requesting <= 1.0:
            return self._domain(requesting, writes)
        asking, places = requesting / threads, self._places(threads)
        if self.static:
            full = self._domain(max(1.0, asking * places.crowd), writes)
            return full * threads / places.crowd
        return sum(self._domain(max(1.0, asking * own), writes) for own in places.by_domain if own)

    def _domain(self, cores: float, writes: float) -> float:
        """The traffic of one NUMA domain with `cores` requesting cores in B/s."""
        return min(self._bandwidth.mixed(writes)(cores), self._peak)


class RegionTime:
    """The time of one region on one machine: its work, and OpenMP's costs."""

    def __init__(
        self, workload: Workload, execution: Execution, machine: Machine, *,
        contents: CacheContents,
        parts: Parts,
        counters: Sequence[TrafficCounter] = (),
    ) -> None:  # fmt: skip
        """`counters` are those for the work and for each serial body, from `counters_of`. Pass them
        if they have already counted some traffic.
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
        # The concurrent work, without serial bodies, on one thread.
        self._alone = self.loops.at(1).total if self.serial else 0.0
        self._overhead = machine.corrections.factor("overhead")
        self._works: dict[int, WorkTime] = {}

    @property
    def traffic(self) -> TrafficCurve:
        """The traffic by number of threads."""
        return self.loops.traffic

    @property
    def far(self) -> bool:
        """Whether threads work on pages in other domains."""
        return self.loops.far

    @property
    def touched(self) -> float:
        """The bytes that the region accesses. 0 if unknown."""
        return self.loops.touched

    def points(
        self, counts: Sequence[int], profile: WorkProfile | None = None
    ) -> tuple[Point, ...]:
        """The times at every thread count. Speedups are relative to the first.

        With `profile`, the work is distributed along the parallel loop according to it.
        """
        made = []
        base = 0.0
        for threads in counts:
            work = self._work(self._threads_with_work(threads))
            terms = self._terms(threads, work, profile or self.profile)
            seconds = sum(terms.values())
            base = base or seconds
            label = max(terms, key=lambda name: terms[name])
            made.append(
                Point(threads, seconds, base / seconds if seconds else 1.0, label, terms,
                      work.requesting, work.rate, self.traffic.at(threads).memory)
            )  # fmt: skip
        return tuple(made)

    def few(self, counts: Sequence[int]) -> tuple[Point, ...]:
        """The `points` of a few thread counts. Traffic is counted at no other count."""
        for threads in counts:
            self.traffic.count_at(self._threads_with_work(threads))
        return self.points(counts)

    def least(self, counts: Sequence[int]) -> tuple[Point, ...]:
        """Lower bounds of the times of `points`, for which no traffic is counted.

        They assume that all data are in the first-level cache, and that no thread waits for its
        turn.
        """
        made = []
        for threads in counts:
            work = self.loops.least(self._threads_with_work(threads))
            terms = self._terms(threads, work, self.profile, crowded=False)
            made.append(Point(threads, sum(terms.values()), 1.0, "compute", terms, 0.0, 0.0))
        return tuple(made)

    def _work(self, threads: int) -> WorkTime:
        work = self._works.get(threads)
        if work is None:
            work = self._works[threads] = self.loops.at(threads)
        return work

    def _threads_with_work(self, threads: int) -> int:
        """The number of threads that have work. The others do not request memory."""
        pieces = piece_count(self.synchronisation.iterations, threads, self.schedule)
        return int(max(1.0, min(threads, pieces)))

    def _terms(
        self, threads: int, work: WorkTime, profile: WorkProfile, *, crowded: bool = True
    ) -> dict[str, float]:
        """The terms of the time. The waiting of threads for their turn is included only if
        `crowded`.
        """
        share = largest_share(profile, threads, self.schedule)
        even = min(share, 1.0 / threads) if threads > 1 else 1.0
        pace = work.total
        if profile.skew is not None and crowded and share > even:
            # At the end few threads are active, and they share the memory bandwidth.
            pace = self._work(1 << int(math.log2(1.0 / share))).total
        waits = max(0.0, share - even) * pace
        busy = work.total * min(share, even) + waits
        added = self._added_by_serial(threads, busy) if self.serial and crowded else 0.0
        costs, serial = overheads(
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
        """The seconds in which threads wait for their turn in serial bodies."""
        lock = team_cost(self.machine, "critical", threads) / threads / self.machine.clock_hz
        length = piece_length(self.synchronisation.iterations, threads, self.schedule)
        return added_by_serial_bodies(self.serial, threads, busy, self._alone, lock, length)


def counters_of(workload: Workload, execution: Execution) -> list[TrafficCounter]:
    """Traffic counters for a region's work and for each of its serial bodies."""
    works = (execution.work, *(work.work for work in execution.serial))
    return [workload.traffic_of(work) for work in works]
