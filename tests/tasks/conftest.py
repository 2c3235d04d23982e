"""Builds and records the task programs, each once for a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.measure.ompt_run import recorded_run, site_lines
from regionpredict.measure.ompt_runtime import runtime_for
from regionpredict.tasks import TaskGraph, read_task_graph
from regionpredict.tasks.recording import LINES, lines_text

PROGRAMS = Path(__file__).parent / "programs"
Record = Callable[..., TaskGraph]


@pytest.fixture(scope="session", params=["clang-19", pytest.param("gcc", marks=pytest.mark.slow)])
def compiler(request: pytest.FixtureRequest) -> str:
    """Each compiler that is here; with the second, what is compiled and run is slow."""
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    return name


@pytest.fixture(scope="session")
def build(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program of the folder, or C text, and gives its file."""
    folder = tmp_path_factory.mktemp("built")
    known: dict[tuple[str, ...], Path] = {}

    def built(name: str, *options: str, text: str | None = None) -> Path:
        key = (name, *options)
        if key not in known:
            source = PROGRAMS / f"{name}.c"
            if text is not None:
                source = folder / f"{name}.c"
                source.write_text(text)
            program = folder / f"{name}{len(known)}"
            line = [compiler, "-O1", "-g", "-fopenmp", *options, str(source), "-o", str(program)]
            done = subprocess.run(
                [*line, "-lm"], capture_output=True, text=True, check=False, timeout=600
            )
            assert done.returncode == 0, done.stderr
            try:
                runtime_for(program)
            except InputError as error:
                pytest.skip(str(error))
            known[key] = program
        return known[key]

    return built


@pytest.fixture(scope="session")
def recorders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where what records and replays is kept, each compiled once."""
    cache = tmp_path_factory.mktemp("recorders")
    cache.chmod(0o700)
    return cache


@pytest.fixture
def record(build: Callable[..., Path], recorders: Path, tmp_path: Path, compiler: str) -> Record:
    """Records a program of the folder, or C text, and gives its graph."""
    runs = [0]

    def recorded(
        name: str, *words: object, threads: int = 1, text: str | None = None, code: int = 0
    ) -> TaskGraph:
        program = build(name, text=text)
        runs[0] += 1
        folder = tmp_path / f"run{runs[0]}"
        folder.mkdir()
        ended = recorded_run(
            [str(program), *map(str, words)], program, folder, compiler=["gcc"], cache=recorders,
            environment=os.environ, threads=threads, silent=True,
        )  # fmt: skip
        assert ended == code
        (folder / LINES).write_text(lines_text(site_lines(folder)))
        return read_task_graph(folder)

    return recorded
