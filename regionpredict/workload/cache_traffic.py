"""Counts the bytes that move between the caches and to memory, for a region on p threads."""

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
from regionpredict.workload.thread_nest import DistributedNest, deal, undivided
from regionpredict.workload.work_distribution import WorkProfile, threads_at_work

if TYPE_CHECKING:
    from regionpredict.workload.traced_traffic import TracedTraffic


class CacheLevel(NamedTuple):
    """A cache: the bytes of one instance, and the number of cores that share it.

    `lasting` says which share of data larger than the cache is still there at the next execution,
    relative to the maximum.
    """

    size: float
    sharers: int
    lasting: float = 0.0


class CacheContents(NamedTuple):
    """The data of the region that are in the caches at its start, as far as they fit.

    Each thread has accessed its current part of the `own` arrays. One core has accessed all
    `one_core` arrays. Since then, `between` bytes of other data were accessed. All other data come
    from memory.
    """

    own: frozenset[str] = frozenset()
    one_core: frozenset[str] = frozenset()
    between: float = 0.0


EMPTY = CacheContents()


NOT_ASKED = Carrier(None, -1.0)


class ArrayTraffic(NamedTuple):
    """The bytes of one array that cross one cache boundary, for all threads together.

    `carrier` is the loop along which its reuse hits in the cache above the boundary. It is
    `NOT_ASKED` if the references were enumerated.
    """

    array: str
    read: float
    written: float
    carrier: Carrier


@dataclass(frozen=True, slots=True)
class LevelTraffic:
    """The bytes below one cache, for all threads together, by array and in total."""

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
        """The bytes in both directions."""
        return self.read + self.written


_Asked = tuple[CacheLevel, int, Schedule, CacheContents, bool]
"""A query: a cache, the threads, their schedule, the contents of caches, and whether the traffic is
estimated.
"""


class _Dealing(NamedTuple):
    """A nest whose iterations are distributed, with its counts."""

    dealt: DistributedNest
    tables: FootprintTables
    misses: MissTable


