"""C++ programs from build to verdict: sizes behind parameters and classes, several sizes of one
loop, and an exit code that is not 0."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.compiler

ROOT = Path(__file__).resolve().parents[2]
MESH = """\
#include <cstdio>
#include <cstdlib>
class Mesh {
public:
    explicit Mesh(int edge) : m_cells(edge * edge * edge), m_halo(2) {}
    int cells() const { return m_cells; }
    int halo() const { return m_halo; }
private:
    int m_cells, m_halo;
};
static double a[100000], b[100000];
static void relax(int x, int halo)
{
#pragma omp parallel for
    for (int i = halo; i < x - halo; i++) a[i] = b[i];
}
static void level(const Mesh &mesh, int halo) { relax(mesh.cells(), halo); }
static void scale(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] *= 2;
}
#ifdef SHIFT
static void shift()
{
#pragma omp parallel for
    for (int i = 0; i < 77; i++) a[i] += b[i];
}
#endif
int main(int argc, char **argv)
{
    Mesh mesh(argc > 1 ? std::atoi(argv[1]) : 20);
    for (int t = 0; t < 5; t++) level(mesh, mesh.halo());
    for (int k = 0; k < 9; k++) scale(10);
    scale(9000);
#ifdef SHIFT
    shift();
#endif
    std::puts("INVALID CHECKSUM");
    return mesh.cells() != 8000;
}
"""


def _run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    settings.pop("REGIONPREDICT_CACHE", None)
    return subprocess.run(
        line, cwd=folder, env=settings, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources and with measurements of a mesh of 7 x 7 x 7."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    folder = tmp_path_factory.mktemp("mesh")
    (folder / "mesh.cpp").write_text(MESH)
    made = _run(
        "cc", "--", "g++", "-O1", "-fopenmp", "-DSHIFT", "mesh.cpp", "-o", "mesh", folder=folder
    )
    assert made.returncode == 0, made.stderr
    done = _run(
        "measure", "--threads", "1,2", "--repeat", "1", "--quiet-wait", "none", "-o", "m.jsonl",
        "--", "./mesh", "7", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (
        "note: 4 of 4 runs ended with exit code 1. Their times are kept. "
        "The last lines of the program:\n  INVALID CHECKSUM\n" in done.stderr
    )
    return folder


def _hints(folder: Path, *words: str) -> tuple[dict[str, dict[str, Any]], str]:
    done = _run(
        "predict", "mesh.cpp", "-m", "dunnington", "--format", "json", "-o", "h.json",
        "--sizes-from", "m.jsonl", *words, folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "h.json").read_text())
    assert document["unbound"] == []
    return {one["function"]: one for one in document["regions"]}, done.stderr


def test_all_measured_regions_are_predicted_and_judged(measured: Path) -> None:
    regions, _ = _hints(measured, "-D", "SHIFT")
    assert {name: one["iterations"]["value"] for name, one in regions.items()} == {
        "relax": 343 - 2 * 2, "scale": 9000, "shift": 77,
    }  # fmt: skip
    assert {name: one["executions"]["value"] for name, one in regions.items()} == {
        "relax": 5, "scale": 10, "shift": 1,
    }  # fmt: skip
    assert "n = 9000 (recorded: from 10 to 9000)" in regions["scale"]["assumed"]
    done = _run(
        "compare", "h.json", "m.jsonl", "--with-disturbed", "--other-machine", folder=measured
    )
    assert done.returncode == 0, done.stderr
    assert "not judged" not in done.stdout
    assert " of 3; " in done.stdout


def test_recorded_loops_that_are_not_read_are_noted(measured: Path) -> None:
    regions, said = _hints(measured)
    assert regions["relax"]["iterations"]["value"] == 339
    assert (
        "note: m.jsonl: 1 recorded loop not read here: mesh.cpp:26. "
        "The program was built with -DSHIFT\n"
    ) in said


def test_the_distribution_of_sizes_is_recorded(measured: Path) -> None:
    last = json.loads((measured / "m.jsonl").read_text().splitlines()[-1])
    cases = {one["function"]: one["cases"] for one in last["regions"]}
    assert cases == {
        "relax": [], "shift": [],
        "scale": [
            {"entries": 9, "trips": 10, "values": {"n": 10}},
            {"entries": 1, "trips": 9000, "values": {"n": 9000}},
        ],
    }  # fmt: skip
