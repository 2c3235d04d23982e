"""A run counts the loops inside its regions that no reading can count."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regionpredict.measure.ctext import next_token_or_error
from regionpredict.measure.inner_loops import inner_loops
from regionpredict.measure.regions import Lines, measured_constructs

pytestmark = pytest.mark.compiler

ROOT = Path(__file__).resolve().parents[2]
# Row i has 40 + i % 3 - 1 nodes: of 600 rows 40 on average. A `do` that takes two at a time turns
# 20 times. The rows of the table have 40 elements each, which depends on the program's argument.
LISTS = """\
#include <stdlib.h>
struct node { struct node *next; double v; };
static struct node *heads[600];
static double sums[600];
static int row[601], kinds[600];
int main(int argc, char **argv)
{
    int n = 600;
    (void)argv;
    for (int i = 0; i < n; i++) {
        row[i + 1] = row[i] + 39 + argc;
        for (int k = 0; k < 40 + i % 3 - 1; k++) {
            struct node *p = malloc(sizeof *p);
            p->next = heads[i];
            p->v = 1.0;
            heads[i] = p;
        }
    }
#pragma omp parallel for default(none) shared(heads, sums, row, kinds, n)
    for (int i = 0; i < n; i++) {
        for (struct node *p = heads[i]; p; p = p->next)
            sums[i] += p->v;
        int left = row[i + 1] - row[i];
        if (left > 0)
            do
                left -= 2;
            while (left > 0);
        for (int k = row[i]; k < row[i + 1]; k++)
            if (kinds[i] == k % 7)
                continue;
            else
                sums[i] += k;
        while (kinds[i] < 9) {
            if (kinds[i]++ == 5)
                break;
        }
    }
    return sums[1] > 0.0 ? 0 : 1;
}
"""


def _run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, env=settings,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source and what a run on two threads wrote."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("lists")
    (folder / "f.c").write_text(LISTS)
    build = _run("cc", "--", "gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-fopenmp", "f.c", "-o",
                 "f", folder=folder)  # fmt: skip
    assert (build.returncode, build.stderr) == (0, "")
    ran = _run("measure", "--quiet-wait", "none", "--threads", "2", "--repeat", "1", "-o",
               "runs.jsonl", "--", "./f", folder=folder)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return folder


def test_average_iterations_are_recorded(recorded: Path) -> None:
    last: dict[str, Any] = json.loads((recorded / "runs.jsonl").read_text().splitlines()[-1])
    (region,) = last["regions"]
    sizes = {one["name"]: (one["least"], one["most"]) for one in region["sizes"]}
    lines = {line.strip(): number for number, line in enumerate(LISTS.splitlines(), 1)}
    assert sizes == {
        f"f.c:{lines['for (struct node *p = heads[i]; p; p = p->next)']}": (40, 40),
        f"f.c:{lines['do']}": (20, 20),
        f"f.c:{lines['for (int k = row[i]; k < row[i + 1]; k++)']}": (40, 40),
        f"f.c:{lines['while (kinds[i] < 9) {']}": (6, 6),
        "n": (600, 600),
    }


def test_a_prediction_takes_them(recorded: Path) -> None:
    """Also where the loop has moved in its file."""
    moved = recorded / "moved"
    moved.mkdir()
    (moved / "f.c").write_text("/* one line more */\n" + LISTS)
    (moved / "runs.jsonl").write_text((recorded / "runs.jsonl").read_text())
    for folder in (recorded, moved):
        done = _run(
            "predict", "f.c", "-m", "dunnington", "--sizes-from", "runs.jsonl", folder=folder
        )
        assert done.returncode == 0, done.stderr
        assert "iterations of the loop" not in done.stdout


def test_a_directive_keeps_its_loop_and_a_line_of_two_loops_counts_none() -> None:
    text = """\
void f(int n, double *a, int *r) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma GCC ivdep
    for (int k = r[i]; k < r[i + 1]; k++) a[k] = 0;
    while (r[i] > 0) r[i]--;
    while (r[i] < 1) r[i]++; while (r[i] < 2) r[i]++;
    do { for (;;) if (r[i]--) break; } while (r[i] > 3);
  }
}
"""
    (loop,) = measured_constructs(text, "/")
    found = inner_loops(text, loop, Lines(text))
    assert sorted(found) == [6]
    assert next_token_or_error(text, found[6].body).text == "r"
