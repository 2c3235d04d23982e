"""Headers that nobody said where to find: looked for around the file, and below `-I` folders."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEADER = "struct cells { int n; double *x; };\n"
LOOP = """#include "cells.h"
void scale(struct cells *c) {
#pragma omp parallel for
  for (int i = 0; i < c->n; i++) c->x[i] *= 2.0;
}
"""


def analysed(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "analyze", "src/fast", *options,
         "--format", "json"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One folder of a project is read; the header lies in its neighbour."""
    for name, text in {"src/fast/scale.c": LOOP, "src/base/deep/cells.h": HEADER}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_a_header_below_a_named_folder_is_found(project: Path, frontend: str) -> None:
    done = analysed(project, "-I", "src", "--frontend", frontend)
    assert done.returncode == 0
    assert "RP003" in done.stderr and "src/base/deep" in done.stderr
    (region,) = json.loads(done.stdout)["regions"]
    assert region["status"] == "predicted"
    assert {array["name"] for array in region["arrays"]} == {"c->x"}


def test_without_a_named_folder_nothing_beside_what_is_read_is_used(project: Path) -> None:
    done = analysed(project)
    assert "RP001" in done.stderr and "RP003" not in done.stderr


def test_a_header_that_comes_to_a_named_folder_is_used_the_next_time(project: Path) -> None:
    header = project / "src/base/deep/cells.h"
    header.unlink()
    before = analysed(project, "-I", "src")
    header.write_text(HEADER)
    behind = analysed(project, "-I", "src")
    assert "RP001" in before.stderr
    assert "RP003" in behind.stderr


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_a_loop_of_a_header_is_one_however_files_find_it(project: Path, frontend: str) -> None:
    """By a folder that was guessed, and by a path that one file gives."""
    (project / "src/base/deep/cells.h").write_text(
        HEADER + "static void fill(struct cells *c) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < c->n; i++) c->x[i] = 1.0;\n}\n"
    )
    (project / "src/fast/other.c").write_text(
        '#include "../base/deep/cells.h"\nvoid other(struct cells *c) { fill(c); }\n'
    )
    regions = json.loads(analysed(project, "-I", "src", "--frontend", frontend).stdout)["regions"]
    assert sorted(region["file"] for region in regions) == [
        "src/base/deep/cells.h", "src/fast/scale.c",
    ]  # fmt: skip
