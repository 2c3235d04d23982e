"""--only, --sort and --top: which rows are shown; and that narrow columns tell rows apart."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from regionpredict.ir import Region, Span
from regionpredict.report.names import common_folder, cut
from regionpredict.report.view import fits
from tests.cli.command_line import Outcome, call

MACHINE = "skylake-gold-6148"
LOOP = "#pragma omp parallel for\n  for (int i = 0; i < {n}; i++) a[i] = 2 * a[i];\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files: small and large arrays; each region is at line 3 of its function's line."""
    (tmp_path / "src").mkdir()
    for name, sizes in (("one.c", (100, 9000000)), ("two.c", (5000000, 3000))):
        text = "double a[10000000];\n"
        for size in sizes:
            text += f"void loop_{size}(void) {{\n{LOOP.format(n=size)}}}\n"
        (tmp_path / "src" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def regions(out: str) -> list[str]:
    return [row["function"] for row in csv.DictReader(io.StringIO(out))]


@pytest.fixture
def predict(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> object:
    def ask(*words: str, form: str = "csv") -> Outcome:
        return call(monkeypatch, capsys, "predict", "src", "-m", MACHINE, "--format", form,
                    "--no-cache", *words)  # fmt: skip

    return ask


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((), ["loop_100", "loop_9000000", "loop_5000000", "loop_3000"]),
        (("--only", "two.c"), ["loop_5000000", "loop_3000"]),
        (("--only", "src/t*"), ["loop_5000000", "loop_3000"]),
        (("--only", "src/"), ["loop_100", "loop_9000000", "loop_5000000", "loop_3000"]),
        (("--only", "loop_*000000"), ["loop_9000000", "loop_5000000"]),
        (("--only", "one.c:3"), ["loop_100"]),
        (("--only", "one.c:4"), ["loop_100"]),  # the loop's own line
        (("--only", "3"), ["loop_100", "loop_5000000"]),
        (("--only", "loop_100", "--only", "two.c:7"), ["loop_100", "loop_3000"]),
        (("--sort", "time"), ["loop_9000000", "loop_5000000", "loop_3000", "loop_100"]),
        (("--sort", "data"), ["loop_9000000", "loop_5000000", "loop_3000", "loop_100"]),
        (("--sort", "function"), ["loop_100", "loop_3000", "loop_5000000", "loop_9000000"]),
        (("--top", "1"), ["loop_9000000"]),
        (("--sort", "line", "--top", "3"), ["loop_100", "loop_9000000", "loop_5000000"]),
        (("--only", "two.c", "--top", "1"), ["loop_5000000"]),
    ],
)
def test_rows_are_chosen(predict, words: tuple[str, ...], shown: list[str]) -> None:
    outcome = predict(*words)
    assert (outcome.code, regions(outcome.out)) == (0, shown)


def test_the_least_speedup_goes_first(predict) -> None:
    rows = json.loads(predict("--sort", "speedup", form="json").out)["regions"]
    gains = [{p["threads"]: p["value"] for p in one["speedup"]}[one["threads"]] for one in rows]
    assert gains == sorted(gains) and gains[0] < gains[-1]
    assert rows[0]["function"] == "loop_100"


def test_json_has_the_teams_of_the_regions_and_the_plan_of_all(predict) -> None:
    every = json.loads(predict(form="json").out)
    one = json.loads(predict("--only", "loop_100", form="json").out)
    assert [team["regions"] for team in one["teams"]] == [["src/one.c:3"]]
    assert one["plan"] == every["plan"]


def test_a_ranked_table_names_file_line_and_function(predict) -> None:
    text = predict("--top", "2", form="table").out
    assert "\nLoops below src/\n" in text
    assert not [line for line in text.splitlines() if len(line) > 80]
    rows = [line.split() for line in text.splitlines() if "loop_" in line and ":" in line]
    assert [row[-2:] for row in rows] == [["one.c:7", "loop_9000000"], ["two.c:3", "loop_5000000"]]
    assert "2 of 4 loops shown" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "nowhere"), "--only nowhere: no loop is in such a file, function or line"),
        (("--top", "2", "--dump", "facts"), "--dump facts describes the whole program"),
    ],
)
def test_a_wrong_choice_is_one_line(predict, words: tuple[str, ...], said: str) -> None:
    outcome = predict(*words)
    assert outcome.code == 2 and outcome.out == ""
    assert outcome.err.splitlines()[-1].startswith(f"regionpredict: {said}")


@pytest.mark.parametrize("form", ["slurm", "openmp"])
def test_what_tells_of_the_program_takes_no_choice(predict, form: str) -> None:
    assert predict("--only", "one.c", form=form).code == 2


def test_facts_are_chosen_likewise(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, shown in (
        (("--top", "2"), ["loop_100", "loop_9000000"]),
        (("--sort", "iterations", "--top", "2"), ["loop_9000000", "loop_5000000"]),
        (("--only", "two.c"), ["loop_5000000", "loop_3000"]),
    ):
        outcome = call(monkeypatch, capsys, "analyze", "src", "--format", "csv", "--no-cache",
                       *words)  # fmt: skip
        assert regions(outcome.out) == shown


def test_long_paths_are_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = tmp_path / ("a_long_name_of_a_folder/" * 4)
    deep.mkdir(parents=True)
    for name in ("one.c", "two.c"):
        text = f"double a[10];\nvoid f(void) {{\n{LOOP.format(n=10)}}}\n"
        (deep / name).write_text(text)
    out = call(
        monkeypatch, capsys, "predict", str(tmp_path), "-m", MACHINE, "--no-cache", "--all"
    ).out
    lines = out.splitlines()
    assert "one.c" in lines and "two.c" in lines
    assert sum(line.startswith("Files in") for line in lines) == 1


def test_names_are_cut_in_the_middle() -> None:
    assert cut("abcdefgh", 5, 2) == "ab…gh"


def test_folders_in_common() -> None:
    assert common_folder(["/a/b/c.c", "/a/d.c"]) == "/a/"
    assert common_folder(["/a/c.c", "d/e.c"]) == ""
    assert common_folder(["c.c", "d/e.c"]) == ""


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("solve.c", True), ("olve.c", False), ("src/solve.c:12", True), ("solve.c:13", False),
     ("solve.c:1", False), ("x_*", True), ("/home/*", True), ("src", True), ("sr", False),
     ("12", True), ("1", False)],
)  # fmt: skip
def test_patterns(pattern: str, expected: bool) -> None:
    region = Region("/home/src/solve.c:12", Span("/home/src/solve.c", 12), "x_solve",
                    "parallel for", (), "combined", 1, None, ())  # fmt: skip
    assert fits(region, pattern) is expected
