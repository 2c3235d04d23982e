"""Loops whose data others push out of the caches, by as much as a size without a value says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from further_cases import further_slow

STEPS = """\
#include <stdlib.h>
static double own[200000], *others;
static void fill(int m) {
#pragma omp parallel for
  for (int i = 0; i < m; i++) others[i] += 1;
}
static void use(void) {
#pragma omp parallel for
  for (int i = 0; i < 200000; i++) BODY;
}
int main(int argc, char **argv) {
  int m = atoi(argv[1]);
  others = malloc(m * sizeof(double));
  for (int step = 0; step < 100; step++) { fill(m); use(); }
  return 0;
}
"""
SHARED = """\
void copy(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[i];
}
void scale(int n, double *c, double *d) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) d[i] = 2 * c[i];
}
void steps(int n, double *a, double *b, double *c, double *d) {
  for (int step = 0; step < 100; step++) { copy(n, a, b); scale(n, c, d); }
}
"""

ROWS = """\
#include <stdlib.h>
static void multiply(int n, const int *row, const int *col, const double *val, const double *p,
                     double *q) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++) sum += val[k] * p[col[k]];
    q[i] = sum;
  }
}
static void xpay(int n, const double *x, double b, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] = x[i] + b * y[i];
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), entries = atoi(argv[2]);
  int *row = malloc((n + 1) * sizeof *row), *col = malloc(entries * sizeof *col);
  double *val = malloc(entries * sizeof *val), *r = malloc(n * sizeof *r);
  double *p = malloc(n * sizeof *p), *q = malloc(n * sizeof *q);
  for (int step = 0; step < 100; step++) {
    multiply(n, row, col, val, p, q);
    xpay(n, r, 0.5, p);
  }
  return 0;
}
"""
SIZE, LENGTH = "atoi(argv[1])", "row[i+1]-row[i]"


def predicted(folder: Path, text: str, *words: str) -> dict[str, dict[str, Any]]:
    """The regions by their function."""
    (folder / "f.c").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "skylake-gold-6148",
         "--format", "json", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return {region["function"]: region for region in json.loads(done.stdout)["regions"]}


def said(region: dict[str, Any]) -> list[str]:
    return [line for line in region["assumed"] if "evict nothing" in line]


def test_what_others_may_push_out_decides(tmp_path: Path) -> None:
    """1.5 MiB stay where others touch little, and come from memory where they touch all."""
    text = STEPS.replace("BODY", "own[i] += 1")
    use = predicted(tmp_path, text)["use"]
    assert use["packages"] == 1 and use["range"]["packages"][1] > 1  # where nothing is pushed out
    assert use["depends_on"] == ["fill:atoi(argv[1])"]
    assert said(use) == ["data of unknown size evict nothing from the caches (fill:atoi(argv[1]))"]
    hints = []
    for size in (1000, 10**8):
        given = predicted(tmp_path, text, "--set", f"fill:atoi(argv[1])={size}")["use"]
        assert not said(given)
        hints.append((given["packages"], given["threads"]))
    assert hints[0] != hints[1]
    least, most = use["range"]["packages"]
    assert {packages for packages, _ in hints} <= set(range(least, most + 1))


def test_a_hint_that_stands_whatever_goes_is_kept(tmp_path: Path) -> None:
    """7.6 MiB, of which a part comes from memory where others touch much: the time is another, the
    hint is not. The line is said only until the size is given."""
    text = STEPS.replace("200000", "1000000").replace("BODY", "own[i] = 1 / own[i]")
    use = predicted(tmp_path, text)["use"]
    assert said(use)
    assert use["depends_on"] == []
    for size in (1000, 10**8):
        given = predicted(tmp_path, text, "--set", f"fill:atoi(argv[1])={size}")["use"]
        assert (given["packages"], given["threads"]) == (use["packages"], use["threads"])
        assert not said(given)


def test_what_costs_little_is_not_spoken_of(tmp_path: Path) -> None:
    """A hundred divisions an element: no byte of them comes too late."""
    heavy = "for (int k = 1; k < 100; k++) own[i] = own[i] / k + 1 / (own[i] + k)"
    use = predicted(tmp_path, STEPS.replace("BODY", heavy))["use"]
    assert use["threads"] is not None and not said(use)


def test_data_that_cannot_stay_are_not_spoken_of(tmp_path: Path) -> None:
    """1.5 GB are in no cache, whatever others do."""
    text = STEPS.replace("200000", "200000000").replace("BODY", "own[i] += 1")
    use = predicted(tmp_path, text)["use"]
    assert use["threads"] is not None and not said(use)


@pytest.mark.parametrize("function", further_slow(1, ["copy", "scale"]))
def test_a_common_size_counts_for_the_others_too(function: str, tmp_path: Path) -> None:
    """What is said by size is what is said once the size is given, which is that of all loops."""
    parts = predicted(tmp_path, SHARED)[function]["by_size"]
    assert len(parts) > 1
    name = parts[0]["name"]
    below = [1, *(part["below"] for part in parts if part["below"]), 10**9]
    for part, least, most in zip(parts, below[:-1], below[1:], strict=True):
        for size in (int(least * 1.2) + 1, int(most / 1.2)):
            given = predicted(tmp_path, SHARED, "--set", f"{name}={size}")[function]
            told = (part["packages"], part["threads"] > 1)
            assert (given["packages"], given["threads"] > 1) == told


def test_rows_of_a_table_push_out_as_much_as_they_are_long(tmp_path: Path) -> None:
    """Of 200,000 rows, 5 entries of 12 bytes each are 12 MB and 200 are 480 MB: with the ones the
    vectors stay in 55 MB of caches, with the others they go."""
    rows = ("--set", f"{SIZE}=200000")
    xpay = predicted(tmp_path, ROWS, *rows)["xpay"]
    assert xpay["range"] is not None and xpay["depends_on"] == [f"multiply:{LENGTH}"]
    hints = []
    for length in (5, 200):
        given = predicted(tmp_path, ROWS, *rows, "--set", f"{LENGTH}={length}")["xpay"]
        assert given["depends_on"] == [] and not said(given)
        hints.append((given["packages"], given["threads"]))
    assert hints[0] != hints[1]


def test_what_settles_a_hint_has_the_sizes_of_others(tmp_path: Path) -> None:
    """Where its own size is open, too, that alone does not settle it."""
    assert predicted(tmp_path, ROWS)["xpay"]["depends_on"] == [SIZE, f"multiply:{LENGTH}"]
