"""`regionpredict run` and `measure --binary`: programs that are not recompiled."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow
from measured_programs import environment

from regionpredict.errors import InputError
from regionpredict.measure.binary import outlined_functions
from regionpredict.measure.hints_file import read_hints
from regionpredict.measure.store import read_campaign
from regionpredict.measure.thread_limits import limits_of

SOURCE = """#include <omp.h>
#include <stdio.h>
static int team[8], a, b, c, d, e;
static void note(int which)
{
#pragma omp atomic write
    team[which] = omp_get_num_threads();
}
int main(void)
{
#pragma omp parallel for
    for (int i = 0; i < 8; i++)
        note(0);
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < 10; i++)
        note(1);
#pragma omp parallel num_threads(2)
    {
        note(2);
#pragma omp for
        for (int i = 0; i < 8; i++)
            team[7] = i;
#pragma omp for
        for (int i = 0; i < 9; i++)
            team[6] = i;
    }
#pragma omp parallel for num_threads(3) firstprivate(a, b, c, d, e)
    for (int i = 0; i < 8; i++)
        note(a + b + c + d + e + 3);
#pragma omp parallel sections
    {
#pragma omp section
        note(4);
    }
    printf("%d %d %d %d %d\\n", team[0], team[1], team[2], team[3], team[4]);
    return team[0] == 9;
}
"""
LINES = [number for number, text in enumerate(SOURCE.splitlines(), 1) if "#pragma omp p" in text]
FOR, DYNAMIC, TEAM, CLAUSE, _ = LINES
INNER = [number for number, text in enumerate(SOURCE.splitlines(), 1) if text == "#pragma omp for"]


def _hints(folder: Path, threads: dict[int, int], file: str = "p.c") -> Path:
    regions = [
        {"id": f"{file}:{line}", "file": file, "line": line, "function": "main",
         "loop_line": line + 1,
         "status": "predicted", "packages": 1, "threads": most, "score": 0.5,
         "bottleneck": "compute", "confidence": 1.0, "borderline": False, "speedup": [],
         "assumed": []}
        for line, most in threads.items()
    ]  # fmt: skip
    machine = {"name": "m", "packages": 1, "cores_per_package": 4, "sha256": ""}
    document = {"schema": "regionpredict/hints/1", "machine": machine, "model": "density",
                "regions": regions}  # fmt: skip
    path = folder / "hints.json"
    path.write_text(json.dumps(document))
    return path


def _built(folder: Path, compiler: str, *flags: str) -> Path:
    if shutil.which("addr2line") is None or shutil.which("nm") is None:
        pytest.skip("needs binutils")
    (folder / "p.c").write_text(SOURCE)
    line = [compiler, *(flags or ("-g",)), "-O1", "-fopenmp", "p.c", "-o", "p"]
    done = subprocess.run(
        line, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode and "omp" in done.stderr:
        pytest.skip(f"{compiler} has no OpenMP library here")
    assert done.returncode == 0, done.stderr
    return folder / "p"


def _run(folder: Path, *words: str, threads: int = 4) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        timeout=600, check=False, env=environment(OMP_NUM_THREADS=str(threads)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("hints", "threads", "teams"),
    further_slow(
        3,
        [
            ({FOR: 1}, 4, "1 4 2 3 4"),
            ({FOR: 2, DYNAMIC: 3}, 4, "2 3 2 3 4"),
            ({DYNAMIC: 64, CLAUSE: 64}, 4, "4 4 2 3 4"),  # never above what it was given
            ({CLAUSE: 2}, 4, "4 4 2 2 4"),
            ({INNER[0]: 1, INNER[1]: 2}, 4, "4 4 2 3 4"),  # one team: the loop that can use most
            ({INNER[0]: 1, INNER[1]: 1}, 4, "4 4 1 3 4"),
            ({FOR: 3}, 2, "2 2 2 3 2"),
        ],
    ),
)
def test_each_region_has_its_team(
    tmp_path: Path, compiler: str, hints: dict[int, int], threads: int, teams: str
) -> None:
    _built(tmp_path, compiler)
    _hints(tmp_path, hints)
    done = _run(tmp_path, "run", "--hints", "hints.json", "--", "./p", threads=threads)
    assert (done.stdout.strip(), done.stderr) == (teams, "")


def test_one_parallel_runs_on_what_its_team_is_given(tmp_path: Path, compiler: str) -> None:
    # A loop inside asks for 2, the team for 1; the second team has no loop among the hints.
    _built(tmp_path, compiler)
    path = _hints(tmp_path, {INNER[0]: 2, INNER[1]: 2})
    document = json.loads(path.read_text())
    document["teams"] = [
        {"id": f"p.c:{TEAM}", "file": "p.c", "line": TEAM, "threads": 1,
         "regions": [f"p.c:{line}" for line in INNER]},
        {"id": f"p.c:{FOR}", "file": "p.c", "line": FOR, "threads": 3, "regions": ["p.c:1"]},
    ]  # fmt: skip
    path.write_text(json.dumps(document))
    done = _run(tmp_path, "run", "--hints", "hints.json", "--", "./p")
    assert (done.stdout.strip(), done.stderr) == ("3 4 1 3 4", "")
    document["plan"] = {"teams": [{"id": f"p.c:{FOR}", "threads": 2}]}
    path.write_text(json.dumps(document))
    done = _run(tmp_path, "run", "--hints", "hints.json", "--", "./p")
    assert (done.stdout.strip(), done.stderr) == ("2 4 1 3 4", "")


def test_what_was_changed_is_logged(tmp_path: Path, compiler: str) -> None:
    _built(tmp_path, compiler)
    _hints(tmp_path, {FOR: 1, DYNAMIC: 4})
    done = _run(tmp_path, "run", "--log", "--hints", "hints.json", "--", "./p")
    assert re.search(rf"p\.c:{FOR}: 1 thread instead of 4, 1 run, 0\.\d+ s", done.stderr)
    assert re.search(rf"p\.c:{DYNAMIC}: 4 threads, 1 run, 0\.\d+ s", done.stderr)


def test_outlined_functions_have_the_lines_of_their_loops(tmp_path: Path, compiler: str) -> None:
    functions = outlined_functions(_built(tmp_path, compiler))
    by_line = {one.line: one for one in functions}
    assert set(LINES) <= set(by_line)
    assert {one.function for one in functions} == {"main"}
    lines = {line for _, line in by_line[TEAM].lines}
    assert lines & {INNER[0], INNER[0] + 1}
    assert lines & {INNER[1], INNER[1] + 1}
    (limit,) = limits_of(read_hints(_hints(tmp_path, {FOR: 2})), [by_line[FOR], by_line[DYNAMIC]])
    assert (limit.threads, limit.outlined.line) == (2, FOR)


def test_the_program_ends_as_it_does_alone(tmp_path: Path, gcc: str) -> None:
    _built(tmp_path, gcc)
    _hints(tmp_path, {DYNAMIC: 1})
    assert _run(tmp_path, "run", "--hints", "hints.json", "./p", threads=9).returncode == 1


@pytest.mark.parametrize(
    ("flags", "file", "program", "message"),
    [
        (
            ("-g",),
            "other.c",
            "./p",
            "hints.json: hints for another program: none of their regions (1) is in it",
        ),
        (("-g0",), "p.c", "./p", "no debug information"),
        (("-g", "-s"), "p.c", "./p", "no parallel region in this program"),
        (("-g",), "p.c", "./q", "no program './q'"),
        (("-g",), "p.c", "./p.c", "no program './p.c'"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    tmp_path: Path, gcc: str, flags: tuple[str, ...], file: str, program: str, message: str
) -> None:
    _built(tmp_path, gcc, *flags)
    _hints(tmp_path, {FOR: 1}, file)
    done = _run(tmp_path, "run", "--hints", "hints.json", "--", program)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_program_is_measured_as_it_is(tmp_path: Path, compiler: str) -> None:
    program = _built(tmp_path, compiler)
    done = _run(
        tmp_path,
        "measure",
        "--binary",
        "--threads",
        "1,3",
        "--repeat",
        "2",
        "--quiet-wait",
        "none",
        "--",
        str(program),
    )
    assert done.returncode == 0, done.stderr
    campaign = read_campaign(tmp_path / "measurements.jsonl")
    run = next(run for run in campaign.measured if run.threads == 3)
    teams = {region.line: (region.executions, region.most_team) for region in run.regions}
    assert teams == {FOR: (1, 3), DYNAMIC: (1, 3), TEAM: (1, 2), CLAUSE: (1, 3), LINES[4]: (1, 3)}
    assert {region.file for region in run.regions} == {str(tmp_path / "p.c")}
    if compiler == "gcc":  # whose library is told the bounds of a dynamic loop
        dynamic = next(region for region in run.regions if region.line == DYNAMIC)
        assert (dynamic.counted, dynamic.trips) == (1, 10)


def test_a_program_without_parallel_regions_is_said(tmp_path: Path, gcc: str) -> None:
    (tmp_path / "q.c").write_text("int main(void) { return 0; }\n")
    subprocess.run([gcc, "-g", "q.c", "-o", "q"], cwd=tmp_path, check=True, timeout=600)
    with pytest.raises(InputError, match="no parallel region in this program"):
        outlined_functions(tmp_path / "q")


@pytest.mark.parametrize(
    ("pages", "words"), [("interleave", "--interleave=all"), (1, "--membind=1")]
)
def test_a_program_is_run_as_its_hints_are_for(
    tmp_path: Path, gcc: str, pages: str | int, words: str
) -> None:
    # A numactl that says how it was called, and runs the rest.
    _built(tmp_path, gcc)
    path = _hints(tmp_path, {FOR: 1})
    document = json.loads(path.read_text())
    document["run"] = {"pages": pages, "binding": "spread", "runtime": None}
    path.write_text(json.dumps(document))
    tool = tmp_path / "bin" / "numactl"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "$1 $OMP_PROC_BIND $OMP_PLACES"; shift; exec "$@"\n')
    tool.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "run", "--hints", "hints.json", "--", "./p"],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
        env={**environment(OMP_NUM_THREADS="4"), "PATH": f"{tool.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{words} spread cores"
    assert done.stdout.splitlines()[1].startswith("1 ")


def test_hints_for_placed_pages_need_numactl(tmp_path: Path, gcc: str) -> None:
    _built(tmp_path, gcc)
    path = _hints(tmp_path, {FOR: 1})
    document = json.loads(path.read_text())
    document["run"] = {"pages": "interleave", "binding": "close", "runtime": None}
    path.write_text(json.dumps(document))
    if shutil.which("numactl") is not None:
        pytest.skip("numactl is here")
    done = _run(tmp_path, "run", "--hints", "hints.json", "--", "./p")
    assert done.returncode == 1
    assert "install numactl" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    document["run"]["pages"] = "somewhere"
    path.write_text(json.dumps(document))
    done = _run(tmp_path, "run", "--hints", "hints.json", "--", "./p")
    assert done.returncode == 1
    assert "pages" in done.stderr


TWICE = """\
template <class T> void fill(T *v) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) v[i] = T(i);
}
double a[1000]; float b[1000]; volatile int seen;
int main() {
    fill(a); fill(b); fill(a);
#pragma omp parallel
    seen = 1;
    return 0;
}
"""


def test_a_region_of_several_functions_is_one_line_and_what_has_no_hint_has_its_place(
    tmp_path: Path, gcc: str
) -> None:
    """A template's instances are functions of one line; a team without loops has no hint."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    (tmp_path / "t.cpp").write_text(TWICE)
    build = ["g++", "-O1", "-g", "-fopenmp", "t.cpp", "-o", "p"]
    subprocess.run(build, cwd=tmp_path, check=True, timeout=600)
    predict = ("predict", "t.cpp", "-m", "dunnington", "--format", "json", "-o", "hints.json")
    assert _run(tmp_path, *predict).returncode == 0
    done = _run(tmp_path, "run", "--log", "--hints", "hints.json", "--", "./p")
    assert (done.returncode, done.stdout) == (0, "")
    filled, alone = sorted(done.stderr.splitlines(), key=lambda line: "none of its loops" in line)
    assert re.search(r"t\.cpp:2: \d threads?.*, 3 runs, 0\.\d+ s$", filled)
    assert re.search(r"t\.cpp:[89]: 4 threads, 1 run, 0\.\d+ s; the hints contain none", alone)


