"""Several outputs give a number of threads, each by its rule: they say which, and keep to it.

On both suites: rows are what JSON says of loops and teams, clauses are what `run` gives, and the
job's number is the fewest within a tenth of the least time by definition.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from regionpredict.errors import plural
from regionpredict.measure.hints_file import Hints, read_hints
from regionpredict.predict.constants import PROGRAM_SLACK

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^ *(\d+)  \S+ .* [\d.]+x[~ ] *(\d+) +(\d+)")


class Outputs(NamedTuple):
    table: str
    clauses: str
    job: str
    document: dict[str, Any]
    hints: Hints


def predicted(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", *words, "-m", "dunnington"], cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["polybench_samples", "npb_samples"])
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    words = [str(request.param), f"-I{request.param}/common", "-DCLASS_S"]
    file = tmp_path_factory.mktemp("hints") / "hints.json"
    file.write_text(predicted(*words, "--format", "json"))
    return Outputs(
        predicted(*words, "--all"), predicted(*words, "--format", "openmp"),
        predicted(*words, "--format", "slurm"), json.loads(file.read_text()), read_hints(file),
    )  # fmt: skip


def by_file(text: str) -> dict[tuple[str, int], str]:
    """Lines that begin with a line's number, by file and number, the first of each."""
    lines: dict[tuple[str, int], str] = {}
    file = ""
    for line in text.splitlines():
        number = re.match(r" *(\d+)[: ]", line)
        if number is None:
            file = line if line.endswith(".c") else file
        else:
            lines.setdefault((file, int(number[1])), line)
    return lines


@pytest.mark.slow
def test_rows_are_the_hints_of_loops_and_teams_by_themselves(outputs: Outputs) -> None:
    rule = "gain is the speedup. pk, thr: best packages, threads for this loop alone"
    assert rule in outputs.table.splitlines()
    hints = {
        (hint["file"], hint["line"]): hint["threads"]
        for hint in (*outputs.document["regions"], *outputs.document["teams"])
    }
    rows = {
        place: int(row[3]) for place, line in by_file(outputs.table).items()
        if place in hints and (row := ROW.match(line))
    }  # fmt: skip
    assert len(rows) > 20
    assert {place: hints[place] for place in rows} == rows


@pytest.mark.slow
def test_clauses_are_what_run_gives(outputs: Outputs) -> None:
    head = "// num_threads: from the plan, best for the whole program, as in run"
    program = outputs.document["program"]
    limit = f"// no loop gets more than the program's {plural(program['threads'], 'thread')}"
    assert outputs.clauses.splitlines()[:2] == [head, limit]
    given = {(team.file, team.line): team.threads for team in outputs.hints.teams if team.threads}
    clauses = {
        place: int(number[1])
        for place, line in by_file(outputs.clauses.replace("\\\n", "")).items()
        if (number := re.search(r"num_threads\((\d+)\) proc_bind", line))
    }  # fmt: skip
    assert len(clauses) > 10
    assert {place: given[place] for place in clauses} == clauses
    assert max(clauses.values()) <= program["threads"]
    alone = {(team["file"], team["line"]): team["threads"] for team in outputs.document["teams"]}
    assert any(clauses[place] != alone[place] for place in clauses), "else the rules are one"


@pytest.mark.slow
def test_what_run_gives_is_the_plan_within_the_programs_number(outputs: Outputs) -> None:
    wanted: dict[str, set[int]] = {}
    for plan in outputs.document["plans"]:
        for team in plan["teams"]:
            wanted.setdefault(team["id"], set()).add(team["threads"])
    own = {team["id"]: team["threads"] for team in outputs.document["teams"]}
    most = outputs.document["program"]["threads"]
    if len(outputs.document["plans"]) == 1 and len({*map(frozenset, wanted.values())}) == 1:
        wanted = {team: {most} for team in wanted}  # one program, and a plan without a change
    for team in outputs.hints.teams:
        sizes = wanted.get(team.id, set())
        threads = sizes.pop() if len(sizes) == 1 else own[team.id]
        assert team.threads == (None if threads is None else min(threads, most))


def _executions(team: dict[str, Any]) -> float:
    """As often as it is told to run; where it is not known, as often as it is said to count."""
    if team["executions"]["value"] is not None:
        return float(team["executions"]["value"])
    counted = [re.match(r"counted as running (\d+) times", line) for line in team["assumed"]]
    (times,) = [float(match[1]) for match in counted if match]
    return times


@pytest.mark.slow
def test_the_job_has_the_fewest_within_a_tenth(outputs: Outputs) -> None:
    rule = "# one number for the whole program: the fewest threads within 10 % of the least time"
    assert rule in outputs.job.splitlines()
    teams = [team for team in outputs.document["teams"] if team["seconds"] is not None]
    serial = sum(own["serial_share"] * own["seconds"] for own in outputs.document["programs"])
    time = {
        threads: serial + sum(
            _executions(team) * team["seconds"]
            / max((p["threads"], p["value"]) for p in team["speedup"] if p["threads"] <= threads)[1]
            for team in teams
        )
        for threads in range(1, 25)
    }  # fmt: skip
    fewest = min(n for n in time if time[n] <= (1 + PROGRAM_SLACK.value) * min(time.values()))
    assert f"--cpus-per-task={fewest}\n" in outputs.job
    program = outputs.document["program"]
    assert program["threads"] == fewest
    assert program["seconds"] == pytest.approx(time[fewest], rel=1e-3)  # of four digits
    assert program["speedup"] == pytest.approx(time[1] / time[fewest], rel=1e-3)
    number = len(outputs.document["programs"])
    assert outputs.table.startswith(
        f"Use {plural(fewest, 'thread')} on {plural(program['packages'], 'package')} "
        f"for {number} programs together: "
    )


def test_a_loop_that_wants_all_hardware_threads_keeps_them(tmp_path: Path) -> None:
    """A plan knows one thread a core."""
    source = tmp_path / "f.c"
    source.write_text(
        "double chains(int n, double *a) {\n"
        "#pragma omp parallel for schedule(static)\n"
        "  for (int i = 0; i < n; i++)\n"
        "    for (int k = 0; k < 1000; k++) a[i] = 0.5 * a[i] + 1.0;\n"
        "  return a[0];\n}\n"
    )
    words = [str(source), "--set", "n=20000000", "-m", "skylake-gold-6148"]

    def shown(*more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "regionpredict", "predict", *words, *more],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    document = json.loads(shown("--format", "json"))
    (team,) = document["teams"]
    assert team["threads_per_core"] == 2, "the case is another"
    file = tmp_path / "hints.json"
    file.write_text(json.dumps(document))
    assert [given.threads for given in read_hints(file).teams] == [team["threads"]]
    clauses = shown("--format", "openmp").splitlines()
    assert clauses[0] == "// num_threads: best for each parallel region alone"
    assert f"num_threads({team['threads']}) proc_bind(close)" in clauses[4]
