"""Recording with a real MPI: the archive analyses without findings, and tells what was run."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import HAS_MPI, built, record, record_ranks

from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.results import critical_path, delays, waits

pytest.importorskip("otf2")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(not HAS_MPI, reason="no MPI"),
]

PROGRAM = r"""
#include <mpi.h>
#include <time.h>
static void sleep_ms(long ms) { struct timespec t = {0, ms * 1000000}; nanosleep(&t, NULL); }
void slow(void) { sleep_ms(60); }
void quick(void) { sleep_ms(5); }
int main(int count, char **words)
{
    int rank, size, place, members, value = 1, sum = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_Comm_size(half, &members);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) slow(); else quick();
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request requests[2];
    int got = 0;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, half, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (place + 1) % members, 3, half, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, half);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("mpi"), PROGRAM)


@pytest.mark.parametrize("ranks", [4, 8])
def test_a_run_is_recorded_and_analysed(
    program: Path, tmp_path: Path, kernels: Kernels, ranks: int
) -> None:
    folder = tmp_path / "trace"
    record_ranks(folder, ranks, program)
    trace = read_otf2(folder, kernels)
    assert len(trace.locations) == ranks
    analysis = analyse(trace, kernels)
    assert analysis.findings == ()
    found = waits(analysis)
    assert found.totals["comms_send"] == found.totals["comms_recv"] == 2 * ranks
    visits = {
        (record.callpath, record.location.rank): record.value
        for record in found.records
        if record.metric == "visits" and record.location is not None and record.value
    }
    for rank in range(ranks):
        assert visits.get(("main/slow/sleep_ms", rank), 0) == (rank == ranks - 1)
        assert visits.get(("main/quick/sleep_ms", rank), 0) == (rank < ranks - 1)
        assert visits["main/MPI_Allreduce", rank] == 1
    for result in (delays(analysis), critical_path(analysis)):
        assert all(balance.holds for balance in result.balances)
    halves = {communicator.members for communicator in trace.communicators}
    assert tuple(range(0, ranks, 2)) in halves
    assert tuple(range(1, ranks, 2)) in halves


def test_a_program_without_mpi_records_nothing(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "trace"), "--", "true")
    assert done.returncode == 1
    assert "no rank called MPI_Init" in done.stderr
    assert not (tmp_path / "trace").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_fails_writes_nothing(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "trace"), "--", "false")
    assert done.returncode == 1
    assert "exit code 1" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_archive_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    done = record("-o", str(tmp_path / "trace"), "--", "true")
    assert done.returncode == 1
    assert "is there already" in done.stderr
    assert done.stdout == ""


