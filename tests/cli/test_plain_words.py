"""What is printed is in words and units that people read, within the width of a page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ('{"a": ', "1:7", "it ends too early"),
        ('{"a": "b', "1:7", "it ends too early"),
        ("{a: 1}", "1:2", "'a' does not belong here"),
        ('{"a":\n  oops}', "2:3", "'oops' does not belong here"),
        ("{} x", "1:4", "'x' follows its end"),
        ("", "1:1", "it is empty"),
    ],
)
def test_what_is_no_json_is_told_without_the_parser_s_words(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    (tmp_path / "h.json").write_text(text)
    done = _run(tmp_path, "compare", "h.json", "m.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"regionpredict: h.json:{place}: not a hints file: {said}; ")
    (tmp_path / "compile_commands.json").write_text(text)
    done = _run(tmp_path, "analyze", "compile_commands.json")
    assert f"compile_commands.json:{place}: not JSON: {said}; " in done.stderr


def test_the_list_of_machines_fits_a_page_in_a_pipe(tmp_path: Path) -> None:
    done = _run(tmp_path, "machines", "list")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80


TWICE = """\
static double a[4000000], b[4000000];
static void add(double *x, double *y)
{
#pragma omp parallel for
    for (int i = 0; i < 4000000; i++) x[i] += y[i];
}
static void chain(double *x)
{
#pragma omp parallel for
    for (int i = 0; i < 4000000; i++) x[i] = (x[i] + 1.0) / (x[i] + 2.0);
}
int main(void)
{
    add(a, b);
    chain(a);
    return 0;
}
"""


@pytest.mark.parametrize("machine", ["dunnington", "a64fx", "clovertown"])
def test_no_assumption_is_told_twice(tmp_path: Path, machine: str) -> None:
    (tmp_path / "f.c").write_text(TWICE)
    done = _run(tmp_path, "predict", "f.c", "-m", machine)
    lines = done.stdout.partition("* assumed:\n")[2].splitlines()
    begun = [line for line in lines if line.startswith("    ") and line[4] != " "]
    assert len({line.split("(")[0] for line in begun}) == len(begun) > 0
