"""Runs the wrapper and measured programs, and reads what they wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Measured = Callable[..., dict[int, dict[str, Any]]]
WRAPPER = [sys.executable, "-m", "regionpredict", "cc", "--"]
ROOT = Path(__file__).resolve().parents[2]


def environment(**more: str) -> dict[str, str]:
    """The environment with the package importable from anywhere."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**os.environ, "PYTHONPATH": path, "LC_ALL": "C", **more}


def run_measured(
    program: list[str], threads: int = 2, cwd: Path | None = None
) -> list[dict[str, Any]]:
    """The lines that a measured program writes of its run and its regions."""
    output = Path(program[0]).with_suffix(".results")
    output.unlink(missing_ok=True)
    subprocess.run(
        program, check=True, timeout=600, capture_output=True, cwd=cwd,
        env=environment(REGIONPREDICT_OUTPUT=str(output), OMP_NUM_THREADS=str(threads)),
    )  # fmt: skip
    entries = [json.loads(line) for line in output.read_text().splitlines()]
    return [entry for entry in entries if entry["kind"] in ("run", "region")]
