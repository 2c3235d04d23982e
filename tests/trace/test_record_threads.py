"""Recordings of OpenMP, alone and with MPI: no findings, and waits by their definitions."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from archive_calls import Call, Location, archive, seconds, seconds_waited, waits_for_last
from recording import HAS_MPI, HAS_OPENMP, built, record, record_ranks

from regionpredict.trace import EventTrace
from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.results import critical_path, delay_costs
from regionpredict.trace.thread_events import thread_events

pytest.importorskip("otf2")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(not HAS_OPENMP, reason="no gcc, or no OpenMP runtime that tells tools"),
]

SLEEP = r"""
#include <omp.h>
#include <stdlib.h>
#include <time.h>
static void sleep_ms(long ms) { struct timespec t = {0, ms * 1000000}; nanosleep(&t, NULL); }
"""
SLOW_THREADS = (
    SLEEP
    + r"""
void work(int slow) { sleep_ms(slow ? 60 : 30); }
int main(int count, char **words)
{
    int threads = atoi(words[1]), slow = atoi(words[2]);
    for (int step = 0; step < 2; step++) {
        #pragma omp parallel num_threads(threads)
        {
            work(omp_get_thread_num() < slow);
            #pragma omp barrier
            work(omp_get_thread_num() < slow);
        }
    }
    return 0;
}
"""
)


def analysed(folder: Path, kernels: Kernels) -> Analysis:
    analysis = analyse(read_otf2(folder, kernels), kernels)
    assert analysis.findings == ()
    for result in (delay_costs(analysis), critical_path(analysis)):
        assert all(balance.holds for balance in result.balances)
    return analysis


def entered(trace: EventTrace) -> set[str]:
    return {trace.regions[at].name for at in trace.region.tolist() if at >= 0}


@pytest.fixture(scope="module")
def slow_threads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("openmp"), SLOW_THREADS, "gcc", "-fopenmp")


@pytest.mark.parametrize(("threads", "slow"), [(4, 1), (3, 2)])
def test_threads_with_double_work(
    slow_threads: Path, tmp_path: Path, kernels: Kernels, threads: int, slow: int
) -> None:
    """All wait for the last one at each of two barriers, in each of two teams."""
    done = record("-o", str(tmp_path / "t"), "--", str(slow_threads), str(threads), str(slow))
    assert done.returncode == 0, done.stderr
    analysis = analysed(tmp_path / "t", kernels)
    team = list(archive(tmp_path / "t").values())
    assert len(team) == threads
    for metric, role in KINDS.items():
        barriers = [thread.of_role(role) for thread in team]
        assert {*map(len, barriers)} == {2}
        expected = waits_for_last(barriers)
        assert sum(expected) > 0
        assert seconds_waited(analysis, metric) == seconds(
            {(0, thread): ticks for thread, ticks in enumerate(expected)}
        )
    in_work = sum(
        record.value * 1e9
        for record in delay_costs(analysis).records
        if record.metric.startswith("delay_short.omp") and record.callpath.endswith("work/sleep_ms")
    )
    least, most = delays_in_work(team)
    assert 0 < least - 1 <= in_work <= most + 1


KINDS = {"omp_explicit_barrier": "BARRIER", "omp_implicit_barrier": "IMPLICIT_BARRIER"}


def delays_in_work(team: list[Location]) -> tuple[float, float]:
    """Bounds of what the calls of `sleep_ms` cost.

    Each wait is divided among what the late thread did longer than the waiting one. Of that all
    besides the calls takes between nothing and its whole time since the fork or the last barrier.
    """
    least = most = 0.0
    barriers = [thread.of_role("BARRIER") for thread in team]
    ends = [thread.of_role("IMPLICIT_BARRIER") for thread in team]
    slept = [thread.named("sleep_ms") for thread in team]
    for at in range(4):  # two barriers in each of two regions
        region = at // 2
        begins = [thread[region].end if at % 2 else team[0].teams[region][0] for thread in barriers]
        calls: list[Call] = [(ends if at % 2 else barriers)[t][region] for t in range(len(team))]
        late = max(range(len(team)), key=lambda thread: calls[thread].begin)
        besides = calls[late].begin - begins[late] - slept[late][at].length
        for thread, call in enumerate(calls):
            wait = call.wait(calls[late].begin)
            more = slept[late][at].length - slept[thread][at].length
            if wait and more > 0:
                least += wait * more / (more + besides)
                most += wait
    return least, most


EVERYTHING = (
    SLEEP
    + r"""
