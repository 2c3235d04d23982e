"""Counts the bytes that move between cache levels and to memory, for a region on p threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.constants import (
    CHANCE_STEPS,
    KEPT_SHARE,
    MOST_REFERENCES,
    STREAM_LINES,
)
from regionpredict.workload.counted_work import GroupWork
from regionpredict.workload.footprint_tables import FootprintTables
from regionpredict.workload.layer_conditions import Carrier, LayerConditions, MissTable
from regionpredict.workload.line_overlap import Volume
from regionpredict.workload.loop_nest import LoopNest, body_executions
from regionpredict.workload.team_footprint import TeamFootprints
from regionpredict.workload.thread_nest import DistributedNest, distribute_nest, undivided_nest
from regionpredict.workload.work_distribution import WorkProfile, threads_at_work

if TYPE_CHECKING:
    from regionpredict.workload.traced_traffic import TracedTraffic


class CacheLevel(NamedTuple):
    """A cache: the size of one instance in bytes, and the number of cores that share an instance.

    `lasting` describes the replacement policy for repeated passes over data larger than the cache.
    It is 0 for LRU and 1 for random replacement.
    """

    size: float
    sharers: int
    lasting: float = 0.0


class CacheContents(NamedTuple):
    """The arrays that previous code has left in the caches at the start of the region.

    Each thread has accessed its own part of the `own` arrays. One core has accessed the whole
    `one_core` arrays. Since then, `between` bytes of other data were accessed. All other data are
    in memory.
    """

    own: frozenset[str] = frozenset()
    one_core: frozenset[str] = frozenset()
    between: float = 0.0


EMPTY = CacheContents()


NOT_ASKED = Carrier(None, -1.0)


class ArrayTraffic(NamedTuple):
    """The bytes of one array that move between two neighboring cache levels, for all threads
    together.

    `carrier` is the loop whose reuse of the array hits in the upper level. It is `NOT_ASKED` if the
    references were enumerated.
    """

    array: str
    read: float
    written: float
    carrier: Carrier


@dataclass(frozen=True, slots=True)
class LevelTraffic:
    """The bytes between one cache and the next level, for all threads together, by array and in
    total.
    """

    arrays: tuple[ArrayTraffic, ...]

    @property
    def read(self) -> float:
        """The bytes that are loaded into the cache, including write-allocates."""
        return sum(array.read for array in self.arrays)

    @property
    def written(self) -> float:
        """The bytes that are written back."""
        return sum(array.written for array in self.arrays)

    @property
    def total(self) -> float:
        """The sum of loaded bytes and written-back bytes."""
        return self.read + self.written


_TrafficKey = tuple[CacheLevel, int, Schedule, CacheContents, bool]
"""The inputs of a traffic count: a cache, the number of threads, the schedule, the initial cache
contents, and whether layer conditions replace enumeration.
"""


class _DistributedCounts(NamedTuple):
    """A nest distributed among threads, with caches of its footprints and misses."""

    dealt: DistributedNest
    tables: FootprintTables
    misses: MissTable


class TrafficCounter:
    """Counts the traffic of one nest with one schedule, for lines of `line_bytes`.

    Results depend only on the arguments. The counter caches the footprints of loops and the misses
    of inner loops.
    """

    def __init__(
        self, nest: LoopNest, profile: WorkProfile, schedule: Schedule, line_bytes: int,
        *, traced: bool = True, limited: bool = False,
    ) -> None:  # fmt: skip
        """`traced` enables the enumeration of nests with few references. `limited` replaces
        enumeration by closed forms if counting takes too long.
        """
        self.nest = nest
        self.profile = profile
        self.schedule = schedule
        self.line_bytes = line_bytes
        self._work = GroupWork(limited)
        self._whole = _DistributedCounts(undivided_nest(nest), FootprintTables(work=self._work), {})
        self._alone = self._team_of_threads(self._whole, 1.0)
        self._deals: dict[tuple[int, Schedule, bool], DistributedNest] = {}
        self._rounds: dict[tuple[int, float | None, bool], _DistributedCounts] = {}
        self._traced: TracedTraffic | None = None
        self._trace_known = not traced
        self._volumes: dict[tuple[int, int, int | None, float], Volume] = {}
        self._arrays = frozenset(group.array for group in nest.groups())
        self._known: dict[_TrafficKey, LevelTraffic] = {}
        self._teams: dict[tuple[int, int, Schedule], TeamFootprints] = {}
        self._pages: dict[int, TrafficCounter] = {}
        self._touched: dict[str, float] = {}

    def page_counter(self, page_bytes: int) -> TrafficCounter:
        """Returns a counter for pages of `page_bytes` instead of lines, for a TLB."""
        pages = self._pages.get(page_bytes)
        if pages is None:
            pages = self._pages[page_bytes] = TrafficCounter(
                self.nest, self.profile, self.schedule, page_bytes, traced=False,
                limited=self._work.limited,
            )  # fmt: skip
            pages._work.closed = self._work.closed
        return pages.with_schedule(self.schedule)

    def with_schedule(self, schedule: Schedule) -> TrafficCounter:
        """Returns a counter of the same nest with another schedule. Both share their caches."""
        other = copy(self)
        other.schedule = schedule
        return other

    def traffic(
        self, levels: Sequence[CacheLevel], threads: int, *, contents: CacheContents = EMPTY,
        estimated: bool = False,
    ) -> tuple[LevelTraffic, ...]:  # fmt: skip
        """Returns the bytes between each of `levels` and the next level, closest to the core first.
        The last entry is memory traffic.

        Each cache initially holds the part of `contents` that fits (`resident_share`). `estimated`
        requests layer conditions, even if the references can be enumerated.
        """
        asked = levels, threads, self.schedule, contents
        answer = self._compute_traffic(*asked, estimated=estimated)
        work = self._work
        if work.first and work.done:
            work.first = False
            if work.closed:
                for dealing in (self._whole, *self._rounds.values()):
                    dealing.tables.volumes.clear()
                    dealing.tables.least.clear()
                    dealing.misses.clear()
                self._known.clear()
                return self._compute_traffic(*asked, estimated=estimated)
        return answer

    @property
    def work(self) -> float:
        """The closed forms of lines and pages that were evaluated. Zero without a budget."""
        own = self._work.done if self._work.limited else 0.0
        return own + sum(pages.work for pages in self._pages.values())

    @property
    def is_closed_form(self) -> bool:
        """Whether closed forms replaced the enumeration of lines or pages because of the budget."""
        return self._work.closed or any(pages.is_closed_form for pages in self._pages.values())

    def touched(self) -> dict[str, float]:
        """Returns the bytes of all lines that the whole region accesses, by array."""
        touched = self._touched
        if not touched:
            everything = CacheLevel(float("inf"), 1)
            (whole,) = self._compute_traffic([everything], 1, Schedule("static", None), EMPTY)
            for moved in whole.arrays:
                touched[moved.array] = touched.get(moved.array, 0.0) + moved.read
        return dict(touched)

    def _compute_traffic(
        self,
        levels: Sequence[CacheLevel],
        threads: int,
        schedule: Schedule,
        contents: CacheContents,
        *,
        estimated: bool = False,
    ) -> tuple[LevelTraffic, ...]:
        threads = self._distributed_nest(threads, schedule, shares_cache=False).threads
        below = []
        for level in levels:
            used = level._replace(sharers=max(1, min(threads, level.sharers)))
            asked = used, threads, schedule, contents, estimated
            known = self._known.get(asked)
            if known is None:
                known = self._known[asked] = self._traffic_below(*asked)
            below.append(known)
        return tuple(below)

    def _traffic_below(
        self, level: CacheLevel, threads: int, schedule: Schedule, contents: CacheContents,
        estimated: bool,
    ) -> LevelTraffic:  # fmt: skip
        """Returns the traffic between one cache level and the next, for all threads."""
        sharers = level.sharers
        comes: dict[str, float] = {}
        parts: list[tuple[_DistributedCounts, TeamFootprints, float, dict[str, float]]] = []
        for active, share in threads_at_work(self.profile, threads, sharers, schedule):
            dealing = self._distributed_counts(threads, schedule, shares_cache=active == threads)
            team = self._team_footprints(dealing, active, threads, schedule)
            own = one_core = 0.0
            if contents.own:
                others = contents.between * active / threads
                # Without random replacement, nothing stays of data that exceed the cache.
                if level.lasting or not team.all_exceed(level.size - others):
                    own = resident_share(team.all_bytes() + others, level.size, level.lasting)
                if own == 1.0 and self._arrays <= contents.own:
                    continue
            if contents.one_core:
                whole = self._alone.all_bytes()
                one_core = resident_share(whole + contents.between, level.size, level.lasting)
            stay = {
                array: one_core if array in contents.one_core
                else own if array in contents.own else 0.0
                for array in self._arrays
            }  # fmt: skip
            for array, stays in stay.items():
                comes[array] = comes.get(array, 0.0) + share * (1.0 - stays)
            parts.append((dealing, team, self.line_bytes * share * threads / active, stay))
        traced: Volume = {}
        if any(comes.values()) and not estimated:
            traced = self._enumerated_traffic(threads, sharers, schedule, level.size)
        volume: dict[str, tuple[float, float, Carrier]] = {}
        # Layer conditions replace a missing trace.
        for dealing, team, each, stay in () if traced else parts:
            conditions = LayerConditions(team, level.size, dealing.misses)
            misses = conditions.misses(dealing.dealt.nest.root)
            for array, lines in misses.volume.items():
                if stay[array] == 1.0:
                    continue
                factor = each * (1.0 - stay[array])
                read, written, _ = volume.get(array, (0.0, 0.0, None))
                carrier = misses.carriers.get(array, Carrier(None, 0.0))
                volume[array] = (
                    read + lines.touched * factor, written + lines.written * factor, carrier
                )  # fmt: skip
        for array, lines in traced.items():
            factor = self.line_bytes * comes[array]
            if factor:
                volume[array] = lines.touched * factor, lines.written * factor, NOT_ASKED
        return LevelTraffic(tuple(ArrayTraffic(array, *moved) for array, moved in volume.items()))

    def _enumerated_traffic(
        self, threads: int, sharers: int, schedule: Schedule, size: float
    ) -> Volume:
        """Returns the lines of each array that all caches of one level load and write back, from an
        enumeration of all references. The result is empty for large nests.
        """
        if schedule.kind == "guided" and threads > 1:
            return {}
        if schedule.chunk is None and is_single_stream(self.nest, self.line_bytes):
            return {}
        chunk = None if schedule.chunk is None else max(1, round(schedule.chunk))
        asked = (threads, sharers, chunk, size / self.line_bytes)
        if asked in self._volumes:
            return self._volumes[asked]
        if not self._trace_known:
            self._trace_known = True
            self._traced = _trace_nest(self.nest, self.line_bytes)
        if self._traced is None:
            return {}
        volume = self._volumes[asked] = self._traced.volume(*asked)
        return volume

    def forget_trace(self) -> None:
        """Frees the memory of the trace. Cached counts remain."""
        if self._traced is not None:
            self._traced, self._trace_known = None, False

    def _distributed_counts(
        self, threads: int, schedule: Schedule, *, shares_cache: bool
    ) -> _DistributedCounts:
        """Returns the distributed nest with its caches. Without chunks, all numbers of threads
        share the same caches.
        """
        dealt = self._distributed_nest(threads, schedule, shares_cache=shares_cache)
        if dealt.in_step:
            key = (dealt.threads, schedule.chunk, shares_cache)
            rounds = self._rounds.get(key)
            if rounds is None:
                tables = FootprintTables(by_shape=self._whole.tables.by_shape, work=self._work)
                rounds = self._rounds[key] = _DistributedCounts(dealt, tables, {})
            return rounds
        return _DistributedCounts(dealt, self._whole.tables, self._whole.misses)

    def _distributed_nest(
        self, threads: int, schedule: Schedule, *, shares_cache: bool
    ) -> DistributedNest:
        """Returns the cached result of `distribute_nest`."""
        asked = (threads, schedule, shares_cache)
        dealt = self._deals.get(asked)
        if dealt is None:
            dealt = self._deals[asked] = distribute_nest(
                self.nest, threads, schedule, shares_cache=shares_cache
            )
        return dealt

    def _team_footprints(
        self, dealing: _DistributedCounts, active: int, threads: int, schedule: Schedule
    ) -> TeamFootprints:
        """Returns the cached footprints of `active` out of `threads` threads."""
        team = self._teams.get((active, threads, schedule))
        if team is None:
            team = self._teams[active, threads, schedule] = self._team_of_threads(
                dealing, float(active)
            )
        return team

    def _team_of_threads(self, dealing: _DistributedCounts, threads: float) -> TeamFootprints:
        return TeamFootprints(dealing.dealt, threads, self.line_bytes, dealing.tables)


def _trace_nest(nest: LoopNest, line_bytes: int) -> TracedTraffic | None:
    """Enumerates the references of a nest. Returns None if there are too many references or unknown
    addresses.
    """
    if not may_be_traced(nest):
        return None
    # Imported on demand, because most nests are too large for a trace.
    from regionpredict.workload.reference_trace import reference_trace  # noqa: PLC0415
    from regionpredict.workload.traced_traffic import TracedTraffic  # noqa: PLC0415

    trace = reference_trace(nest)
    return None if trace is None else TracedTraffic(trace, line_bytes)


def is_single_stream(nest: LoopNest, line_bytes: int) -> bool:
    """Whether the nest is a single loop that streams through its arrays once, so that closed forms
    are exact.

    Every cache then holds the few lines between two uses of a line.
    """
    root = nest.root
    if root.children:
        return False
    near: dict[str, tuple[dict[str, float], float, float]] = {}
    for group in root.groups:
        if group.irregular:
            return False
        low, high = group.offsets[0], group.offsets[-1]
        slopes, lowest, highest = near.get(group.array, (group.slopes, low, high))
        if slopes != group.slopes:
            return False
        near[group.array] = slopes, min(low, lowest), max(high, highest)
    lines = sum(2 + (high - low) // line_bytes for _, low, high in near.values())
    return lines <= STREAM_LINES.value


def may_be_traced(nest: LoopNest) -> bool:
    """Whether a nest has few enough references to be enumerated."""
    expected = 0.0
    for loop, (_, times) in zip(nest.loops, body_executions(nest), strict=True):
        if loop.share < 1.0 or any(
            group.irregular and None in group.exact for group in loop.groups
        ):
            return False
        expected += times * sum(len(group.accesses) for group in loop.groups)
    return expected <= 2 * MOST_REFERENCES.value


def warm_cache_contents(nest: LoopNest) -> CacheContents:
    """Returns the cache contents after an execution of the nest on the same data."""
    return CacheContents(frozenset(group.array for group in nest.groups()))


def touched_bytes(nest: LoopNest, line_bytes: int) -> float:
    """Returns the bytes of all lines that one thread touches in the whole region."""
    return TeamFootprints(undivided_nest(nest), 1.0, line_bytes, FootprintTables()).all_bytes()


def resident_share(data_bytes: float, cache_bytes: float, lasting: float = 0.0) -> float:
    """Returns the share of `data_bytes` that a cache of `cache_bytes` still contains at
    the next execution.

    All data remain if they fill at most `KEPT_SHARE` of the cache, because conflict misses prevent
    full use. With LRU, a cyclic traversal of data larger than the cache never hits. With random
    replacement, some accesses hit. `lasting` interpolates between LRU (0) and random replacement
    (1). An adaptive policy reaches at least the hit rate of random replacement (Qureshi, Jaleel,
    Patt, Steely and Emer 2007).

    >>> resident_share(25.0, 100.0), resident_share(75.0, 100.0), resident_share(100.0, 100.0)
    (1.0, 0.5, 0.0)
    >>> round(resident_share(200.0, 100.0, lasting=1.0), 3)
    0.102
    """
    kept = min(1.0, max(0.0, (1.0 - data_bytes / cache_bytes) / (1.0 - KEPT_SHARE.value)))
    if not lasting:
        return kept
    return max(
        kept, lasting * KEPT_SHARE.value * _random_replacement_hits(data_bytes / cache_bytes)
    )


def _random_replacement_hits(times: float) -> float:
    """Returns the hit rate h of a cyclic traversal with random replacement, for data that are
    `times` as large as the cache.

    h solves h = exp(-(1 - h) times). The exponential is the probability that a line survives the
    misses of one round.
    """
    if times <= 1.0:
        return 1.0
    kept = 0.0
    for _ in range(int(CHANCE_STEPS.value)):
        kept = math.exp((kept - 1.0) * times)
    return kept
