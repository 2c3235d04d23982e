"""Values that no size can have are refused in one line; bounds and distances may be negative."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow

SOURCE = """\
double big[4000];
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1;
}
void g(int lo, int shift) {
#pragma omp parallel for
  for (int i = lo; i < 100; i++) big[i + 1000 + shift] = 2;
}
void h(int m, double a[m][m], int from) {
#pragma omp parallel for
  for (int i = from; i < 50; i++) a[0][i + from] = 2;
}
void rows(int k, int width) {
#pragma omp parallel for
  for (int i = 0; i < 50; i++) {
    for (int j = 0; j < k; j++) big[j] = i;
    for (int j = -width; j < 10; j++) big[2000 + j] = i;
  }
}
"""
EMPTY = """\
double a[9];
void f(int n) {
#pragma omp parallel for
  for (int i = 0; i < N + n; i++) a[i] = 1;
}
"""
NONE_LEFT = "leaves no iteration to any loop that counts by it, as at f.c:{}; give 0 or more"


def called(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "f.c").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", words[0], "f.c", *words[1:]], cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("command", [["analyze"], ["predict", "-m", "dunnington"]])
@pytest.mark.parametrize(
    ("size", "told"),
    [
        ("n=-5", NONE_LEFT.format(3)),
        ("f:n=-5", NONE_LEFT.format(3)),
        ("k=-1", NONE_LEFT.format(15)),
        ("m=-4", "a in h would have a negative length; give 0 or more"),
        ("f.c:4=-2", "the number of iterations is negative; give 0 or more"),
    ],
)
def test_what_no_size_can_be(tmp_path: Path, command: list[str], size: str, told: str) -> None:
    done = called(tmp_path, SOURCE, *command, "--set", size)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"regionpredict: {size}: {told}\n"


@pytest.mark.parametrize(
    ("size", "line", "iterations"),
    [("lo=-5", 7, 105), ("shift=-300", 7, None), ("from=-20", 11, 70), ("width=-3", 15, 50),
     ("n=0", 3, 0), ("lo=100", 7, 0)],
)  # fmt: skip
def test_bounds_and_distances_may_be_negative(
    tmp_path: Path, size: str, line: int, iterations: int | None
) -> None:
    done = called(tmp_path, SOURCE, "analyze", "--set", size, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    counts = {own["line"]: own["iterations"]["value"] for own in json.loads(done.stdout)["regions"]}
    assert counts[line] == iterations


def test_a_file_of_sizes_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "sizes.yaml").write_text("lo: -5\nn: -7\n")
    done = called(tmp_path, SOURCE, "analyze", "--sizes", "sizes.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"regionpredict: sizes.yaml:2: n=-7: {NONE_LEFT.format(3)}\n"


@pytest.mark.parametrize(
    ("words", "given"),
    [(["-D", "N=-3"], "-D N=-3"), (["-D", "N=0", "--set", "n=0"], "n=0, -D N=0")],
)
def test_sizes_with_which_nothing_runs(tmp_path: Path, words: list[str], given: str) -> None:
    words = words if "--set" in words else [*words, "--set", "n=1"]
    given = given if "n=" in given else f"n=1, {given}"
    done = called(tmp_path, EMPTY, "analyze", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"regionpredict: {given}: no parallel loop has an iteration; give larger sizes\n"
    )
    # The source's own numbers are its business.
    own = called(tmp_path, EMPTY.replace("N + n", "0"), "analyze")
    assert (own.returncode, own.stderr) == (0, "")


MEMBERS = """\
struct fields { int nx, ny; double *v, *w; };
void sweep(struct fields *f, int from) {
#pragma omp parallel for
  for (int j = 1; j < f->ny - 1; j++)
    for (int i = 1; i < f->nx - 1; i++) f->v[j * f->nx + i] += f->w[j * f->nx + i];
#pragma omp parallel for
  for (int j = from; j < f->ny; j++) f->v[j] = 0;
}
"""


@pytest.mark.parametrize("size", further_slow(1, ["f->nx=-3", "sweep:f->nx=-3", "f->ny=-3"]))
def test_members_are_refused_as_names_are_beside_others_that_are_open(
    tmp_path: Path, size: str
) -> None:
    """Whatever the other sizes are, nothing is left that counts by it."""
    done = called(tmp_path, MEMBERS, "predict", "-m", "dunnington", "--set", size)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "leaves no iteration to any loop that counts by it" in done.stderr
    # A bound from below may be negative, also where the one from above is open.
    lower = called(tmp_path, MEMBERS, "predict", "-m", "dunnington", "--set", "from=-3")
    assert lower.returncode == 0
