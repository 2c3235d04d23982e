"""The choices of the density model, and its thread counts, as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# 400 MB on caches of 16 MiB.
SOURCE = """\
double a[20000000], b[20000000];
int at[20000000];
void f(void)
{
#pragma omp parallel for
    for (int i = 0; i < 20000000; i++) {
        b[i] = at[i] * a[i];
        for (int k = 0; k < 8; k++) a[i] = a[i] / 3.0 / 7.0;
    }
}
"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "s.c").write_text(SOURCE)
    line = [sys.executable, "-m", "regionpredict", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        line, cwd=folder, env=settings, capture_output=True, text=True, timeout=600, check=False
    )


def _document(folder: Path, *words: str) -> dict[str, Any]:
    line = ("predict", "s.c", "-m", "dunnington", "--model", "density", "--format", "json")
    done = _run(folder, *line, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_each_choice_has_its_name(tmp_path: Path) -> None:
    letter = _document(tmp_path)
    weighted = _document(tmp_path, "--statement-weight", "executions")
    sized = _document(tmp_path, "--miss-weight", "element-size")
    scores = [document["regions"][0]["score"] for document in (letter, weighted, sized)]
    # Arithmetic runs eight times as often as what misses; indices are half as wide as doubles.
    assert scores[0] < scores[1]
    assert scores[0] < scores[2]
    asked = [document["request"] for document in (letter, weighted, sized)]
    assert [one["statement_weight"] for one in asked] == ["equal", "executions", "equal"]
    assert [one["miss_weight"] for one in asked] == ["reference", "reference", "element-size"]


def test_thread_counts_to_choose_from(tmp_path: Path) -> None:
    """By 1 to 12 threads two packages can be filled, by 1 to 6 one."""
    for threads, most in (("1-12", 2), ("1-6", 1), ("1,24", 4)):
        (one,) = _document(tmp_path, "--threads", threads)["regions"]
        assert one["packages"] <= most
        assert one["threads"] <= 6 * most
    assert one["threads"] in (1, 24)


def test_the_table_and_the_derivation_say_the_form(tmp_path: Path) -> None:
    options = ("-m", "dunnington", "--model", "density", "--statement-weight", "executions")
    table = _run(tmp_path, "predict", "s.c", *options)
    lead = table.stdout.splitlines()[:5]
    assert lead[:2] == ["Use 24 threads on 4 packages.", "Confidence: 54 %."]  # it has no times
    assert lead[4].endswith("density model (by executions)")
    told = _run(tmp_path, "explain", "s.c:5", *options)
    assert "counts 160000000 times" in told.stdout
    assert "Average over 2 statements, by their executions" in told.stdout
    plain = _run(tmp_path, "predict", "s.c", "-m", "dunnington", "--model", "density")
    assert plain.stdout.splitlines()[4].endswith("density model")


@pytest.mark.parametrize("command", [("predict", "s.c"), ("explain", "s.c:5")])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--statement-weight", "executions"), "--statement-weight belongs to the density model"),
        (("--miss-weight", "element-size"), "--miss-weight belongs to the density model"),
        (("--combination", "ratio"), "--combination belongs to the density model"),
        (("--model", "density", "--threads", "25"), "25 threads on dunnington"),
    ],
)
def test_wrong_calls(
    tmp_path: Path, command: tuple[str, ...], words: tuple[str, ...], said: str
) -> None:
    done = _run(tmp_path, *command, "-m", "dunnington", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
