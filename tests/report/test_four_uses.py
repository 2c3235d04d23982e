"""The four uses of the design are one command each, as the README gives it, and do what they are
for: a prediction before the job is submitted, hints for a scheduler, a machine file measured, and
predictions held against measured speedups.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.machine import load

pytestmark = pytest.mark.compiler

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BEFORE = "regionpredict predict src -m dunnington"
HINTS = "regionpredict predict src -m dunnington --format json -o hints.json"
CALIBRATED = "regionpredict calibrate -o FILE"
COMPARED = "regionpredict compare hints.json runs.jsonl"
SOURCE = """\
#define N 400
static double a[N][N], x[N], y[N];
int main(void)
{
    #pragma omp parallel for
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 / (i + 1);
        for (int j = 0; j < N; j++) a[i][j] = i + j;
    }
    #pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) y[i] += a[i][j] * x[j];
    return y[N - 1] < 0;
}
"""


def _called(
    command: str, folder: Path, *more: str, succeeds: bool = True
) -> subprocess.CompletedProcess[str]:
    """A command of the README in the folder, with the words of a shorter run behind it."""
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), *more], cwd=folder, capture_output=True,
        text=True, check=False, timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0) is succeeds, (command, done.stderr)
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program of two loops in `src`."""
    made: Path = tmp_path_factory.mktemp("uses")
    (made / "src").mkdir()
    (made / "src" / "p.c").write_text(SOURCE)
    return made


@pytest.mark.parametrize("command", [BEFORE, HINTS, CALIBRATED, COMPARED])
def test_the_readme_has_it(command: str) -> None:
    """In a block of commands, or as code in a sentence."""
    in_block = any(line.split("#")[0].strip() == command for line in README.splitlines())
    assert in_block or f"`{command}`" in README


def test_before_the_job_is_submitted(folder: Path) -> None:
    shown = _called(BEFORE, folder).stdout
    assert "2 loops: 2 predicted" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert [row[:2] for row in rows if row[1:2] == ["main"]] == [["5", "main"], ["10", "main"]]


def test_hints_for_a_scheduler(folder: Path) -> None:
    _called(HINTS, folder)
    regions = json.loads((folder / "hints.json").read_text())["regions"]
    assert [region["line"] for region in regions] == [5, 10]
    for region in regions:
        assert 1 <= region["packages"] <= 4
        assert 1 <= region["threads"] <= 24


@pytest.mark.slow
def test_a_machine_is_measured_and_its_hints_are_held_against_runs(folder: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    file = folder / "here.yaml"
    _called(CALIBRATED.replace("FILE", file.name), folder, "--time-budget", "5s",
            "--quiet-wait", "none")  # fmt: skip
    machine = load(str(file))
    assert machine.name == "here"
    _called("regionpredict cc -- gcc -O1 -fopenmp src/p.c -o p", folder)
    _called("regionpredict measure --threads 1,2 -o runs.jsonl", folder, "--quiet-wait", "none",
            "--repeat", "2", "--", "./p")  # fmt: skip
    _called(HINTS.replace("dunnington", file.name), folder)
    # Whether others kept the host busy is not what is asked here.
    document = json.loads(_called(COMPARED, folder, "--with-disturbed", "--format", "json").stdout)
    assert [region["line"] for region in document["regions"]] == [5, 10]
    for region in document["regions"]:
        assert set(region["measured_speedup"]) >= {"1", "2"}
    # Hints for a machine that was not measured are refused in one line.
    _called(HINTS, folder)
    refused = _called(COMPARED, folder, "--with-disturbed", succeeds=False)
    assert refused.stdout == ""
    assert refused.stderr.count("\n") == 1
    assert "the hints are for dunnington" in refused.stderr
