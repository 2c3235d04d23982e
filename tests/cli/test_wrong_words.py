"""Wrong inputs of commands, as processes: one line each, with its remedy, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINEAR = "p,time\n1,3\n2,5\n4,9\n8,17\n16,33\n"
SOURCE = """void f(double *a) {
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) a[i] = 0.0;
}
"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("fit", "lin.csv", "--predict", "p=-3"), 1,
         "lin.csv: --predict: p = -3 is below zero; predict at a positive value"),
        (("fit", "unnamed.csv"), 1,
         "unnamed.csv:1: there is no column of values (value, time_s, ...); name one with --value, "
         "of p, cost"),
        (("fit", "only.csv"), 1,
         "only.csv:1: there is no column of a parameter; name one with --parameter, of time"),
        (("trace", "record"), 2,
         "no program; write regionpredict trace record -o FOLDER -- ./program ARGS"),
        (("compare", "raw.json", "m.jsonl"), 1, "raw.json:2: not a text file"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_one_line(
    tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "lin.csv").write_text(LINEAR)
    (tmp_path / "unnamed.csv").write_text(LINEAR.replace("time", "cost"))
    (tmp_path / "only.csv").write_text("time\n1\n2\n")
    (tmp_path / "f.c").write_text(SOURCE)
    (tmp_path / "raw.json").write_bytes(bytes(range(256)))
    done = _run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_hints_whose_source_is_gone_say_which(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(SOURCE)
    for name in ("a.json", "b.json"):
        done = _run(tmp_path, "predict", "f.c", "-m", "dunnington", "--format", "json", "-o", name)
        assert done.returncode == 0, done.stderr
    (tmp_path / "f.c").unlink()
    done = _run(tmp_path, "coschedule", "a.json", "b.json", "-m", "dunnington")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "regionpredict: a.json: its source f.c is not here; run this where the hints were made, "
        "or make new hints\n"
    )
