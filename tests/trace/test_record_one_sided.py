"""Neighborhood collectives and one-sided synchronization, recorded: waits against what the program
sleeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import HAS_MPI, built, record_ranks, undisturbed

from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.results import waits

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


def analysed(folder: Path, text: str, ranks: int, run: Path, kernels: Kernels) -> Analysis:
    folder.mkdir(exist_ok=True)
    program = built(folder, text)
    record_ranks(run, ranks, program)
    return analyse(read_otf2(run / "traces.otf2", kernels), kernels)


def by_rank(analysis: Analysis, metric: str, call: str) -> dict[int, float]:
    """Seconds by rank in one call, those of a tenth and more."""
    return {
        record.location.rank: record.value
        for record in waits(analysis).records
        if record.metric == metric and record.callpath.endswith(call) and record.value > 0.1
    }


def test_neighbors_wait_for_neighbors_alone(tmp_path: Path, kernels: Kernels) -> None:
    def judge(run: Path) -> None:
        analysis = analysed(tmp_path / "n", NEIGHBORS, 4, run, kernels)
        assert analysis.not_analysed == {}
        waited = by_rank(analysis, "late_sender", "MPI_Neighbor_allgather")
        # rank 1 has what it needs before rank 3 comes
        assert waited == pytest.approx({2: 0.4}, abs=0.08)

    undisturbed(tmp_path, judge)


def test_a_fence_waits_for_the_last(tmp_path: Path, kernels: Kernels) -> None:
    def judge(run: Path) -> None:
        analysis = analysed(tmp_path / "f", FENCE, 2, run, kernels)
        assert analysis.not_analysed == {"MPI_Put": 2}
        assert by_rank(analysis, "wait_barrier", "MPI_Win_fence") == pytest.approx(
            {0: 0.4}, abs=0.08
        )

    undisturbed(tmp_path, judge)


def test_epochs_wait_for_posts_and_completions(tmp_path: Path, kernels: Kernels) -> None:
    def judge(run: Path) -> None:
        analysis = analysed(tmp_path / "e", EPOCHS, 2, run, kernels)
        assert analysis.not_analysed == {"MPI_Put": 1}
        assert by_rank(analysis, "late_sender", "MPI_Win_start") == pytest.approx(
            {0: 0.4}, abs=0.08
        )
        assert by_rank(analysis, "late_sender", "MPI_Win_wait") == pytest.approx({1: 0.3}, abs=0.08)

    undisturbed(tmp_path, judge)
