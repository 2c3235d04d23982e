"""A variable of another function is shown as it is given, where the region has one of its name."""

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
OWN = SOURCE.replace(
    "  rows(n * n);",
    """\
#pragma omp parallel for
  for (int k = 0; k < n; k++) y[k] += 1.0;
  rows(n * n);""",
).replace("x[100000000]", "x[100000000], y[100000000]")


def run(folder: Path, *words: str, text: str = SOURCE) -> str:
    (folder / "f.c").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words, "-m", "skylake-gold-6148"], cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", [("predict", "f.c"), ("explain", "f.c:4")])
def test_it_is_shown_as_it_is_given(tmp_path: Path, words: tuple[str, ...]) -> None:
    told = run(tmp_path, *words)
    assert "main:n = " in told and "n'" not in told


def test_it_is_asked_for_and_given_as_its_own_function_has_it(tmp_path: Path) -> None:
    """300 squared are the iterations of the loop."""
    assert "--set main:n=..." in run(tmp_path, "predict", "f.c")
    asked = run(tmp_path, "sizes", "f.c")
    said = "the hints of 1 of 1 loop no longer depend on assumed sizes (now 0): main:n\n"
    assert asked.startswith(f"Set this size, and {said}")
    assert "'" not in asked
    file = tmp_path / "sizes.yaml"
    form = run(tmp_path, "sizes", "f.c", "--format", "yaml")
    file.write_text(form.replace('"main:n":', '"main:n": 300'))
    for given in (("--set", "main:n=300"), ("--sizes", "sizes.yaml")):
        told = run(tmp_path, "predict", "f.c", *given)
        assert " 90000 " in told and "main:n" not in told


def test_one_variable_is_asked_for_once(tmp_path: Path) -> None:
    """main has a loop over its n, and calls one over n squared: one name settles both, and what is
    given for the n of `rows` is none of main's."""
    assert run(tmp_path, "sizes", "f.c", text=OWN).startswith(
        "Set this size, and the hints of 2 of 2 loops no longer depend on assumed sizes (now 0):"
        " main:n\n"
    )
    told = run(tmp_path, "predict", "f.c", "--set", "main:n=300", text=OWN)
    assert " 90000 " in told and " 300 " in told
    rows = run(tmp_path, "predict", "f.c", "--set", "rows:n=500", text=OWN)
    assert " 500 " in rows and "250000" not in rows
