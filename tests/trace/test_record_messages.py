"""Calls for messages beyond sends and receives, recorded: waits against their definitions by the
recorded times."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_calls import (
    Location,
    Place,
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
#include <pthread.h>
#include <unistd.h>
static int rank;
static double value[8], got[8];
static MPI_Request request;
"""
MAIN = """
int main(int count, char **words)
{
    int provided, done = 0, which;
    MPI_Message message;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
"""
TAIL = """
    MPI_Finalize();
    return 0;
}
"""
EXCHANGED = (
    HEAD
    + MAIN
    + """
    if (rank == 0) usleep(200000);
    MPI_Sendrecv_replace(value, 8, MPI_DOUBLE, 1 - rank, 3, 1 - rank, 3, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
"""
    + TAIL
)
PROBED = (
    HEAD
    + MAIN
    + """
    if (rank == 0) {
        usleep(200000);
        MPI_Send(value, 8, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Mprobe(0, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(value, 8, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    }
"""
    + TAIL
)
FOUND = PROBED.replace(
    "MPI_Mprobe(0, 3, MPI_COMM_WORLD, &message,", "MPI_Probe(0, 3, MPI_COMM_WORLD,"
)
FOUND = FOUND.replace("MPI_Mrecv(value, 8, MPI_DOUBLE, &message,",
                      "MPI_Recv(value, 8, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD,")  # fmt: skip
TESTED = (
    HEAD
    + MAIN
    + """
    MPI_Status status;
    for (int round = 0; round < 2; round++)
        if (rank == 0) {
            MPI_Send(value, 8, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
        } else {
            MPI_Irecv(value, 8, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &request);
            for (done = 0; !done || done == MPI_UNDEFINED; usleep(1000))
                if (round)
                    MPI_Testany(1, &request, &which, &done, &status);
                else
                    MPI_Testsome(1, &request, &done, &which, &status);
        }
"""
    + TAIL
)
PARTITIONED = (
    HEAD
    + MAIN
    + """
    if (rank == 0)
        MPI_Psend_init(value, 4, 2, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(value, 4, 2, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&request);
        for (int part = 0; rank == 0 && part < 4; part++) {
            usleep(50000);
            MPI_Pready(part, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
"""
    + TAIL
)
KEPT = (
    HEAD
    + MAIN
    + """
    MPI_Allreduce_init(value, got, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; round++) {
        if (rank == round) usleep(200000);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
"""
    + TAIL
)
# The thread that starts first sends last, with the same tag.
SENDING_THREADS = (
    HEAD
    + """
static volatile int begun, sent;
static void *sends(void *last)
{
    begun = 1;
    while (last && !sent) usleep(1000);
    usleep(200000);
    MPI_Send(value, last ? 1 : 2, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    sent = 1;
    return 0;
}
"""
    + MAIN
    + """
    pthread_t first, second;
    if (rank == 0) {
        pthread_create(&first, 0, sends, &request);
        while (!begun) usleep(1000);
        pthread_create(&second, 0, sends, 0);
        pthread_join(first, 0);
        pthread_join(second, 0);
    } else {
        MPI_Recv(value, 8, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(value, 8, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
"""
    + TAIL
)
WAITING_THREAD = (
    HEAD
    + """
static void *waits(void *nothing) { MPI_Wait(&request, MPI_STATUS_IGNORE); return nothing; }
"""
    + MAIN
    + """
    pthread_t other;
    if (rank == 0) {
        usleep(200000);
        MPI_Send(value, 8, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(value, 8, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &request);
        pthread_create(&other, 0, waits, 0);
        pthread_join(other, 0);
    }
"""
    + TAIL
)


def recorded(
    folder: Path, text: str, ranks: int, kernels: Kernels
) -> tuple[Analysis, dict[Place, Location]]:
    """The analysis, and each thread as the archive has it."""
    run = folder / "run"
    record_ranks(run, ranks, built(folder, text, "mpicc", "-pthread"))
    return analyse(read_otf2(run / "traces.otf2", kernels), kernels), archive(run)


@pytest.mark.parametrize(
    ("text", "call", "sender"),
    [
        (EXCHANGED, "MPI_Sendrecv_replace", "MPI_Sendrecv_replace"),
        (PROBED, "MPI_Mprobe", "MPI_Send"),
        (FOUND, "MPI_Probe", "MPI_Send"),
        (PARTITIONED, "MPI_Wait", "MPI_Pready"),
    ],
)
def test_a_receiver_waits_for_the_sender(
    tmp_path: Path, kernels: Kernels, text: str, call: str, sender: str
) -> None:
    if text is PARTITIONED and not compiles(text):
        pytest.skip("no partitioned communication")
    analysis, ranks = recorded(tmp_path, text, 2, kernels)
    sends = ranks[0, 0].named(sender)
    if text is PARTITIONED:
        sends = sends[3::4]  # the last of four parts
    expected = waits_for_partner(ranks[1, 0].named(call), sends)
    assert expected > 0
    assert analysis.not_analysed == {}
    assert seconds_waited(analysis, "late_sender") == seconds({(0, 0): 0, (1, 0): expected})


def test_requests_that_are_tested_for_are_complete(tmp_path: Path, kernels: Kernels) -> None:
    analysis, _ = recorded(tmp_path, TESTED, 2, kernels)
    assert not [str(finding) for finding in analysis.findings]
    assert sum(seconds_waited(analysis, "late_sender").values()) == 0


def test_persistent_collectives_wait_for_the_last(tmp_path: Path, kernels: Kernels) -> None:
    if not compiles(KEPT):
        pytest.skip("no persistent collective operations")
    analysis, ranks = recorded(tmp_path, KEPT, 3, kernels)
    expected = waits_for_last(
        [rank.named("MPI_Wait") for rank in ranks.values()],
        [rank.named("MPI_Start") for rank in ranks.values()],
    )
    assert analysis.not_analysed == {}
    assert all(expected)
    assert seconds_waited(analysis, "wait_nxn", "/MPI_Wait") == seconds(
        {(rank, 0): ticks for rank, ticks in enumerate(expected)}
    )


def test_messages_of_threads_are_matched_in_order_of_time(tmp_path: Path, kernels: Kernels) -> None:
    analysis, threads = recorded(tmp_path, SENDING_THREADS, 2, kernels)
    sends = [
        call for place in threads if place[0] == 0 for call in threads[place].named("MPI_Send")
    ]
    assert sends[0].begin > sends[1].begin  # the first thread's is the last
    expected = waits_for_partner(
        threads[1, 0].named("MPI_Recv"), sorted(sends, key=lambda call: call.begin)
    )
    assert expected > 0
    assert seconds_waited(analysis, "late_sender") == seconds(
        {place: expected if place == (1, 0) else 0 for place in threads}
    )


def test_a_thread_waits_for_a_request_of_another(tmp_path: Path, kernels: Kernels) -> None:
    analysis, threads = recorded(tmp_path, WAITING_THREAD, 2, kernels)
    expected = waits_for_partner(threads[1, 1].named("MPI_Wait"), threads[0, 0].named("MPI_Send"))
    assert expected > 0
    assert seconds_waited(analysis, "late_sender") == seconds(
        {(0, 0): 0, (1, 0): 0, (1, 1): expected}
    )
