"""Reads the output of the recorders: the events of ranks and their threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.documents import whole_number
from regionpredict.errors import InputError
from regionpredict.trace.thread_events import ProcessEvents, Step

RECORD = np.dtype(
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
"""A record of mpi_recorder.c."""
COUNTERS = 16
"""The kind of a record that contains the counters of the previous event."""

# Members, members of the remote group, and index among communicators with the same members.
Group = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class Grid:
    """A Cartesian topology as recorded by one rank. `place` has the coordinates of this rank."""

    sizes: tuple[int, ...]
    periodic: tuple[bool, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ThreadEvents:
    """The events of one thread. `steps` are those of functions and constructs, and `records` those
    of MPI. `is_full` says whether the thread reached the size limit of the recording.
    """

    steps: tuple[Step, ...]
    records: NDArray[Any]
    is_full: bool = False

    def first(self) -> int:
        """Returns the time of the thread's first event."""
        times = [self.steps[0].time] if self.steps else []
        return min([*times, *self.records["time"][:1].tolist()], default=0)

    def last(self) -> int:
        """Returns the time of the thread's last event."""
        times = [max(step.time for step in self.steps)] if self.steps else []
        return max([*times, int(self.records["time"].max(initial=0))])


@dataclass(frozen=True, slots=True)
class RankEvents:
    """The events of one process by thread, the first thread first. MPI records refer to `names` of
    calls and `groups` of communicators by number. `grids` are the topologies of some communicators.

    A process without MPI has no groups. `event_ns` is the time in nanoseconds for recording one MPI
    event, or 0 if unknown.
    """

    threads: tuple[ThreadEvents, ...]
    names: Mapping[int, str]
    groups: Mapping[int, Group]
    grids: Mapping[int, Grid]
    event_ns: int = 0

    def __len__(self) -> int:
        return sum(
            int(np.count_nonzero(thread.records["what"] != COUNTERS)) + len(thread.steps)
            for thread in self.threads
        )


def read_recorded_ranks(folder: Path, processes: Mapping[int, ProcessEvents]) -> list[RankEvents]:
    """Returns the recorded events of all ranks, in the order of ranks. A single process without MPI
    counts as rank 0.

    `processes` has the events of threads by process number. Raises InputError if there is no
    recording or some ranks are missing.
    """
    numbers = (whole_number(path.stem) for path in folder.glob("*.names"))
    ranks = sorted(rank for rank in numbers if rank is not None)
    if not ranks:
        return [_without_mpi(processes)]
    written = {int(path.name.split("-")[0]) for path in folder.glob("*-*.events")}
    missing = [rank for rank in ranks if rank not in written]
    if missing or ranks != list(range(len(ranks))):
        gone = missing[0] if missing else len(ranks)
        raise InputError(
            f"the events of rank {gone} are missing", remedy="does it call MPI_Finalize?"
        )
    return [_rank_events(folder, rank, processes) for rank in ranks]


def _without_mpi(processes: Mapping[int, ProcessEvents]) -> RankEvents:
    busy = [process for process in processes.values() if any(process.threads.values())]
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
    nothing = np.empty(0, dtype=RECORD)
    threads = tuple(
        ThreadEvents(steps, nothing, number in busy[0].full)
        for number, steps in busy[0].threads.items()
    )
    return RankEvents(threads, {}, {}, {})


def _rank_events(folder: Path, rank: int, processes: Mapping[int, ProcessEvents]) -> RankEvents:
    records = {
        int(path.stem.split("-")[1]): np.fromfile(path, dtype=RECORD)
        for path in folder.glob(f"{rank}-*.events")
    }
    names: dict[int, str] = {}
    groups: dict[int, Group] = {}
    grids: dict[int, Grid] = {}
    counts_by_members: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    steps: Mapping[int, tuple[Step, ...]] = {}
    full: set[int] = set()
    event_ns = 0
    lines = (folder / f"{rank}.names").read_text(errors="replace").splitlines()
    for line in lines:
        kind, number, rest = line.split(" ", 2)
        if kind == "comm":
            members, _, remote = rest.partition("|")
            key = tuple(map(int, members.split())), tuple(map(int, remote.split()))
            groups[int(number)] = (*key, counts_by_members.get(key, 0))
            counts_by_members[key] = counts_by_members.get(key, 0) + 1
        elif kind == "grid":
            numbers = list(map(int, rest.split()))
            grids[int(number)] = Grid(
                tuple(numbers[::3]), tuple(map(bool, numbers[1::3])), tuple(numbers[2::3])
            )
        elif kind == "process" and int(number) in processes:
            steps = processes[int(number)].threads
            full |= processes[int(number)].full
        elif kind == "full":
            full.add(int(number))
        elif kind == "cost":
            event_ns = int(number)
        elif kind == "name":
            names[int(number)] = rest
    nothing = np.empty(0, dtype=RECORD)
    threads = tuple(
        ThreadEvents(steps.get(number, ()), records.get(number, nothing), number in full)
        for number in sorted({0, *steps, *records})
    )
    return RankEvents(threads, names, groups, grids, event_ns)


def within_limit(ranks: Sequence[RankEvents]) -> tuple[list[RankEvents], int | None]:
    """Returns the events until the first thread reached the size limit of the recording, and their
    duration in nanoseconds. If no thread reached the limit, returns all events and None.
    """
    threads = [thread for rank in ranks for thread in rank.threads]
    ends = [thread.last() for thread in threads if thread.is_full]
    if not ends:
        return list(ranks), None
    end = min(ends)
    begin = min(thread.first() for thread in threads if len(thread.records) or thread.steps)
    return [
        replace(rank, threads=tuple(_events_until(thread, end) for thread in rank.threads))
        for rank in ranks
    ], max(end - begin, 0)


def _events_until(thread: ThreadEvents, end: int) -> ThreadEvents:
    return replace(
        thread,
        steps=tuple(step for step in thread.steps if step.time <= end),
        records=thread.records[thread.records["time"] <= end],
    )
