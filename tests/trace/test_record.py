"""Recording with a real MPI: the archive analyses without findings, and tells what was run."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_calls import archive, seconds, seconds_waited, waits_for_last, waits_for_partner
from recording import HAS_MPI, built, record, record_ranks

from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.results import critical_path, delay_costs, wait_states

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
    found = wait_states(analysis)
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
    for result in (delay_costs(analysis), critical_path(analysis)):
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
        "collective operations of inter-communicators, not analyzed (4 times)"
    ]
    found = wait_states(analysis)
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
# Rank 1 begins after the others have begun.
NON_BLOCKING = (
    LATE
    % """
    for (int at = 0; at < 10; at++) {
        if (rank == 1)
            for (int from = 0; from < 3; from += 2)
                MPI_Recv(&sum, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) pass(0.05);
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        if (rank != 1) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
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
    """Ranks 0 and 2 wait for rank 1, from the call that completes the operation."""
    program = built(tmp_path, NON_BLOCKING)
    record_ranks(tmp_path / "trace", 3, program)
    analysis = analyse(read_otf2(tmp_path / "trace", kernels), kernels)
    assert dict(analysis.not_analysed) == {}
    ranks = list(archive(tmp_path / "trace").values())
    begun = [rank.named("MPI_Iallreduce") for rank in ranks]
    assert [len(calls) for calls in begun] == [10, 10, 10]
    assert all(b.begin > max(a.begin, c.begin) for a, b, c in zip(*begun, strict=True))
    expected = waits_for_last([rank.named("MPI_Wait") for rank in ranks], begun)
    assert expected[1] == 0 < expected[0] + expected[2]
    found = seconds_waited(analysis, "wait_nxn")
    assert found == seconds({(rank, 0): ticks for rank, ticks in enumerate(expected)})
    assert found == seconds_waited(analysis, "wait_nxn", of="main/MPI_Wait")


def test_messages_of_persistent_requests_are_analysed(tmp_path: Path, kernels: Kernels) -> None:
    program = built(tmp_path, PERSISTENT)
    record_ranks(tmp_path / "trace", 2, program)
    analysis = analyse(read_otf2(tmp_path / "trace", kernels), kernels)
    assert dict(analysis.not_analysed) == {}
    totals = wait_states(analysis).totals
    assert totals["comms_send"] == totals["comms_recv"] == 10
    receiver, sender = archive(tmp_path / "trace").values()
    expected = waits_for_partner(receiver.named("MPI_Wait"), sender.named("MPI_Start"))
    assert expected > 0
    assert seconds_waited(analysis, "late_sender") == seconds({(0, 0): expected, (1, 0): 0})


CLOCKED = r"""
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}
int main(int count, char **words)
{
    int rank;
    long times[5][2];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int at = 0; at < 5; at++) {
        times[at][0] = now();
        MPI_Barrier(MPI_COMM_WORLD);
        times[at][1] = now();
    }
    for (int at = 0; at < 5; at++)
        printf("%d %ld %ld\n", rank, times[at][0], times[at][1]);
    MPI_Finalize();
    return 0;
}
"""


def test_recorded_times_are_those_of_the_programs_clock(tmp_path: Path) -> None:
    """One begin of the recording puts each call between the times that its rank read around it."""
    program = built(tmp_path, CLOCKED)
    words = ("-o", str(tmp_path / "t"), "--", "mpirun", "--oversubscribe", "-n", "2", str(program))
    done = record(*words)
    assert done.returncode == 0, done.stderr
    read = sorted(tuple(map(int, line.split())) for line in done.stdout.splitlines())
    calls = [
        call for rank in archive(tmp_path / "t").values() for call in rank.named("MPI_Barrier")
    ]
    assert len(read) == len(calls) == 10
    earliest = max(before - call.begin for (_, before, _), call in zip(read, calls, strict=True))
    latest = min(after - call.end for (_, _, after), call in zip(read, calls, strict=True))
    assert earliest <= latest
