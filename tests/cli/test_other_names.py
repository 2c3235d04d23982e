"""Names with a prime are explained where they are shown: whose they are, and how to give them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """\
int ask(const char *what);
static double x[100000000];
static void rows(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += 1.0;
}
int main(void) {
  int n;
  scanf("%d", &n);
  rows(n * n);
}
"""
SAID = "n' is the n of main (f.c:8)"


def run(folder: Path, *words: str) -> str:
    (folder / "f.c").write_text(SOURCE)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words, "-m", "skylake-gold-6148"], cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("sizes", "f.c"), SAID),
        (("sizes", "f.c", "--format", "yaml"), f"# {SAID}"),
        (("predict", "f.c"), SAID),
        (("explain", "f.c:4"), SAID),
    ],
)
def test_whose_a_name_with_a_prime_is(tmp_path: Path, words: tuple[str, ...], line: str) -> None:
    assert line in run(tmp_path, *words).splitlines()


def test_it_is_given_as_it_is_shown(tmp_path: Path) -> None:
    """300 squared are the iterations of the loop; the option is quoted so that it can be read."""
    assert '--set "n\'"=...' in run(tmp_path, "predict", "f.c")
    told = run(tmp_path, "predict", "f.c", "--set", "n'=300")
    assert " 90000 " in told and SAID not in told
