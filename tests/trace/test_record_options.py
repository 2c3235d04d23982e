"""Recordings without some functions, with a limit, and with counters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from archive_calls import archive
from recording import HAS_MPI, built, record

from regionpredict.measure.excluded_functions import excluded_addresses
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2

pytest.importorskip("otf2")
pytestmark = [
    pytest.mark.compiler,
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_MPI, reason="no MPI"),
]
PAGES = 4096
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
static int rank;
int tiny_step(int x) { return x + 1; }
void touch(int pages)
{
    volatile char *all = mmap(0, pages * 4096L, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)all, pages * 4096L, MADV_NOHUGEPAGE);
    for (long at = 0; at < pages; at++)
        all[at * 4096] = 1;
}
int main(int count, char **words)
{
    int sum = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < atoi(words[1]); round++) {
        sum += tiny_step(round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1) touch(4096);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == 42;
}
"""


def run(folder: Path, rounds: int, *options: str) -> str:
    """What the command says of a recording on two ranks in `folder / "t"`."""
    program = built(folder, PROGRAM)
    launch = ("mpirun", "--oversubscribe", "-n", "2", str(program), str(rounds))
    done = record("-o", str(folder / "t"), *options, "--", *launch)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_excluded_functions_are_not_recorded(tmp_path: Path) -> None:
    said = run(tmp_path, 5, "--exclude", "tiny_*")
    for rank in archive(tmp_path / "t").values():
        names = {call.name for call in rank.calls}
        assert "tiny_step" not in names
        assert "main" in names
        assert len(rank.named("MPI_Barrier")) == 6
    assert len(archive(tmp_path / "t")[1, 0].named("touch")) == 1
    assert re.search(r": \d+ events, \d+ ns each, [\d.e-]+ % of the run", said)


def test_a_pattern_without_a_function_is_refused(tmp_path: Path) -> None:
    program = built(tmp_path, PROGRAM)
    done = record("-o", str(tmp_path / "t"), "--exclude", "huge_*", "--", str(program), "1")
    assert done.returncode == 1
    assert "no function of the program matches 'huge_*'" in done.stderr
    assert len(excluded_addresses([program], ["touch", "t*"])) >= 2


def test_at_the_limit_all_ranks_end_together(tmp_path: Path, kernels: Kernels) -> None:
    """One MiB has 26,214 events of MPI, or 32,768 of functions: 20,000 rounds have more."""
    said = run(tmp_path, 20_000, "--limit", "1")
    assert "the recording ends after" in said
    assert "when a thread had 1 MB of events; for later events, pass a larger --limit" in said
    ranks = archive(tmp_path / "t").values()
    met = [len(rank.named("MPI_Barrier")) for rank in ranks]
    assert 0 < min(met) <= max(met) < 20_000
    assert max(met) - min(met) <= 1  # none leaves a barrier before the other has entered it
    assert all(not rank.named("MPI_Finalize") for rank in ranks)
    analysis = analyse(read_otf2(tmp_path / "t", kernels), kernels)
    assert len(analysis.trace.locations) == 2


def test_counters_grow_where_the_program_counts(tmp_path: Path, kernels: Kernels) -> None:
    """Rank 1 touches new pages in one function, which are faults there."""
    said = run(tmp_path, 3, "--counter", "page-faults", "--counter", "task-clock")
    if "gives programs no" in said:
        pytest.skip("no counters on this machine")
    trace = read_otf2(tmp_path / "t", kernels)
    assert [counter.name for counter in trace.counters] == ["page-faults", "task-clock"]
    faults = trace.counters[0]
    most = int(faults.increase.argmax())
    assert PAGES <= faults.increase[most] < 2 * PAGES
    place = trace.locations[int(trace.locations_of(faults.event[most : most + 1])[0])]
    assert place.rank == 1
    region = trace.regions[trace.region[faults.event[most]]]
    assert region.name == "touch"
