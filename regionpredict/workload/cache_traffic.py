"""Bytes between the caches and to memory, for a region on p threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.constants import KEPT_SHARE
from regionpredict.workload.iteration_pieces import piece_length
from regionpredict.workload.layer_conditions import Carrier, LayerConditions, MissTable
from regionpredict.workload.loop_nest import LoopNest
from regionpredict.workload.team_footprint import FootprintTables, TeamFootprints
from regionpredict.workload.work_distribution import WorkProfile, threads_at_work


class CacheLevel(NamedTuple):
    """What the counting needs of a cache: bytes of one instance and the cores that share it."""

    size: float
    sharers: int


class ArrayTraffic(NamedTuple):
    """Bytes of one array across one boundary, all threads together.

    `carrier` is the loop along which its reuse hits in the cache above the boundary.
    """

    array: str
    read: float
    written: float
    carrier: Carrier


@dataclass(frozen=True, slots=True)
class LevelTraffic:
    """Bytes across the boundary below one cache, all threads together, an array and in all."""

    arrays: tuple[ArrayTraffic, ...]

    @property
    def read(self) -> float:
        """Bytes brought into the cache, write-allocate included."""
        return sum(array.read for array in self.arrays)

    @property
    def written(self) -> float:
        """Bytes written back."""
        return sum(array.written for array in self.arrays)

    @property
    def total(self) -> float:
        """Bytes in both directions."""
        return self.read + self.written


class Division(NamedTuple):
    """How a schedule cuts the parallel loops: `lengths` of one piece, a loop (None: not cut);
    `pieces` of one thread.
    """

    lengths: tuple[float | None, ...]
    pieces: float


class TrafficCounter:
    """Counts the traffic of one nest, dealt out by one schedule, with lines of `line_bytes`.

    Each answer is a function of its arguments alone; the counter belongs to one evaluation and
    keeps what several answers have in common: footprints of loops and misses of inner loops.
    """

    def __init__(
        self, nest: LoopNest, profile: WorkProfile, schedule: Schedule, line_bytes: int
    ) -> None:
        self.nest = nest
        self.profile = profile
        self.schedule = schedule
        self.line_bytes = line_bytes
        self._tables = FootprintTables()
        self._misses: MissTable = {}
        self._whole = self._team(1.0, tuple(None for _ in nest.parallel))
        self._shared_iterations = shared_iterations(nest)

    def traffic(
        self, levels: Sequence[CacheLevel], threads: int, *, warm: bool = False
    ) -> tuple[LevelTraffic, ...]:
        """Bytes below each level of `levels`, nearest the core first; the last is memory's traffic.

        `warm`: the region has run before on the same data, and what a cache can hold of it is
        there (`staying`); else all caches begin empty.
        """
        return self._traffic(levels, threads, self.schedule, warm=warm)

    def touched(self) -> dict[str, float]:
        """Bytes of each array's lines that the whole region touches."""
        everything = CacheLevel(float("inf"), 1)
        (whole,) = self._traffic([everything], 1, Schedule("static", None), warm=False)
        touched: dict[str, float] = {}
        for moved in whole.arrays:
            touched[moved.array] = touched.get(moved.array, 0.0) + moved.read
        return touched

    def _traffic(
        self, levels: Sequence[CacheLevel], threads: int, schedule: Schedule, *, warm: bool
    ) -> tuple[LevelTraffic, ...]:
        nest = self.nest
        root = nest.root
        threads = int(min(threads, max(1.0, -(-self._shared_iterations // 1))))
        whole = self._whole.held()
        division = divide(nest, threads, schedule)
        pieces = max(1.0, division.pieces)
        teams: dict[int, TeamFootprints] = {}
        below = []
        for level in levels:
            sharers = max(1, min(threads, level.sharers))
            volume: dict[str, tuple[float, float, Carrier]] = {}
            for active, share in threads_at_work(self.profile, threads, sharers, schedule):
                team = teams.get(active)
                if team is None:
                    team = teams[active] = self._team(float(active), division.lengths)
                # All teams together touch everything: each at least its part of it.
                least = whole * active / threads
                stays = 0.0
                if warm and least < level.size:
                    stays = staying(team.held() * pieces, level.size)
                    if stays == 1.0:
                        continue
                conditions = LayerConditions(team, level.size, self._misses, least / pieces)
                misses = conditions.misses(root)
                factor = self.line_bytes * pieces * share * threads / active * (1.0 - stays)
                for array, lines in misses.volume.items():
                    read, written, _ = volume.get(array, (0.0, 0.0, None))
                    carrier = misses.carriers.get(array, Carrier(None, 0.0))
                    volume[array] = (
                        read + lines.touched * factor, written + lines.written * factor, carrier
                    )  # fmt: skip
            arrays = tuple(ArrayTraffic(array, *moved) for array, moved in volume.items())
            below.append(LevelTraffic(arrays))
        return tuple(below)

    def _team(self, threads: float, lengths: Sequence[float | None]) -> TeamFootprints:
        return TeamFootprints(self.nest, threads, lengths, self.line_bytes, self._tables)


def touched_bytes(nest: LoopNest, line_bytes: int) -> float:
    """Bytes of the lines that one thread touches in the whole region."""
    lengths = tuple(None for _ in nest.parallel)
    return TeamFootprints(nest, 1.0, lengths, line_bytes, FootprintTables()).held()


def staying(held: float, size: float) -> float:
    """The share of `held` bytes that a cache of `size` keeps from one run to the next.

    All up to `KEPT_SHARE` of the cache, none from the whole of it on: a cyclic walk over more
    than an LRU cache holds finds nothing, and no real cache is filled without conflicts.

    >>> staying(25.0, 100.0), staying(75.0, 100.0), staying(100.0, 100.0)
    (1.0, 0.5, 0.0)
    """
    return min(1.0, max(0.0, (1.0 - held / size) / (1.0 - KEPT_SHARE.value)))


def shared_iterations(nest: LoopNest) -> float:
    """Iterations that the threads share; 0 where a loop does not run."""
    total, env = 1.0, dict[str, float]()
    for loop in nest.parallel:
        total *= loop.trips(env)
        env[loop.variable] = loop.middle(env)
    return total


def divide(nest: LoopNest, threads: int, schedule: Schedule) -> Division:
    """How the schedule cuts the parallel loops for so many threads."""
    outer = nest.parallel[0]
    trips = max(1.0, outer.trips({}))
    own = piece_length(trips, threads, schedule)
    whole: tuple[float | None, ...] = tuple(None for _ in nest.parallel)
    if own >= 1 or len(nest.parallel) == 1:
        length = max(1.0, own) if trips >= threads else 1.0
        return Division((length, *whole[1:]), trips / threads / length)
    inner = max(1.0, nest.parallel[1].trips({}) * own)
    return Division((1.0, inner, *whole[2:]), 1.0)
