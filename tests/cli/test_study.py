"""`study` as a process on a small program, and the loops of its sweeps."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from regionpredict.frontend import SourceRequest
from regionpredict.machine import load
from regionpredict.model_sweeps import model_sweeps, sweep_source
from regionpredict.pipeline import analyse
from regionpredict.report.plots.drawn import figure_of
from regionpredict.report.study_page import Figure, sweep_curve
from tests.report.html_pages import blocks_of

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
#include <stdio.h>
static double a[40000], b[40000];
int main(void)
{
    for (int t = 0; t < 30; t++) {
#pragma omp parallel for
        for (int i = 0; i < 40000; i++) a[i] = b[i] + 0.5 * a[i];
    }
#pragma omp parallel for
    for (int i = 0; i < 40000; i++) b[i] = a[i] / 3.0;
    printf("%g\\n", b[7]);
    return 0;
}
"""


def _run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        line, cwd=folder, env=settings, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.compiler
@pytest.mark.slow
def test_a_program_is_studied_in_one_command_and_goes_on(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (tmp_path / "p.c").write_text(PROGRAM)
    made = _run("cc", "--", "gcc", "-O1", "-fopenmp", "p.c", "-o", "p", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert _run("machines", "detect", "-o", "here.yaml", folder=tmp_path).returncode == 0
    words = ("study", "--source", "p.c", "-m", "here.yaml", "--threads", "1,2", "--repeat", "1",
             "--quiet-wait", "none", "--with-disturbed", "-o", "out", "--", "./p")  # fmt: skip
    done = _run(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "study.md").read_text()
    assert done.stdout.endswith("\n")
    assert "Right is the fewest within 10 %" in done.stdout
    assert "Right is the area of decision" in done.stdout
    heads = [line.split("  ") for line in done.stdout.splitlines() if "density, weighted " in line]
    assert len(heads) == 2
    assert max(map(len, done.stdout.splitlines())) <= 80
    drawn = blocks_of(tmp_path / "out" / "study.html", "scatter")
    assert {one["y"] for one in drawn} == {"utilization (%)"}
    assert len(drawn) == 6  # three models by two criteria
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][2:]
    assert [row[0] for row in rows] == [
        name
        for model in ("density", "density, weighted", "saturation")
        for name in (f"| {model}",) * 2
    ]
    for model, criterion in (("density", "utilisation"), ("saturation", "best")):
        text = (tmp_path / "out" / f"comparison-{model}-{criterion}.json").read_text()
        document = json.loads(text)
        share = document["success"]
        row = next(
            r for r in rows if r[0] == f"| {model}" and ("area" in r[1]) == (criterion != "best")
        )
        assert row[2] == f"{100 * share['share']:.1f} % ({share['right']} of {share['judged']})"
    # The hints say what they were made from, so that they can be made anew.
    for model in ("density", "density-weighted", "saturation"):
        hints = f"out/hints-{model}.json"
        anew = _run("compare", hints, "out/measurements.jsonl", "--at-measured-sizes",
                    "--with-disturbed", "--format", "json", folder=tmp_path)  # fmt: skip
        assert anew.returncode == 0, anew.stderr
        first = (tmp_path / "out" / f"comparison-{model}-best.json").read_text()
        for one, other in zip(
            json.loads(anew.stdout)["regions"], json.loads(first)["regions"], strict=True
        ):
            assert (one["id"], one["hinted"]) == (other["id"], other["hinted"])
    # Every region at each number of threads, by each model and rule.
    with (tmp_path / "out" / "study.csv").open() as file:
        listed = list(csv.DictReader(file))
    assert len(listed) == 3 * 2 * 2 * 2
    assert len({(row["model"], row["right_is"]) for row in listed}) == 3 * 2
    # What the page shows is there, and is a picture.
    for name in [line.partition("](")[2].rstrip(")") for line in page.splitlines() if "](" in line]:
        ElementTree.parse(tmp_path / "out" / name)
    runs = (tmp_path / "out" / "measurements.jsonl").read_text()
    at = words.index("-o")
    again = _run(*words[:at], "--format", "csv", *words[at:], folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout == (tmp_path / "out" / "study.csv").read_text()
    assert (tmp_path / "out" / "measurements.jsonl").read_text() == runs


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--source", "p.c", "-m", "dunnington", "-o", "out"), "no program"),
        (("--source", "none.c", "-m", "dunnington", "-o", "out", "--", "./p"), "none.c"),
    ],
)
def test_wrong_calls_are_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = _run("study", *words, folder=tmp_path)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "study.md").exists()


@pytest.mark.parametrize("name", ["dunnington", "epyc-7451"])
def test_sweeps_turn_the_way_the_thesis_shows(tmp_path: Path, name: str) -> None:
    machine = load(name)
    source = tmp_path / "sweeps.c"
    source.write_text(sweep_source(machine))
    sweeps = {sweep.name: sweep.points for sweep in model_sweeps(machine, source)}
    # Figure 4.2 and equation 4.2: nothing is missed while all fits, then ever more.
    scores = [point.score for point in sweeps["working-set"]]
    known = [score for score in scores if score is not None]
    assert len(known) == len(scores)
    fitting = [p.score for p in sweeps["working-set"] if p.x <= 1]
    assert fitting == [1.0] * len(fitting)
    assert known == sorted(known, reverse=True)
    assert known[-1] < 1.0
    # The more arithmetic beside a reference, the better the region uses cores (equation 4.1).
    row = [point.score for point in sweeps["operations"]]
    assert row == sorted(row, key=lambda score: score or 0.0)
    assert all(point.efficiency is not None for points in sweeps.values() for point in points)


def test_sweeps_are_loops_that_both_readers_read_alike(tmp_path: Path) -> None:
    source = tmp_path / "sweeps.c"
    source.write_text(sweep_source(load("dunnington")))
    read = [
        analyse([SourceRequest(str(source))], {}, frontend=name, flows=False).facts
        for name in ("libclang", "pycparser")
    ]
    trips = [[own.iterations.value for own in facts] for facts in read]
    assert trips[0] == trips[1]
    assert None not in trips[0]


def test_a_sweep_has_its_lines_from_0_up_and_the_whole_width() -> None:
    lines = {"one": [(1, 0.5), (4, 1.5)], "two": [(1, 0.0), (2, 0.25)]}
    (axes,) = figure_of(sweep_curve(Figure("", "m", "x", lines))).axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}
    assert lines == {"one": [[1, 0.5], [4, 1.5]], "two": [[1, 0.0], [2, 0.25]]}
    assert axes.get_xlim() == (1, 4)
    assert axes.get_ylim() == (0, pytest.approx(1.575))
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker())
             for line in axes.get_lines()}  # fmt: skip
    assert len({colour for colour, _, _ in looks}) == len({dash for _, dash, _ in looks}) == 2
