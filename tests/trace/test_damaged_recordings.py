"""Recordings of programs that were killed or wrote over them: one line, and no archive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "readers"))
from original_runs import recorded_ranks  # noqa: E402

pytest.importorskip("otf2")
pytestmark = pytest.mark.compiler

COPIES = ["sh", "-c", 'cp from/* "$REGIONPREDICT_TRACE"']
FILES = recorded_ranks()


def recorded(folder: Path, **damaged: bytes) -> subprocess.CompletedProcess[str]:
    (folder / "from").mkdir()
    for file, data in {**FILES, **damaged}.items():
        (folder / "from" / file).write_bytes(data)
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "trace", "record", "-o", "out", "--", *COPIES],
        cwd=folder, capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_a_complete_recording_is_an_archive(tmp_path: Path) -> None:
    """11 and 11 records of MPI, and 8 and 4 of the teams; the first of each file is its head."""
    done = recorded(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "traces.otf2").is_file()
    assert "written: " in done.stderr and " events, " in done.stderr


@pytest.mark.parametrize(
    ("file", "data"),
    further_slow(
        5,
        [
            ("1.names", FILES["1.names"].replace(b"name 3 ", b"name ")),  # no number
            ("1.names", b"comm"),  # cut off
            ("names-7", b"solve\n"),
            ("sites-7", b"2 x 40001a2b /usr/bin/env\n"),
            ("0-0.events", b"\xff" * len(FILES["0-0.events"])),  # times above 63 bits
            ("0-0.events", FILES["0-0.events"][44:88] + FILES["0-0.events"][:44]),  # times go back
            ("1-0.events", FILES["1-0.events"].replace(b"\x07", b"\x1f")),
            ("events-7-0", FILES["events-7-0"].replace(b"\x19\0", b"\xff\xff")),
        ],
    ),
)
def test_a_damaged_one_is_one_line_or_an_archive(tmp_path: Path, file: str, data: bytes) -> None:
    done = recorded(tmp_path, **{file: data})
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("regionpredict: ")]
    assert (done.returncode, len(said)) in ((0, 0), (1, 1)), done.stderr
    assert (tmp_path / "out").exists() == (done.returncode == 0)