class TrafficCounter:
    """Counts the traffic of one nest with one schedule, for lines of `line_bytes`.

    Each result is a pure function of the arguments. The counter belongs to one evaluation. It
    caches the footprints of loops and the misses of inner loops.
    """

    def __init__(
        self, nest: LoopNest, profile: WorkProfile, schedule: Schedule, line_bytes: int,
        *, traced: bool = True, limited: bool = False,
    ) -> None:  # fmt: skip
        """With `traced`, nests with few references are enumerated. With `limited`, closed forms
        replace the enumeration of lines if it takes long.
        """
        self.nest = nest
        self.profile = profile
        self.schedule = schedule
        self.line_bytes = line_bytes
        self._work = GroupWork(limited)
        self._whole = _Dealing(undivided(nest), FootprintTables(work=self._work), {})
        self._alone = self._team(self._whole, 1.0)
        self._deals: dict[tuple[int, Schedule, bool], DistributedNest] = {}
        self._rounds: dict[tuple[int, float | None, bool], _Dealing] = {}
        self._traced: TracedTraffic | None = None
        self._trace_known = not traced
        self._volumes: dict[tuple[int, int, int | None, float], Volume] = {}
        self._arrays = frozenset(group.array for group in nest.groups())
        self._known: dict[_Asked, LevelTraffic] = {}
        self._teams: dict[tuple[int, int, Schedule], TeamFootprints] = {}
        self._pages: dict[int, TrafficCounter] = {}
        self._touched: dict[str, float] = {}

    def in_pages(self, page_bytes: int) -> TrafficCounter:
        """A counter for pages of `page_bytes` instead of lines, for a TLB."""
        pages = self._pages.get(page_bytes)
        if pages is None:
            pages = self._pages[page_bytes] = TrafficCounter(
                self.nest, self.profile, self.schedule, page_bytes, traced=False,
                limited=self._work.limited,
            )  # fmt: skip
            pages._work.closed = self._work.closed
        return pages.with_schedule(self.schedule)

    def with_schedule(self, schedule: Schedule) -> TrafficCounter:
        """A counter of the nest with another schedule. Both counters share their results."""
        other = copy(self)
        other.schedule = schedule
        return other

    def traffic(
        self, levels: Sequence[CacheLevel], threads: int, *, contents: CacheContents = EMPTY,
        estimated: bool = False,
    ) -> tuple[LevelTraffic, ...]:  # fmt: skip
        """The bytes below each of `levels`, closest level first. The last entry is memory traffic.

        Each cache keeps the part of the given `contents` that fits (`staying`). `estimated`
        requests layer conditions, even if the references can be enumerated.
        """
        asked = levels, threads, self.schedule, contents
        answer = self._traffic(*asked, estimated=estimated)
        work = self._work
        if work.first and work.done:
            work.first = False
            if work.closed:
                for dealing in (self._whole, *self._rounds.values()):
                    dealing.tables.volumes.clear()
                    dealing.tables.least.clear()
                    dealing.misses.clear()
                self._known.clear()
                return self._traffic(*asked, estimated=estimated)
        return answer

    @property
    def work(self) -> float:
        """The work so far on lines and pages in closed form. Zero if there is no budget."""
        own = self._work.done if self._work.limited else 0.0
        return own + sum(pages.work for pages in self._pages.values())

    @property
    def is_closed_form(self) -> bool:
        """Whether closed forms replaced the enumeration of lines or pages to save work."""
        return self._work.closed or any(pages.is_closed_form for pages in self._pages.values())

    def touched(self) -> dict[str, float]:
        """The bytes of the lines of each array that the whole region accesses."""
        touched = self._touched
        if not touched:
            everything = CacheLevel(float("inf"), 1)
            (whole,) = self._traffic([everything], 1, Schedule("static", None), EMPTY)
            for moved in whole.arrays:
                touched[moved.array] = touched.get(moved.array, 0.0) + moved.read
        return dict(touched)

    def _traffic(
        self,
        levels: Sequence[CacheLevel],
        threads: int,
        schedule: Schedule,
        contents: CacheContents,
        *,
        estimated: bool = False,
    ) -> tuple[LevelTraffic, ...]:
        threads = self._deal(threads, schedule, together=False).threads
        below = []
        for level in levels:
            used = level._replace(sharers=max(1, min(threads, level.sharers)))
            asked = used, threads, schedule, contents, estimated
            known = self._known.get(asked)
            if known is None:
                known = self._known[asked] = self._below(*asked)
            below.append(known)
        return tuple(below)

    def _below(
        self, level: CacheLevel, threads: int, schedule: Schedule, contents: CacheContents,
        estimated: bool,
    ) -> LevelTraffic:  # fmt: skip
        """The traffic below one cache that all of these threads share."""
        sharers = level.sharers
        comes: dict[str, float] = {}
        parts: list[tuple[_Dealing, TeamFootprints, float, dict[str, float]]] = []
        for active, share in threads_at_work(self.profile, threads, sharers, schedule):
            dealing = self._dealing(threads, schedule, together=active == threads)
            team = self._footprints_of(dealing, active, threads, schedule)
            own = one_core = 0.0
            if contents.own:
                others = contents.between * active / threads
                own = staying(team.all_bytes() + others, level.size, level.lasting)
                if own == 1.0 and self._arrays <= contents.own:
                    continue
            if contents.one_core:
                whole = self._alone.all_bytes()
                one_core = staying(whole + contents.between, level.size, level.lasting)
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
            traced = self._traced_lines(threads, sharers, schedule, level.size)
        volume: dict[str, tuple[float, float, Carrier]] = {}
        # Layer conditions estimate the result of the trace.
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

    def _traced_lines(self, threads: int, sharers: int, schedule: Schedule, size: float) -> Volume:
        """The lines of each array that all caches of one level move. They are found by enumerating
        the references of a small nest. None for a large nest.
        """
        if schedule.kind == "guided" and threads > 1:
            return {}
        if schedule.chunk is None and is_one_stream(self.nest, self.line_bytes):
            return {}
        chunk = None if schedule.chunk is None else max(1, round(schedule.chunk))
        asked = (threads, sharers, chunk, size / self.line_bytes)
        if asked in self._volumes:
            return self._volumes[asked]
        if not self._trace_known:
            self._trace_known = True
            self._traced = _traced(self.nest, self.line_bytes)
        if self._traced is None:
            return {}
        volume = self._volumes[asked] = self._traced.volume(*asked)
        return volume

    def forget_trace(self) -> None:
        """Frees the arrays of the trace. Its counts are kept."""
        if self._traced is not None:
            self._traced, self._trace_known = None, False

    def _dealing(self, threads: int, schedule: Schedule, *, together: bool) -> _Dealing:
        """The distributed nest. If each thread has whole pieces, the tables are the same for any
        number of threads.
        """
        dealt = self._deal(threads, schedule, together=together)
        if dealt.in_step:
            key = (dealt.threads, schedule.chunk, together)
            rounds = self._rounds.get(key)
            if rounds is None:
                tables = FootprintTables(by_shape=self._whole.tables.by_shape, work=self._work)
                rounds = self._rounds[key] = _Dealing(dealt, tables, {})
            return rounds
        return _Dealing(dealt, self._whole.tables, self._whole.misses)

    def _deal(self, threads: int, schedule: Schedule, *, together: bool) -> DistributedNest:
        """Like `deal`. The results are cached for all cache levels."""
        asked = (threads, schedule, together)
        dealt = self._deals.get(asked)
        if dealt is None:
            dealt = self._deals[asked] = deal(self.nest, threads, schedule, together=together)
        return dealt

    def _footprints_of(
        self, dealing: _Dealing, active: int, threads: int, schedule: Schedule
    ) -> TeamFootprints:
        """The footprints of `active` of the threads. The results are cached for all caches."""
        team = self._teams.get((active, threads, schedule))
        if team is None:
            team = self._teams[active, threads, schedule] = self._team(dealing, float(active))
        return team

    def _team(self, dealing: _Dealing, threads: float) -> TeamFootprints:
        return TeamFootprints(dealing.dealt, threads, self.line_bytes, dealing.tables)


