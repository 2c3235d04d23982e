"""`regionpredict run` on loops that threads share by their numbers, as a user runs it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from measured_programs import environment

# A team asks for its size, or counts on what was asked before; each adds 1 to every element, few
# enough for one thread to be the hint.
SOURCE = """#include <omp.h>
#include <stdio.h>
static double asked[64], before[64];
int main(void)
{
    int nt = omp_get_max_threads();
#pragma omp parallel
    {
        int t = omp_get_thread_num(), p = omp_get_num_threads();
        for (int i = t * 64 / p; i < (t + 1) * 64 / p; i++)
            asked[i] += p;
    }
%s
    double sum = 0;
    for (int i = 0; i < 64; i++)
        sum += asked[i] + before[i];
    printf("%%g\\n", sum);
    return 0;
}
"""
COUNTS_ON_NT = """#pragma omp parallel
    {
        int t = omp_get_thread_num();
        for (int i = t * 64 / nt; i < (t + 1) * 64 / nt; i++)
            before[i] += 100;
    }"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        timeout=600, check=False, env=environment(OMP_NUM_THREADS="4", OMP_DYNAMIC="false"),
    )  # fmt: skip


def _built(folder: Path, compiler: str, source: str) -> None:
    if shutil.which("addr2line") is None or shutil.which("nm") is None:
        pytest.skip("needs binutils")
    (folder / "p.c").write_text(source)
    line = [compiler, "-g", "-O1", "-fopenmp", "p.c", "-o", "p"]
    done = subprocess.run(
        line, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode and "omp" in done.stderr:
        pytest.skip(f"{compiler} has no OpenMP library here")
    assert done.returncode == 0, done.stderr


def _compared(folder: Path) -> str:
    """What `compare` says of h.json and two runs of p.c, measured on 1 and 2 threads."""
    for words in (
        ("cc", "--", "gcc", "-O1", "-fopenmp", "p.c", "-o", "p"),
        ("measure", "--threads", "1,2", "--repeat", "2", "--quiet-wait", "none", "-o",
         "runs.jsonl", "--", "./p"),
        ("compare", "h.json", "runs.jsonl", "--other-machine", "--with-disturbed"),
    ):  # fmt: skip
        done = _run(folder, *words)
        assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_team_that_counts_on_its_size_keeps_it(tmp_path: Path, compiler: str) -> None:
    """The other one takes its hint of one thread; no element is left out in either."""
    _built(tmp_path, compiler, SOURCE % COUNTS_ON_NT)
    made = _run(tmp_path, "predict", "p.c", "-m", "dunnington", "--format", "json", "-o", "h.json")
    assert made.returncode == 0, made.stderr
    teams = json.loads((tmp_path / "h.json").read_text())["teams"]
    assert [(team["threads"], team.get("size_set_before")) for team in teams] == [
        (1, None), (1, "nt"),
    ]  # fmt: skip
    done = _run(tmp_path, "run", "--hints", "h.json", "--", "./p")
    assert (done.stdout, done.returncode) == (f"{64 * 1 + 64 * 100}\n", 0)


def test_hints_that_no_team_may_be_given(tmp_path: Path, compiler: str) -> None:
    """One line says where the number is set, and nothing is run."""
    loop = SOURCE % ""
    alone = loop[: loop.index("#pragma")] + COUNTS_ON_NT + loop[loop.index("    double sum") :]
    _built(tmp_path, compiler, alone)
    _run(tmp_path, "predict", "p.c", "-m", "dunnington", "--format", "json", "-o", "h.json")
    done = _run(tmp_path, "run", "--hints", "h.json", "--", "./p")
    assert done.returncode != 0 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "whose number of threads must be nt" in line and "OMP_NUM_THREADS" in line


def test_the_clause_is_no_clause_where_the_size_is_set(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(SOURCE % COUNTS_ON_NT)
    done = _run(tmp_path, "predict", "p.c", "-m", "dunnington", "--format", "openmp")
    text = done.stdout.replace("\n        // ", "   // ")  # the comment of a long row, below it
    rows = [line for line in text.splitlines() if line.lstrip()[:1].isdigit()]
    told = [line.split(":", 1)[1].strip() for line in rows]
    assert told == [
        "#pragma omp parallel   num_threads(1) proc_bind(close)",
        "a loop shared by thread number   // in the parallel region at line 7",
        "#pragma omp parallel   // 1 thread: its loops use nt, change it there",
        "a loop shared by thread number   // in the parallel region at line 13",
    ]


OVER_THREADS = """#include <omp.h>
#include <stdio.h>
static double a[3000];
int main(void)
{
    int nt = omp_get_max_threads();
#pragma omp parallel for
    for (int t = 0; t < nt; t++)
        for (int i = t * 3000 / nt; i < (t + 1) * 3000 / nt; i++)
            a[i] += i;
    printf("%g\\n", a[2999]);
    return 0;
}
"""


# A campaign; the one of a loop without a directive is compared below.
@pytest.mark.slow
def test_a_loop_over_the_threads_is_compared_with_its_measurement(tmp_path: Path) -> None:
    """It is predicted for 3,000 iterations and measured with as many as there are threads."""
    (tmp_path / "p.c").write_text(OVER_THREADS)
    _run(tmp_path, "predict", "p.c", "-m", "dunnington", "--format", "json", "-o", "h.json")
    (region,) = json.loads((tmp_path / "h.json").read_text())["regions"]
    assert (region["iterations"]["value"], region["over_threads"]) == (3000, True)
    compared = _compared(tmp_path)
    assert "p.c:7 main" in compared and "iterations, predicted" not in compared


def test_a_loop_without_a_directive_is_timed_by_its_team(tmp_path: Path) -> None:
    """No calls can be put around it: not it but the `parallel` at line 7 is compared."""
    both = (SOURCE % "").replace(
        "    double sum", "#pragma omp parallel for\n    for (int i = 0; i < 64; i++)\n"
        "        before[i] += 1;\n    double sum",
    )  # fmt: skip
    (tmp_path / "p.c").write_text(both)
    _run(tmp_path, "predict", "p.c", "-m", "dunnington", "--format", "json", "-o", "h.json")
    compared = _compared(tmp_path)
    assert "without a measurement" not in compared
    teams = compared[compared.index("\nparallel region ") + 1 :].splitlines()
    assert teams[1].startswith("p.c:7 main ")
