"""Finds the arrays that threads share, and the parts of these arrays in the caches of other
cores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from regionpredict.analysis.history.data_distribution import Part, parts_of
from regionpredict.analysis.history.last_writes import History, LastWrite
from regionpredict.ir import Region
from regionpredict.workload.loop_nest import LoopNest

Parts = frozenset[Part]


class ArraySharing(NamedTuple):
    """An array that the threads of a region share.

    `written` says that the region writes the array. `stride` is the distance in bytes between
    elements of neighboring parallel iterations, or None if it is not constant. `rank` is the number
    of dimensions that a thread traverses. `held_rank` is the number of dimensions of the part that
    is in caches of other cores (0 for no part). `held_whole` says that one other core has this
    whole part, and not a random part.
    """

    name: str
    written: bool
    stride: float | None
    rank: int
    held_rank: int
    held_whole: bool

    def held_lines(self, lines: float) -> float:
        """Returns how many of a thread's `lines` of the array are in the caches of other cores.

        All dimensions are assumed to have equal lengths, so a row of a square matrix has the square
        root of its lines.
        """
        if self.held_rank >= self.rank or lines < 1:
            return lines
        return math.pow(lines, self.held_rank / self.rank)


def array_sharing(region: Region, nest: LoopNest, history: History) -> tuple[ArraySharing, ...]:
    """Returns the arrays that the threads of a region share, sorted by name."""
    private = {array.name for array in region.arrays if array.storage == "private"}
    memories = region.memories()
    reads = _by_memory(parts_of(region, "read"), memories)
    writes = _by_memory(parts_of(region, "write"), memories)
    strides = _strides_by_array(nest)
    moved = {group.array for group in nest.groups()}  # arrays of code that is executed
    sharing = []
    for name in sorted(({*reads, *writes} & moved) - private):
        own = writes.get(name, frozenset())
        parts = reads.get(name, frozenset()) | own
        last = _last_write(name, memories, history)
        held_rank, whole = _held_by_others(parts, own, last) if last is not None else (0, False)
        sharing.append(
            ArraySharing(name, bool(own), strides.get(name), _largest_rank(parts), held_rank, whole)
        )
    return tuple(sharing)


def _by_memory(parts: Mapping[str, Parts], memories: Mapping[str, str]) -> dict[str, Parts]:
    """Groups the accessed parts by memory, so that members of one struct are together."""
    joined: dict[str, Parts] = {}
    for name, own in parts.items():
        memory = memories[name]
        joined[memory] = joined.get(memory, frozenset()) | own
    return joined


def _last_write(memory: str, memories: Mapping[str, str], history: History) -> LastWrite | None:
    """Returns the last write of an array, or of an array inside it. None for new memory and for an
    unknown writer.
    """
    inside = sorted(name for name in memories if memories[name] == memory and name != memory)
    for name in (memory, *inside):
        if name in history.last and name not in history.fresh:
            return history.last[name]
    return None


def _strides_by_array(nest: LoopNest) -> dict[str, float]:
    outer = nest.parallel[0]
    strides: dict[str, float] = {}
    for group in nest.groups():
        slope = abs(group.slopes.get(outer.variable, 0.0) * outer.step)
        if slope:
            strides[group.array] = min(slope, strides.get(group.array, slope))
    return strides


def _held_by_others(parts: Parts, writes: Parts, last: LastWrite) -> tuple[int, bool]:
    """Returns the number of dimensions of the part in other cores' caches, and whether one other
    core has the whole part.
    """
    readers = other_readers(last.since, writes)
    if writes and readers:
        return _largest_rank(readers), False  # copies in other caches must be invalidated
    if last.since and fetched_before(parts, last.since):
        return 0, False
    if last.parts is None:
        return 1, True  # serial code between two regions wrote a vector, or a row of a matrix
    if same_owner(parts, last.parts):
        return 0, False
    return _largest_rank(last.parts), False


def same_owner(parts: Parts, before: Parts) -> bool:
    """Whether every thread accesses the same part of an array as in an earlier loop.

    This holds if both loops distribute the array in the same way, by static schedules.
    """
    known = {part.thread_distribution for part in before}
    return all(
        part.dimension is not None
        and part.schedule.kind == "static"
        and part.thread_distribution in known
        for part in parts
    )


def other_readers(others: Parts, parts: Parts) -> Parts:
    """Returns the references of other loops in which threads access elements outside their own
    `parts`.
    """
    known = {part.thread_distribution for part in parts}
    return frozenset(
        part
        for part in others
        if part.schedule.kind != "static" or part.thread_distribution not in known
    )


def fetched_before(parts: Parts, before: Parts) -> bool:
    """Whether an earlier loop has loaded the data of these references into each thread's cache."""
    known = {part.thread_distribution for part in before if part.schedule.kind == "static"}
    everything = any(part.dimension is None for part in before)
    return everything or all(part.thread_distribution in known for part in parts)


def _largest_rank(parts: Parts) -> int:
    """Returns the largest number of dimensions that a reference traverses."""
    return max(part.rank for part in parts)
