"""Options behind the name of a program are the program's, with and without `--` before it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = (
    ("measure", "--threads", "1", "-o", "runs.jsonl"),
    ("run", "--hints", "hints.json"),
    ("tasks", "record", "-o", "tasks.json"),
)


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "loop.c").write_text(
        "void f(double *a) {\n#pragma omp parallel for\n"
        "for (int i = 0; i < 100; i++) a[i] = 1.0; }\n"
    )
    done = _run(folder, "predict", "loop.c", "-m", "dunnington", "--format", "json", "-o",
                "hints.json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("behind", [("./gone", "-x", "5"), ("./gone", "--threads", "many")])
def test_options_behind_a_program_are_its_own(
    folder: Path, command: tuple[str, ...], behind: tuple[str, ...]
) -> None:
    """None of them is refused: what is wrong is that there is no such program."""
    for words in ((*command, *behind), (*command, "--", *behind)):
        done = _run(folder, *words)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert "gone" in done.stderr and "No such option" not in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_options_before_it_are_those_of_the_command(folder: Path, command: tuple[str, ...]) -> None:
    done = _run(folder, *command, "-x", "5", "./gone")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such option '-x'" in done.stderr
