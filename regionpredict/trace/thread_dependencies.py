"""Finds the waits between the threads of a rank at forks, joins, barriers and locks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import EventTrace, Kind, Paradigm, Role

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """The events (rows of the trace) that post to a slot, and the events that wait until all posts
    to their slot have arrived. `count` is the number of slots.
    """

    post: Rows
    post_slot: Rows
    need: Rows
    need_slot: Rows
    count: int


class Slots:
    """Collects posts and needs as pairs of event rows and slots."""

    def __init__(self) -> None:
        self.posts: list[tuple[Rows, Rows]] = []
        self.needs: list[tuple[Rows, Rows]] = []
        self.count = 0

    def new(self, number: int) -> int:
        """Adds `number` slots and returns the number of the first."""
        self.count += number
        return self.count - number

    def synchronisation(self) -> Synchronisation:
        """Returns the collected posts and needs, except needs whose slot has no post."""
        empty = np.zeros(0, dtype=np.int64)
        post, post_slot, need, need_slot = (
            np.concatenate([empty, *(part[k] for part in parts)])
            for parts in (self.posts, self.needs)
            for k in (0, 1)
        )
        posted = np.zeros(self.count, dtype=bool)
        posted[post_slot] = True
        kept = posted[need_slot]
        return Synchronisation(post, post_slot, need[kept], need_slot[kept], self.count)


def thread_synchronisations(trace: EventTrace) -> Synchronisation:
    """Finds all waits between the threads of each rank.

    A worker begins its part of a parallel construct after the fork, and the master continues after
    all parts. The n-th barrier of a construct ends when all threads with an n-th barrier have
    arrived. A lock is acquired after its previous release, in the order of the trace.
    """
    slots = Slots()
    if len(trace.locations) > len(trace.ranks):
        by_rank: dict[int, list[int]] = {}
        for number, location in enumerate(trace.locations):
            by_rank.setdefault(location.rank, []).append(number)
        for numbers in by_rank.values():
            if len(numbers) > 1:
                _add_forks(trace, numbers, slots)
                _add_barriers(trace, numbers, slots)
                _add_locks(trace, numbers, slots)
    return slots.synchronisation()


def construct_rows(trace: EventTrace, master: int) -> tuple[Rows, Rows]:
    """Returns the rows of a location's outermost forks and of their joins."""
    kind = trace.kind[trace.starts[master] : trace.starts[master + 1]]
    step = np.where(kind == Kind.FORK, 1, 0) - np.where(kind == Kind.JOIN, 1, 0)
    depth = np.cumsum(step)
    lowest = np.minimum.accumulate(np.minimum(depth, 0))  # negative: joins without a recorded fork
    alone = np.diff(lowest, prepend=0) < 0
    fork = np.flatnonzero((kind == Kind.FORK) & (depth - lowest == 1))
    join = np.flatnonzero((kind == Kind.JOIN) & (depth == lowest) & ~alone)
    whole = min(len(fork), len(join))
    return fork[:whole] + trace.starts[master], join[:whole] + trace.starts[master]


def _worker_parts(
    trace: EventTrace, fork: Rows, join: Rows, worker: int
) -> tuple[NDArray[np.intp], Rows, Rows]:
    """Returns the parallel constructs that a worker executes, and the rows at which its parts of
    them begin and end.

    If two constructs touch in time, the part of the first ends where the worker has the fewest open
    regions. If the first has no duration, its part ends where this number is reached again.
    """
    first, end = int(trace.starts[worker]), int(trace.starts[worker + 1])
    times, kind = trace.time[first:end], trace.kind[first:end]
    low = np.searchsorted(times, trace.time[fork], side="left")
    high = np.searchsorted(times, trace.time[join], side="right") - 1
    touching = np.flatnonzero(low[1:] <= high[:-1])
    if len(touching):
        begins = (kind == Kind.ENTER) | (kind == Kind.TEAM_BEGIN)
        ends = (kind == Kind.LEAVE) | (kind == Kind.TEAM_END)
        depth = np.concatenate([[0], np.cumsum(begins.astype(np.int64) - ends)])  # before each row
        for at in touching.tolist():
            between = depth[low[at + 1] : high[at] + 2]
            if not len(between):
                continue  # an earlier split took all rows
            least = np.flatnonzero(between == between.min())
            instant = trace.time[fork[at]] == trace.time[join[at]]
            low[at + 1] += int(least[1 if instant and len(least) > 1 else 0])
            high[at] = low[at + 1] - 1
            if at + 2 < len(low):
                low[at + 2] = max(low[at + 2], low[at + 1])
    part = np.flatnonzero(high > low)
    return part, first + low[part], first + high[part]


def _add_forks(trace: EventTrace, numbers: list[int], slots: Slots) -> None:
    fork, join = construct_rows(trace, numbers[0])
    count = len(fork)
    first = slots.new(2 * count)
    began = np.zeros(count, dtype=bool)
    for worker in numbers[1:]:
        part, begin, end = _worker_parts(trace, fork, join, worker)
        slots.needs.append((begin, first + part))
        slots.posts.append((end, first + count + part))
        began[part] = True
    some = np.flatnonzero(began)
    slots.posts.append((fork[some], first + some))
    slots.needs.append((join[some], first + count + some))


def _add_barriers(trace: EventTrace, numbers: list[int], slots: Slots) -> None:
    barrier = np.array(
        [
            region.paradigm is Paradigm.OPENMP
            and region.role in (Role.BARRIER, Role.IMPLICIT_BARRIER)
            for region in trace.regions
        ]
        + [False]
    )
    fork, join = construct_rows(trace, numbers[0])
    rows, keys = [], []
    for location in numbers:
        a, b = trace.starts[location], trace.starts[location + 1]
        inside = barrier[trace.region[a:b]] & (trace.kind[a:b] == Kind.ENTER)
        row = np.flatnonzero(inside) + a
        if location == numbers[0]:
            construct = np.searchsorted(fork, row, side="right")
        else:
            part, begin, _ = _worker_parts(trace, fork, join, location)
            construct = np.append(0, part + 1)[np.searchsorted(begin, row, side="right")]
        first = np.searchsorted(construct, construct)
        rows.append(row)
        keys.append(np.stack([construct, np.arange(len(row)) - first]))
    row = np.concatenate(rows)
    if not len(row):
        return
    _, slot = np.unique(np.concatenate(keys, axis=1), axis=1, return_inverse=True)
    slot = slot.reshape(-1)
    first_slot = slots.new(int(slot.max()) + 1)
    slots.posts.append((row, first_slot + slot))
    slots.needs.append((row, first_slot + slot))


def _add_locks(trace: EventTrace, numbers: list[int], slots: Slots) -> None:
    operations = trace.operations
    kind = trace.kind[operations.event]
    location = trace.locations_of(operations.event)
    chosen = np.flatnonzero(
        np.isin(kind, (Kind.ACQUIRE_LOCK, Kind.RELEASE_LOCK)) & np.isin(location, numbers)
    )
    event = operations.event[chosen]
    releases = kind[chosen] == Kind.RELEASE_LOCK
    # At equal times, the release of a lock precedes its next acquisition.
    order = np.lexsort((~releases, trace.time[event], operations.request[chosen]))
    event, releases, lock = event[order], releases[order], operations.request[chosen][order]
    pair = np.flatnonzero(releases[:-1] & ~releases[1:] & (lock[1:] == lock[:-1]))
    slot = slots.new(len(pair)) + np.arange(len(pair))
    slots.posts.append((event[pair], slot))
    slots.needs.append((event[pair + 1], slot))
