"""Regions that main never comes to: told, counted in no plan, and no size is asked for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow

LOOP = """static void {0}(double *a, int {1}) {{
#pragma omp parallel for
  for (int i = 0; i < {1}; i++) a[i] *= 2.0;
}}
"""
USED, UNUSED = LOOP.format("used", "n"), LOOP.format("unused", "m").replace("static ", "")
MAIN = """int main(int argc, char **argv) {{
  int n = atoi(argv[1]);
  double *a = malloc(8 * n);
{0}  return 0;
}}
"""
CALLS = "  for (int t = 0; t < 10; t++) used(a, n);\n"
TOLD = "apparently does not run"


def ran(folder: Path, text: str, *words: str) -> str:
    (folder / "f.c").write_text(text)
    command, *rest = words
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", command, "f.c", "-m", "dunnington", *rest],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_counts_in_no_plan_and_its_size_is_not_asked_for(tmp_path: Path) -> None:
    text = USED + UNUSED + MAIN.format(CALLS)
    told = json.loads(ran(tmp_path, text, "predict", "--set", "n=3000000", "--format", "json"))
    assert [team["executions"]["value"] for team in told["teams"]] == [10, 0]
    assert [team["id"] for team in told["plan"]["teams"]] == ["f.c:2"]
    assert told["unbound"] == []
    table = ran(tmp_path, text, "predict")
    assert "unused" in table and TOLD in table
    asked = json.loads(ran(tmp_path, text, "sizes", "--format", "json"))
    assert asked["regions"] == len(asked["unbound"]) == 1
    assert asked["unbound"][0]["name"] != "m"


def test_it_is_none_of_the_teams_that_the_first_lines_count(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(UNUSED + MAIN.format(CALLS))
    (tmp_path / "g.c").write_text(USED.replace("static ", ""))
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", ".", "-m", "dunnington", "--all"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 of 1 parallel region depends on unknown sizes" in done.stdout


@pytest.mark.parametrize(
    "text",
    further_slow(1, [
        pytest.param(USED + UNUSED, id="no main"),
        pytest.param(USED + UNUSED + MAIN.format("  start(argv);\n"), id="main comes to none"),
        pytest.param(USED + UNUSED + MAIN.format(CALLS + "  start(unused);\n"), id="handed on"),
        pytest.param(USED + UNUSED + MAIN.format(CALLS + "  if (start(a)) unused(a, argc);\n"),
                     id="under a condition"),
    ]),
)  # fmt: skip
def test_what_may_be_called_counts(tmp_path: Path, text: str) -> None:
    told = json.loads(ran(tmp_path, text, "predict", "--format", "json"))
    assert 0 not in [team["executions"]["value"] for team in told["teams"]]
    assert TOLD not in ran(tmp_path, text, "predict")


def test_what_only_arguments_lead_to_does_not_run_without_any(tmp_path: Path) -> None:
    text = USED + UNUSED + MAIN.format(CALLS + "  if (argc > 2) unused(a, argc);\n")
    told = json.loads(ran(tmp_path, text, "predict", "--format", "json"))
    assert [team["executions"]["value"] for team in told["teams"]] == [10, 0]
    told = json.loads(ran(tmp_path, text, "predict", "--args", "300 7", "--format", "json"))
    assert [team["executions"]["value"] for team in told["teams"]] == [10, 1]


def test_a_region_inside_another_has_that_below_its_row(tmp_path: Path) -> None:
    """It has one thread, and nothing else in the row says why."""
    text = (
        "double a[400];\nvoid f(void) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < 400; i++) {\n#pragma omp parallel for\n"
        "    for (int j = 0; j < 400; j++) a[i] += j;\n  }\n}\n"
    )
    lines = [" ".join(line.split()) for line in ran(tmp_path, text, "predict").splitlines()]
    row = next(at for at, line in enumerate(lines) if line.startswith("5 "))
    below = " ".join(lines[row + 1 : row + 3])
    assert below.startswith("inside the parallel region at line 3, it has one thread: remove this")
    assert below.endswith("directive (RP121)")


def test_with_arguments_as_without_what_no_run_comes_to_does_not_count(tmp_path: Path) -> None:
    # An unseen function that gets another one may call it at any time.
    text = USED + UNUSED + "static void bye(void) {}\n" + MAIN.format(
        "  int mode = argc > 2 ? 1 : 0;\n  prepare(bye);\n"
        "  if (mode) unused(a, n); else used(a, n);\n"
    )  # fmt: skip
    for given, executions in (("5000", [1, 0]), ("5000 x", [0, 1])):
        told = json.loads(ran(tmp_path, text, "predict", "--args", given, "--format", "json"))
        assert [team["executions"]["value"] for team in told["teams"]] == executions
    first = ran(tmp_path, text, "predict", "--args", "5000").splitlines()
    assert "Sizes: as given (5000 iterations in f.c:2)." in first


def test_with_arguments_a_size_that_varies_is_that_of_half_of_the_work(tmp_path: Path) -> None:
    text = USED + MAIN.format("  for (int t = 1; t <= 9; t++) used(a, n * t);\n")
    told = json.loads(ran(tmp_path, text, "predict", "--args", "1000", "--format", "json"))
    region = told["regions"][0]
    assert region["iterations"]["value"] == 7000  # 1 + ... + 7 of 45 is more than half
    assert region["sizes_from"] == "defaults"
    first = ran(tmp_path, text, "predict", "--args", "1000").splitlines()
    assert "Sizes: f.c with the given arguments (7000 iterations in f.c:2)." in first