void regionpredict_enter(const char *) __attribute__((weak));
void regionpredict_leave(void) __attribute__((weak));
int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    if (regionpredict_enter) regionpredict_enter("my region");
    #pragma omp parallel num_threads(3)
    {
        #pragma omp critical
        sleep_ms(10);
        omp_set_lock(&lock);
        sleep_ms(10);
        omp_unset_lock(&lock);
        #pragma omp for schedule(dynamic)
        for (int i = 0; i < 6; i++) sleep_ms(1);
        #pragma omp parallel num_threads(2)
        sleep_ms(1);
    }
    if (regionpredict_leave) regionpredict_leave();
    return 0;
}
"""
)


def test_locks_loops_and_named_regions(tmp_path: Path, kernels: Kernels) -> None:
    program = built(tmp_path, EVERYTHING, "gcc", "-fopenmp")
    done = record("-o", str(tmp_path / "t"), "--", str(program))
    assert done.returncode == 0, done.stderr
    assert "not recorded: 3 nested parallel regions" in done.stderr
    analysis = analysed(tmp_path / "t", kernels)
    names = {name.partition(" @")[0] for name in entered(analysis.trace)}
    assert {"main", "my region", "parallel", "lock", "loop", "implicit barrier"} <= names
    line = next(n for n, text in enumerate(EVERYTHING.splitlines(), 1) if "threads(3)" in text)
    assert f"parallel @program.c:{line}" in entered(analysis.trace)
    assert any(path.startswith("main/my region/parallel") for path in analysis.names)
    # Threads have a lock one after the other, each for at least the 10 ms that it sleeps. A thread
    # notes that it has the lock before it sleeps, but it may be interrupted before it notes the
    # release: the next thread may have the lock by then.
    team = list(archive(tmp_path / "t").values())
    for lock in {lock for thread in team for lock in thread.held}:
        held = sorted(span for thread in team for span in thread.held.get(lock, []))
        assert len(held) == 3
        assert all(end - begin >= 10_000_000 for begin, end in held)
        assert all(then[0] - first[0] >= 10_000_000 for first, then in pairwise(held))
    locked = [at for at, name in enumerate(analysis.names) if re.search("/lock @[^/]+$", name)]
    inclusive = analysis.paths.inclusive()[:, locked].sum()
    assert inclusive == sum(call.length for thread in team for call in thread.of_role("CRITICAL"))


def test_a_program_without_instrumented_functions(tmp_path: Path, kernels: Kernels) -> None:
    text = SLEEP + "int main(void) {\n#pragma omp parallel num_threads(2)\nsleep_ms(5); return 0; }"
    program = built(tmp_path, text, "gcc", "-fopenmp", "-fno-instrument-functions")
    assert record("-o", str(tmp_path / "t"), "--", str(program)).returncode == 0
    analysis = analysed(tmp_path / "t", kernels)
    assert "main" in analysis.names
    assert len(analysis.trace.locations) == 2


IN_A_LOOP = (
    SLEEP
    + r"""
