"""Hints that a size without a value changes: numbers in every format, and how far they hold."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from regionpredict.report.hints import schema

SOURCE = """\
void stream(int n, int shift, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i + shift];
}
double small[100], x[50000000], y[50000000];
void known(int shift) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) small[i] = 0;
#pragma omp parallel for
  for (int i = 0; i < 50000000; i++) y[i] = x[i + shift];
}
void both(int n, int m, double *a, double *b) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = b[i];
#pragma omp for
    for (int i = 0; i < m; i++) b[i] = 2 * a[i];
  }
}
void rows(int *row, double *y, double *a) {
#pragma omp parallel for
  for (int i = 0; i < 2000; i++)
    for (int k = row[i]; k < row[i + 1]; k++) y[i] += a[k];
}
"""
STREAM, SMALL, BIG, TEAM, FIRST, SECOND, ROWS = 2, 7, 9, 13, 15, 17, 22
ROW_LENGTH = "row[i+1]-row[i]"


def run(folder: Path, *words: str) -> str:
    (folder / "f.c").write_text(SOURCE)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def predict(folder: Path, *words: str) -> str:
    return run(folder, "predict", "f.c", "-m", "skylake-gold-6148", *words)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    text = predict(tmp_path_factory.mktemp("open"), "--format", "json")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_json_says_between_what_and_keeps_its_schema(document: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema("hints-1")).validate(document)
    regions = {one["line"]: one for one in document["regions"]}
    teams = {one["line"]: one for one in document["teams"]}
    for line, names in ((STREAM, ["n"]), (TEAM, ["m", "n"]), (ROWS, [ROW_LENGTH])):
        for one in (teams[line], *([regions[line]] if line in regions else [])):
            assert one["packages"] == (1 if line == ROWS else 2)  # rows have 16 entries, and few
            assert one["threads"] > 20 * (one["packages"] - 1)
            assert 0 < one["confidence"] <= 0.7 and one["sizes_from"] == "large"
            assert one["depends_on"] == names
            packages, threads = one["range"]["packages"], one["range"]["threads"]
            # Few elements are for one package, 0.8 GB for both.
            assert packages == [1, 2] and threads[0] <= 20 < threads[1] <= 40
    for line in (STREAM, TEAM):
        parts = teams[line]["by_size"]
        assert parts[0]["threads"] == 1 and parts[-1]["packages"] == 2
        assert [part["iterations_below"] for part in parts] == [part["below"] for part in parts]
    assert regions[ROWS]["by_size"] == []  # its size is a loop's, not a name's
    assert teams[TEAM]["threads_per_core"] in (1, 2)


def test_a_guess_that_does_not_decide_leaves_the_hint(document: dict[str, Any]) -> None:
    regions = {one["line"]: one for one in document["regions"]}
    assert (regions[SMALL]["packages"], regions[SMALL]["threads"]) == (1, 1)
    assert (regions[SMALL]["range"], regions[SMALL]["by_size"]) == (None, [])
    big = regions[BIG]
    assert big["packages"] == 2 and big["threads"] > 20 and big["range"] is None
    assert big["depends_on"] == [] and any("shift = " in line for line in big["assumed"])


def test_the_guess_of_what_does_not_decide_costs_no_confidence(tmp_path: Path) -> None:
    open_one, given = (
        json.loads(predict(tmp_path, "--format", "json", *words))["regions"][2]
        for words in ((), ("--set", "shift=3"))
    )
    assert open_one["line"] == given["line"] == BIG
    assert open_one["threads"] == given["threads"]
    assert 0 < given["confidence"] - 0.05 <= open_one["confidence"] <= given["confidence"]


def test_unbound_is_what_sizes_ranks(document: dict[str, Any], tmp_path: Path) -> None:
    ranked = json.loads(run(tmp_path, "sizes", "f.c", "-m", "skylake-gold-6148", "--format",
                            "json"))  # fmt: skip
    assert document["unbound"] == ranked["unbound"]
    assert {one["name"]: one["decides"] for one in ranked["unbound"]} == {
        "n": 2, "m": 1, ROW_LENGTH: 1, "shift": 0,
    }  # fmt: skip
    assert (ranked["settled"], ranked["regions"]) == (2, 6)
    unknown = [one for one in document["regions"] if one["range"] is not None]
    assert len(unknown) == ranked["regions"] - ranked["settled"]


@pytest.mark.parametrize("rows", [ROW_LENGTH, f"f.c:{ROWS + 2}"])
def test_the_names_that_are_asked_for_settle_all(tmp_path: Path, rows: str) -> None:
    given = ["--set", "n=1000", "--set", "m=1000", "--set", f"{rows}=10"]
    told = json.loads(predict(tmp_path, "--format", "json", *given))
    assert all(one["range"] is None for one in (*told["regions"], *told["teams"]))
    assert [one["name"] for one in told["unbound"]] == ["shift"]
    assert "give th" not in predict(tmp_path, *given)


def test_the_table_marks_what_is_open_and_asks_for_it(tmp_path: Path) -> None:
    text = predict(tmp_path)
    assert all(len(line) <= 80 for line in text.splitlines())
    rows = {line.split()[0]: line for line in text.splitlines() if line[:6].strip().isdigit()}
    for line in (STREAM, TEAM, ROWS):
        assert rows[str(line)].endswith("%^") and "?   ?" not in rows[str(line)]
    assert "^" not in rows[str(BIG)]
    flat = " ".join(text.split())
    assert "^ depends on assumed sizes (thresholds are below the row)" in flat
    assert "Sizes: assumed large, data of ten times the largest cache" in flat
    assert "Origin of sizes: assumed large (5 loops), from the source (1 loop)" in flat
    assert "1 thread below n = " in flat and "1 thread below m = n = " in flat
    asked = re.escape(ROW_LENGTH)
    assert re.search(rf" 1 to 2 packages, \d+ to \d+ threads: depends on {asked} ", flat)
    assert (
        "Set these 2 sizes, and the hints of 5 of 6 loops no longer depend on assumed sizes (now"
        " 2, 6 with 3 sizes): --set n=..." in flat
    )


def test_csv_has_the_hint_and_its_range(tmp_path: Path, document: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(predict(tmp_path, "--format", "csv"))))
    stream, big = rows[0], rows[2]
    assert (stream["packages"], stream["sizes_from"], stream["depends_on"]) == ("2", "large", "n")
    assert stream["threads"] == str(document["regions"][0]["threads"])
    assert stream["packages_range"] == "1-2" and stream["by_size"].startswith("1 thread below n = ")
    known = document["regions"][2]
    assert (big["packages"], big["threads"]) == (str(known["packages"]), str(known["threads"]))
    assert (big["depends_on"], big["packages_range"], big["by_size"]) == ("", "", "")


def test_clauses_choose_by_the_size(tmp_path: Path, document: dict[str, Any]) -> None:
    clauses = {}
    text = predict(tmp_path, "--format", "openmp")
    # Rows that are longer than a page go on in the next line: clauses as C does, comments below.
    text = text.replace(" \\\n" + " " * 12, " ").replace("\n        // ", " // ")
    for line in text.splitlines()[4:]:
        number, _, rest = line.strip().partition(":")
        clauses[int(number)] = rest
    parts = document["teams"][0]["by_size"]
    most = document["program"]["threads"]
    chosen = [min(part["threads"], most) for part in parts]
    assert chosen[-1] == most < parts[-1]["threads"], "else the program's number limits nothing"
    text = "".join(f"n < {part['below']} ? {threads} : "
                   for part, threads in zip(parts[:-1], chosen[:-1], strict=True))  # fmt: skip
    assert clauses[STREAM].endswith(f"num_threads({text}{most}) proc_bind(close)")
    # Two sizes, and one that no name of the source has: nothing that a clause could ask.
    for line in (TEAM, ROWS):
        assert re.search(r" num_threads\(\d+\) proc_bind\(close\) ", clauses[line])
        assert "// at assumed large sizes; otherwise " in clauses[line]
    assert f"depends on {ROW_LENGTH}" in clauses[ROWS].replace("// ", "")
    assert "assumed" not in clauses[STREAM] and "assumed" not in clauses[BIG]


def test_slurm_asks_for_the_program_at_the_assumed_sizes(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    text = predict(tmp_path, "--format", "slurm")
    program = document["program"]
    assert program["sizes_from"] == "large"
    assert f"#SBATCH --cpus-per-task={program['threads']}\n" in text
    assert "\n# Sizes: assumed large, data of ten times the largest cache.\n" in text
    assert "without a hint" not in text


def test_explain_tells_every_turn_and_those_of_the_team(tmp_path: Path) -> None:
    text = run(tmp_path, "explain", f"f.c:{FIRST}", "-m", "skylake-gold-6148")
    assert "Hint: 2 packages, " in text
    assert "  at the assumed sizes; otherwise 1 to 2 packages, 1 to " in text
    assert "depends on n\n" in text and "By size: 1 thread below n = " in text
    assert f"Parallel region of 2 loops, line {TEAM}: 2 packages, " in text
    assert f"Parallel region of 2 loops, line {TEAM}, by size: 1 thread below m = n = " in text
    known = run(tmp_path, "explain", f"f.c:{BIG}", "-m", "skylake-gold-6148")
    assert "otherwise" not in known and "By size" not in known


def test_the_plan_is_of_all_teams(document: dict[str, Any]) -> None:
    assert {one["id"] for one in document["plan"]["teams"]} == {
        one["id"] for one in document["teams"]
    }


def test_the_density_model_tries_no_sizes(tmp_path: Path) -> None:
    told = json.loads(predict(tmp_path, "--format", "json", "--model", "density"))
    jsonschema.Draft202012Validator(schema("hints-1")).validate(told)
    assert told["unbound"] is None
    assert {(one["range"], len(one["by_size"])) for one in told["regions"]} == {(None, 0)}


def test_a_loop_that_never_runs_is_for_one_thread(tmp_path: Path) -> None:
    """No size that is tried gives it an iteration: none says anything of threads."""
    text = """\
void never(int w, double *x) {
#pragma omp parallel for
  for (int k = w; k < 0; k++) x[k] += 1.0;
}
"""
    (tmp_path / "g.c").write_text(text)
    told = run(tmp_path, "predict", "g.c", "-m", "skylake-gold-6148", "--format", "json")
    (region,) = json.loads(told)["regions"]
    assert (region["packages"], region["threads"], region["depends_on"]) == (1, 1, ["w"])
    assert 0 < region["confidence"] < 0.5
