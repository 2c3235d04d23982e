"""Classifies the time between two events of a location as useful computation, other work, or
waiting.

*Useful* time is outside all regions of MPI, of other run-time systems, and of waits. *Own* time is
useful time plus other work outside MPI without waiting. A faster network cannot shorten own time.
An example is Paraver's state 12, I/O, in which Extrae also writes its buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import Counter, EventTrace, Kind, Paradigm, Role

Ticks = NDArray[np.int64]
_WAITING = (Role.BARRIER, Role.IMPLICIT_BARRIER, Role.IDLE)


@dataclass(frozen=True, slots=True)
class Bursts:
    """The activity from each event to the next event of its location, with one row per event.

    `length` is in ticks (0 after the last event). `useful`, `own` and `mpi` are flags. `depth` is
    the number of open MPI regions after the event.
    """

    length: Ticks
    useful: NDArray[np.bool_]
    own: NDArray[np.bool_]
    mpi: NDArray[np.bool_]
    depth: NDArray[np.int64]


def bursts_of(trace: EventTrace) -> Bursts:
    """Returns the spans between the events of a trace."""
    length = np.zeros(len(trace), dtype=np.int64)
    length[:-1] = np.diff(trace.time)
    last = trace.starts[1:][np.diff(trace.starts) > 0] - 1
    length[last] = 0
    step = (trace.kind == Kind.ENTER).astype(np.int8) - (trace.kind == Kind.LEAVE)

    def depth(selected_regions: list[bool]) -> NDArray[np.int64]:
        named = np.array(
            [*selected_regions, False], dtype=np.int8
        )  # the last entry is for -1, no region
        if not named.any():
            return np.zeros(len(trace), dtype=np.int64)
        return np.cumsum(named[trace.region] * step, dtype=np.int64)

    in_mpi = depth([region.paradigm is Paradigm.MPI for region in trace.regions])
    other = (
        depth(
            [
                region.paradigm is Paradigm.OTHER and region.role is not Role.PROGRAM
                for region in trace.regions
            ]
        )
        > 0
    )
    waits = (
        depth(
            [
                region.paradigm is not Paradigm.MPI and region.role in _WAITING
                for region in trace.regions
            ]
        )
        > 0
    )
    waits |= _waits_for_lock(trace, depth([region.role is Role.LOCK for region in trace.regions]))
    # A rank's first thread is active from its first event to its last, also if only MPI calls were
    # recorded. Other threads are active in their regions only.
    first = np.array([location.thread == 0 for location in trace.locations], dtype=bool)
    alive = (np.cumsum(step, dtype=np.int64) > 0) | np.repeat(first, np.diff(trace.starts))
    own = (in_mpi == 0) & alive & ~waits
    return Bursts(length=length, useful=own & ~other, own=own, mpi=in_mpi > 0, depth=in_mpi)


def _waits_for_lock(trace: EventTrace, regions_inside: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns for each event whether it is inside a lock's region before the lock is acquired.
    False if the trace does not record acquisitions.
    """
    acquires = trace.kind == Kind.ACQUIRE_LOCK
    if not acquires.any():
        return np.zeros(len(trace), dtype=bool)
    held = np.cumsum(np.where(acquires, 1, 0) - np.where(trace.kind == Kind.RELEASE_LOCK, 1, 0))
    return np.asarray((regions_inside > 0) & (held < regions_inside))


def by_location(trace: EventTrace, ticks: Ticks) -> Ticks:
    """Returns the sums of a value per event by location."""
    sums = np.concatenate([[0], np.cumsum(ticks)])
    return np.asarray(sums[trace.starts[1:]] - sums[trace.starts[:-1]], dtype=np.int64)


def useful_increase(trace: EventTrace, bursts: Bursts, counter: Counter) -> Ticks:
    """Returns the growth of a counter in useful time, by location.

    A counter's reading covers the span that ends with its event.
    """
    before = np.maximum(counter.event - 1, 0)
    first = np.isin(counter.event, trace.starts)
    useful = bursts.useful[before] & ~first
    total = np.zeros(len(trace), dtype=np.int64)
    np.add.at(total, counter.event[useful], counter.increase[useful])
    return by_location(trace, total)
