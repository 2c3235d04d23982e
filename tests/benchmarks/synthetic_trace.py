"""A program of a ring exchange, as events: what the benchmark of traces reads and analyses."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RESOLUTION = 1_000_000_000
EVENTS_AN_ITERATION = 18
REGIONS = (
    "main", "step", "work", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Init",
    "MPI_Finalize",
)  # fmt: skip
MAIN, STEP, WORK, IRECV, ISEND, WAITALL, ALLREDUCE, INIT, FINALIZE = range(len(REGIONS))
SIZE = 8192
ALLREDUCE_OPERATION = 11  # of OTF2


_What = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]
(ENTER, LEAVE, RECEIVE_REQUEST, SEND_REQUEST, RECEIVE, SEND_COMPLETE, BEGIN, END) = range(8)


def events(rank: int, ranks: int, iterations: int) -> _What:
    """(what, time in nanoseconds, region or request) of one rank's events, in order of time.

    Ranks differ in their work by a fixed pattern, and meet in each iteration.
    """
    number = np.arange(iterations, dtype=np.int64)
    begin = 100_010 + number * 20_000
    worked = begin + 20 + 5_000 + (rank * 7919 + number * 104_729) % 4_000
    done = begin + 10_000
    meet = done + 20 + (rank * 31) % 997
    end = 100_010 + iterations * 20_000
    steps = (
        (ENTER, begin, STEP),
        (ENTER, begin + 5, IRECV),
        (RECEIVE_REQUEST, begin + 10, 2 * number),
        (LEAVE, begin + 15, IRECV),
        (ENTER, begin + 20, WORK),
        (LEAVE, worked, WORK),
        (ENTER, worked + 10, ISEND),
        (SEND_REQUEST, worked + 15, 2 * number + 1),
        (LEAVE, worked + 20, ISEND),
        (ENTER, worked + 30, WAITALL),
        (RECEIVE, done, 2 * number),
        (SEND_COMPLETE, done + 1, 2 * number + 1),
        (LEAVE, done + 10, WAITALL),
        (ENTER, meet, ALLREDUCE),
        (BEGIN, meet + 1, 0),
        (END, begin + 12_000, 0),
        (LEAVE, begin + 12_010, ALLREDUCE),
        (LEAVE, begin + 12_020, STEP),
    )
    before = ((ENTER, 1000 * rank, MAIN), (ENTER, 1000 * rank + 10, INIT), (LEAVE, 100_000, INIT))
    after = (ENTER, end + rank, FINALIZE), (LEAVE, end + 1000, FINALIZE), (LEAVE, end + 1010, MAIN)
    whole = np.empty((3, iterations, len(steps)), dtype=np.int64)
    for at, step in enumerate(steps):
        for row, values in enumerate(step):
            whole[row, :, at] = values
    columns = (np.array(before).T, whole.reshape(3, -1), np.array(after).T)
    what, time, numbers = np.concatenate(columns, axis=1)
    return what.astype(np.uint8), time, numbers


def write_archive(
    folder: Path, ranks: int, iterations: int, library: ctypes.CDLL | None = None
) -> Path:
    """The program as an OTF2 archive; its anchor file. `library`, of synthetic_trace.c, writes
    events faster than otf2's own writer."""
    import _otf2
    import _otf2.Config
    import otf2
    from otf2.enums import CollectiveOp, GroupFlag, GroupType, Paradigm, RegionRole

    with otf2.writer.open(str(folder), timer_resolution=RESOLUTION) as trace:
        define = trace.definitions
        node = define.system_tree_node("node")
        roles = RegionRole.FUNCTION
        regions = [
            define.region(
                name,
                region_role=roles,
                paradigm=Paradigm.MPI if name.startswith("MPI_") else Paradigm.COMPILER,
                source_file="MPI" if name.startswith("MPI_") else "ring.c",
                begin_line_number=0 if name.startswith("MPI_") else 10,
            )
            for name in REGIONS
        ]
        locations = []
        for rank in range(ranks):
            group = define.location_group(f"rank {rank}", system_tree_parent=node)
            locations.append(define.location("thread", group=group))
        define.group(
            "", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
            group_flags=GroupFlag.NONE, members=locations,
        )  # fmt: skip
        members = define.group(
            "", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
            group_flags=GroupFlag.NONE, members=locations,
        )  # fmt: skip
        world = define.comm("MPI_COMM_WORLD", group=members)
        for rank, location in enumerate(locations):
            writer = trace.event_writer_from_location(location)
            after, before = (rank + 1) % ranks, (rank - 1) % ranks
            columns = events(rank, ranks, iterations)
            moved = 8 * ranks
            if library:
                count, last = len(columns[0]), int(columns[1][-1])
                library.write_events(
                    str(_otf2.Config.lib_path()).encode(), writer.handle, ctypes.c_int64(count),
                    *(ctypes.c_void_p(column.ctypes.data) for column in columns), after, before,
                    ctypes.c_uint64(SIZE), ctypes.c_uint8(ALLREDUCE_OPERATION),
                    ctypes.c_uint64(moved),
                )  # fmt: skip
                trace._update_timestamps(int(columns[1][0]))
                trace._update_timestamps(last)
                location._number_of_events_written = count
                continue
            for what, time, number in zip(*(column.tolist() for column in columns), strict=True):
                if what == ENTER:
                    writer.enter(time, regions[number])
                elif what == LEAVE:
                    writer.leave(time, regions[number])
                elif what == RECEIVE_REQUEST:
                    writer.mpi_irecv_request(time, number)
                elif what == SEND_REQUEST:
                    writer.mpi_isend(time, after, world, 1, SIZE, number)
                elif what == RECEIVE:
                    writer.mpi_irecv(time, before, world, 1, SIZE, number)
                elif what == SEND_COMPLETE:
                    writer.mpi_isend_complete(time, number)
                elif what == BEGIN:
                    writer.mpi_collective_begin(time)
                else:
                    writer.mpi_collective_end(time, CollectiveOp.ALLREDUCE, world, 0, moved, moved)
    return folder / "traces.otf2"
