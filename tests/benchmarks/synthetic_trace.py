"""A program of a ring exchange, as events: what the benchmark of traces reads and analyses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

RESOLUTION = 1_000_000_000
EVENTS_AN_ITERATION = 18
REGIONS = (
    "main", "step", "work", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Init",
    "MPI_Finalize",
)  # fmt: skip
MAIN, STEP, WORK, IRECV, ISEND, WAITALL, ALLREDUCE, INIT, FINALIZE = range(len(REGIONS))
SIZE = 8192


def events(rank: int, ranks: int, iterations: int) -> Iterator[tuple[str, int, int]]:
    """(what, time in nanoseconds, region or request) of one rank, in order of time.

    Ranks differ in their work by a fixed pattern, and meet every 16 iterations.
    """
    time = 1000 * rank
    yield "enter", time, MAIN
    yield "enter", time + 10, INIT
    yield "leave", 100_000, INIT
    time = 100_010
    for iteration in range(iterations):
        begin = 100_010 + iteration * 20_000
        work = 5_000 + (rank * 7919 + iteration * 104_729) % 4_000
        yield "enter", begin, STEP
        yield "enter", begin + 5, IRECV
        yield "receive request", begin + 10, 2 * iteration
        yield "leave", begin + 15, IRECV
        yield "enter", begin + 20, WORK
        yield "leave", begin + 20 + work, WORK
        time = begin + 20 + work
        yield "enter", time + 10, ISEND
        yield "send request", time + 15, 2 * iteration + 1
        yield "leave", time + 20, ISEND
        yield "enter", time + 30, WAITALL
        done = begin + 10_000
        yield "receive complete", done, 2 * iteration
        yield "send complete", done + 1, 2 * iteration + 1
        yield "leave", done + 10, WAITALL
        yield "enter", done + 20 + (rank * 31) % 997, ALLREDUCE
        yield "collective begin", done + 21 + (rank * 31) % 997, 0
        yield "collective end", begin + 12_000, 0
        yield "leave", begin + 12_010, ALLREDUCE
        yield "leave", begin + 12_020, STEP
        time = begin + 12_020
    end = 100_010 + iterations * 20_000
    yield "enter", end + rank, FINALIZE
    yield "leave", end + 1000, FINALIZE
    yield "leave", end + 1010, MAIN


def write_archive(folder: Path, ranks: int, iterations: int) -> Path:
    """The program as an OTF2 archive; its anchor file."""
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
            for what, time, number in events(rank, ranks, iterations):
                if what == "enter":
                    writer.enter(time, regions[number])
                elif what == "leave":
                    writer.leave(time, regions[number])
                elif what == "receive request":
                    writer.mpi_irecv_request(time, number)
                elif what == "send request":
                    writer.mpi_isend(time, after, world, 1, SIZE, number)
                elif what == "receive complete":
                    writer.mpi_irecv(time, before, world, 1, SIZE, number)
                elif what == "send complete":
                    writer.mpi_isend_complete(time, number)
                elif what == "collective begin":
                    writer.mpi_collective_begin(time)
                else:
                    writer.mpi_collective_end(
                        time, CollectiveOp.ALLREDUCE, world, 0, 8 * ranks, 8 * ranks
                    )
    return folder / "traces.otf2"
