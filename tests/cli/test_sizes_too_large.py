"""A size that is too large for one region: it says so, and the others keep their predictions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCE = """
void scale(int n, double *a) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] *= 2.0;
}
void clear(int n, double *m) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) m[i * n + j] = 0.0;
}
"""
PREDICT = [sys.executable, "-m", "regionpredict", "predict", "case.c", "-m", "dunnington"]


def predicted(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "case.c").write_text(SOURCE)
    return subprocess.run(
        [*PREDICT, *options], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_others_are_predicted(tmp_path: Path) -> None:
    done = predicted(tmp_path, "--set", "n=10000000")
    assert done.returncode == 0
    assert "2 loops: 1 predicted, 1 skipped" in done.stdout
    assert "n = 10000000 is too large" in " ".join(done.stdout.split())
    made = json.loads(predicted(tmp_path, "--set", "n=10000000", "--format", "json").stdout)
    first, second = made["regions"]
    assert (first["status"], second["status"]) == ("predicted", "skipped")
    assert [note["id"] for note in second["diagnostics"]] == ["RP115"]


def test_another_value_for_one_function_settles_it(tmp_path: Path) -> None:
    done = predicted(tmp_path, "--set", "n=10000000", "--set", "clear:n=1000")
    assert done.returncode == 0
    assert "2 loops: 2 predicted" in done.stdout


def test_where_nothing_is_left_it_is_an_error(tmp_path: Path) -> None:
    done = predicted(tmp_path, "--set", f"n={1 << 60}")
    assert done.returncode == 1 and not done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("regionpredict: ") and "is too large" in line


def test_what_is_known_of_its_arrays_is_enough(tmp_path: Path) -> None:
    """8 n bytes of y and 4 n of the table are 1.8e15, whatever x has."""
    text = """
void other(double *z) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) z[i] = 0;
}
void gather(long n, const int *table, double *x, double *y) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) y[i] += x[table[i]];
}
"""
    (tmp_path / "case.c").write_text(text)
    done = subprocess.run(
        [*PREDICT, "--set", "n=150000000000000", "--format", "json"], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    first, second = json.loads(done.stdout)["regions"]
    assert (first["status"], second["status"]) == ("predicted", "skipped")
    (note,) = (note for note in second["diagnostics"] if note["id"] == "RP115")
    assert "1.8e+15 bytes" in note["message"]
