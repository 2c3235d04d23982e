"""Reads the output of the recorders: the events of ranks and their threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

# members, members of the other group, index among communicators with the same members
Group = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class Grid:
    """A Cartesian topology as one rank knows it. `sizes` and `periodic` are the same on all ranks,
    and `place` is the rank's own.
    """

    sizes: tuple[int, ...]
    periodic: tuple[bool, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ThreadEvents:
    """The events of one thread: functions and constructs, and MPI records."""

    steps: tuple[Step, ...]
    records: NDArray[Any]

    def first(self) -> int:
        """The time of the first event."""
        times = [self.steps[0].time] if self.steps else []
        return min([*times, *self.records["time"][:1].tolist()], default=0)

    def last(self) -> int:
        """The time of the last event."""
        times = [max(step.time for step in self.steps)] if self.steps else []
        return max([*times, int(self.records["time"].max(initial=0))])


@dataclass(frozen=True, slots=True)
class RankEvents:
    """The events of one process by thread, the first thread first. MPI records use `names` of calls
    and `groups` of communicators by number, with `grids` on some of them.

    A process without MPI has no groups.
    """

    threads: tuple[ThreadEvents, ...]
    names: Mapping[int, str]
    groups: Mapping[int, Group]
    grids: Mapping[int, Grid]


def recorded(folder: Path, processes: Mapping[int, ProcessEvents]) -> list[RankEvents]:
    """The ranks' events in order. A single process without MPI counts as rank 0.

    `processes` has the events of threads, by the number of the process. Raises InputError if there
    is no recording or some ranks are missing.
    """
    ranks = sorted(int(path.stem) for path in folder.glob("*.names") if path.stem.isdigit())
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
    threads = tuple(ThreadEvents(steps, nothing) for steps in busy[0].threads.values())
    return RankEvents(threads, {}, {}, {})


def _rank_events(folder: Path, rank: int, processes: Mapping[int, ProcessEvents]) -> RankEvents:
    records = {
        int(path.stem.split("-")[1]): np.fromfile(path, dtype=RECORD)
        for path in folder.glob(f"{rank}-*.events")
    }
    names: dict[int, str] = {}
    groups: dict[int, Group] = {}
    grids: dict[int, Grid] = {}
    met: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    steps: Mapping[int, tuple[Step, ...]] = {}
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
        elif kind == "process" and int(number) in processes:
            steps = processes[int(number)].threads
        elif kind == "name":
            names[int(number)] = rest
    nothing = np.empty(0, dtype=RECORD)
    threads = tuple(
        ThreadEvents(steps.get(number, ()), records.get(number, nothing))
        for number in sorted({0, *steps, *records})
    )
    return RankEvents(threads, names, groups, grids)
