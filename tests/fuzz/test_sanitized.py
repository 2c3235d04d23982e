"""The C parts, built with sanitizers, pass the tests that use them, and their programs run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from run_fuzz import ROOT, sanitizing

from regionpredict.fit.expectations.run_microbenchmark import (
    MPI,
    OPENMP,
    Microbenchmark,
    run_microbenchmark,
)
from regionpredict.machine import load
from regionpredict.machine.calibrate.build import build, compiled
from regionpredict.machine.calibrate.plan import plan
from regionpredict.machine.detect import CacheShape, Topology
from regionpredict.model_sweeps import loops_source, order_loops, sweep_loops

PACKAGE = ROOT / "regionpredict"
SUITES = {
    "trace/test_otf2.py": ("", "call_paths delays matching otf2_events wrong_order"),
    "trace/test_trace_replay.py": ("", "replay"),
    "trace/test_clocks.py": ("", "clock_correction"),
    "trace/test_what_if.py": ("", "what_if"),
    "tasks/test_replay.py": ("", "task_replay"),
    # One compiler each: with sanitizers, a run takes minutes.
    "trace/test_record.py": ("", "mpi_recorder ompt_record"),
    "trace/test_record_messages.py": ("", "mpi_recorder"),
    "trace/test_record_one_sided.py": ("", "mpi_recorder"),
    "trace/paraver": ("not slow", "paraver_text"),
    "tasks/test_recorded_programs.py": ("not slow", "ompt_record"),
    "measure/test_run_with_hints.py": ("not slow", "preload runtime"),
    "measure/test_shared_cores.py": ("not slow", "preload"),
}
"""Test suites, which of their tests run, and the C parts that they build with sanitizers."""
HERE = "omp_constructs mpi_collectives bandwidth clock latency openmp operations"
"""The C parts that tests below build with sanitizers."""
PARSED = ("frontend/library_models", "frontend/headers")
"""Folders of C text that only the parsers read: it is never compiled."""


@pytest.fixture
def sanitized(tmp_path: Path) -> dict[str, str]:
    """The environment that builds and runs C parts with sanitizers."""
    environment = sanitizing(tmp_path)
    if not environment:
        pytest.skip("needs gcc with sanitizers")
    search = os.pathsep.join((str(Path(environment["CC"]).parent), os.environ["PATH"]))
    return {**os.environ, **environment, "PATH": search}


def _shipped(pattern: str) -> dict[str, Path]:
    """The C files of the package that a compiler reads, by name."""
    parsed = tuple(PACKAGE / folder for folder in PARSED)
    files = [path for path in PACKAGE.rglob(pattern) if not set(parsed) & set(path.parents)]
    assert len({path.name for path in files}) == len(files)
    return {path.stem: path for path in files}


def test_each_c_file_is_built_with_sanitizers() -> None:
    covered = " ".join((HERE, *(built for _, built in SUITES.values()))).split()
    assert set(covered) == _shipped("*.c").keys()


def test_each_c_header_is_part_of_a_c_file() -> None:
    texts = [path.read_text() for path in (_shipped("*.c") | _shipped("*.h")).values()]
    for path in _shipped("*.h").values():
        assert any(f'#include "{path.name}"' in text for text in texts), path


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_sanitizers_find_nothing_in_the_c_parts(sanitized: dict[str, str], suite: str) -> None:
    marked, parts = SUITES[suite]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", marked,
         f"tests/{suite}"],
        cwd=ROOT, env=sanitized, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    words = Path(sanitized["CC"]).with_name("words").read_text().splitlines()
    assert {str(_shipped("*.c")[part]) for part in parts.split()} <= set(words)


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", [OPENMP, MPI], ids=["OpenMP", "MPI"])
def test_sanitizers_find_nothing_in_the_benchmarks_of_expect(
    sanitized: dict[str, str], benchmark: Microbenchmark
) -> None:
    if shutil.which(benchmark.compile.split()[0]) is None:
        pytest.skip("no MPI")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    compiler = benchmark.compile.replace("gcc", sanitized["CC"])
    with tempfile.TemporaryDirectory(prefix="mpi-") as session:  # Open MPI's own, in a short path
        variables = {**sanitized, **root, "TMPDIR": session}
        measured = run_microbenchmark(
            benchmark, [1, 2], repetitions=3, compiler=compiler, environment=variables
        )
    assert measured.series


@pytest.mark.slow
def test_sanitizers_find_nothing_in_the_program_of_bench(
    sanitized: dict[str, str], tmp_path: Path
) -> None:
    """Each loop of the figures, for small caches."""
    machine = load("dunnington")
    machine = replace(machine, caches=machine.caches[:1])
    loops = (*sweep_loops(), *order_loops())
    source = tmp_path / "loops.c"
    source.write_text(loops_source(machine, loops, timed=True))
    program = compiled(sanitized["CC"], source, ("-O3", "-fopenmp"), tmp_path / "loops")
    done = subprocess.run(
        [str(program), "1", "2"], env=sanitized, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2 * len(loops)


@pytest.mark.slow
def test_sanitizers_find_nothing_in_the_programs_of_calibrate(
    sanitized: dict[str, str], tmp_path: Path
) -> None:
    """Each measurement of a small node, with a sample or two."""
    caches = CacheShape(1, 4096, 64, 4, 1), CacheShape(2, 1 << 16, 64, 8, 2)
    cpus = tuple(sorted(os.sched_getaffinity(0)))[:2]
    node = Topology("small", "", 1, len(cpus), 1, 1, caches, threads=cpus)
    programs = build(sanitized["CC"], tmp_path)
    settings = {**sanitized, "LD_PRELOAD": ""}
    planned = plan(node, 64 << 20, cpus)
    assert {measurement.program for measurement in planned} == programs.keys()
    for measurement in planned:
        line = [str(programs[measurement.program]), "2", "0.01", *measurement.arguments]
        done = subprocess.run(line, env=settings, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), (measurement, done.stderr[-2000:])
        assert done.stdout, measurement
