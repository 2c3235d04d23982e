"""Options whose value cannot be meant, and results that cannot be written: one line with a remedy
before anything is done; and what is left out without harm is at least noted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOOP = """\
double a[900];
void f(int n) {
#pragma omp parallel for
  for (int i = 0; i < 900; i++) a[i] = 1;
}
void g(int n, double *b, double *c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = c[i];
}
"""
POINTS = "p,value\n1,2\n2,4\n4,8\n8,16\n16,32\n"


def called(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "loop.c").write_text(LOOP)
    (folder / "points.csv").write_text(POINTS)
    (folder / "there").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("analyze loop.c --std c77", 2, "--std c77: no such standard; write c99, c11, gnu11, "
         "c++17"),
        ("predict loop.c -m dunnington --std ansi", 2, "--std ansi: no such standard; write c99, "
         "c11, gnu11, c++17"),
        ("measure -o there -- true", 1, "there: is a folder; choose another -o FILE"),
        ("tasks isoefficiency --sizes 1,2 -o there -- true {n}", 1,
         "there: is a folder; choose another -o FILE"),
        ("fit points.csv --fix n=3 --plot x.svg", 2,
         "--fix: there is no parameter 'n'; the parameters are p"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant(tmp_path: Path, words: str, code: int, told: str) -> None:
    done = called(tmp_path, *words.split())
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == f"regionpredict: {told}\n"


@pytest.mark.parametrize("name", ["c99", "gnu11", "c17", "c2x", "c++17", "gnu++20", "c90"])
def test_standards_that_there_are(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.cpp").write_text(LOOP)
    file = "loop.cpp" if "++" in name else "loop.c"
    assert called(tmp_path, "analyze", file, "--std", name).returncode == 0


def test_a_folder_of_headers_that_is_not_there_is_noted(tmp_path: Path) -> None:
    done = called(tmp_path, "analyze", "loop.c", "-I", "there", "-I", "nowhere")
    assert (done.returncode, done.stderr) == (0, "note: -I nowhere: no such folder\n")


def test_too_few_points_name_the_option(tmp_path: Path) -> None:
    done = called(tmp_path, "fit", "points.csv", "--min-points", "50")
    assert done.returncode == 1
    assert done.stderr.endswith("lower the minimum (--min-points; min_points in YAML)\n")


def test_one_line_is_no_lines(tmp_path: Path) -> None:
    told = called(tmp_path, "explain", "loop.c:8", "-m", "dunnington").stdout
    assert "  write b[i]: reuse 1 line away, carried by i\n" in told
