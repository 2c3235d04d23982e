"""What a location does between its calls: the time that is the program's own.

*Useful* is what no region of MPI, of another run-time system or of a barrier covers. Time that a
region called *I/O* covers is kept apart: the program does not compute in it, and no network is
waited for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import Counter, EventTrace, Kind, Paradigm, Role

IO_REGION = "I/O"
"""What Paraver calls its state 12, in which Extrae also writes its own buffers."""

Ticks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bursts:
    """What fills the span from each event to its location's next, a row an event: `length` in ticks
    (0 after the last), `useful`, `io` and `mpi` whether it is such. `depth` is how many of MPI's
    calls are open after the event."""

    length: Ticks
    useful: NDArray[np.bool_]
    io: NDArray[np.bool_]
    mpi: NDArray[np.bool_]
    depth: NDArray[np.int64]


def bursts_of(trace: EventTrace) -> Bursts:
    """The spans between the events of a trace."""
    count = len(trace)
    length = np.zeros(count, dtype=np.int64)
    length[:-1] = np.diff(trace.time)
    last = trace.starts[1:][np.diff(trace.starts) > 0] - 1
    length[last] = 0
    waiting = {Role.BARRIER, Role.IMPLICIT_BARRIER}
    mpi = np.array([region.paradigm is Paradigm.MPI for region in trace.regions], dtype=bool)
    io = np.array(
        [region.paradigm is Paradigm.OTHER and region.name == IO_REGION for region in trace.regions]
    )
    other = ~io & np.array(
        [
            region.paradigm is Paradigm.OTHER
            or (region.paradigm is Paradigm.OPENMP and region.role in waiting)
            for region in trace.regions
        ]
    )
    step = np.where(trace.kind == Kind.ENTER, 1, 0) - np.where(trace.kind == Kind.LEAVE, 1, 0)
    known = np.where(trace.region >= 0, trace.region, 0)

    def depth(of: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.cumsum(np.where((trace.region >= 0) & of[known], step, 0))

    in_mpi, in_io, in_other, alive = depth(mpi), depth(io), depth(other), np.cumsum(step)
    outside = (in_mpi == 0) & (alive > 0)
    return Bursts(
        length=length,
        useful=outside & (in_io == 0) & (in_other == 0),
        io=outside & (in_io > 0),
        mpi=in_mpi > 0,
        depth=in_mpi,
    )


def by_location(trace: EventTrace, values: Ticks) -> Ticks:
    """Sums of a value an event, one a location."""
    sums = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(sums[trace.starts[1:]] - sums[trace.starts[:-1]], dtype=np.int64)


def useful_increase(trace: EventTrace, bursts: Bursts, counter: Counter) -> Ticks:
    """How much a counter grew in useful time, one number a location.

    A reading tells of the span that ends with its event.
    """
    before = np.maximum(counter.event - 1, 0)
    useful = bursts.useful[before] & (counter.event > 0)
    total = np.zeros(len(trace), dtype=np.int64)
    np.add.at(total, counter.event[useful], counter.increase[useful])
    return by_location(trace, total)
