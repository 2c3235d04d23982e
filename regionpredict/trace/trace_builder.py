"""Builds an `EventTrace` event by event in Python, for readers of small files and for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regionpredict.errors import InputError
from regionpredict.trace.event_trace import (
    NONE,
    Collective,
    Communicator,
    EventTrace,
    Finding,
    Kind,
    Location,
    Operations,
    Paradigm,
    Region,
)
from regionpredict.trace.mpi_regions import collective_of, mpi_role

WORLD = 0  # number of MPI_COMM_WORLD, the first communicator of every trace

_Row = tuple[int, int, int, int, int, int, int, int]  # partner to collective, as in Operations


class TraceBuilder:
    """Builds a trace from events. The events of each location are added in order of time, in
    seconds.

    `rank` is a rank, or (rank, thread). A region whose name begins with `MPI_` is an MPI function.
    Partners and roots are ranks in MPI_COMM_WORLD.

    >>> build = TraceBuilder(2)
    >>> for rank in (0, 1):
    ...     build.enter(rank, 0.0, "main")
    >>> build.enter(0, 1.0, "MPI_Send"); build.send(0, 1.0, 1); build.leave(0, 1.5)
    >>> build.enter(1, 0.5, "MPI_Recv"); build.receive(1, 1.5, 0); build.leave(1, 1.5)
    >>> for rank in (0, 1):
    ...     build.leave(rank, 2.0)
    >>> trace = build.build()
    >>> len(trace), len(trace.operations), trace.locations[1].rank
    (10, 2, 1)
    """

    def __init__(self, ranks: int, ticks_per_second: float = 1e9) -> None:
        self.ticks_per_second = ticks_per_second
        self._regions: dict[str, Region] = {}
        self._numbers: dict[str, int] = {}
        self._communicators = [Communicator("MPI_COMM_WORLD", tuple(range(ranks)))]
        self._events: dict[tuple[int, int], list[tuple[int, int, int, _Row | None]]] = {
            (rank, 0): [] for rank in range(ranks)
        }
        self._open: dict[tuple[int, int], list[int]] = {}
        self._findings: list[Finding] = []

    def region(self, region: Region) -> None:
        """Sets the properties of a region before it is first entered."""
        self._regions[region.name] = region

    def communicator(
        self, name: str, members: Sequence[int], remote: Sequence[int] | None = None
    ) -> int:
        """Adds a communicator and returns its number."""
        self._communicators.append(
            Communicator(name, tuple(members), None if remote is None else tuple(remote))
        )
        return len(self._communicators) - 1

    def enter(self, rank: int | tuple[int, int], time: float, name: str) -> None:
        """Adds an event that enters a region."""
        number = self._numbers.setdefault(name, len(self._numbers))
        self._open_regions_of(rank).append(number)
        self._add(rank, time, Kind.ENTER, number)

    def leave(self, rank: int | tuple[int, int], time: float) -> None:
        """Adds an event that leaves the region entered last."""
        self._add(rank, time, Kind.LEAVE, self._open_regions_of(rank).pop())

    def send(
        self, rank: int, time: float, to: int, tag: int = 0, size: int = 0, within: int = WORLD
    ) -> None:
        """Adds a blocking send of `size` bytes."""
        self._add(rank, time, Kind.SEND, row=_message_row(to, within, tag, sent=size))

    def receive(
        self, rank: int, time: float, source: int, tag: int = 0, size: int = 0, within: int = WORLD
    ) -> None:
        """Adds the arrival of a message in a blocking receive."""
        self._add(rank, time, Kind.RECEIVE, row=_message_row(source, within, tag, received=size))

    def send_request(
        self,
        rank: int,
        time: float,
        to: int,
        request: int,
        tag: int = 0,
        size: int = 0,
        within: int = WORLD,
    ) -> None:
        """Adds the start of a non-blocking send."""
        row = _message_row(to, within, tag, sent=size, request=request)
        self._add(rank, time, Kind.SEND_REQUEST, row=row)

    def send_complete(self, rank: int, time: float, request: int) -> None:
        """Adds the completion of a non-blocking send, in a wait or test."""
        self._add(
            rank, time, Kind.SEND_COMPLETE, row=_message_row(NONE, NONE, NONE, request=request)
        )

    def receive_request(self, rank: int, time: float, request: int) -> None:
        """Adds the start of a non-blocking receive."""
        self._add(
            rank, time, Kind.RECEIVE_REQUEST, row=_message_row(NONE, NONE, NONE, request=request)
        )

    def receive_complete(
        self,
        rank: int,
        time: float,
        source: int,
        request: int,
        tag: int = 0,
        size: int = 0,
        within: int = WORLD,
    ) -> None:
        """Adds the completion of a non-blocking receive, in a wait or test."""
        row = _message_row(source, within, tag, received=size, request=request)
        self._add(rank, time, Kind.RECEIVE_COMPLETE, row=row)

    def collective(
        self,
        rank: int,
        time: float,
        root: int = NONE,
        sent: int = 8,
        received: int = 8,
        within: int = WORLD,
    ) -> None:
        """Adds the end of a collective operation. The name of the open region identifies the
        operation.

        A call with zero bytes sent and received has no wait.
        """
        name = list(self._numbers)[self._open_regions_of(rank)[-1]]
        row = (NONE, within, NONE, root, sent, received, NONE, int(collective_of(name)))
        self._add(rank, time, Kind.COLLECTIVE_END, row=row)

    def collective_request(self, rank: int, time: float, request: int) -> None:
        """Adds the start of a non-blocking collective operation."""
        row = _message_row(NONE, NONE, NONE, request=request)
        self._add(rank, time, Kind.COLLECTIVE_REQUEST, row=row)

    def collective_complete(
        self, rank: int, time: float, operation: Collective, request: int, root: int = NONE,
        sent: int = 8, received: int = 8, within: int = WORLD,
    ) -> None:  # fmt: skip
        """Adds the completion of a non-blocking collective operation, in a wait or test."""
        row = (NONE, within, NONE, root, sent, received, request, int(operation))
        self._add(rank, time, Kind.COLLECTIVE_COMPLETE, row=row)

    def fork(self, rank: int, time: float, threads: int) -> None:
        """Adds the start of a parallel region with this many threads."""
        self._add(rank, time, Kind.FORK, row=_message_row(NONE, NONE, NONE, request=threads))

    def join(self, rank: int, time: float) -> None:
        """Adds the end of the parallel region started last."""
        self._add(rank, time, Kind.JOIN)

    def lock(self, rank: int | tuple[int, int], time: float, lock: int, acquire: bool) -> None:
        """Adds an event that acquires or releases a lock."""
        kind = Kind.ACQUIRE_LOCK if acquire else Kind.RELEASE_LOCK
        self._add(rank, time, kind, row=_message_row(NONE, NONE, NONE, request=lock))

    def find(self, message: str) -> None:
        """Adds a finding about the trace."""
        self._findings.append(Finding(message))

    def build(self, name: str = "") -> EventTrace:
        """Returns the trace. Raises InputError if a location's times decrease."""
        threads = sorted(self._events)
        counts = [len(self._events[place]) for place in threads]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        events = [event for place in threads for event in self._events[place]]
        time = np.array([event[0] for event in events], dtype=np.int64)
        for at, place in enumerate(threads):
            if np.any(np.diff(time[starts[at] : starts[at + 1]]) < 0):
                raise InputError(f"the times of location {place} run backwards")
        rows = [(at, *event[3]) for at, event in enumerate(events) if event[3] is not None]
        table = np.array(rows, dtype=np.int64).reshape(-1, 9)
        return EventTrace(
            locations=tuple(Location(rank, thread) for rank, thread in threads),
            regions=tuple(self._region(name) for name in self._numbers),
            communicators=tuple(self._communicators),
            ticks_per_second=self.ticks_per_second,
            starts=starts,
            time=time - (time.min() if len(time) else 0),
            kind=np.array([event[1] for event in events], dtype=np.uint8),
            region=np.array([event[2] for event in events], dtype=np.int32),
            operations=Operations(
                event=table[:, 0].copy(),
                partner=table[:, 1].astype(np.int32),
                communicator=table[:, 2].astype(np.int32),
                tag=table[:, 3].astype(np.int32),
                root=table[:, 4].astype(np.int32),
                sent=table[:, 5].copy(),
                received=table[:, 6].copy(),
                request=table[:, 7].copy(),
                collective=table[:, 8].astype(np.uint8),
            ),
            findings=tuple(self._findings),
            name=name,
        )

    def _region(self, name: str) -> Region:
        known = self._regions.get(name)
        if known is not None:
            return known
        role = mpi_role(name)
        return Region(name) if role is None else Region(name, Paradigm.MPI, role)

    def _open_regions_of(self, rank: int | tuple[int, int]) -> list[int]:
        return self._open.setdefault(_rank_and_thread(rank), [])

    def _add(
        self,
        rank: int | tuple[int, int],
        time: float,
        kind: Kind,
        region: int = NONE,
        row: _Row | None = None,
    ) -> None:
        ticks = round(time * self.ticks_per_second)
        self._events.setdefault(_rank_and_thread(rank), []).append((ticks, int(kind), region, row))


def _rank_and_thread(rank: int | tuple[int, int]) -> tuple[int, int]:
    return (rank, 0) if isinstance(rank, int) else rank


def _message_row(
    partner: int, within: int, tag: int, sent: int = 0, received: int = 0, request: int = NONE
) -> _Row:
    return (partner, within, tag, NONE, sent, received, request, int(Collective.UNKNOWN))
