"""Defines the events of a parallel run as columns. They are the output of all readers and the input
of all analyses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

NONE = -1  # entry of a column for a missing partner, region, tag or request


class Kind(IntEnum):
    """The kind of an event. Names follow OTF2 3.0 if it has such an event."""

    ENTER = 0
    LEAVE = 1
    SEND = 2  # blocking
    RECEIVE = 3  # blocking; the message has arrived
    SEND_REQUEST = 4  # non-blocking
    SEND_COMPLETE = 5
    RECEIVE_REQUEST = 6
    RECEIVE_COMPLETE = 7  # non-blocking; has the message's properties, as in OTF2
    REQUEST_TEST = 8
    REQUEST_CANCELLED = 9
    COLLECTIVE_BEGIN = 10
    COLLECTIVE_END = 11
    COLLECTIVE_REQUEST = 12  # non-blocking collective
    COLLECTIVE_COMPLETE = 13
    FORK = 14
    JOIN = 15
    TEAM_BEGIN = 16
    TEAM_END = 17
    ACQUIRE_LOCK = 18
    RELEASE_LOCK = 19


class Paradigm(IntEnum):
    """The programming model of a region."""

    USER = 0
    MPI = 1
    OPENMP = 2
    OTHER = 3  # other run-time systems, the measurement itself


class Role(IntEnum):
    """The role of a region in the analyses."""

    FUNCTION = 0
    POINT_TO_POINT = 1
    COLLECTIVE = 2
    BARRIER = 3  # explicit
    IMPLICIT_BARRIER = 4
    PARALLEL = 5
    LOOP = 6
    LOCK = 7  # critical, lock routines
    ONE_SIDED = 8
    OTHER = 9
    PROGRAM = 10  # the whole run; omitted from call paths
    IDLE = 11  # a thread waits or is idle, outside all constructs


class Collective(IntEnum):
    """The kind of a collective operation. Names and numbers are those of OTF2's CollectiveOp."""

    BARRIER = 0
    BCAST = 1
    GATHER = 2
    GATHERV = 3
    SCATTER = 4
    SCATTERV = 5
    ALLGATHER = 6
    ALLGATHERV = 7
    ALLTOALL = 8
    ALLTOALLV = 9
    ALLTOALLW = 10
    ALLREDUCE = 11
    REDUCE = 12
    REDUCE_SCATTER = 13
    SCAN = 14
    EXSCAN = 15
    REDUCE_SCATTER_BLOCK = 16
    CREATE_HANDLE = 17
    DESTROY_HANDLE = 18
    ALLOCATE = 19
    DEALLOCATE = 20
    CREATE_HANDLE_AND_ALLOCATE = 21
    DESTROY_HANDLE_AND_DEALLOCATE = 22
    UNKNOWN = 255


@dataclass(frozen=True, slots=True)
class Location:
    """A stream of events: one thread of one rank. `rank` is the rank in MPI_COMM_WORLD."""

    rank: int
    thread: int = 0
    name: str = ""

    def __str__(self) -> str:
        return str(self.rank) if self.thread == 0 else f"{self.rank}.{self.thread}"

    def as_plain(self) -> int | str:
        """The location in JSON: its rank, or `rank.thread`."""
        return self.rank if self.thread == 0 else str(self)


@dataclass(frozen=True, slots=True)
class Region:
    """A function or construct that events enter and leave, with `file` and `line` if known."""

    name: str
    paradigm: Paradigm = Paradigm.USER
    role: Role = Role.FUNCTION
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator. Its members are ranks in MPI_COMM_WORLD, in the order of their ranks in the
    communicator.

    An empty tuple means MPI_COMM_SELF. `remote` has the members of the other group of an
    inter-communicator. Members are None if the trace does not record them.
    """

    name: str
    members: tuple[int, ...] | None
    remote: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ProcessGrid:
    """A Cartesian topology of ranks. `sizes` and `periodic` have one entry per dimension.
    `coordinates` maps ranks in MPI_COMM_WORLD to their coordinates.
    """

    name: str
    sizes: tuple[int, ...]
    periodic: tuple[bool, ...]
    coordinates: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a trace, or a part of it that is not analyzed. `location` is where it occurs, or
    "".
    """

    message: str
    location: str = ""
    count: int = 1

    def __str__(self) -> str:
        where = f"location {self.location}: " if self.location else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{where}{self.message}{times}"


@dataclass(frozen=True, slots=True)
class Operations:
    """The communication events, one row each, in the order of `event`. All columns have the same
    length.

    `event` is the row of its event. `partner` (point-to-point) and `root` (collectives) are ranks
    in MPI_COMM_WORLD. `communicator` is an index into `EventTrace.communicators`. `request`
    identifies a request, or a lock, within its rank. `sent` and `received` are in bytes.
    `collective` is a `Collective`, or 255. Other missing values are -1.
    """

    event: NDArray[np.int64]
    partner: NDArray[np.int32]
    communicator: NDArray[np.int32]
    tag: NDArray[np.int32]
    root: NDArray[np.int32]
    sent: NDArray[np.int64]
    received: NDArray[np.int64]
    request: NDArray[np.int64]
    collective: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.event)


@dataclass(frozen=True, slots=True)
class Counter:
    """The readings of a hardware counter. `increase` is the difference to the location's previous
    reading, or to its start.

    `event` has the row of the event of each reading, in ascending order. Failed readings are left
    out. `name` is the counter's name, such as PAPI_TOT_INS. `unit` is 1 if it has none.
    """

    name: str
    event: NDArray[np.int64]
    increase: NDArray[np.int64]
    unit: str = "1"


@dataclass(frozen=True, slots=True)
class EventTrace:
    """A trace: all events of a run, location by location, in order of time.

    The events of `locations[i]` are the rows `starts[i]` to `starts[i + 1]`. Locations are ordered
    by rank and thread. `time` is in ticks since the first event, with `ticks_per_second` ticks per
    second. Differences are exact for runs of any length. `kind` is a `Kind`. `region` is a row of
    `regions` for ENTER and LEAVE, else -1. `operations` has the other properties of events.

    Readers ensure that each location's ENTER and LEAVE events are balanced. `findings` lists events
    that readers repaired or omitted.
    """

    locations: tuple[Location, ...]
    regions: tuple[Region, ...]
    communicators: tuple[Communicator, ...]
    ticks_per_second: float
    starts: NDArray[np.int64]
    time: NDArray[np.int64]
    kind: NDArray[np.uint8]
    region: NDArray[np.int32]
    operations: Operations
    findings: tuple[Finding, ...] = field(default=())
    name: str = ""
    counters: tuple[Counter, ...] = ()
    grids: tuple[ProcessGrid, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that have locations, in ascending order."""
        return tuple(sorted({location.rank for location in self.locations}))

    def seconds(self, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Converts ticks, or differences of ticks, to seconds."""
        return np.asarray(ticks / self.ticks_per_second, dtype=np.float64)

    def locations_of(self, events: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns the index in `locations` of each of these event rows."""
        array = np.searchsorted(self.starts, events, side="right") - 1
        return array.astype(np.int32)
