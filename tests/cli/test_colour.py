"""Colour: on terminals, where NO_COLOR, FORCE_COLOR and --color want it, and never in files."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.cli.colour import in_colour, painted_table

CODE = re.compile(r"\x1b\[[0-9;]*m")
# The line of progress, which a slow host shows and the end takes away.
WRITTEN_OVER = re.compile(r"(\r[^\n\r]*)+\r")
SOURCE = """void f(int n, double *a, double *b)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 100000; i++) a[i] = b[i];
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 2.0 * b[i];
}
"""
PREDICT = ("predict", "f.c", "-m", "dunnington", "--effort", "quick")


def settings(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items()
            if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}  # fmt: skip
    return {**kept, "TERM": "xterm", "XDG_CACHE_HOME": str(folder / "cache"), **more}


def on_terminal(folder: Path, *words: str, **more: str) -> str:
    """What a command says on a terminal, on both streams."""
    mine, its = pty.openpty()
    with ThreadPoolExecutor(1) as reader:
        said = reader.submit(_all_of, mine)
        subprocess.run(
            [sys.executable, "-m", "regionpredict", *words], cwd=folder, stdin=its, stdout=its,
            stderr=its, env=settings(folder, **more), check=False,
        )  # fmt: skip
        os.close(its)
        return WRITTEN_OVER.sub("", said.result().decode().replace("\r\n", "\n"))


def _all_of(terminal: int) -> bytes:
    """What is written to a terminal until nobody has its other end any more."""
    said = b""
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            said += part
    os.close(terminal)
    return said


def piped(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        check=False, env=settings(folder, **more),
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.c").write_text(SOURCE)
    return tmp_path


def test_a_terminal_has_the_same_words_in_colour(folder: Path) -> None:
    plain = piped(folder, *PREDICT)
    shown = on_terminal(folder, *PREDICT)
    again = on_terminal(folder, *PREDICT)  # the kept answer
    assert not CODE.search(plain.stdout + plain.stderr)
    assert CODE.search(shown)
    assert CODE.sub("", shown) == plain.stderr + plain.stdout
    assert again == shown
    assert piped(folder, *PREDICT).stdout == plain.stdout
    assert on_terminal(folder, *PREDICT, NO_COLOR="1") == CODE.sub("", shown)
    assert on_terminal(folder, *PREDICT, TERM="dumb") == CODE.sub("", shown)


def test_errors_and_notes_are_in_colour(folder: Path) -> None:
    said = on_terminal(folder, "predict", "nowhere.c", "-m", "dunnington")
    assert said.startswith("\x1b[31mregionpredict\x1b[0m: nowhere.c: ")
    assert not CODE.search(piped(folder, "predict", "nowhere.c", "-m", "dunnington").stderr)


def test_the_option_goes_before_the_variables(folder: Path) -> None:
    assert CODE.search(piped(folder, *PREDICT, FORCE_COLOR="1").stdout)
    assert not CODE.search(piped(folder, *PREDICT, FORCE_COLOR="0").stdout)
    assert not CODE.search(piped(folder, *PREDICT, FORCE_COLOR="1", NO_COLOR="1").stdout)
    assert CODE.search(piped(folder, "--color", "always", *PREDICT, NO_COLOR="1").stdout)
    assert not CODE.search(on_terminal(folder, "--color", "never", *PREDICT, FORCE_COLOR="1"))
    wrong = piped(folder, "--color", "blue", *PREDICT)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("regionpredict: ")


@pytest.mark.parametrize(
    "form", further_slow(2, ["json", "csv", "html", "sarif", "slurm", "openmp"])
)
def test_only_tables_have_any(folder: Path, form: str) -> None:
    done = piped(folder, *PREDICT, "--format", form, FORCE_COLOR="1")
    assert not CODE.search(done.stdout)
    if form == "json":
        json.loads(done.stdout)


def test_files_and_stages_have_none(folder: Path) -> None:
    piped(folder, *PREDICT, "-o", "out.txt", FORCE_COLOR="1")
    assert not CODE.search((folder / "out.txt").read_text())
    assert not CODE.search(piped(folder, *PREDICT, "--dump", "facts", FORCE_COLOR="1").stdout)


class _Stream:
    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "environment", "choice", "wanted"),
    [
        (True, {"TERM": "xterm"}, "auto", True),
        (False, {"TERM": "xterm"}, "auto", False),
        (True, {"TERM": "dumb"}, "auto", False),
        (True, {"NO_COLOR": ""}, "auto", True),  # empty: as if it were not there
        (True, {"NO_COLOR": "0"}, "auto", False),  # any text counts
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, "auto", True),
        (False, {"FORCE_COLOR": ""}, "auto", False),
        (True, {"NO_COLOR": "1"}, "always", True),
        (True, {"FORCE_COLOR": "1"}, "never", False),
    ],
)
def test_who_decides(
    terminal: bool, environment: dict[str, str], choice: str, wanted: bool
) -> None:  # fmt: skip
    assert in_colour(_Stream(terminal), environment, choice) is wanted  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "painted"),
    [
        ("mvt.c:34 kernel   0.60   1.88    94 %   1   2  wrong", "31:wrong"),
        ("predicted speedup: the seconds are wrong, even if the ratios are right", None),
        ("bad   O(log(p))  1 + p^2  O(p^2)  O(p)  not as expected", "31:not as expected"),
        ("good  O(p)  3 + p  O(p)  O(1)  as expected", "32:as expected"),
        ("bad <= good: O(p^2) against O(p)  broken", "31:broken"),
        ("warning: node.clock: assumed", "33:warning"),
        ("    12 f   n        ?      ?  ?   ? not known", "33:?"),
        ("       4.1x: write schedule(static) (RP202)", "36:       4.1x"),
        ("    20 init_array          16384  256 KiB*   2.7x  2  11 cache  86 %", None),
        ("    31 kernel_false_sh…    16384  256 KiB*   1.6x~ 3  18 cache  67 %", "33:~"),
    ],
)
def test_what_is_coloured(line: str, painted: str | None) -> None:
    shown = painted_table(line)
    assert CODE.sub("", shown) == line
    found = re.findall(r"\x1b\[(\d+)m(.*?)\x1b\[0m", shown)
    assert (f"{found[0][0]}:{found[0][1]}" if found else None) == painted


def test_tables_are_within_a_terminals_width_and_pipes_are_as_they_were(folder: Path) -> None:
    plain = piped(folder, "machines", "check", "dunnington", COLUMNS="80").stdout
    assert max(map(len, plain.split("\n"))) > 80
    for columns in (60, 80):
        shown = on_terminal(folder, "machines", "check", "dunnington", COLUMNS=str(columns))
        shown = CODE.sub("", shown)
        assert max(map(len, shown.split("\n"))) <= columns
        assert shown.split() == plain.split()  # the same words in the same order
    wide = on_terminal(folder, "machines", "check", "dunnington", COLUMNS="300", NO_COLOR="1")
    assert wide == plain


HOSTILE = "ma\x1b[31min\x07"


def test_names_cannot_command_a_terminal(folder: Path) -> None:
    """In a table, on a terminal, and in a note; JSON escapes them by itself."""
    points = "POINTS 1 2 4 8 16\nMETRIC time\n" + f"REGION {HOSTILE}\n" + "DATA 1\n" * 5
    (folder / "m.txt").write_text(points)
    (folder / "odd.c").write_text(f"#include <no{HOSTILE}where.h>\n" + SOURCE)
    for words in (
        ("fit", "m.txt"),
        ("predict", "odd.c", "-m", "dunnington"),
        ("predict", "odd.c", "-m", "dunnington", "--frontend", "pycparser"),
    ):
        done = piped(folder, *words)
        assert not set("\x1b\x07") & set(done.stdout + done.stderr)
        shown = on_terminal(folder, *words, NO_COLOR="1")
        assert not set("\x1b\x07") & set(shown)
    assert "\x1b" not in piped(folder, "fit", "m.txt", "--format", "json").stdout
