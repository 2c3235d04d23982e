"""How much data a region has: table, CSV, JSON, page and derivation say the same, and nothing of
it is assumed."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from html_pages import blocks_of

SOURCE = """\
double held[5000];
void open_size(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i] + 1;
}
void open_places(double *a, double *b, int *p) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[p[i]] = b[i] + 1;
}
void places_in_a_known_array(int *p) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) held[p[i]] += 1;
}
void known(double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < 128000; i++) a[i] = b[i] + 1;
}
"""
# By hand: 5000 * 8 + 1000 * 4 bytes at most, and 2 * 128000 * 8.
DATA = {3: None, 7: None, 11: 44_000, 15: 2_048_000}
SHOWN = {3: "?", 7: "?", 11: "43 KiB", 15: "2 MiB"}


def printed(folder: Path, command: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", command, *words, "-m", "dunnington"], cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["saturation", "density"])
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("data")
    (made / "f.c").write_text(SOURCE)
    return made


def test_the_table(folder: Path, model: str) -> None:
    text = printed(folder, "predict", "f.c", "--model", model)
    rows = re.findall(r"^ *(\d+)  \S+ +\S+ +(\?|[\d.]+ \w+)", text, re.MULTILINE)
    assert {int(line): data for line, data in rows} == SHOWN


def test_the_table_in_order_of_data(folder: Path, model: str) -> None:
    text = printed(folder, "predict", "f.c", "--model", model, "--sort", "data")
    rows = re.findall(r"^ *(\?|[\d.]+ \w+)\*? .* f\.c:(\d+) ", text, re.MULTILINE)
    assert [int(line) for _, line in rows[:2]] == [15, 11]
    assert {int(line): data for data, line in rows} == SHOWN


def test_rows_for_programs(folder: Path, model: str) -> None:
    text = printed(folder, "predict", "f.c", "--model", model, "--format", "csv")
    rows = csv.DictReader(io.StringIO(text))
    assert {int(row["line"]): row["working_set_bytes"] for row in rows} == {
        line: "" if size is None else str(size) for line, size in DATA.items()
    }
    hints = json.loads(printed(folder, "predict", "f.c", "--model", model, "--format", "json"))
    assert {r["line"]: r["working_set"]["bytes"] for r in hints["regions"]} == DATA


def test_the_page(folder: Path, model: str) -> None:
    file = folder / f"{model}.html"
    printed(folder, "predict", "f.c", "--model", model, "--format", "html", "-o", file.name)
    table = next(block for block in blocks_of(file, "table") if block.get("name") == "regions")
    at = [column["title"] for column in table["columns"]].index("Data")
    told = {int(row[0].split(":")[1]): row[at] for row in table["rows"]}
    assert {line: cell[0] for line, cell in told.items()} == SHOWN
    assert {line: cell[1] for line, cell in told.items()} == DATA


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (3, "Working set: 16*n bytes, no value for n"),
        (7, "Working set: not known"),
        (11, "Working set: at most 44000 bytes = 43 KiB"),
        (15, "Working set: 2048000 bytes = 2 MiB"),
    ],
)
def test_the_derivation(folder: Path, model: str, line: int, told: str) -> None:
    lines = printed(folder, "explain", f"f.c:{line}", "--model", model).splitlines()
    assert [text for text in lines if text.startswith("Working set")] == [told]
    assumed = "  assumed: working set = 10 x largest cache" in "\n".join(lines)
    assert assumed == (model == "density" and DATA[line] is None)
