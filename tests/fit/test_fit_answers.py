"""`fit` and `expect` as processes: who answers, and what a plain table needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.fit import fit
from regionpredict.fit.expectations.growth import Growth, compare, parse
from regionpredict.fit.expectations.verdict import fit_expected, growth_of, judge_growth

ROOT = Path(__file__).resolve().parents[2]
LINEAR = "p,time\n1,3\n2,5\n4,9\n8,17\n16,33\n"
BENT = "p,time\n1,10\n2,6.2\n4,3.9\n8,3.5\n16,3.6\n32,5.1\n"


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def _values(text: str) -> tuple[list[tuple[float]], list[list[float]]]:
    rows = [tuple(map(float, line.split(","))) for line in text.splitlines()[1:]]
    return [(row[0],) for row in rows], [[row[1]] for row in rows]


def test_a_prediction_says_that_a_forecast_answers_and_what_the_formula_gives(
    tmp_path: Path,
) -> None:
    (tmp_path / "bent.csv").write_text(BENT)
    model = fit(*_values(BENT))
    told, alone = model.predict((1024.0,)), float(model.formula_values(model.points * 0 + 1024)[0])
    assert told > 2 * alone  # else nothing were to be told
    done = _run(tmp_path, "fit", "bent.csv", "--predict", "p=1024", "--predict", "p=8")
    assert done.returncode == 0, done.stderr
    unwrapped = done.stdout.replace("\n  ", " ")  # a long row goes on in an indented line
    far, near = (
        " ".join(line.split())
        for line in unwrapped.splitlines()
        if line.startswith("-          time    p =")
    )
    assert f" forecast {alone:.5g}" in far
    assert f" {told:.5g} " in far
    assert " formula the same" in near
    assert "\nBy forecast: the formula misses the measurements" in done.stdout

    done = _run(tmp_path, "fit", "bent.csv", "--predict", "p=1024", "--format", "json")
    (answer,) = json.loads(done.stdout)["predictions"]
    assert (answer["by"], answer["formula"]) == ("forecast", pytest.approx(alone))
    assert answer["forecasters"]


def test_where_the_formula_answers_nothing_is_added(tmp_path: Path) -> None:
    (tmp_path / "linear.csv").write_text(LINEAR)
    done = _run(tmp_path, "fit", "linear.csv", "--predict", "p=64")
    assert "forecast" not in done.stdout
    done = _run(tmp_path, "fit", "linear.csv", "--predict", "p=64", "--format", "json")
    (answer,) = json.loads(done.stdout)["predictions"]
    assert (answer["by"], answer["forecasters"]) == ("formula", [])
    assert answer["formula"] == answer["value"] == pytest.approx(129.0)


def test_too_few_points_are_one_line_and_no_table(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("p,time\n1,3\n2,5\n")
    done = _run(tmp_path, "fit", "few.csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "at least 5 are needed" in done.stderr


def test_too_many_parameters_are_named(tmp_path: Path) -> None:
    """The columns of statistics in a table are parameters unless `--parameter` names others."""
    table = str(Path(__file__).parent / "real_files" / "hyperfine.csv")
    done = _run(tmp_path, "fit", table, "--value", "mean")
    assert (done.returncode, done.stdout) == (1, "")
    assert "7 parameters have several values (stddev, median, user" in done.stderr
    assert "--parameter" in done.stderr
    chosen = ("--parameter", "parameter_n")
    assert _run(tmp_path, "fit", table, "--value", "mean", *chosen).returncode == 0


def test_a_plain_table_needs_no_call_path(tmp_path: Path) -> None:
    (tmp_path / "linear.csv").write_text(LINEAR)
    (tmp_path / "e.yaml").write_text("measurements: linear.csv\nexpectations:\n  - expect: p\n")
    done = _run(tmp_path, "expect", "e.yaml", "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[4].endswith("  as expected")


def test_of_several_call_paths_one_must_be_named(tmp_path: Path) -> None:
    rows = [f"{name},{line}" for name in "ab" for line in LINEAR.splitlines()[1:]]
    (tmp_path / "two.csv").write_text("\n".join(["region,p,time", *rows]))
    (tmp_path / "e.yaml").write_text("measurements: two.csv\nexpectations:\n  - expect: p\n")
    done = _run(tmp_path, "expect", "e.yaml")
    assert done.returncode == 1
    assert "names no call path; add callpath: one of a, b" in done.stdout


@pytest.mark.parametrize("constant", [-1.0, -0.5, 0.0, 3.0, 100.0])
@pytest.mark.parametrize("expected", ["p", "p log p", "p^2", "log p"])
def test_what_goes_through_all_points_is_what_was_expected(constant: float, expected: str) -> None:
    """Whatever the search holds likely: a negative constant is rare, and here it is there."""
    growth, _ = parse(expected)
    grown = {"p": lambda p: p, "p log p": lambda p: p * (p.bit_length() - 1),
             "p^2": lambda p: p * p, "log p": lambda p: p.bit_length() - 1}  # fmt: skip
    points = [2, 4, 8, 16, 32]
    values = [[constant + 2.0 * grown[expected](p)] for p in points]
    model = fit_expected(growth, [(p,) for p in points], values)
    assert compare(growth_of(model), growth) == 0
    assert judge_growth(growth, growth_of(model)).match == "match"


def test_what_is_another_growth_is_none() -> None:
    points, values = [(p,) for p in (2, 4, 8, 16, 32)], [[p**1.25] for p in (2, 4, 8, 16, 32)]
    model = fit_expected(Growth(poly=1.0), points, values)
    assert growth_of(model).poly == pytest.approx(1.25)
