"""Writes recorded events as an OTF2 archive."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from regionpredict.documents import input_errors_while_reading
from regionpredict.errors import InputError, with_extra
from regionpredict.trace.event_trace import Collective
from regionpredict.trace.recorded_ranks import COUNTERS, Group, RankEvents, ThreadEvents
from regionpredict.trace.thread_events import Place, PlaceKind, Step, StepKind

NANOSECONDS = 1_000_000_000
# Numbers as in mpi_recorder.c.
(_ENTER, _LEAVE, _SEND, _RECEIVE, _SEND_REQUEST, _SEND_COMPLETE, _RECEIVE_REQUEST,
 _RECEIVE_COMPLETE) = range(8)  # fmt: skip
_COLLECTIVE_BEGIN, _COLLECTIVE_END, _COLLECTIVE_REQUEST, _COLLECTIVE_COMPLETE = 10, 11, 12, 13
_OPERATION_BITS = 5  # bits of a COLLECTIVE_COMPLETE's tag below its request number
_MAIN = Place("main")
_NO_ROOT = _LOW = 2**32 - 1


def otf2_package() -> ModuleType:
    """Imports the package otf2, which writes archives. Raises InputError if it is missing."""
    try:
        return importlib.import_module("otf2")  # an extra
    except (ImportError, OSError):
        raise InputError(
            "writing OTF2 needs the package otf2", remedy=with_extra("trace")
        ) from None


def write_otf2(ranks: Sequence[RankEvents], folder: Path, counters: Sequence[str] = ()) -> Path:
    """Writes the recorded events as an archive and returns its anchor file. The run of each rank is
    a region `main`. `counters` are the names of the counters that were read.

    Raises InputError if the package otf2 is missing, the folder cannot be written, or the events
    are damaged. After an error, the folder is removed.
    """
    otf2 = otf2_package()
    errors = otf2.error.Error, importlib.import_module("_otf2").Error
    remedy = "record the run again, into a folder with enough space"
    try:
        with input_errors_while_reading(folder, "a complete recording", remedy):
            return _write_archive(otf2, ranks, folder, counters)
    except (InputError, *errors) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be written: {error}", remedy=remedy, path=str(folder)) from None


def _write_archive(
    otf2: ModuleType, ranks: Sequence[RankEvents], folder: Path, counters: Sequence[str]
) -> Path:
    begin = min(_first_time(rank) for rank in ranks)
    with otf2.writer.open(str(folder), timer_resolution=NANOSECONDS) as archive:
        defined = _Definitions(archive.definitions, ranks, counters)
        for number, rank in enumerate(ranks):
            comms = {at: defined.comms[key] for at, key in rank.groups.items()}
            for at, thread in enumerate(rank.threads):
                writer = archive.event_writer_from_location(defined.locations[number][at])
                out = _Writer(writer, defined, begin)
                if at == 0:
                    out.main(thread, _first_time(rank))
                out.events(thread, rank.names, comms)
                out.end(thread.last() if at else max(other.last() for other in rank.threads))
    return folder / "traces.otf2"


def _first_time(rank: RankEvents) -> int:
    return min(thread.first() for thread in rank.threads if len(thread.records) or thread.steps)


def _fix_inter_communicators() -> None:
    """Removes fields that the class for inter-communicators inherits from that for ordinary
    communicators.

    The package otf2 3.2 requires the field `group`, but cannot write inter-communicators that have
    it.
    """
    from otf2.definitions import InterComm  # noqa: PLC0415

    fields = InterComm._fields
    if any(field.name == "group" for field in fields):
        InterComm._fields = (fields[0], *fields[-4:])  # the name, both groups, parent and flags


class _Definitions:
    """The definitions of the archive: locations by rank and thread, communicators, and regions in
    the order of first use.
    """

    def __init__(self, define: Any, ranks: Sequence[RankEvents], counters: Sequence[str]) -> None:
        from otf2.enums import (  # noqa: PLC0415
            GroupFlag,
            GroupType,
            MetricMode,
            MetricOccurrence,
            Paradigm,
            Type,
        )

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

        _fix_inter_communicators()
        self.comms: dict[Group, Any] = {}
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
        self.counters = counters and define.metric_class(
            tuple(
                define.metric_member(
                    name, metric_mode=MetricMode.ACCUMULATED_START, value_type=Type.UINT64, unit="#"
                )
                for name in counters
            ),
            occurrence=MetricOccurrence.SYNCHRONOUS,
        )
        self.counted = len(counters)

    def _grids(self, ranks: Sequence[RankEvents]) -> None:
        from otf2.enums import CartPeriodicity  # noqa: PLC0415

        made: dict[Group, Any] = {}
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
        """Returns the archive's region of a place in the code, and defines it on first use."""
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


