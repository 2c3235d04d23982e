"""Compiles with the wrapper and reads what the program measured."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from measured_programs import WRAPPER, Measured, environment, run_measured


@pytest.fixture(params=["gcc", pytest.param("clang-19", marks=pytest.mark.slow)])
def compiler(request: pytest.FixtureRequest) -> str:
    """Each C compiler that is here; with the second, what is compiled and run is slow."""
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    return name


@pytest.fixture
def gcc() -> str:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    return "gcc"


@pytest.fixture
def measured(tmp_path: Path, compiler: str) -> Measured:
    """Compiles C text under the wrapper, runs it, and gives its regions by line."""

    def measure(
        text: str, *flags: str, threads: int = 2, name: str = "code.c"
    ) -> dict[int, dict[str, Any]]:
        source = tmp_path / name
        source.write_text(text)
        driver = compiler
        if source.suffix == ".cpp":
            driver = compiler.replace("gcc", "g++").replace("clang", "clang++")
            if shutil.which(driver) is None:
                pytest.skip(f"needs {driver}")
        program = tmp_path / "program"
        line = [*WRAPPER, driver, "-O2", "-fopenmp", *flags, str(source), "-o", str(program), "-lm"]
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=600, env=environment(), check=False
        )
        assert done.returncode == 0, done.stderr
        assert "not measured" not in done.stderr
        lines = run_measured([str(program)], threads)
        assert lines[0]["kind"] == "run"
        return {line["line"]: line for line in lines[1:]}

    return measure
