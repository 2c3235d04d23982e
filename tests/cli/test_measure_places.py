"""Where `measure` pins threads, as the program finds it in its environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from regionpredict.machine.detect import read_sysfs

ROOT = Path(__file__).resolve().parents[2]


def _measured(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", "measure", "--threads", "1", "--repeat", "1",
            "--quiet-wait", "none", "-o", "m.jsonl", *words, "--",
            "sh", "-c", "echo $OMP_PLACES $OMP_PROC_BIND > seen"]  # fmt: skip
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        line, cwd=folder, env=settings, capture_output=True, text=True, timeout=120, check=False
    )


def test_over_second_level_caches_first(tmp_path: Path) -> None:
    _measured(tmp_path, "--bind", "caches")  # the program has no region: what it saw is enough
    allowed = os.sched_getaffinity(0)
    cores = [number for number in read_sysfs().over_caches if number in allowed]
    places = ",".join(f"{{{number}}}" for number in cores)
    assert (tmp_path / "seen").read_text() == f"{places} close\n"
    first = json.loads((tmp_path / "m.jsonl").read_text().splitlines()[0])
    assert places in json.dumps(first)


def test_two_words_on_where(tmp_path: Path) -> None:
    done = _measured(tmp_path, "--bind", "caches", "--places", "sockets")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--places sockets with --bind caches; leave one out" in done.stderr
    assert not (tmp_path / "m.jsonl").exists()