def _with_counters(
    thread: ThreadEvents,
) -> tuple[list[tuple[int, ...]], dict[int, tuple[int, int, int]]]:
    """Returns the MPI records of a thread, and the counter readings by the index of the MPI record
    before them.
    """
    records: list[tuple[int, ...]] = []
    read: dict[int, tuple[int, int, int]] = {}
    for record in thread.records.tolist():
        _, first, second, what, low, high, _ = record
        if what == COUNTERS:
            read[len(records) - 1] = first, second, low & _LOW | (high & _LOW) << 32
        else:
            records.append(record)
    return records, read


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

    def main(self, thread: ThreadEvents, begin: int) -> None:
        """Enters the region `main` around the run, unless the recorded events begin with the
        program's function `main`.
        """
        first = thread.steps[0] if thread.steps else None
        named = first is not None and first.place is not None and first.place.name == _MAIN.name
        if not (named and first is not None and first.time == thread.first()):
            self._enter(begin, _MAIN)
            self._kept = 1

    def events(
        self, thread: ThreadEvents, names: Mapping[int, str], comms: Mapping[int, Any]
    ) -> None:
        """Writes all events of a thread in order of time."""
        records, read = _with_counters(thread)
        merged: list[Any] = [*records, *thread.steps]
        times = [*(record[0] for record in records), *map(attrgetter("time"), thread.steps)]
        for at in np.argsort(np.array(times, dtype=np.int64), kind="stable").tolist():
            event = merged[at]
            if isinstance(event, Step):
                self._write_counters(event.time, event.counters)
                self.step(event)
            else:
                self._write_counters(event[0], read.get(at, ()))
                self._write_record(event, names, comms)

    def _write_counters(self, time: int, values: Sequence[int]) -> None:
        if values and self._defined.counters:
            counted = tuple(values[: self._defined.counted])
            self._out.metric(time - self._begin, self._defined.counters, counted)

    def step(self, step: Step) -> None:
        """Writes an event of a function or an OpenMP construct."""
        time = step.time - self._begin
        if step.what is StepKind.ENTER and step.place is not None:
            self._enter(step.time, step.place)
        elif step.what is StepKind.LEAVE:
            self._leave(step.time)
        elif step.what is StepKind.FORK:
            self._out.thread_fork(time, self._openmp, step.number)
        elif step.what is StepKind.JOIN:
            self._out.thread_join(time, self._openmp)
        elif step.what is StepKind.ACQUIRE:
            self._taken[step.number] = self._taken.get(step.number, 0) + 1
            order = self._taken[step.number]
            self._out.thread_acquire_lock(time, self._openmp, step.number, order)
        elif step.what is StepKind.RELEASE:
            order = self._taken.get(step.number, 0)
            self._out.thread_release_lock(time, self._openmp, step.number, order)

    def end(self, last: int) -> None:
        """Leaves all open regions at the time `last`."""
        self._kept = 0
        while self._open:
            self._leave(last)

    def _enter(self, time: int, place: Place) -> None:
        self._open.append(self._defined.region(place))
        self._out.enter(time - self._begin, self._open[-1])

    def _leave(self, time: int) -> None:
        if len(self._open) > self._kept:
            self._out.leave(time - self._begin, self._open.pop())

    def _write_record(
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
