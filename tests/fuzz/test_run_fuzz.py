"""A few mutants of each kind through the HTML page, as `make fuzz` does with thousands."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import forked_command
import pytest
from forked_command import Call, run, run_all
from input_mutants import kinds, tried
from run_fuzz import end_with_descendants
from source_mutants import BATCH, findings, mutant

from regionpredict.frontend import FRONTENDS

pytestmark = pytest.mark.slow


@pytest.mark.isolated_defects
@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("first", [1, 101, 201, 301])
def test_no_mutant_costs_an_answer(tmp_path: Path, frontend: str, first: int) -> None:
    numbers = range(first, first + BATCH)
    found = list(findings(numbers, frontend, tmp_path))
    assert not found, mutant(found[0][0], frontend).text


def test_each_reader_takes_its_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants of a text that is refused at its beginning try nothing after that."""
    monkeypatch.setenv("FUZZ_FOLDER", str(tmp_path))
    known = kinds()
    for name in known.keys() - {"hyperfine.csv"}:  # it needs --value
        kind = known[name]
        ended = tried(kind, kind.original, kind.commands[0], tmp_path / name)
        assert bool(ended.shown) != kind.silent, (name, ended.said)
        assert not ended.wrong, (name, ended.wrong)


def test_a_number_is_a_mutant() -> None:
    assert mutant(7, "libclang") == mutant(7, "libclang") != mutant(8, "libclang")


def test_a_run_tries_each_reader_and_sums_up() -> None:
    words = ("--mutants", "0", "--inputs", "2", "--jobs", "2", "--only", "sizes", "--only", "DOT")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("run_fuzz.py"), *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "sizes                          2 of 2 tried, 0 findings\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("4 mutants in ")


@pytest.mark.parametrize(("kind", "number"), [("OTF2 0.evt", 50199)])
def test_what_a_run_found_is_mended(kind: str, number: int) -> None:
    """50199: a function ends that the archive does not define."""
    words = ("--mutants", "0", "--inputs", "1", "--first", str(number), "--only", kind)
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("run_fuzz.py"), *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_run_that_is_stopped_leaves_no_command() -> None:
    """Commands have process groups, and what they start a session. All hold the pipe."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        for begin in (os.setpgrp, os.setsid, lambda: None):
            if not os.fork():
                begin()
                os.write(send, b".")
                time.sleep(3600)
        time.sleep(3600)
    os.close(send)
    begun = b""
    while len(begun) < 3:
        begun += os.read(receive, 3)
    end_with_descendants(child)
    assert os.read(receive, 1) == b""
    os.close(receive)
    os.waitpid(child, 0)


def test_a_forked_command_leaves_the_folders_of_its_caller(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with tempfile.TemporaryDirectory() as kept:
        assert not run(["--version"], place).wrong
        assert Path(kept).is_dir()


def test_each_command_of_a_batch_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = forked_command._code

    def counted(call: Call) -> int:
        with (tmp_path / "ran").open("a") as file:
            file.write(f"{call.place.name}\n")
        return original(call)

    monkeypatch.setattr(forked_command, "_code", counted)
    calls = [Call(("--version",), tmp_path / str(number)) for number in range(6)]
    for call in calls:
        call.place.mkdir()
    assert [ended.wrong for ended in run_all(calls)] == [""] * 6
    assert (tmp_path / "ran").read_text().split() == [str(number) for number in range(6)]
