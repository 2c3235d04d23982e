"""Converts the output of the recorders to an OTF2 archive."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError, with_extra
from regionpredict.trace.event_trace import Collective
from regionpredict.trace.thread_events import Place, PlaceKind, ProcessEvents, Step, What

NANOSECONDS = 1_000_000_000
_RECORD = np.dtype(
    [
        ("time", "<u8"),
        ("first", "<u8"),
        ("second", "<u8"),
        ("what", "<i4"),
        ("partner", "<i4"),
        ("communicator", "<i4"),
        ("tag", "<i4"),
    ]
)
# Numbers as in mpi_recorder.c.
(_ENTER, _LEAVE, _SEND, _RECEIVE, _SEND_REQUEST, _SEND_COMPLETE, _RECEIVE_REQUEST,
 _RECEIVE_COMPLETE) = range(8)  # fmt: skip
_COLLECTIVE_BEGIN, _COLLECTIVE_END, _COLLECTIVE_REQUEST, _COLLECTIVE_COMPLETE = 10, 11, 12, 13
_OPERATION_BITS = 5  # bits of a COLLECTIVE_COMPLETE's tag below its request number
_MAIN = Place("main")

# members, members of the other group, index among communicators with the same members
_Group = tuple[tuple[int, ...], tuple[int, ...], int]
_NO_ROOT = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Grid:
    """A Cartesian topology as one rank knows it. `sizes` and `periodic` are the same on all ranks,
    and `place` is the rank's own.
    """

    sizes: tuple[int, ...]
    periodic: tuple[bool, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RankEvents:
    """The events of one process. Its MPI records use `names` of calls and `groups` of communicators
    by number, with `grids` on some of them. `threads` has the events of its threads, the one that
    calls MPI first. `elsewhere` is the number of MPI calls by other threads, which are left out.

    A process without MPI has no groups.
    """

    records: NDArray[Any]
    names: Mapping[int, str]
    groups: Mapping[int, _Group]
    grids: Mapping[int, Grid]
    threads: tuple[tuple[Step, ...], ...]
    elsewhere: int = 0


def recorded(folder: Path, processes: Mapping[int, ProcessEvents]) -> list[RankEvents]:
    """The ranks' events in order. A single process without MPI counts as rank 0.

    `processes` has the events of threads, by the number of the process. Raises InputError if there
    is no recording or some ranks are missing.
    """
    ranks = sorted(int(path.stem) for path in folder.glob("*.names") if path.stem.isdigit())
    if not ranks:
        return [_without_mpi(processes)]
    missing = [rank for rank in ranks if not (folder / f"{rank}.events").exists()]
    if missing or ranks != list(range(len(ranks))):
        gone = missing[0] if missing else len(ranks)
        raise InputError(
            f"the events of rank {gone} are missing", remedy="does it call MPI_Finalize?"
        )
    return [_rank_events(folder, rank, processes) for rank in ranks]


def _without_mpi(processes: Mapping[int, ProcessEvents]) -> RankEvents:
    busy = [process for process in processes.values() if any(process.threads)]
    if not busy:
        raise InputError(
            "nothing was recorded: no rank called MPI_Init, and no OpenMP parallel region ran",
            remedy="is it a program of MPI, built with the MPI of this mpicc, or of OpenMP?",
        )
    if len(busy) > 1:
        raise InputError(
            f"{len(busy)} processes were recorded, and none calls MPI_Init",
            remedy="record one program at a time",
        )
    return RankEvents(np.empty(0, dtype=_RECORD), {}, {}, {}, busy[0].threads)


def _rank_events(folder: Path, rank: int, processes: Mapping[int, ProcessEvents]) -> RankEvents:
    records = np.fromfile(folder / f"{rank}.events", dtype=_RECORD)
    names: dict[int, str] = {}
    groups: dict[int, _Group] = {}
    grids: dict[int, Grid] = {}
    met: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    threads: tuple[tuple[Step, ...], ...] = ((),)
    elsewhere = 0
    lines = (folder / f"{rank}.names").read_text(errors="replace").splitlines()
    for line in lines:
        kind, number, rest = line.split(" ", 2)
        if kind == "comm":
            members, _, remote = rest.partition("|")
            key = tuple(map(int, members.split())), tuple(map(int, remote.split()))
            groups[int(number)] = (*key, met.get(key, 0))
            met[key] = met.get(key, 0) + 1
        elif kind == "grid":
            numbers = list(map(int, rest.split()))
            grids[int(number)] = Grid(
                tuple(numbers[::3]), tuple(map(bool, numbers[1::3])), tuple(numbers[2::3])
            )
        elif kind == "elsewhere":
            elsewhere = int(number)
        elif kind == "process":
            process = processes.get(int(number))
            threads = process.threads if process is not None and process.threads else threads
        else:
            names[int(number)] = rest
    return RankEvents(records, names, groups, grids, threads, elsewhere)


def otf2_package() -> ModuleType:
    """The package that writes archives. Raises InputError if it is missing."""
    try:
        return importlib.import_module("otf2")  # an extra
    except (ImportError, OSError):
        raise InputError(
            "writing OTF2 needs the package otf2", remedy=with_extra("trace")
        ) from None


def write_otf2(ranks: Sequence[RankEvents], folder: Path) -> Path:
    """Writes the archive and returns its anchor file. The run of each rank is a region `main`.

    Raises InputError if the package otf2 is missing or the folder cannot be written.
    """
    otf2 = otf2_package()
    begin = min(_first_time(rank) for rank in ranks)
    with otf2.writer.open(str(folder), timer_resolution=NANOSECONDS) as archive:
        defined = _Definitions(archive.definitions, ranks)
        for number, rank in enumerate(ranks):
            comms = {at: defined.comms[key] for at, key in rank.groups.items()}
            last = _last_time(rank)
            for thread, steps in enumerate(rank.threads):
                writer = archive.event_writer_from_location(defined.locations[number][thread])
                out = _Writer(writer, defined, begin)
                if thread:
                    for step in steps:
                        out.step(step)
                    out.end(max(step.time for step in steps))
                else:
                    out.rank(rank, steps, comms, last)
    return folder / "traces.otf2"


def _first_time(rank: RankEvents) -> int:
    times = [steps[0].time for steps in rank.threads if steps]
    if len(rank.records):
        times.append(int(rank.records["time"][0]))
    return min(times, default=0)


def _last_time(rank: RankEvents) -> int:
    times = [max(step.time for step in steps) for steps in rank.threads if steps]
    if len(rank.records):
        times.append(int(rank.records["time"].max()))
    return max(times, default=0)


def _mend_inter_communicators() -> None:
    """Removes members that the package's inter-communicators inherit from ordinary communicators.

    otf2 3.2 requires that group, too, and then cannot write records with both.
    """
    from otf2.definitions import InterComm  # noqa: PLC0415

    fields = InterComm._fields
    if any(field.name == "group" for field in fields):
        InterComm._fields = (fields[0], *fields[-4:])  # the name, both groups, parent and flags


class _Definitions:
    """Locations by rank and thread, communicators, and regions in the order of first use."""

    def __init__(self, define: Any, ranks: Sequence[RankEvents]) -> None:
        from otf2.enums import GroupFlag, GroupType, Paradigm  # noqa: PLC0415

        self._define = define
        self._regions: dict[Place, Any] = {}
        with_mpi = any(rank.groups for rank in ranks)
        node = define.system_tree_node("node")
        self.locations: list[list[Any]] = []
        for number, rank in enumerate(ranks):
            name = f"MPI Rank {number}" if with_mpi else "Process"
            group = define.location_group(name, system_tree_parent=node)
            self.locations.append(
                [
                    define.location(f"Thread {at}" if at else "Master thread", group=group)
                    for at in range(len(rank.threads))
                ]
            )
        masters = [threads[0] for threads in self.locations]
        if with_mpi:
            define.group(
                "", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
                group_flags=GroupFlag.NONE, members=masters,
            )  # fmt: skip

        def group_of(members: tuple[int, ...]) -> Any:
            return define.group(
                "", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
                group_flags=GroupFlag.NONE, members=[masters[rank] for rank in members],
            )  # fmt: skip

        _mend_inter_communicators()
        self.comms: dict[_Group, Any] = {}
        for key in sorted({key for rank in ranks for key in rank.groups.values()}):
            members, remote, which = key
            if remote and (remote, members, which) in self.comms:
                self.comms[key] = self.comms[remote, members, which]
            elif remote:
                self.comms[key] = define.inter_comm(
                    "", groupA=group_of(members), groupB=group_of(remote)
                )
            else:
                self.comms[key] = define.comm("", group=group_of(members))
        self._grids(ranks)

    def _grids(self, ranks: Sequence[RankEvents]) -> None:
        from otf2.enums import CartPeriodicity  # noqa: PLC0415

        made: dict[_Group, Any] = {}
        for number, rank in enumerate(ranks):
            for comm, grid in rank.grids.items():
                key = rank.groups[comm]
                if key not in made:
                    dimensions = tuple(
                        self._define.cart_dimension(
                            f"dimension {at}",
                            size=size,
                            cart_periodicity=CartPeriodicity.TRUE
                            if periodic
                            else CartPeriodicity.FALSE,
                        )
                        for at, (size, periodic) in enumerate(
                            zip(grid.sizes, grid.periodic, strict=True)
                        )
                    )
                    made[key] = self._define.cart_topology(
                        "MPI Cartesian topology",
                        communicator=self.comms[key],
                        dimensions=dimensions,
                    )
                self._define.cart_coordinate(
                    topology=made[key],
                    rank=key[0].index(number),
                    coordinates=grid.place,
                )

    def region(self, place: Place) -> Any:
        """The region of a place."""
        from otf2.enums import Paradigm, RegionRole  # noqa: PLC0415

        if place not in self._regions:
            owner, role = {
                PlaceKind.FUNCTION: (Paradigm.COMPILER, RegionRole.FUNCTION),
                PlaceKind.MPI: (Paradigm.MPI, RegionRole.FUNCTION),
                PlaceKind.PARALLEL: (Paradigm.OPENMP, RegionRole.PARALLEL),
                PlaceKind.LOOP: (Paradigm.OPENMP, RegionRole.LOOP),
                PlaceKind.SECTIONS: (Paradigm.OPENMP, RegionRole.SECTIONS),
                PlaceKind.SINGLE: (Paradigm.OPENMP, RegionRole.SINGLE),
                PlaceKind.BARRIER: (Paradigm.OPENMP, RegionRole.BARRIER),
                PlaceKind.IMPLICIT_BARRIER: (Paradigm.OPENMP, RegionRole.IMPLICIT_BARRIER),
                PlaceKind.LOCK: (Paradigm.OPENMP, RegionRole.CRITICAL),
            }[place.kind]
            self._regions[place] = self._define.region(
                place.name,
                paradigm=owner,
                region_role=role,
                source_file=place.file,
                begin_line_number=place.line,
            )
        return self._regions[place]


class _Writer:
    """Writes the events of one location. Ends of functions that began before the recording are left
    out.
    """

    def __init__(self, writer: Any, defined: _Definitions, begin: int) -> None:
        from otf2.enums import CollectiveOp, Paradigm  # noqa: PLC0415

        self._out, self._defined, self._begin = writer, defined, begin
        self._openmp = Paradigm.OPENMP
        self._open: list[Any] = []
        self._kept = 0  # number of regions that end with the recording
        self._taken: dict[int, int] = {}
        self._operations = {
            int(number): getattr(CollectiveOp, number.name)
            for number in Collective
            if hasattr(CollectiveOp, number.name)
        }

    def rank(
        self, rank: RankEvents, steps: Sequence[Step], comms: Mapping[int, Any], last: int
    ) -> None:
        """The thread that calls MPI: its own events and the MPI records, in order of time."""
        first = steps[0] if steps else None
        named = first is not None and first.place is not None and first.place.name == _MAIN.name
        early = not len(rank.records) or (
            first is not None and first.time <= int(rank.records["time"][0])
        )
        if not (named and early):
            self._enter(_first_time(rank), _MAIN)
            self._kept = 1
        merged: list[Any] = [*rank.records.tolist(), *steps]
        times = [*rank.records["time"].tolist(), *map(attrgetter("time"), steps)]
        for at in np.argsort(np.array(times, dtype=np.int64), kind="stable").tolist():
            event = merged[at]
            if isinstance(event, Step):
                self.step(event)
            else:
                self._record(event, rank.names, comms)
        self.end(last)

    def step(self, step: Step) -> None:
        """An event of a function or a construct."""
        time = step.time - self._begin
        if step.what is What.ENTER and step.place is not None:
            self._enter(step.time, step.place)
        elif step.what is What.LEAVE:
            self._leave(step.time)
        elif step.what is What.FORK:
            self._out.thread_fork(time, self._openmp, step.number)
        elif step.what is What.JOIN:
            self._out.thread_join(time, self._openmp)
        elif step.what is What.ACQUIRE:
            self._taken[step.number] = self._taken.get(step.number, 0) + 1
            order = self._taken[step.number]
            self._out.thread_acquire_lock(time, self._openmp, step.number, order)
        elif step.what is What.RELEASE:
            order = self._taken.get(step.number, 0)
            self._out.thread_release_lock(time, self._openmp, step.number, order)

    def end(self, last: int) -> None:
        """Ends all open regions."""
        self._kept = 0
        while self._open:
            self._leave(last)

    def _enter(self, time: int, place: Place) -> None:
        self._open.append(self._defined.region(place))
        self._out.enter(time - self._begin, self._open[-1])

    def _leave(self, time: int) -> None:
        if len(self._open) > self._kept:
            self._out.leave(time - self._begin, self._open.pop())

    def _record(
        self, record: tuple[int, ...], names: Mapping[int, str], comms: Mapping[int, Any]
    ) -> None:
        ticks, first, second, what, partner, comm, tag = record
        time, out = ticks - self._begin, self._out
        if what == _ENTER:
            self._enter(ticks, Place(names.get(first, "MPI_unknown"), kind=PlaceKind.MPI))
        elif what == _LEAVE:
            self._leave(ticks)
        elif what == _SEND:
            out.mpi_send(time, partner, comms[comm], tag, second)
        elif what == _RECEIVE:
            out.mpi_recv(time, partner, comms[comm], tag, second)
        elif what == _SEND_REQUEST:
            out.mpi_isend(time, partner, comms[comm], tag, second, first)
        elif what == _SEND_COMPLETE:
            out.mpi_isend_complete(time, first)
        elif what == _RECEIVE_REQUEST:
            out.mpi_irecv_request(time, first)
        elif what == _RECEIVE_COMPLETE:
            out.mpi_irecv(time, partner, comms[comm], tag, second, first)
        elif what == _COLLECTIVE_BEGIN:
            out.mpi_collective_begin(time)
        elif what == _COLLECTIVE_END:
            root = partner if partner >= 0 else _NO_ROOT
            out.mpi_collective_end(time, self._operations[tag], comms[comm], root, first, second)
        elif what == _COLLECTIVE_REQUEST:
            out.non_blocking_collective_request(time, first)
        elif what == _COLLECTIVE_COMPLETE:
            root = partner if partner >= 0 else _NO_ROOT
            request, operation = divmod(tag, 1 << _OPERATION_BITS)
            out.non_blocking_collective_complete(
                time, self._operations[operation], comms[comm], root, first, second, request
            )
