"""Bytes between the caches and to memory, for a region on p threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.analysis.balance import Schedule, at_work, piece
from regionpredict.analysis.groups import LINE, Nest
from regionpredict.analysis.groups_footprint import TeamFootprints
from regionpredict.analysis.layers import Carrier, Layers


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
        return sum(one.read for one in self.arrays)

    @property
    def written(self) -> float:
        """Bytes written back."""
        return sum(one.written for one in self.arrays)

    @property
    def total(self) -> float:
        """Bytes in both directions."""
        return self.read + self.written


def traffic(
    nest: Nest,
    levels: Sequence[CacheLevel],
    threads: int,
    schedule: Schedule,
    *,
    warm: bool = False,
) -> tuple[LevelTraffic, ...]:
    """Bytes below each level of `levels`, nearest the core first; the last is memory's traffic.

    `warm`: the region has run before on the same data, and what a cache can hold of it is there
    (`staying`); else all caches begin empty.
    """
    root = nest.root
    threads = int(min(threads, max(1.0, -(-_iterations(nest) // 1))))
    alone = TeamFootprints(nest, 1.0)
    whole = alone.bytes((root,), {}, alone.groups_below(root))
    pieces = max(1.0, _divide(nest, threads, schedule))
    teams: dict[int, TeamFootprints] = {}
    found = []
    for level in levels:
        sharers = max(1, min(threads, level.sharers))
        volume: dict[str, tuple[float, float, Carrier]] = {}
        for active, share in at_work(nest, threads, sharers, schedule):
            team = teams.get(active)
            if team is None:
                team = teams[active] = TeamFootprints(nest, float(active))
            # All teams together touch everything: each at least its part of it.
            least = whole * active / threads
            stays = 0.0
            if warm and least < level.size:
                held = team.bytes((root,), {}, team.groups_below(root)) * pieces
                stays = staying(held, level.size)
                if stays == 1.0:
                    continue
            misses = Layers(team, level.size, least / pieces).misses(root)
            factor = LINE * pieces * share * threads / active * (1.0 - stays)
            for array, lines in misses.volume.items():
                read, written, _ = volume.get(array, (0.0, 0.0, None))
                carrier = misses.carriers.get(array, Carrier(None, 0.0))
                volume[array] = (
                    read + lines.touched * factor, written + lines.written * factor, carrier
                )  # fmt: skip
        arrays = tuple(ArrayTraffic(array, *one) for array, one in volume.items())
        found.append(LevelTraffic(arrays))
    _undivide(nest)
    return tuple(found)


def staying(held: float, size: float) -> float:
    """The share of `held` bytes that a cache of `size` keeps from one run to the next.

    All up to half of the cache, none from the whole of it on: a cyclic walk over more than an LRU
    cache holds finds nothing, and no real cache is filled without conflicts.

    >>> staying(25.0, 100.0), staying(75.0, 100.0), staying(100.0, 100.0)
    (1.0, 0.5, 0.0)
    """
    return min(1.0, max(0.0, 2.0 - 2.0 * held / size))


def _iterations(nest: Nest) -> float:
    """Iterations that the threads share."""
    total, env = 1.0, dict[str, float]()
    for loop in nest.parallel:
        total *= loop.trips(env)
        env[loop.variable] = loop.begin(env) + loop.step * max(0.0, loop.trips(env) - 1) / 2
    return total


def _divide(nest: Nest, threads: int, schedule: Schedule) -> float:
    """Gives each parallel loop the length of one piece; returns the pieces of one thread."""
    outer = nest.parallel[0]
    trips = max(1.0, outer.trips({}))
    own = piece(trips, threads, schedule)
    if own >= 1 or len(nest.parallel) == 1:
        outer.chunk = max(1.0, own) if trips >= threads else 1.0
        return trips / threads / outer.chunk
    outer.chunk = 1.0
    inner = nest.parallel[1]
    inner.chunk = max(1.0, inner.trips({}) * own)
    return 1.0


def _undivide(nest: Nest) -> None:
    for loop in nest.parallel:
        loop.chunk = None
