"""`regionpredict sizes --ask` on a terminal: questions, answers and the file."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

SOURCE = """\
void vectors(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = 2 * a[i];
}
void faces(int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < m; i++) a[i] = i;
}
"""
ASK = [sys.executable, "-m", "regionpredict", "sizes", "f.c", "-m", "dunnington", "--ask"]


def _asked(folder: Path, typed: bytes, *words: str) -> tuple[int, str]:
    """The exit code, and what the terminal shows. Everything is typed before it is asked for."""
    mine, its = pty.openpty()
    os.write(mine, typed)
    codes = []

    def ask() -> None:
        done = subprocess.run(
            [*ASK, *words], cwd=folder, stdin=its, stdout=its, stderr=its, check=False,
            env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "NO_COLOR": "1"},
        )  # fmt: skip
        codes.append(done.returncode)
        os.close(its)

    asking = threading.Thread(target=ask)
    asking.start()
    shown = b""
    try:
        while part := os.read(mine, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(mine)
    asking.join()
    return codes[0], shown.decode().replace("\r\n", "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.c").write_text(SOURCE)
    return tmp_path


def _assumed(shown: str, name: str) -> int:
    found = re.search(rf"  {name} \[(\d+)\]: ", shown)
    assert found is not None, shown
    return int(found[1])


def test_answers_are_a_file_for_sizes(folder: Path) -> None:
    code, shown = _asked(folder, b"many\n4e3\n\n")
    assert code == 0, shown
    assert "1 of 2: n  (f.c:3)\n  decides 2 of 3 loops: f.c:2 vectors, f.c:4 vectors\n" in shown
    assert "2 of 2: m  (f.c:9)\n  decides 1 of 3 loops: f.c:8 faces\n" in shown
    assert "  Not an integer. Write for example 4000, 0x1000 or 1e6.\n" in shown
    m = _assumed(shown, "m")
    assert _assumed(shown, "n") > 1000
    lines = (folder / "sizes.yaml").read_text().splitlines()[1:]
    assert [line.split("  #")[0] for line in lines] == ["n: 4000", f"m: {m}"]
    done = subprocess.run(
        [*ASK[:-1], "--sizes", "sizes.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "Hints are known for 3 of 3 loops: no size is needed\n"
    code, shown = _asked(folder, b"")
    assert code == 1
    assert "sizes.yaml: exists; choose another -o FILE" in shown


def test_the_end_of_the_input_keeps_the_answers(folder: Path) -> None:
    code, shown = _asked(folder, b"77\n\x04", "-o", "mine.yaml")
    assert code == 0, shown
    lines = (folder / "mine.yaml").read_text().splitlines()[1:]
    assert [line.split("  #")[0] for line in lines] == ["n: 77", "m:"]
    code, shown = _asked(folder, b"\x04")
    assert (code, (folder / "sizes.yaml").exists()) == (0, False)


def test_it_needs_a_terminal(folder: Path) -> None:
    for words, message in (
        ([], "--ask needs a terminal; use --format yaml -o sizes.yaml, and fill the file in"),
        (["--format", "json"], "--ask writes YAML; leave --format out"),
    ):
        done = subprocess.run(
            [*ASK, *words], cwd=folder, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
