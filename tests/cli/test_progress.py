"""The line that says how far a prediction is: late, seldom, gone at the end, only on a terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from regionpredict.cli import progress
from regionpredict.cli.group import group
from regionpredict.cli.progress import StageLine
from regionpredict.isolation import run_isolated
from regionpredict.workers import spread


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress.time, "monotonic", clock)
    monkeypatch.setenv("COLUMNS", "60")
    return clock


def test_nothing_is_said_in_two_seconds_and_the_line_goes_away(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "__stderr__", terminal)
    with StageLine() as line:
        clock.now += 1.9
        line("reading", 1, 4)
        assert terminal.getvalue() == ""
        clock.now += 0.2
        line("reading", 2, 4)
        assert terminal.getvalue() == "\r[##########          ] reading 2 of 4"
        line("reading", 3, 4)  # at once: the line is not written again
        assert terminal.getvalue().count("reading") == 1
        clock.now += 0.2
        line("predicting", 4, 4)
    last = terminal.getvalue().split("\r")[-3:]
    assert last[0].startswith("[####################] predicting 4 of 4")
    assert last[1].strip() == ""
    assert len(last[1]) >= len(last[0].rstrip())
    assert last[2] == ""


def test_a_line_is_no_wider_than_the_terminal(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "__stderr__", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    with StageLine() as line:
        clock.now += 3
        line("analysing", 5, 10)
    assert max(map(len, terminal.getvalue().split("\r"))) == 19


def test_what_is_no_terminal_hears_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", stream)
    with StageLine() as line:
        clock.now += 10
        line("reading", 1, 2)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("processes", [1, 3])
def test_pieces_are_told_as_they_go(processes: int) -> None:
    begun: list[int] = []
    assert spread(abs, range(-9, 0), processes, begun.append) == list(range(9, 0, -1))
    assert begun == sorted(begun)
    assert set(begun) <= set(range(9))
    if processes == 1:
        assert begun == list(range(9))
    done: list[int] = []
    run_isolated(abs, range(-9, 0), processes, report_count=done.append)
    assert done == sorted(done)
    assert done[-1] == 9


@pytest.mark.parametrize("terminal", [True, False])
def test_sizes_tell_how_far_they_are(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    (tmp_path / "f.c").write_text(
        "void f(int n, double *a)\n{\n#pragma omp parallel for\n"
        "    for (int i = 0; i < n; i++) a[i] = 1.0;\n}\n"
    )
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", stream)
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    group(["sizes", str(tmp_path / "f.c"), "-m", "dunnington", "-j", "1"], standalone_mode=False)
    assert ("predicting" in stream.getvalue()) is terminal
    assert stream.getvalue().rstrip("\r").endswith(" ") is terminal  # taken away again
