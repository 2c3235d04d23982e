"""Builds all samples once a test session, at their smallest size."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parents[2] / "polybench_samples"


@pytest.fixture(scope="session")
def built_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with every sample's program, built by the samples' own Makefile."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler with OpenMP")
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run(
        ["make", "-j2", "-s", f"CC={compiler}", "DATASET=MINI", f"BUILD={folder}"],
        cwd=ROOM,
        check=True,
        timeout=600,
    )
    return folder
