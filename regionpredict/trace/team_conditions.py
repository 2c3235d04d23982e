"""The required order of events between the threads of a rank. It is derived from the order of
events, not from times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import EventTrace, Kind, Paradigm, Role
from regionpredict.trace.thread_dependencies import Slots, Synchronisation, construct_rows

Rows = NDArray[np.int64]


def team_conditions(trace: EventTrace) -> Synchronisation:
    """Workers begin after the fork, the join follows their ends, and barriers end after all threads
    have arrived.

    The k-th part of a worker belongs to the k-th fork of its rank. Threads that skip some
    constructs are left out, since only times would show which ones.
    """
    slots = Slots()
    if len(trace.locations) > len(trace.ranks):
        parallel = _regions_with_role(trace, (Role.PARALLEL,))
        barrier = _regions_with_role(trace, (Role.BARRIER, Role.IMPLICIT_BARRIER))
        by_rank: dict[int, list[int]] = {}
        for number, location in enumerate(trace.locations):
            by_rank.setdefault(location.rank, []).append(number)
        for numbers in by_rank.values():
            if len(numbers) > 1:
                _add_conditions_of_rank(trace, numbers, slots, parallel, barrier)
    return slots.synchronisation()


def _regions_with_role(trace: EventTrace, roles: tuple[Role, ...]) -> NDArray[np.bool_]:
    """Returns a mask of the OpenMP regions with one of these roles. The last entry is for no
    region.
    """
    return np.array(
        [region.paradigm is Paradigm.OPENMP and region.role in roles for region in trace.regions]
        + [False]
    )


def _add_conditions_of_rank(
    trace: EventTrace,
    numbers: list[int],
    slots: Slots,
    parallel: NDArray[np.bool_],
    barrier: NDArray[np.bool_],
) -> None:
    fork, join = construct_rows(trace, numbers[0])
    count = len(fork)
    if not count:
        return
    first = slots.new(2 * count)
    at = np.arange(count)
    slots.posts.append((fork, first + at))
    slots.needs.append((join, first + count + at))
    enters, leaves, keys = [], [], []
    for number in numbers:
        begin, end = (
            (fork, join) if number == numbers[0] else _worker_parts(trace, number, parallel)
        )
        if len(begin) != count:
            continue
        if number != numbers[0]:
            slots.needs.append((begin, first + at))
            slots.posts.append((end, first + count + at))
        rows = slice(int(trace.starts[number]), int(trace.starts[number + 1]))
        inside = np.flatnonzero(barrier[trace.region[rows]]) + rows.start
        enter = inside[trace.kind[inside] == Kind.ENTER]
        leave = inside[trace.kind[inside] == Kind.LEAVE]
        construct = np.searchsorted(begin, enter, side="right")
        place = np.arange(len(enter)) - np.searchsorted(construct, construct)
        taken = construct > 0
        enters.append(enter[taken])
        leaves.append(leave[taken])
        keys.append(np.stack([construct, place])[:, taken])
    key = np.concatenate(keys, axis=1)
    if not key.shape[1]:
        return
    slot = np.unique(key, axis=1, return_inverse=True)[1].reshape(-1)
    first = slots.new(int(slot.max()) + 1)
    slots.posts.append((np.concatenate(enters), first + slot))
    slots.needs.append((np.concatenate(leaves), first + slot))


def _worker_parts(trace: EventTrace, number: int, parallel: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Returns the rows at which a worker's outermost parts of parallel constructs begin and end."""
    first, end = int(trace.starts[number]), int(trace.starts[number + 1])
    kind = trace.kind[first:end]
    begins, ends = kind == Kind.TEAM_BEGIN, kind == Kind.TEAM_END
    if not np.any(begins):
        inside = parallel[trace.region[first:end]]
        begins, ends = inside & (kind == Kind.ENTER), inside & (kind == Kind.LEAVE)
    depth = np.cumsum(begins.astype(np.int64) - ends)
    begin = np.flatnonzero(begins & (depth == 1)) + first
    done = np.flatnonzero(ends & (depth == 0)) + first
    return (begin, done) if len(begin) == len(done) else (begin[:0], done[:0])
