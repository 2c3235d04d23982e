"""`coschedule` from source to verdict, on nodes of eight cores in round figures: pairs whose better
way is known before.

Two buses of four cores, or one of eight, which one core fills to a half and four fill. Or two of
four that have one path to memory, of 7 GB/s for both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MACHINE = """
name: {name}
sources: {{test: "round numbers"}}
source: test
node: {{packages: {packages}, cores_per_package: {cores}, clock: 2 GHz, simd: 128}}
caches:
  - {{level: 1, size: 32 KiB, ways: 8, cores: 1, latency: 3}}
  - {{level: 2, size: 4 MiB, ways: 16, cores: {cores}, latency: 14, bytes_per_cycle: 16}}
memory: {{latency: 200, bandwidth: {{load: {{1: 3, 2: 5, 4: 6}}, copy: {{1: 2, 2: 3.3, 4: 3.6}}}}}}
"""
STREAM = """\
static double a[8000000], b[8000000];
int main(void)
{
    for (int t = 0; t < 200; t++) {
#pragma omp parallel for
        for (int i = 0; i < 8000000; i++) a[i] = b[i];
    }
    return 0;
}
"""
READ = STREAM.replace("a[i] = b[i]", "sum += b[i]").replace("static", "double sum;\nstatic")
READ = READ.replace("for\n", "for reduction(+:sum)\n")
COMPUTE = """\
#include <math.h>
static double x[800];
int main(void)
{
    for (int t = 0; t < 400; t++) {
#pragma omp parallel for
        for (int i = 0; i < 800; i++)
            for (int k = 0; k < 8000; k++) x[i] = sqrt(x[i] / (x[i] + 1.0));
    }
    return 0;
}
"""
# 2 MiB, which fit into 4, with room for what comes between, and not into 2.
CACHED = STREAM.replace("8000000", "131072").replace("t < 200", "t < 40000")
PROGRAMS = {"stream": STREAM, "read": READ, "compute": COMPUTE, "cached": CACHED}


def _call(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, predicted for both nodes, each under two names."""
    made = tmp_path_factory.mktemp("pairs")
    for node, packages, cores in (("two", 2, 4), ("one", 1, 8), ("bus", 2, 4)):
        text = MACHINE.format(name=node, packages=packages, cores=cores)
        if node == "bus":
            text = text.replace("latency: 200,", "latency: 200, shared_path: {traffic: 7},")
        (made / f"{node}.yaml").write_text(text)
        for name, source in PROGRAMS.items():
            (made / f"{name}.c").write_text(source)
            hints = made / f"{node}-{name}.json"
            _call(made, "predict", f"{name}.c", "-m", f"{node}.yaml", "--format", "json", "-o",
                  str(hints))  # fmt: skip
            (made / f"{node}-{name}-2.json").write_text(hints.read_text())
    return made


def _paired(folder: Path, node: str, first: str, second: str) -> dict[str, Any]:
    again = "-2" if first == second else ""
    document: dict[str, Any] = json.loads(
        _call(folder, "coschedule", f"{node}-{first}.json", f"{node}-{second}{again}.json", "-m",
              f"{node}.yaml", "--top", "1000", "--format", "json")
    )  # fmt: skip
    return document


def _way(document: dict[str, Any], kind: str, *cores: int) -> dict[str, Any]:
    """The allocation of this kind with these cores."""
    (way,) = [
        way for way in document["allocations"]
        if way["kind"] == kind and [part["cores"] for part in way["programs"]] == list(cores)
    ]  # fmt: skip
    return dict(way)


def _slowdowns(way: dict[str, Any]) -> list[float]:
    return [part["slowdown"] for part in way["programs"]]


@pytest.mark.parametrize("node", ["one", "two"])
@pytest.mark.parametrize("name", ["stream", "read"])
def test_streams_that_fill_memory_take_turns(folder: Path, node: str, name: str) -> None:
    """Half of the cores fill it: each of two takes twice as long, both as long as in turns."""
    document = _paired(folder, node, name, name)
    assert _slowdowns(_way(document, "cores", 4, 4)) == [pytest.approx(2.0, rel=0.02)] * 2
    best = document["allocations"][0]["seconds"]
    assert document["turns_seconds"] / best == pytest.approx(1.0, abs=0.02)
    assert not document["share"]


def test_cores_that_change_hands_have_no_more_memory_than_the_node(folder: Path) -> None:
    """Four cores, two of each package, request more than the path of both packages carries."""
    document = _paired(folder, "bus", "stream", "stream")
    over_time = document["over_time"]
    assert over_time["turns_seconds"] == pytest.approx(document["turns_seconds"], rel=0.02)
    assert over_time["seconds"] == pytest.approx(document["turns_seconds"], rel=0.05)


@pytest.mark.parametrize("node", ["one", "two"])
def test_a_stream_and_a_reader_take_turns(folder: Path, node: str) -> None:
    """Streams of different mixes: all traffic is the mean of both, no more than in turns."""
    document = _paired(folder, node, "stream", "read")
    assert not document["share"]


@pytest.mark.parametrize("node", ["one", "two"])
def test_a_stream_beside_arithmetic_is_nearly_free(folder: Path, node: str) -> None:
    """Some cores fill memory as well as all; the arithmetic has the others."""
    document = _paired(folder, node, "stream", "compute")
    streamed, computed = _slowdowns(_way(document, "cores", 4, 4))
    assert streamed == pytest.approx(1.0, abs=0.1)
    assert computed == pytest.approx(2.0, rel=0.02)
    assert document["share"]


@pytest.mark.parametrize("node", ["one", "two"])
def test_arithmetic_gains_nothing_from_its_like(folder: Path, node: str) -> None:
    document = _paired(folder, node, "compute", "compute")
    assert _slowdowns(_way(document, "cores", 4, 4)) == [pytest.approx(2.0, rel=0.02)] * 2
    assert not document["share"]


def test_programs_that_want_a_whole_cache_have_it_apart_or_in_turns(folder: Path) -> None:
    """With half of a cache each waits for memory; with its own cache it lacks half of the cores."""
    document = _paired(folder, "two", "cached", "cached")
    assert document["allocations"][0]["kind"] == "packages"
    assert all(slow <= 2.1 for slow in _slowdowns(_way(document, "packages", 4, 4)))
    assert all(slow > 2.5 for slow in _slowdowns(_way(document, "cores", 4, 4)))
    alone = _paired(folder, "one", "cached", "cached")
    assert not alone["share"]
    assert alone["allocations"][0]["seconds"] > 1.2 * alone["turns_seconds"]
