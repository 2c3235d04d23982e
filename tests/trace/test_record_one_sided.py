"""Neighborhood collectives and one-sided synchronization, recorded: waits against their definitions
by the recorded times."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_calls import (
    Location,
    archive,
    seconds,
    seconds_waited,
    waits_for_last,
    waits_for_partner,
)
from recording import HAS_MPI, built, compiles, record_ranks

from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2

pytest.importorskip("otf2")
pytestmark = [
    pytest.mark.compiler,
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_MPI, reason="no MPI"),
]

HEAD = """
#include <mpi.h>
#include <unistd.h>
static int rank, ranks;
static void late(int who) { if (rank == who) usleep(400000); }
int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double mine = rank, all[8];
"""
TAIL = """
    MPI_Finalize();
    return 0;
}
"""
# a line of four: the neighbors of rank 3 are rank 2 alone
NEIGHBORS = (
    HEAD
    + """
    int size[] = {4}, around[] = {0};
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, around, 0, &line);
    MPI_Barrier(MPI_COMM_WORLD);
    late(3);
    MPI_Neighbor_allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, line);
"""
    + TAIL
)
# each starts at once, rank 3 late, and completes after its own work
LATER_NEIGHBORS = NEIGHBORS.replace(
    "    MPI_Neighbor_allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, line);",
    """
    MPI_Request request;
    MPI_Ineighbor_allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, line, &request);
    usleep(100000 * rank);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ineighbor_alltoall(all, 1, MPI_DOUBLE, all + 4, 1, MPI_DOUBLE, line, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
""",
)
KEPT_NEIGHBORS = NEIGHBORS.replace(
    "    late(3);\n    MPI_Neighbor_allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, line);",
    """
    MPI_Request request;
    MPI_Neighbor_allgather_init(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, line, MPI_INFO_NULL,
                                &request);
    for (int turn = 0; turn < 2; turn++) {
        late(3);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
""",
)
WINDOW = (
    HEAD
    + """
    MPI_Win window;
    MPI_Group everyone, other;
    int partner = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &everyone);
    MPI_Group_incl(everyone, 1, &partner, &other);
    MPI_Win_create(all, sizeof all, sizeof *all, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
"""
)
FENCE = (
    WINDOW
    + """
    MPI_Win_fence(0, window);
    MPI_Put(&mine, 1, MPI_DOUBLE, partner, 0, 1, MPI_DOUBLE, window);
    late(1);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
"""
    + TAIL
)
# rank 0 starts, but rank 1 posts late; then rank 1 waits, but rank 0 completes late
EPOCHS = (
    WINDOW
    + """
    if (rank == 0) {
        MPI_Win_start(other, 0, window);
        MPI_Put(&mine, 1, MPI_DOUBLE, partner, 0, 1, MPI_DOUBLE, window);
        usleep(300000);
        MPI_Win_complete(window);
    } else {
        usleep(400000);
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
"""
    + TAIL
)
# rank 0 waits for the completion of both others, which wait for its post
TWO_ORIGINS = (
    HEAD
    + """
    MPI_Win window;
    MPI_Group everyone, others;
    int target = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &everyone);
    if (rank)
        MPI_Group_incl(everyone, 1, &target, &others);
    else
        MPI_Group_excl(everyone, 1, &target, &others);
    MPI_Win_create(all, sizeof all, sizeof *all, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank) {
        MPI_Win_start(others, 0, window);
        usleep(150000 * rank);
        MPI_Win_complete(window);
    } else {
        MPI_Win_post(others, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
"""
    + TAIL
)
# Rank 1 locks first, then ranks 2 and 3 share, then rank 1 again. Rank 0 is the target.
LOCKS = (
    HEAD
    + """
    MPI_Win window;
    MPI_Win_create(all, sizeof all, sizeof *all, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; rank == 1 && round < 2; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        usleep(300000);
        MPI_Win_unlock(0, window);
        usleep(100000);
    }
    if (rank > 1) {
        usleep(100000);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        usleep(200000 * rank);
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
"""
    + TAIL
)


def recorded(
    folder: Path, text: str, ranks: int, kernels: Kernels
) -> tuple[Analysis, list[Location]]:
    """The analysis, and each rank as the archive has it."""
    run = folder / "run"
    record_ranks(run, ranks, built(folder, text))
    analysis = analyse(read_otf2(run / "traces.otf2", kernels), kernels)
    return analysis, list(archive(run).values())


def longest_waits(ranks: list[Location], call: str, start: str) -> dict[tuple[int, int], int]:
    """Ticks by rank that calls wait until the neighbors on the line have begun."""
    calls, starts = ([rank.named(name) for rank in ranks] for name in (call, start))
    return {
        (at, 0): sum(
            max(one.wait(starts[other][n].begin) for other in (at - 1, at + 1) if 0 <= other < 4)
            for n, one in enumerate(own)
        )
        for at, own in enumerate(calls)
    }


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (NEIGHBORS, {"MPI_Neighbor_allgather": "MPI_Neighbor_allgather"}),
        (
            LATER_NEIGHBORS,
            {"MPI_Wait": "MPI_Ineighbor_allgather", "MPI_Waitall": "MPI_Ineighbor_alltoall"},
        ),
        (KEPT_NEIGHBORS, {"MPI_Wait": "MPI_Start"}),
    ],
)
def test_neighbors_wait_for_neighbors_alone(
    tmp_path: Path, kernels: Kernels, text: str, calls: dict[str, str]
) -> None:
    if not compiles(text):
        pytest.skip("no persistent neighborhood collective operations")
    analysis, ranks = recorded(tmp_path, text, 4, kernels)
    assert analysis.not_analysed == {}
    for call, start in calls.items():
        expected = longest_waits(ranks, call, start)
        # Only rank 2 waits for rank 3, at first.
        assert expected[2, 0] > 0
        assert seconds_waited(analysis, "late_sender", f"/{call}") == seconds(expected)


def test_a_fence_waits_for_the_last(tmp_path: Path, kernels: Kernels) -> None:
    analysis, ranks = recorded(tmp_path, FENCE, 2, kernels)
    assert analysis.not_analysed == {"MPI_Put": 2}
    expected = waits_for_last([rank.named("MPI_Win_fence") for rank in ranks])
    assert expected[0] > 0
    assert seconds_waited(analysis, "wait_barrier", "/MPI_Win_fence") == seconds(
        {(rank, 0): ticks for rank, ticks in enumerate(expected)}
    )


def test_epochs_wait_for_posts_and_completions(tmp_path: Path, kernels: Kernels) -> None:
    analysis, (origin, target) = recorded(tmp_path, EPOCHS, 2, kernels)
    assert analysis.not_analysed == {"MPI_Put": 1}
    started = waits_for_partner(origin.named("MPI_Win_start"), target.named("MPI_Win_post"))
    waited = waits_for_partner(target.named("MPI_Win_wait"), origin.named("MPI_Win_complete"))
    assert started > 0 < waited
    assert seconds_waited(analysis, "late_sender", "/MPI_Win_start") == seconds(
        {(0, 0): started, (1, 0): 0}
    )
    assert seconds_waited(analysis, "late_sender", "/MPI_Win_wait") == seconds(
        {(0, 0): 0, (1, 0): waited}
    )


def test_of_several_completions_the_last_is_waited_for(tmp_path: Path, kernels: Kernels) -> None:
    analysis, (target, *origins) = recorded(tmp_path, TWO_ORIGINS, 3, kernels)
    (waits,) = target.named("MPI_Win_wait")
    last = max(call.begin for origin in origins for call in origin.named("MPI_Win_complete"))
    assert waits.wait(last) > 0
    assert seconds_waited(analysis, "late_sender", "/MPI_Win_wait") == seconds(
        {(0, 0): waits.wait(last), (1, 0): 0, (2, 0): 0}
    )


def test_a_lock_waits_for_the_release(tmp_path: Path, kernels: Kernels) -> None:
    """Who is granted a lock is known from the end of its call; it waits for the last release of a
    lock that excludes its own and was granted before."""
    analysis, ranks = recorded(tmp_path, LOCKS, 4, kernels)
    assert analysis.not_analysed == {}
    held = sorted(
        (lock.end, rank, lock, release.begin)
        for rank, location in enumerate(ranks)
        for lock, release in zip(
            location.named("MPI_Win_lock"), location.named("MPI_Win_unlock"), strict=True
        )
    )
    expected = {(rank, 0): 0 for rank in range(4)}
    for granted, rank, lock, _ in held:
        excluded = [
            release
            for before, other, _, release in held
            if before < granted and other != rank and 1 in (rank, other)
        ]
        expected[rank, 0] += lock.wait(max(excluded, default=0))
    assert sum(expected.values()) > 0
    assert seconds_waited(analysis, "late_sender", "/MPI_Win_lock") == seconds(expected)
