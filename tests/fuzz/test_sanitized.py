"""The C parts, built with sanitizers, pass the tests that use them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from run_fuzz import ROOT, sanitizing

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("suite", "marked"),
    [
        ("trace/test_otf2.py", ""),
        ("trace/test_trace_replay.py", ""),
        ("tasks/test_replay.py", ""),
        # One compiler each: with sanitizers, a run takes minutes.
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
