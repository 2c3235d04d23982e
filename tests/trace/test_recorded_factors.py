"""Factors of recorded programs by their definitions, from the recorded times."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_calls import Location, archive
from recording import HAS_MPI, HAS_OPENMP, built, record

from regionpredict.trace.factors import RunFactors, run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.replay import Network
from regionpredict.trace.run_options import RunOptions, factors_with

pytest.importorskip("otf2")
pytestmark = [pytest.mark.slow, pytest.mark.compiler]
TICKS = 1e-7
"""Relative: a nanosecond in 10 ms."""

SLEEP = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void sleep_ms(long ms) { struct timespec t = {0, ms * 1000000}; nanosleep(&t, NULL); }
"""
WITH_MPI = (
    SLEEP
    + r"""
#include <mpi.h>
int main(int count, char **words)
{
    int rank, size, token = 0, slow = atoi(words[2]);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (words[1][0] == 'd') {         /* some ranks do double work */
        for (int step = 0; step < 2; step++) {
            sleep_ms(rank < slow ? 200 : 100);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    } else if (words[1][0] == 'c') {  /* a chain */
        if (rank) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sleep_ms(200);
        if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    } else {                          /* an exchange that takes as long as it takes */
        int bytes = 32 << 20, to = (rank + 1) % size, from = (rank + size - 1) % size;
        char *out = calloc(bytes, 1), *in = calloc(bytes, 1);
        double all = 0, begin;
        for (int step = 0; step < 12; step++) {
            MPI_Barrier(MPI_COMM_WORLD);
            begin = MPI_Wtime();
            sleep_ms(20);
            MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            MPI_Barrier(MPI_COMM_WORLD);
            all += MPI_Wtime() - begin;
        }
        if (!rank) printf("took %.6f\n", all / 12);
    }
    MPI_Finalize();
    return 0;
}
"""
)


@pytest.fixture(scope="module")
def with_mpi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not HAS_MPI:
        pytest.skip("no MPI")
    return built(tmp_path_factory.mktemp("factors"), WITH_MPI)


def recorded(folder: Path, *words: str) -> str:
    done = record("-o", str(folder), "--", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def factors(folder: Path, kernels: Kernels, definition: str = "reference") -> RunFactors:
    trace = read_otf2(folder, kernels)
    assert trace.findings == ()
    found = match_operations(trace, kernels)
    return run_factors(trace, found, kernels, definition=definition)


def ranks(number: int) -> tuple[str, ...]:
    return ("mpirun", "--oversubscribe", "-n", str(number))


def computed(rank: Location, *meets: str, span: tuple[int, int] | None = None) -> list[int]:
    """The time outside MPI, divided at the calls by which ranks meet."""
    at, end = span or (rank.first, rank.last)
    parts = [0]
    for call in rank.calls:
        if call.name.startswith("MPI_") and call.begin >= at and call.end <= end:
            parts[-1] += call.begin - at
            at = call.end
            parts += [0] * (call.name in meets)
    parts[-1] += end - at
    return parts


def ideal_end(begins: list[int], parts: list[list[int]]) -> int:
    """The end on a network without costs: between two parts all wait for the last one."""
    clocks = begins
    for number, lengths in enumerate(zip(*parts, strict=True)):
        clocks = [max(clocks)] * len(clocks) if number else clocks
        clocks = [clock + length for clock, length in zip(clocks, lengths, strict=True)]
    return max(clocks)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 3)])
def test_double_work_of_some_ranks(
    with_mpi: Path, tmp_path: Path, kernels: Kernels, n: int, k: int
) -> None:
    recorded(tmp_path / "t", *ranks(n), str(with_mpi), "double", str(k))
    found = factors(tmp_path / "t", kernels)
    run = list(archive(tmp_path / "t").values())
    parts = [computed(rank, "MPI_Barrier") for rank in run]
    useful, begins = list(map(sum, parts)), [rank.first for rank in run]
    ideal = ideal_end(begins, parts)
    own = max(begin + length for begin, length in zip(begins, useful, strict=True))
    assert {*map(len, parts)} == {3}
    assert found.load_balance == pytest.approx(sum(useful) / n / max(useful), rel=TICKS)
    assert found.serialisation == pytest.approx(own / ideal, rel=TICKS)
    assert found.runtime_s == pytest.approx(max(rank.last for rank in run) * 1e-9)


