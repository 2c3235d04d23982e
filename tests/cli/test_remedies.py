"""What somebody types in the first hour, as a process: the one line names the way on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAT = """\
void step(int nx, int ny, double *a, const double *b)
{
#pragma omp parallel for
    for (int i = 1; i < nx - 1; i++)
        for (int j = 1; j < ny - 1; j++)
            a[i * ny + j] = b[i * ny + j - 1] + b[i * ny + j + 1];
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "heat.c").write_text(HEAT)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "heat.c").write_text(HEAT)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "regionpredict", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ}
    )


def refused(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The one line, without the program's name."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("regionpredict: ")
    return line.removeprefix("regionpredict: ")


@pytest.mark.parametrize("given", ["heat.c", "src", "./src/heat.c"])
@pytest.mark.parametrize("paths", [[], ["heat.c"]])
def test_a_source_given_as_machine(folder: Path, given: str, paths: list[str]) -> None:
    said = refused(run(folder, "predict", *paths, "-m", given), 2)
    what = "a folder" if given == "src" else "a source"
    assert said == (
        f"-m {given}: {what}, no machine; name a machine there: regionpredict predict {given} "
        "-m dunnington, or -m host for this one"
    )
    assert run(folder, "predict", given, "-m", "dunnington").returncode == 0


def test_a_source_given_as_machine_of_what_takes_no_paths(folder: Path) -> None:
    said = refused(run(folder, "coschedule", "a.json", "b.json", "-m", "heat.c"), 2)
    assert said.endswith("name a machine there, as -m dunnington, or -m host for this one")


def test_a_machine_file_without_its_folder(folder: Path) -> None:
    (folder / "mynode").write_text("name: mynode\n")
    assert refused(run(folder, "predict", "heat.c", "-m", "mynode"), 1).endswith(
        "a file is a path, ./mynode"
    )
    assert "./mynode" in refused(run(folder, "predict", "heat.c", "-m", "./mynode"), 1)
