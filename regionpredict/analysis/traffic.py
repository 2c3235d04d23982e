"""Bytes between the caches and to memory, for a region on p threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.analysis.balance import Schedule, piece
from regionpredict.analysis.groups import LINE, Nest
from regionpredict.analysis.layers import Carrier, Footprints, Key, Lines


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
    resident: float | None = None,
) -> tuple[LevelTraffic, ...]:
    """Bytes below each level of `levels`, nearest the core first; the last is memory's traffic.

    `resident`: the region has run before on the same data, and a cache of `resident` times the
    level's size that can hold all of it has it already; None: all caches begin empty.
    """
    pieces = _divide(nest, threads, schedule)
    counted = Footprints(nest)
    found = []
    for level in levels:
        sharers = float(max(1, min(threads, level.sharers)))
        held = counted.held(sharers) * max(1.0, pieces) if resident is not None else 0.0
        if resident is not None and held <= level.size * resident:
            found.append(LevelTraffic(()))
            continue
        misses = counted.misses(level.size, sharers)
        instances = threads / sharers
        arrays = []
        for key, lines in misses.volume.items():
            factor = LINE * pieces * instances * (sharers if key[1] else 1.0)
            carrier = misses.carriers.get(key, Carrier(None, 0.0))
            arrays.append(
                ArrayTraffic(key[0], lines.touched * factor, lines.written * factor, carrier)
            )
        found.append(LevelTraffic(tuple(arrays)))
    _undivide(nest)
    return tuple(found)


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


__all__ = ["ArrayTraffic", "CacheLevel", "Key", "LevelTraffic", "Lines", "traffic"]
