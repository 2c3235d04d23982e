"""What others do to a host: by hand, and beside a process that is busy for real."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.measure.host_activity import (
    Activity,
    Disturbance,
    disturbance,
    parse_activity,
    read_activity,
    wait_for_quiet,
)


@pytest.mark.parametrize(
    "text",
    ["", "cpu", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3 4 5 6 7", "cpu  1 2 x 4 5 6 7 8", "intr 1 2"],
)
def test_what_is_none_is_not_known(text: str) -> None:
    assert parse_activity(text, 0.0, 100.0) is None


def test_others_are_what_is_left_of_the_busy_time() -> None:
    # In 10 s on 4 CPUs: 26 s busy, 20 of them ours, and 2 of 40 s stolen.
    before, after = Activity(100.0, 5.0, 50.0), Activity(126.0, 7.0, 60.0)
    beside = disturbance(before, after, 20.0, cpus=4)
    assert beside == Disturbance(pytest.approx(0.6), pytest.approx(0.05))
    assert beside is not None
    assert beside.much


def test_ticks_of_the_clock_are_no_others() -> None:
    # Within three ticks of 10 ms nothing can be told, however short the run.
    assert disturbance(Activity(0, 0, 0.0), Activity(0.05, 0.0, 0.02), 0.021) == (0.0, 0.0)
    assert disturbance(Activity(0, 0, 0.0), Activity(0.05, 0.0, 0.02), 0.01) != (0.0, 0.0)


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0.001, 100))
def test_nothing_is_negative(busy: float, own: float, span: float) -> None:
    beside = disturbance(Activity(0, 0, 0), Activity(busy, 0, span), own, cpus=2)
    assert beside is not None
    assert beside.others >= 0
    assert beside.stolen == 0


def test_no_counters_no_answer() -> None:
    assert disturbance(None, Activity(1, 0, 1), 0.0) is None
    assert disturbance(Activity(1, 0, 1), Activity(1, 0, 1), 0.0) is None


@pytest.mark.usefixtures("busy_core")
def test_a_busy_process_is_seen_and_waited_for_but_not_for_ever() -> None:
    before = read_activity()
    time.sleep(1.0)
    beside = disturbance(before, read_activity(), 0.0)
    assert beside is not None
    assert beside.much
    heard: list[float] = []
    assert wait_for_quiet(0.6, on_wait=heard.append) >= 0.6
    assert heard and heard == sorted(heard, reverse=True) and heard[0] < 0.6
    slept: list[float] = []
    wait_for_quiet(0.0, slept.append)
    assert slept == []
