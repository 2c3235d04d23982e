"""The C parts, built with sanitizers, pass the tests that use them, and their programs run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from run_fuzz import ROOT, sanitizing

from regionpredict.machine.calibrate.build import build
from regionpredict.machine.calibrate.plan import plan
from regionpredict.machine.detect import CacheShape, Topology

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("suite", "marked"),
    [
        ("trace/test_otf2.py", ""),
        ("trace/test_trace_replay.py", ""),
        ("tasks/test_replay.py", ""),
        # One compiler each: with sanitizers, a run takes minutes.
        ("trace/test_record.py", ""),
        ("trace/test_record_messages.py", ""),
        ("trace/test_record_one_sided.py", ""),
        ("trace/paraver", "not slow"),
        ("tasks/test_recorded_programs.py", "not slow"),
        ("measure/test_run_with_hints.py", "not slow"),
        ("measure/test_shared_cores.py", "not slow"),
    ],
)
def test_sanitizers_find_nothing_in_the_c_parts(tmp_path: Path, suite: str, marked: str) -> None:
    sanitized = sanitizing(tmp_path)
    if not sanitized:
        pytest.skip("needs gcc with sanitizers")
    folders = f"{Path(sanitized['CC']).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", marked,
         f"tests/{suite}"],
        cwd=ROOT, env={**os.environ, **sanitized, "PATH": folders}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_sanitizers_find_nothing_in_the_programs_of_calibrate(tmp_path: Path) -> None:
    """Each measurement of a small node, with a sample or two."""
    sanitized = sanitizing(tmp_path)
    if not sanitized:
        pytest.skip("needs gcc with sanitizers")
    caches = CacheShape(1, 4096, 64, 4, 1), CacheShape(2, 1 << 16, 64, 8, 2)
    cpus = tuple(sorted(os.sched_getaffinity(0)))[:2]
    node = Topology("small", "", 1, len(cpus), 1, 1, caches, threads=cpus)
    programs = build(sanitized["CC"], tmp_path)
    settings = {**os.environ, **{key: sanitized[key] for key in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}}
    planned = plan(node, 64 << 20, cpus)
    assert {measurement.program for measurement in planned} == programs.keys()
    for measurement in planned:
        line = [str(programs[measurement.program]), "2", "0.01", *measurement.arguments]
        done = subprocess.run(line, env=settings, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), (measurement, done.stderr[-2000:])
        assert done.stdout, measurement
