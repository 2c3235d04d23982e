"""A `parallel` measured as a whole: what its threads share by hand has no directive of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from further_cases import further_slow
from measured_programs import environment

N, TIMES = 1001, 3
# Lines matter: teams at 15 (the loop at 18), 22 (a callee's loop at 8) and 24, a `parallel for` at
# 30. Every element is added once a time, whatever the threads.
SOURCE = """#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static double a[4096], b[4096];
static void add_part(int n)
{
    int t = omp_get_thread_num(), p = omp_get_num_threads();
    for (int i = t * n / p; i < (t + 1) * n / p; i++)
        a[i] += 100;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), times = 3;
    for (int k = 0; k < times; k++) {
#pragma omp parallel default(none) shared(a, n)
        {
            int t = omp_get_thread_num(), p = omp_get_num_threads();
            for (int i = t * n / p; i < (t + 1) * n / p; i++)
                a[i] += 1;
        }
    }
#pragma omp parallel
    add_part(n);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) b[i] = a[i];
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += b[i]; }
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] += 1;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] + b[i];
    printf("%g\\n", sum);
    return 0;
}
"""
SUM = 3 * (TIMES + 100) * N + N  # a is doubled, b is what a was, plus 1
BY_HAND, IN_CALLEE, OF_LOOPS, COMBINED = 15, 22, 24, 30


def _call(folder: Path, *words: str, threads: int = 2, **more: str) -> str:
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env=environment(OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false", **more),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def _tool(folder: Path, *words: str) -> str:
    return _call(folder, sys.executable, "-m", "regionpredict", *words)


def _failure(folder: Path, *words: str) -> str:
    """The line that a refusal says."""
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        timeout=600, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode != 0 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture
def built(tmp_path: Path, compiler: str) -> Path:
    """The folder of the program, built with the wrapper."""
    (tmp_path / "p.c").write_text(SOURCE)
    _tool(tmp_path, "cc", "--", compiler, "-g", "-O2", "-fopenmp", "p.c", "-o", "p")
    return tmp_path


def _lines(folder: Path, threads: int) -> list[dict[str, Any]]:
    output = folder / f"{threads}.results"
    said = _call(folder, "./p", str(N), threads=threads, REGIONPREDICT_OUTPUT=str(output))
    assert said == f"{SUM:g}\n"
    return [json.loads(line) for line in output.read_text().splitlines()]


@pytest.mark.parametrize("compiler", further_slow(1, ["gcc", "clang-19"]), indirect=True)
@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_team_records(built: Path, threads: int) -> None:
    """Each `parallel` once, not the combined one; how long the loops are that threads share, summed
    over them, and the names that say so."""
    lines = _lines(built, threads)
    teams = {line["line"]: line for line in lines if line["kind"] == "team"}
    assert {at: team["executions"] for at, team in teams.items()} == {
        BY_HAND: TIMES, IN_CALLEE: 1, OF_LOOPS: 1,
    }  # fmt: skip
    assert {(team["least_team"], team["most_team"]) for team in teams.values()} == {
        (threads, threads)
    }
    assert all(team["counted"] == 0 and team["function"] == "main" for team in teams.values())
    regions = {line["line"]: line for line in lines if line["kind"] == "region"}
    assert sorted(regions) == [OF_LOOPS + 2, OF_LOOPS + 4, COMBINED]
    inside = regions[OF_LOOPS + 2]["total_ns"] + regions[OF_LOOPS + 4]["total_ns"]
    assert teams[OF_LOOPS]["total_ns"] >= inside
    sizes = {(line["line"], line["name"]): (line["entries"], line["least"], line["most"])
             for line in lines if line["kind"] == "team_size"}  # fmt: skip
    assert sizes == {
        (BY_HAND, "n"): (TIMES, N, N), (BY_HAND, "times"): (TIMES, TIMES, TIMES),
        (BY_HAND, "p.c:18"): (TIMES, N, N), (IN_CALLEE, "p.c:8"): (1, N, N),
    }  # fmt: skip


def _compared(folder: Path, runs: str, *words: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        _tool(folder, "compare", "h.json", runs, "--other-machine", "--with-disturbed", "--format",
              "json", *words)
    )  # fmt: skip
    return document


def _measure(folder: Path, runs: str, n: int, *words: str) -> None:
    _tool(folder, "measure", *words, "--threads", "1,2", "--repeat", "2", "--quiet-wait", "none",
          "-o", runs, "--", "./p", str(n))  # fmt: skip


def _hints(folder: Path, n: int) -> None:
    _tool(folder, "predict", "p.c", "-m", "dunnington", "--set", f"n={n}", "--format", "json",
          "-o", "h.json")  # fmt: skip


def test_teams_are_compared_and_nothing_is_counted_twice(built: Path) -> None:
    """Three regions, and three teams, none of which is one region alone."""
    _hints(built, N)
    _measure(built, "runs.jsonl", N)
    result = _compared(built, "runs.jsonl")
    assert [region["id"] for region in result["regions"]] == ["p.c:26", "p.c:28", "p.c:30"]
    assert [(team["id"], team["regions"], team["counted"]) for team in result["teams"]] == [
        ("p.c:15", ["p.c:18"], True), ("p.c:22", ["p.c:8"], True),
        ("p.c:24", ["p.c:26", "p.c:28"], True),
    ]  # fmt: skip
    assert result["success"]["judged"] == 6
    assert (result["not_measured"], result["without_hint"]) == ([], [])
    predicted = json.loads((built / "h.json").read_text())["teams"]
    curves = {team["id"]: {str(p["threads"]): p["value"] for p in team["speedup"]}
              for team in predicted}  # fmt: skip
    for team in result["teams"]:
        assert team["predicted_speedup"] == curves[team["id"]]
        assert sorted(team["seconds"]) == ["1", "2"]


@pytest.mark.slow
def test_a_team_of_another_size_is_refused_or_predicted_anew(built: Path) -> None:
    alone = (
        SOURCE[: SOURCE.index("#pragma omp parallel\n")] + SOURCE[SOURCE.index("    double s") :]
    )
    (built / "p.c").write_text(alone)
    _tool(built, "cc", "--", "gcc", "-O2", "-fopenmp", "p.c", "-o", "p")
    _hints(built, 4000)
    _measure(built, "runs.jsonl", N)
    words = ("compare", "h.json", "runs.jsonl", "--other-machine", "--with-disturbed")
    assert "p.c:15 was measured with 1001 iterations, predicted for 4000 (p.c:18)" in _failure(
        built, *words
    )
    result = _compared(built, "runs.jsonl", "--at-measured-sizes")
    assert [team["incomparable"] for team in result["teams"]] == [None]


@pytest.mark.slow
def test_a_run_tells_how_long_loops_are_that_threads_share(built: Path) -> None:
    """Also where they have moved; where the `parallel` is another one, the run is refused."""
    output = built / "2.results"
    _lines(built, 2)
    for text in (SOURCE, "/* a line more */\n" + SOURCE):
        (built / "p.c").write_text(text)
        document = json.loads(
            _tool(built, "predict", "p.c", "-m", "dunnington", "--sizes-from", str(output),
                  "--format", "json")
        )  # fmt: skip
        assert {region["iterations"]["value"] for region in document["regions"]} == {N}
    (built / "p.c").write_text(SOURCE.replace("a[i] += 1;", "a[i] += 2;"))
    line = _failure(built, "predict", "p.c", "-m", "dunnington", "--sizes-from", str(output))
    assert "recorded from other sources" in line and "p.c:15" in line


@pytest.mark.slow
def test_a_binarys_parallel_is_the_team(built: Path) -> None:
    if shutil.which("addr2line") is None or shutil.which("nm") is None:
        pytest.skip("needs binutils")
    _call(built, "gcc", "-g", "-O2", "-fopenmp", "p.c", "-o", "p")
    _hints(built, N)
    _measure(built, "runs.jsonl", N, "--binary")
    result = _compared(built, "runs.jsonl")
    assert [region["id"] for region in result["regions"]] == ["p.c:30"]
    assert [team["id"] for team in result["teams"]] == ["p.c:15", "p.c:22", "p.c:24"]
    assert result["not_measured"] == ["p.c:26", "p.c:28"]


CALLS = """#include <omp.h>
#include <stdio.h>
static double a[64];
static int calls;
static int next(int n) { calls++; return n; }
int main(void)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num(), p = omp_get_num_threads();
        for (int i = t * 64 / p; i < next((t + 1) * 64 / p); i++)
            a[i] += 1;
    }
    printf("%d\\n", calls);
    return 0;
}
"""


def test_no_call_is_made_once_more(tmp_path: Path, gcc: str) -> None:
    """The header of a loop without a directive may say what a program notices: 64 turns and an end
    on one thread, whoever measures."""
    (tmp_path / "p.c").write_text(CALLS)
    _tool(tmp_path, "cc", "--", gcc, "-O2", "-fopenmp", "p.c", "-o", "p")
    said = _call(tmp_path, "./p", threads=1, REGIONPREDICT_OUTPUT=str(tmp_path / "out"))
    assert said == "65\n"
    assert '"kind":"team"' in (tmp_path / "out").read_text()