BETWEEN_GROUPS = r"""
#include <mpi.h>
int main(int count, char **words)
{
    int rank, value = 1, sum = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank / 2, 1, &value, 1, MPI_INT, rank / 2, 1, between,
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


def test_communicators_between_groups(tmp_path: Path, kernels: Kernels) -> None:
    """Each even rank exchanges a message with the odd one above it."""
    program = built(tmp_path, BETWEEN_GROUPS)
    folder = tmp_path / "trace"
    record_ranks(folder, 4, program)
    trace = read_otf2(folder, kernels)
    pairs = {(group.members, group.remote) for group in trace.communicators if group.remote}
    assert pairs <= {((0, 2), (1, 3)), ((1, 3), (0, 2))}
    assert pairs
    analysis = analyse(trace, kernels)
    assert [str(finding) for finding in analysis.findings] == [
        "collective operations of inter-communicators, not analysed (4 times)"
    ]
    found = waits(analysis)
    assert found.totals["comms_send"] == found.totals["comms_recv"] == 4


NOT_ANALYSED = r"""
#include <mpi.h>
int main(int count, char **words)
{
    int value = 1, sum = 0, seen = 0;
    MPI_Request request;
    MPI_Win window;
    MPI_Init(&count, &words);
    for (int at = 0; at < 5; at++) {
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        value += sum != 2 * value;
    }
    MPI_Win_create(&seen, sizeof seen, sizeof seen, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&sum, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return value != 1;
}
"""


def test_calls_that_are_recorded_by_name_alone(tmp_path: Path, kernels: Kernels) -> None:
    program = built(tmp_path, NOT_ANALYSED)
    record_ranks(tmp_path / "trace", 2, program)
    analysis = analyse(read_otf2(tmp_path / "trace", kernels), kernels)
    assert dict(analysis.not_analysed) == {"MPI_Put": 2}
    assert [str(finding) for finding in analysis.findings] == [
        "calls that are not analyzed, with their number: MPI_Put (2)"
    ]


LATE = r"""
#include <mpi.h>
#include <time.h>
static void pass(double seconds)
{
    struct timespec until;
    double end, now;
    clock_gettime(CLOCK_MONOTONIC, &until);
    end = until.tv_sec + 1e-9 * until.tv_nsec + seconds;
    do {
        struct timespec little = {0, 200000};
        nanosleep(&little, 0);
        clock_gettime(CLOCK_MONOTONIC, &until);
        now = until.tv_sec + 1e-9 * until.tv_nsec;
    } while (now < end);
}
int main(int count, char **words)
{
    int rank, value = 1, sum = 0;
    MPI_Request request;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    %s
    MPI_Finalize();
    return 0;
}
"""
NON_BLOCKING = (
    LATE
    % """
    for (int at = 0; at < 10; at++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) pass(0.05);
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        if (rank == 2) pass(0.02);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
"""
)
PERSISTENT = (
    LATE
    % """
    if (rank) MPI_Send_init(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    else MPI_Recv_init(&sum, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
    for (int at = 0; at < 10; at++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank) pass(0.05);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
"""
)


def test_non_blocking_collectives_wait_for_who_begins_late(
    tmp_path: Path, kernels: Kernels
) -> None:
    """Rank 1 begins 50 ms late: rank 0 waits for it all the time, rank 2 all but 20 ms."""
    program = built(tmp_path, NON_BLOCKING)
    record_ranks(tmp_path / "trace", 3, program)
    analysis = analyse(read_otf2(tmp_path / "trace", kernels), kernels)
    assert dict(analysis.not_analysed) == {}
    found = waits(analysis)
    by_rank = {0: 0.0, 1: 0.0, 2: 0.0}
    for row in found.records:
        if row.metric == "wait_nxn":
            assert row.callpath.endswith("/MPI_Wait")
            by_rank[row.location.rank] += row.value
    assert by_rank[0] > 0.45
    assert by_rank[0] - by_rank[2] == pytest.approx(0.2, abs=0.1)
    assert by_rank[1] < 0.1


def test_messages_of_persistent_requests_are_analysed(tmp_path: Path, kernels: Kernels) -> None:
    program = built(tmp_path, PERSISTENT)
    record_ranks(tmp_path / "trace", 2, program)
    analysis = analyse(read_otf2(tmp_path / "trace", kernels), kernels)
    assert dict(analysis.not_analysed) == {}
    found = waits(analysis)
    assert found.totals["comms_send"] == found.totals["comms_recv"] == 10
    assert found.totals["late_sender"] > 0.45


THREADED = r"""
#include <mpi.h>
#include <pthread.h>
static void *other(void *nothing)
{
    int rank, value = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return nothing;
}
int main(int count, char **words)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
    MPI_Finalize();
    return 0;
}
"""


def test_calls_of_other_threads_are_counted(tmp_path: Path) -> None:
    program = built(tmp_path, THREADED, "mpicc", "-pthread")
    done = record(
        "-o", str(tmp_path / "trace"), "--", "mpirun", "--oversubscribe", "-n", "2", str(program)
    )
    assert done.returncode == 0, done.stderr
    # the send of rank 0 and the receive of rank 1
    assert "not recorded: 2 calls of MPI by threads other than" in done.stderr
