"""Names that are too long for a file, as processes: one line each, before anything else is done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONG = "x" * 300  # of 255 bytes at most that file systems take
SOURCE = """void f(double *a) {
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) a[i] = 0.0;
}
"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def _commit(folder: Path) -> None:
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True,
            timeout=600,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("diff", "HEAD", LONG), 1, f"{LONG}: no such file, folder or commit; "),
        (("tasks", "show", LONG), 1, f"{LONG}: cannot be read"),
        (("tasks", "record", "-o", LONG, "--", "touch", "ran"), 1, f"{LONG}: cannot be made"),
        (("tasks", "isoefficiency", "-o", LONG, "--sizes", "1,2", "--", "touch", "ran{n}"), 1,
         f"{LONG}: File name too long; name it shorter"),
        (("measure", "-o", LONG, "--", "touch", "ran"), 1,
         f"{LONG}: File name too long; name it shorter"),
        (("trace", "record", "-o", LONG, "--", "touch", "ran"), 1,
         f"{LONG}: File name too long; name it shorter"),
        (("trace", "convert", "f.c", "-o", LONG), 1,
         f"{LONG}: File name too long; name it shorter"),
        (("expect", LONG), 1, f"{LONG}: "),
        (("trace", "factors", LONG), 1, f"{LONG}: "),
        (("predict", "f.c", "-m", f"{LONG}.c"), 2, f"-m {LONG}.c: a source, no machine; "),
        (("compare", f"{LONG}.c", "m.jsonl"), 1, f"{LONG}.c: cannot be read"),
    ],
)  # fmt: skip
def test_a_name_that_no_file_can_have_is_one_line(
    tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "f.c").write_text(SOURCE)
    _commit(tmp_path)
    done = _run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (code, "")
    (line,) = done.stderr.splitlines()
    assert said in line
    assert not list(tmp_path.glob("ran*"))  # no program ran whose results nothing can hold


def test_hints_that_name_such_a_source_say_so(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(SOURCE)
    for name in ("a.json", "b.json"):
        done = _run(tmp_path, "predict", "f.c", "-m", "dunnington", "--format", "json", "-o", name)
        assert done.returncode == 0
    hints = tmp_path / "b.json"
    hints.write_text(hints.read_text().replace('"f.c"', f'"{LONG}.c"'))
    done = _run(tmp_path, "coschedule", "a.json", "b.json", "-m", "dunnington")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert f"b.json: its source {LONG}.c is not here; " in line
