"""Factors of recorded programs against their closed forms; what is slept is what is computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import HAS_MPI, HAS_OPENMP, built, record, undisturbed

from regionpredict.trace.factors import RunFactors, run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.replay import Network
from regionpredict.trace.run_options import RunOptions, factors_with

pytest.importorskip("otf2")
pytestmark = [pytest.mark.slow, pytest.mark.compiler]
NOISE = 0.08

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
    found = match(trace, kernels)
    return run_factors(trace, found, kernels, definition=definition)


def ranks(number: int) -> tuple[str, ...]:
    return ("mpirun", "--oversubscribe", "-n", str(number))


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 3)])
def test_double_work_of_some_ranks(
    with_mpi: Path, tmp_path: Path, kernels: Kernels, n: int, k: int
) -> None:
    def judge(folder: Path) -> None:
        recorded(folder, *ranks(n), str(with_mpi), "double", str(k))
        found = factors(folder, kernels)
        assert found.load_balance == pytest.approx((n + k) / (2 * n), abs=NOISE)
        assert found.serialisation == pytest.approx(1, abs=NOISE)

    undisturbed(tmp_path, judge)


@pytest.mark.parametrize("n", [2, 5])
def test_a_chain(with_mpi: Path, tmp_path: Path, kernels: Kernels, n: int) -> None:
    def judge(folder: Path) -> None:
        recorded(folder, *ranks(n), str(with_mpi), "chain", "0")
        found = factors(folder, kernels, "useful")
        assert found.serialisation == pytest.approx(1 / n, abs=NOISE)
        assert found.load_balance == pytest.approx(1, abs=NOISE)

    undisturbed(tmp_path, judge)


def test_an_exchange_that_is_bound_by_its_transfer(
    with_mpi: Path, tmp_path: Path, kernels: Kernels
) -> None:
    """On the ideal network an iteration takes its 20 ms; what it took the program has measured."""

    def judge(folder: Path) -> None:
        printed = recorded(folder, *ranks(2), str(with_mpi), "exchange", "0")
        took = float(printed.split()[-1])
        trace = read_otf2(folder, kernels)
        options = RunOptions("reference", Network(), None, None, "iterations", None)
        found = factors_with(trace, kernels, options)
        assert found.iterations is not None
        assert found.iterations.count >= 10
        assert found.load_balance == pytest.approx(1, abs=NOISE)
        assert found.serialisation == pytest.approx(1, abs=NOISE)
        assert found.transfer == pytest.approx(0.020 / took, abs=0.12)
        assert found.transfer < 0.9

    undisturbed(tmp_path, judge)


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
    whole = serial + 200
    expected = (serial + n * 200) / (n * whole)
    used = serial + k * 200 + (n - k) * 100

    def judge(folder: Path) -> None:
        recorded(folder, str(program), str(n), str(k), str(serial))
        found = factors(folder, kernels)
        assert found.width == n
        assert found.team is not None
        assert found.team.serial == pytest.approx(expected, abs=NOISE)
        assert found.team.load_balance == pytest.approx(used / (serial + n * 200), abs=NOISE)
        assert found.load_balance == pytest.approx(used / (n * (serial + 200)), abs=NOISE)

    undisturbed(tmp_path, judge)
