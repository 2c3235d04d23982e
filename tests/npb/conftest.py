"""Builds the programs of the samples, each combination once a module."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "npb_samples"
COMPILER = os.environ.get("CC") or "gcc"

Build = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Builds a program of class S with extra definitions; each combination once."""
    built: dict[tuple[str, str], Path] = {}

    def build_program(program: str, defines: str) -> Path:
        if (program, defines) not in built:
            folder = tmp_path_factory.mktemp(program)
            subprocess.run(
                ["make", "-s", program, "CLASS=S", f"CC={COMPILER}", f"BUILD={folder}",
                 f"DEFINES={defines}"],
                cwd=SAMPLES, check=True, timeout=600,
            )  # fmt: skip
            built[program, defines] = folder / f"{program}.S"
        return built[program, defines]

    return build_program
