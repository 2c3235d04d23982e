"""Regions that are wrong on several threads: their rows are marked, and no clause is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
static double a[100000], b[100000];
double total;
void f(void)
{
#pragma omp parallel for
    for (int i = 1; i < 100000; i++) a[i] = a[i - 1] + b[i];
#pragma omp parallel for
    for (int i = 0; i < 100000; i++) total += b[i];
#pragma omp parallel for
    for (int i = 0; i < 100000; i++) a[i] = b[i];
#pragma omp parallel
    {
#pragma omp for
        for (int i = 1; i < 100000; i++) b[i] = b[i - 1] + a[i];
#pragma omp for
        for (int i = 1; i < 100000; i++) a[i] = b[i];
    }
}
int main(void)
{
    f();
    return 0;
}
"""
WRONG = {5: "RP221", 7: "RP222", 11: "RP221", 13: "RP221"}  # 11: the team of the loop at 13
RIGHT = (9, 15)


def _predicted(folder: Path, *words: str) -> list[str]:
    (folder / "f.c").write_text(SOURCE)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "dunnington", *words],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _row(lines: list[str], line: int) -> str:
    (row,) = [text for text in lines if text.startswith(f"{line:>4}  f ")]
    return row


@pytest.mark.parametrize("model", ["saturation", "density"])
def test_rows_of_wrong_regions_are_marked(tmp_path: Path, model: str) -> None:
    lines = _predicted(tmp_path, "--model", model)
    assert all(_row(lines, line).endswith("%!") for line in WRONG)
    assert not any("!" in _row(lines, line) for line in RIGHT)
    assert "! conflicts between threads (wrong results or contention):" in lines
    assert max(map(len, lines)) <= 80


def test_rows_in_order_of_time_are_marked_too(tmp_path: Path) -> None:
    lines = _predicted(tmp_path, "--sort", "time")
    marked = {int(text.split("f.c:")[1].split()[0]) for text in lines if "%!  f.c:" in text}
    assert marked == set(WRONG) - {11}  # loops alone have rows here


def test_clauses_of_wrong_regions_are_comments_with_the_reason(tmp_path: Path) -> None:
    lines = _predicted(tmp_path, "--format", "openmp")
    whole = "\n".join(lines).replace("\n        // ", "   // ")  # a long comment, below its row
    rows = {int(text.split(":")[0]): text for text in whole.splitlines() if ": #pragma" in text}
    for line, rule in WRONG.items():
        if line == 13:
            assert rows[line].endswith("// in the parallel region at line 11")
            continue
        directive, *comment = rows[line].split("   // ")
        assert "num_threads" not in directive
        assert comment[0].startswith("num_threads(")
        assert f": fix {rule} in line " in " ".join(comment)
    assert "//" not in rows[9]
    assert "num_threads(" in rows[9]
