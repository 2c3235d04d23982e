"""Extracts the MPI calls from the records of a Paraver trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regionpredict.trace.event_trace import Finding, Paradigm, Region
from regionpredict.trace.mpi_regions import mpi_role
from regionpredict.trace.paraver.fast_order import by_location, distinct_values
from regionpredict.trace.paraver.labels import Labels
from regionpredict.trace.paraver.records import Integers, Rows


@dataclass(frozen=True, slots=True)
class Calls:
    """The MPI calls in order of location and start, as columns of equal length. Times are in ticks,
    and `region` is a row of the trace's regions. A location's calls do not overlap.
    """

    location: Integers
    begin: Integers
    end: Integers
    region: Integers

    def __len__(self) -> int:
        return len(self.location)

    def at(self, location: Integers, time: Integers) -> Integers:
        """Returns the row of the last call that starts at or before `time`. -1 if this call has
        already ended.
        """
        row = _positions_of_pairs(self.location, self.begin, location, time, "right") - 1
        safe = np.maximum(row, 0)
        if not len(self):
            return np.full(len(location), -1, dtype=np.int64)
        inside = (row >= 0) & (self.location[safe] == location) & (self.end[safe] >= time)
        return np.where(inside, row, -1)

    def ending(self, location: Integers, time: Integers) -> Integers:
        """Returns the row of the first call that ends at or after `time`. -1 if this call has not
        started yet.
        """
        row = _positions_of_pairs(self.location, self.end, location, time, "left")
        if not len(self):
            return np.full(len(location), -1, dtype=np.int64)
        safe = np.minimum(row, len(self) - 1)
        inside = (row < len(self)) & (self.location[safe] == location) & (self.begin[safe] <= time)
        return np.where(inside, row, -1)

    def before(self, location: Integers, time: Integers) -> Integers:
        """Returns the row of the last call that starts before `time`, or -1."""
        row = _positions_of_pairs(self.location, self.begin, location, time, "left") - 1
        if not len(self):
            return np.full(len(location), -1, dtype=np.int64)
        return np.where((row >= 0) & (self.location[np.maximum(row, 0)] == location), row, -1)


def _positions_of_pairs(
    locations: Integers, times: Integers, location: Integers, time: Integers, side: str
) -> Integers:
    """Returns the positions of pairs (location, time) in sorted pairs (locations, times), like
    `searchsorted`.
    """
    span = int(max(times.max(initial=0), time.max(initial=0))) + 1
    keys, wanted = locations * span + times, location * span + time
    return np.searchsorted(keys, wanted, side="right" if side == "right" else "left")


def calls_of(events: Rows, labels: Labels, regions: list[Region], findings: list[Finding]) -> Calls:
    """Returns the MPI calls that events start and end, and adds their regions to `regions`. The
    events have the types of point-to-point, collective, one-sided, file and other operations.

    A call ends at the start of another call inside it, or at the end of the trace, which is
    reported as a finding.
    """
    where, number, time, value = events.int64_columns(by_location(events.location, events.time))
    opens = np.flatnonzero(value != 0)
    follows = opens + 1
    has_next = follows < len(value)
    safe = np.where(has_next, follows, 0)
    has_next &= (where[safe] == where[opens]) if len(value) else False
    closed = has_next & (value[safe] == 0)
    end = np.where(has_next, time[safe], time[opens]) if len(value) else time[opens]
    if not closed.all():
        findings.append(Finding("a call of MPI without its end", count=int((~closed).sum())))
    types, type_of = distinct_values(number[opens])
    values, value_of = distinct_values(value[opens])
    kinds, kind_of = distinct_values(type_of * len(values) + value_of)
    first = len(regions)
    for kind in kinds.tolist():
        regions.append(
            _region_of_call(
                (int(types[kind // len(values)]), int(values[kind % len(values)])), labels
            )
        )
    return Calls(where[opens], time[opens], end, first + kind_of)


def _region_of_call(kind: Sequence[int], labels: Labels) -> Region:
    number = kind[1]
    name = labels.values.get(kind[0], {}).get(number)
    if name is None:
        name = _KNOWN.get((kind[0], number), f"MPI call {number}")
    role = mpi_role(name)
    return Region(name, Paradigm.MPI, mpi_role("MPI_Other_call") if role is None else role)  # type: ignore[arg-type]


_KNOWN = {
    (50000001, 1): "MPI_Send",
    (50000001, 2): "MPI_Recv",
    (50000001, 3): "MPI_Isend",
    (50000001, 4): "MPI_Irecv",
    (50000001, 5): "MPI_Wait",
    (50000001, 6): "MPI_Waitall",
    (50000001, 41): "MPI_Sendrecv",
    (50000002, 7): "MPI_Bcast",
    (50000002, 8): "MPI_Barrier",
    (50000002, 9): "MPI_Reduce",
    (50000002, 10): "MPI_Allreduce",
    (50000002, 11): "MPI_Alltoall",
    (50000002, 12): "MPI_Alltoallv",
    (50000002, 13): "MPI_Gather",
    (50000002, 15): "MPI_Scatter",
    (50000002, 17): "MPI_Allgather",
}
"""Extrae's numbers of the most frequent calls, for traces without a .pcf file."""