def _traced(nest: LoopNest, line_bytes: int) -> TracedTraffic | None:
    """The traffic that a trace of the nest gives. None if the trace is too long or unknown."""
    if not may_be_traced(nest):
        return None
    # Imported here, because most nests are too large for a trace.
    from regionpredict.workload.reference_trace import reference_trace  # noqa: PLC0415
    from regionpredict.workload.traced_traffic import TracedTraffic  # noqa: PLC0415

    trace = reference_trace(nest)
    return None if trace is None else TracedTraffic(trace, line_bytes)


def is_one_stream(nest: LoopNest, line_bytes: int) -> bool:
    """Whether closed forms are exact for a nest: one loop that streams through its arrays once.

    All uses of a line are then close together, and every cache holds the data in between. The same
    holds for several references to one array.
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
    """The cache contents after a run of the nest on the same data."""
    return CacheContents(frozenset(group.array for group in nest.groups()))


def touched_bytes(nest: LoopNest, line_bytes: int) -> float:
    """Bytes of the lines that one thread touches in the whole region."""
    return TeamFootprints(undivided(nest), 1.0, line_bytes, FootprintTables()).all_bytes()


def staying(held: float, size: float, lasting: float = 0.0) -> float:
    """The share of `held` bytes that a cache of `size` still contains at the next execution.

    All data remain if they fill at most `KEPT_SHARE` of the cache, since no real cache is filled
    without conflicts. With LRU, a cyclic traversal of more data never hits. With random
    replacement, some accesses hit. `lasting` interpolates between the two. An adaptive policy
    reaches at least the hit rate of random replacement (Qureshi, Jaleel, Patt, Steely and Emer
    2007).

    >>> staying(25.0, 100.0), staying(75.0, 100.0), staying(100.0, 100.0)
    (1.0, 0.5, 0.0)
    >>> round(staying(200.0, 100.0, lasting=1.0), 3)
    0.102
    """
    kept = min(1.0, max(0.0, (1.0 - held / size) / (1.0 - KEPT_SHARE.value)))
    if not lasting:
        return kept
    return max(kept, lasting * KEPT_SHARE.value * _kept_by_chance(held / size))


def _kept_by_chance(times: float) -> float:
    """The hit rate of a cyclic traversal of data of several cache sizes with random replacement. It
    solves h = exp(-(1 - h) times), where the exponential is the probability to survive the misses
    of one round.
    """
    if times <= 1.0:
        return 1.0
    kept = 0.0
    for _ in range(int(CHANCE_STEPS.value)):
        kept = math.exp((kept - 1.0) * times)
    return kept
