"""Where `measure` pins threads, as the program finds it in its environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.machine.detect import read_sysfs

ROOT = Path(__file__).resolve().parents[2]


def _measured(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", "measure", "--threads", "1", "--repeat", "1",
            "--quiet-wait", "none", "-o", "m.jsonl", *words, "--",
            "sh", "-c", "echo $OMP_PLACES $OMP_PROC_BIND > seen"]  # fmt: skip
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        line, cwd=folder, env=settings, capture_output=True, text=True, timeout=600, check=False
    )


def test_over_second_level_caches_first(tmp_path: Path) -> None:
    _measured(tmp_path, "--bind", "caches")  # the program has no region: what it saw is enough
    allowed = os.sched_getaffinity(0)
    cores = [number for number in read_sysfs().over_caches if number in allowed]
    places = ",".join(f"{{{number}}}" for number in cores)
    assert (tmp_path / "seen").read_text() == f"{places} close\n"
    first = json.loads((tmp_path / "m.jsonl").read_text().splitlines()[0])
    assert places in json.dumps(first)


def test_a_list_of_places_is_written_for_close_threads(tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    _measured(tmp_path, "--bind", f"{{{cpu}}}")
    assert (tmp_path / "seen").read_text() == f"{{{cpu}}} close\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bind", "{0"), "--bind '{0' is not a list of places; write close, spread or caches"),
        (("--bind", "socket"), "--bind 'socket' is not a list of places; write close, spread"),
        (("--bind", "{0},{99999}"), "CPU 99999 is not usable here; the CPUs are"),
    ],
)
def test_wrong_places_are_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = _measured(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "m.jsonl").exists()


def test_names_of_places_are_written_for_close_threads(tmp_path: Path) -> None:
    _measured(tmp_path, "--bind", "sockets")
    assert (tmp_path / "seen").read_text() == "sockets close\n"