int main(void)
{
    for (int step = 0; step < 2; step++) {
#pragma omp parallel for num_threads(2) // the first
        for (int i = 0; i < 2; i++)
            sleep_ms(1);
#pragma omp parallel num_threads(2) // the second
        sleep_ms(1);
#pragma omp parallel for schedule(dynamic) num_threads(2) // the third
        for (int i = 0; i < 2; i++)
            sleep_ms(1);
    }
    return 0;
}
"""
)


@pytest.mark.parametrize("optimization", ["-O0", "-O2"])
def test_regions_in_one_statement_have_lines_of_directives(
    tmp_path: Path, kernels: Kernels, optimization: str
) -> None:
    """gcc gives all three calls the line of the loop around them."""
    program = built(
        tmp_path, IN_A_LOOP, "gcc", "-fopenmp", "-fno-instrument-functions", optimization
    )
    assert record("-o", str(tmp_path / "t"), "--", str(program)).returncode == 0
    regions = analysed(tmp_path / "t", kernels).trace.regions
    lines = IN_A_LOOP.splitlines()
    directives = {at for at, line in enumerate(lines, 1) if line.startswith("#pragma omp parallel")}
    for construct in ("parallel", "implicit barrier"):
        found = [region.line for region in regions if region.name.startswith(f"{construct} @")]
        assert sorted(line for line in found if line) == sorted(directives)


HYBRID = (
    SLEEP
    + r"""
#include <mpi.h>
void work(int slow) { sleep_ms(slow ? 60 : 30); }
int main(int count, char **words)
{
    int rank, size, given;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < 2; step++) {
        #pragma omp parallel num_threads(2)
        work(rank == 0 && omp_get_thread_num() == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""
)


@pytest.mark.skipif(not HAS_MPI, reason="no MPI")
def test_ranks_with_threads(tmp_path: Path, kernels: Kernels) -> None:
    """One thread of rank 0 is late: its team waits, and all ranks at the barrier."""
    program = built(tmp_path, HYBRID, "mpicc", "-fopenmp")
    record_ranks(tmp_path / "t", 3, program)
    analysis = analysed(tmp_path / "t", kernels)
    places = [(rank, thread) for rank in range(3) for thread in range(2)]
    assert [(place.rank, place.thread) for place in analysis.trace.locations] == places
    found = archive(tmp_path / "t")
    teams = dict.fromkeys(places, 0)
    ranks = dict.fromkeys(places, 0)
    for rank in range(3):
        team = [found[rank, thread].of_role("IMPLICIT_BARRIER") for thread in range(2)]
        assert {*map(len, team)} == {2}
        teams |= {(rank, thread): ticks for thread, ticks in enumerate(waits_for_last(team))}
    barriers = waits_for_last([found[rank, 0].named("MPI_Barrier") for rank in range(3)])
    ranks |= {(rank, 0): ticks for rank, ticks in enumerate(barriers)}
    assert teams[0, 1] > 0 < ranks[1, 0] + ranks[2, 0]
    assert seconds_waited(analysis, "omp_implicit_barrier") == seconds(teams)
    assert seconds_waited(analysis, "wait_barrier") == seconds(ranks)


def test_what_is_left_behind_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    assert thread_events(tmp_path) == {}
    (tmp_path / "events-7-0").write_bytes(bytes(64))
    (found,) = thread_events(tmp_path).values()
    assert found.threads == {0: ()}
    assert found.nested == 0


TASKS = (
    SLEEP
    + r"""
int main(int count, char **words)
{
    #pragma omp parallel num_threads(2)
    {
        #pragma omp single
        for (int at = 0; at < atoi(words[1]); at++) {
            #pragma omp task
            sleep_ms(2);
        }
    }
    return 0;
}
"""
)


def test_a_program_of_tasks_is_told_that_they_are_not_recorded(tmp_path: Path) -> None:
    """With what records them; without tasks nothing is said."""
    program = built(tmp_path, TASKS, "gcc", "-fopenmp")
    for tasks in (0, 5):
        done = record("-o", str(tmp_path / f"t{tasks}"), "--", str(program), str(tasks))
        assert done.returncode == 0, done.stderr
        told = [line for line in done.stderr.splitlines() if "explicit tasks" in line]
        assert len(told) == bool(tasks)
        if told:
            assert f"regionpredict tasks record -- {program} {tasks}" in told[0]
