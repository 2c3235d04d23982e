"""A macro that no file has is told in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from regionpredict.cli.unused_macros import unused_macros

SOURCE = """\
#include "sizes.h"
double a[COUNT];
void f(void) {
#pragma omp parallel for
  for (int i = 0; i < COUNT; i++) a[i] += WEIGHTED;
}
"""


def notes(folder: Path, *words: str) -> list[str]:
    (folder / "f.c").write_text(SOURCE)
    (folder / "sizes.h").write_text("#ifndef COUNT\n#define COUNT EDGE * EDGE\n#endif\n")
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "dunnington", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if " is unused" in line]


def test_a_macro_that_nothing_has_is_told(tmp_path: Path) -> None:
    """EDGE stands in the header alone, X in the value of another."""
    given = ("-D", "EDGE=100", "-D", "WEIGHTED=X", "-D", "X=2", "-D", "COUNTS=5", "-D", "EDG")
    assert notes(tmp_path, *given) == [
        "note: -D COUNTS is unused", "note: -D EDG is unused",
    ]  # fmt: skip


def test_macros_of_a_project_may_be_for_other_parts(tmp_path: Path) -> None:
    (tmp_path / "regionpredict.toml").write_text(
        'defines = ["EDGE=100", "ELSEWHERE", "WEIGHTED=1"]\n'
    )
    assert notes(tmp_path) == []


def test_words_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "f.h"
    file.write_text("int NN, N_, F(x);")
    macros = [("N", "1"), ("NN", "2"), ("F(x)", "x")]
    assert unused_macros(macros, [str(tmp_path / "none.h"), str(file)]) == ["N"]
