"""Work over processes: every piece once, in order, whatever goes wrong in one of them."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regionpredict.errors import InputError, UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.stage_dumps import dump_stage
from regionpredict.workers import spread

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("processes", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 40_000])  # the last are more than a pipe holds
def test_every_piece_is_done_once_and_in_order(processes: int, count: int) -> None:
    assert spread(lambda n: n * n, range(count), processes) == [n * n for n in range(count)]


def test_long_results_travel() -> None:
    texts = spread(lambda n: str(n) * 200_000, range(6), 3)
    assert [len(text) for text in texts] == [200_000] * 6


def test_arrays_travel_and_can_be_changed() -> None:
    """Arrays of any size and alignment, next to other values, are the caller's alone."""
    made = spread(lambda n: (n, np.arange(n, dtype=np.uint8), np.full((n, 2), n / 3)), range(9), 3)
    for number, (same, small, large) in enumerate(made):
        np.add(small, 1, out=small)
        assert (same, small.tolist()) == (number, list(range(1, number + 1)))
        assert np.array_equal(large, np.full((number, 2), number / 3))


PATIENCE_S = 300
"""For what a process does at once: a test that waits so long tells of a hang."""


def _await(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.skipif(sys.platform != "linux", reason="one process does it all elsewhere")
def test_several_processes_work(tmp_path: Path) -> None:
    """Three pieces of which each waits until all three are begun: no process can have two."""

    def where(_: int) -> int:
        (tmp_path / str(os.getpid())).touch()
        _await(lambda: len(list(tmp_path.iterdir())) == 3)
        return os.getpid()

    assert len(set(spread(where, range(3), 3))) == 3


@pytest.mark.parametrize("processes", [1, 3])
def test_an_error_is_raised_to_the_caller(processes: int) -> None:
    def fails(number: int) -> int:
        if number == 3:
            raise UsageError("three", remedy="take four", path="f.c", line=3)
        return number

    with pytest.raises(UsageError, match=r"f\.c:3: three; take four"):
        spread(fails, range(8), processes)


@pytest.mark.skipif(sys.platform != "linux", reason="one process does it all elsewhere")
def test_a_process_that_dies_is_one_clear_line(tmp_path: Path) -> None:
    caller = os.getpid()
    begun = tmp_path / "begun"

    def dies(number: int) -> int:
        if os.getpid() != caller:
            begun.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        _await(begun.exists)  # or the caller might have done all of it before the other starts
        return number

    with pytest.raises(InputError, match="ended early; try -j 1"):
        spread(dies, range(12), 2)


@pytest.mark.parametrize(
    "folder",
    ["polybench_samples/solvers", pytest.param("npb_samples", marks=pytest.mark.slow)],
)
def test_processes_change_no_result(folder: str) -> None:
    requests = requests_for([str(ROOT / folder)])
    results = []
    for processes in (1, 3):
        analysis = analyse(requests, {}, processes=processes)
        made = predict(analysis, load("dunnington"), "saturation", processes=processes)
        texts = [dump_stage(stage, analysis, made) for stage in ("program", "facts", "prediction")]
        predicted = [prediction.facts.region for prediction in made.predictions]
        assert predicted == list(analysis.program.regions)
        results.append((texts, [p.speedup for p in made.predictions], analysis.program.diagnostics))
    assert results[0] == results[1]
