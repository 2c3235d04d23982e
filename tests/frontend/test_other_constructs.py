"""Constructs that share no loop of a team have their rows: what is predicted, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
static double a[100000], b[100000];
void work(int i);
void f(void)
{
#pragma omp target teams distribute parallel for map(tofrom: a)
    for (int i = 0; i < 100000; i++) a[i] = b[i];
#pragma omp target
    {
#pragma omp parallel for
        for (int i = 0; i < 100000; i++) a[i] = b[i];
    }
#pragma omp target
    work(1);
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(100)
        for (int i = 0; i < 100000; i++) a[i] += b[i];
#pragma omp task
        work(2);
    }
#pragma omp parallel sections
    {
#pragma omp section
        work(3);
#pragma omp section
        work(4);
    }
#pragma omp target data map(to: b)
    {
#pragma omp parallel for
        for (int i = 0; i < 100000; i++) a[i] = b[i];
    }
}
int main(void)
{
    f();
    return 0;
}
"""
ON_HOST, DEVICE, TASKS, SECTIONS, PLAIN = (5, 9), (12,), (19,), (22,), (17, 31)
PARALLEL = 14  # of both the taskloop and the task


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "f.c").write_text(SOURCE)
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def _rows(text: str) -> dict[int, str]:
    """By line of the source, the row and what goes on below it, as one text."""
    rows: dict[int, str] = {}
    at = 0
    for line in text.splitlines():
        number = line[:6].strip()
        if number.isdigit():
            at = int(number)
            rows[at] = line
        elif at and line.startswith(" " * 7):
            rows[at] += " " + line.strip()
        elif not line:
            at = 0
    return rows


@pytest.mark.parametrize("command", [("predict", "f.c", "-m", "dunnington"), ("analyze", "f.c")])
def test_each_construct_has_its_row(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = _run(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    rows = _rows(done.stdout)
    regions = (*ON_HOST, *DEVICE, *TASKS, *SECTIONS, *PLAIN)
    several = [PARALLEL] if command[0] == "predict" else []
    assert sorted(rows) == sorted((*regions, *several))
    assert all("skipped: for a device (target)" in rows[line] for line in DEVICE)
    assert not any("skipped" in rows[line] for line in (*ON_HOST, *TASKS, *SECTIONS, *PLAIN))
    if command[0] == "predict":
        assert all("predicted as a loop on the host" in rows[line] for line in ON_HOST)
        assert not any("host" in rows[line] for line in PLAIN)
    assert max(map(len, done.stdout.splitlines())) <= 80