WRAPPED = """#include <stdio.h>
static double a[1000];
static void add(void)
{
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        a[i] += i;
}
int main(void)
{
    for (int t = 0; t < 10; t++)
        add();
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 1000; i++)
        a[i] *= 2;
    printf("%g\\n", a[5]);
    return 0;
}
"""


def test_a_program_of_the_wrapper_is_told_without_the_teams_that_it_asks_for_sizes(
    tmp_path: Path, compiler: str
) -> None:
    """It starts empty teams where it is measured; what is told of is the program's own."""
    if shutil.which("addr2line") is None:
        pytest.skip("needs binutils")
    (tmp_path / "p.c").write_text(WRAPPED)
    build = ("cc", "--", compiler, "-g", "-O1", "-fopenmp", "p.c", "-o", "p")
    done = _run(tmp_path, *build)
    if done.returncode and "omp" in done.stderr:
        pytest.skip(f"{compiler} has no OpenMP library here")
    assert done.returncode == 0, done.stderr
    _hints(tmp_path, {5: 1, 13: 2})
    done = _run(tmp_path, "run", "--log", "--hints", "hints.json", "--", "./p")
    assert (done.returncode, done.stdout) == (0, "100\n")
    told = sorted(line.split("p.c:")[1].split(",")[:2] for line in done.stderr.splitlines())
    assert told == [["13: 2 threads", " 1 run"], ["5: 1 thread instead of 4", " 10 runs"]]
    done = _run(tmp_path, "measure", "--quiet-wait", "none", "--binary", "--threads", "2",
                "--repeat", "1", "-o", "m.jsonl", "--", "./p")  # fmt: skip
    assert done.returncode == 0, done.stderr
    campaign = read_campaign(tmp_path / "m.jsonl")
    assert sorted(region.line for region in campaign.runs[0].regions) == [5, 13]