@pytest.mark.parametrize("n", [2, 5])
def test_a_chain(with_mpi: Path, tmp_path: Path, kernels: Kernels, n: int) -> None:
    recorded(tmp_path / "t", *ranks(n), str(with_mpi), "chain", "0")
    found = factors(tmp_path / "t", kernels, "useful")
    run = list(archive(tmp_path / "t").values())
    useful = [sum(computed(rank)) for rank in run]
    sent, ends = 0, []
    for number, rank in enumerate(run):
        parts = iter(computed(rank, "MPI_Recv", "MPI_Send"))
        clock = rank.first + next(parts)
        if number:
            clock = max(clock, sent) + next(parts)
        sent = clock
        ends.append(clock + sum(parts))
    assert found.serialisation == pytest.approx(max(useful) / max(ends), rel=TICKS)
    assert found.load_balance == pytest.approx(sum(useful) / n / max(useful), rel=TICKS)
    # Each rank sleeps 200 ms after it has the token: no two at once.
    assert max(ends) >= n * 200_000_000


def test_an_exchange_that_is_bound_by_its_transfer(
    with_mpi: Path, tmp_path: Path, kernels: Kernels
) -> None:
    """On the ideal network both ranks meet in each call, and it takes no time."""
    recorded(tmp_path / "t", *ranks(2), str(with_mpi), "exchange", "0")
    trace = read_otf2(tmp_path / "t", kernels)
    options = RunOptions("reference", Network(), None, None, "iterations", None)
    found = factors_with(trace, kernels, options)
    assert found.iterations is not None
    assert found.iterations.count >= 10
    run = list(archive(tmp_path / "t").values())
    spans = [
        (int(trace.time[bounds[0]]), int(trace.time[bounds[-1]]))
        for bounds in found.iterations.bounds
    ]
    first = min(begin for begin, _ in spans)
    parts = [
        computed(rank, "MPI_Barrier", "MPI_Sendrecv", span=span)
        for rank, span in zip(run, spans, strict=True)
    ]
    begins = [begin - first for begin, _ in spans]
    useful, ideal = list(map(sum, parts)), ideal_end(begins, parts)
    runtime = max(end for _, end in spans) - first
    own = max(begin + length for begin, length in zip(begins, useful, strict=True))
    assert len(parts[0]) == 3 * found.iterations.count + 1
    assert found.load_balance == pytest.approx(sum(useful) / 2 / max(useful), rel=TICKS)
    assert found.serialisation == pytest.approx(own / ideal, rel=TICKS)
    assert found.transfer == pytest.approx(max(useful) / runtime * ideal / own, rel=TICKS)


TEAM = (
    SLEEP
    + r"""
#include <omp.h>
int main(int count, char **words)
{
    int threads = atoi(words[1]), slow = atoi(words[2]);
    sleep_ms(atoi(words[3]));
    #pragma omp parallel num_threads(threads)
    sleep_ms(omp_get_thread_num() < slow ? 200 : 100);
    return 0;
}
"""
)


@pytest.mark.skipif(not HAS_OPENMP, reason="no gcc, or no OpenMP runtime that tells tools")
@pytest.mark.parametrize(("n", "k", "serial"), [(4, 1, 0), (3, 2, 200), (2, 2, 400)])
def test_a_team(tmp_path: Path, kernels: Kernels, n: int, k: int, serial: int) -> None:
    """Threads idle in the serial part, and where they have less to do."""
    program = built(tmp_path, TEAM, "gcc", "-fopenmp")
    recorded(tmp_path / "t", str(program), str(n), str(k), str(serial))
    found = factors(tmp_path / "t", kernels)
    threads = list(archive(tmp_path / "t").values())
    ((fork, join),) = threads[0].teams
    inside = [
        sum(call.length for call in thread.of_role("PARALLEL"))
        - sum(call.length for call in thread.of_role("IMPLICIT_BARRIER"))
        for thread in threads
    ]
    whole, team = threads[0].last - threads[0].first, join - fork
    (barrier,) = threads[0].of_role("IMPLICIT_BARRIER")
    inside[0] = team - barrier.length  # its region begins and ends with the team
    alone = whole - team
    assert found.width == n
    assert found.team is not None
    assert found.team.serial == pytest.approx((alone + n * team) / (n * whole), rel=TICKS)
    balance = (alone + sum(inside)) / (alone + n * max(inside))
    assert found.team.load_balance == pytest.approx(balance, rel=TICKS)
    useful = [alone + inside[0], *inside[1:]]
    assert found.load_balance == pytest.approx(sum(useful) / n / max(useful), rel=TICKS)
    assert alone >= serial * 1_000_000
