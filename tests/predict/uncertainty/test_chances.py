"""How likely a choice is right, by hand, against a simulation, and by laws."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.predict.machine_uncertainty import NO_MOVES, Moves
from regionpredict.predict.uncertainty import (
    SHIPPED,
    ExpectedSpeedup,
    chance_of,
    confidence_of,
    doubt_of_kind,
    log_odds,
)
from regionpredict.predict.uncertainty.constants import (
    LEAST_DOUBT,
    PARTIAL_CONFIDENCE,
    SURE_STEP,
)

PLAIN = SHIPPED._replace(even=0.0, slope=1.0, most=1.0)


def curve(*known: tuple[float, float]) -> list[ExpectedSpeedup]:
    """Threads 1, 2, ... from (log of the expected speed, variance)."""
    return [ExpectedSpeedup(threads, 1.0, gain, variance)
            for threads, (gain, variance) in enumerate(known, 1)]  # fmt: skip


def chance(known: list[ExpectedSpeedup], threads: int, moves: Moves = NO_MOVES) -> float:
    return chance_of(known, threads, 0.05, moves)


def test_a_rival_that_is_as_far_off_as_may_be_lost_is_better_in_half_of_the_cases() -> None:
    allowed = -math.log(0.95)
    assert chance(curve((0.0, 0.0), (allowed, 0.04)), 1) == pytest.approx(0.5)
    # a standard deviation of 0.2 further on: 84.1 % of a normal distribution lie below
    assert chance(curve((0.0, 0.0), (allowed - 0.2, 0.04)), 1) == pytest.approx(0.8413, abs=1e-4)


def test_what_figures_in_doubt_move_apart_is_doubt_in_the_choice() -> None:
    """By 0.15 and 0.2 beside steps of 0.2, the square root of 0.1025 together."""
    known = curve((0.0, 0.0), (-math.log(0.95) - 0.2, 0.04))
    moves = {1: {"cache": 0.15, "overhead": 0.1}, 2: {"overhead": 0.3}}
    apart = math.sqrt(0.04 + 0.15**2 + 0.2**2)
    assert chance(known, 1, moves) == pytest.approx((1 + math.erf(0.2 / apart / 2**0.5)) / 2)
    assert chance(known, 1, moves) < chance(known, 1)
    # What moves both alike leaves the choice as it is.
    alike = {1: {"cache": 0.4}, 2: {"cache": 0.4}}
    assert chance(known, 1, alike) == chance(known, 1)
    # Nor does doubt make a choice surer of which another is likelier.
    lost = curve((0.0, 0.0), (-math.log(0.95) + 0.2, 0.04))
    assert chance(lost, 1, moves) == chance(lost, 1) < 0.5


def test_a_rival_that_is_surely_just_as_good_is_no_better() -> None:
    alike, faster = curve((1.0, 0.0), (1.0, 0.0)), curve((1.0, 0.0), (1.1, 0.0))
    assert chance_of(alike, 1, 0.0) == 1.0
    assert chance_of(faster, 1, 0.0) == 0.0


def test_both_sides_count_and_the_strongest_of_each() -> None:
    allowed = -math.log(0.95)
    known = curve((allowed, 0.0), (-1.0, 0.04), (0.0, 0.04), (allowed - 0.2, 0.08), (-1.0, 0.09))
    assert chance(known, 3) == pytest.approx(0.5 * 0.8413, abs=1e-4)


def test_without_spread_a_choice_is_right_or_wrong() -> None:
    assert chance(curve((0.0, 0.0), (0.05, 0.0)), 1) == 1.0
    assert chance(curve((0.0, 0.0), (0.06, 0.0)), 1) == 0.0
    assert chance(curve((0.0, 0.0)), 1) == 1.0


@pytest.mark.parametrize(
    "gains", [(0.0, 0.3), (0.0, 0.05), (0.0, 0.6, 0.62), (0.0, 0.6, 0.3, 0.55)]
)
def test_the_chance_is_near_that_of_a_random_walk(gains: tuple[float, ...]) -> None:
    """20,000 curves with independent steps; of rivals on a side only the strongest is counted."""
    known = curve(*((gain, 0.01 * at) for at, gain in enumerate(gains)))
    best = max(known, key=lambda one: one.gain)
    draw = random.Random(7)
    right = 0
    for _ in range(20_000):
        made, off = [gains[0]], 0.0
        for gain in gains[1:]:
            off += draw.gauss(0.0, 0.1)
            made.append(gain + off)
        right += made[best.threads - 1] >= max(made) + math.log(0.95)
    share = right / 20_000
    assert share - 0.02 <= chance(known, best.threads) <= share + 0.12


def test_log_odds_are_those_of_a_chance_with_doubt() -> None:
    assert log_odds(0.5) == 0.0
    assert log_odds(1.0) == log_odds(1 - LEAST_DOUBT.value)
    assert log_odds(0.0) == pytest.approx(-log_odds(1.0))
    assert log_odds(0.6) == pytest.approx(math.log(1.5))


def test_a_confidence_is_the_line_in_log_odds() -> None:
    assert confidence_of(0.6, fitted=PLAIN) == 0.6
    shifted = PLAIN._replace(even=math.log(2), slope=2.0)
    # odds 1.5 squared and doubled: 4.5 of 5.5 are 0.818, told in steps of 0.05
    assert confidence_of(0.6, fitted=shifted) == 0.8


def test_confidence_is_told_in_steps() -> None:
    assert SURE_STEP.value == 0.05
    for value, said in ((0.52, 0.5), (0.53, 0.55), (0.574, 0.55), (0.576, 0.6)):
        assert confidence_of(value, fitted=PLAIN) == said


def test_no_hint_is_surer_than_others_have_earned() -> None:
    sure = SHIPPED._replace(even=9.0, most=0.85)
    assert confidence_of(1.0, fitted=sure) == 0.85
    part = PARTIAL_CONFIDENCE.value
    # 0.68 in steps
    assert (part, confidence_of(1.0, doubts=[doubt_of_kind("unread", "")], fitted=sure)) == (
        0.8,
        0.7,
    )
    assert confidence_of(1.0, fitted=sure._replace(most=1.0)) == 1.0


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.booleans())
def test_confidence_rises_with_the_chance(one: float, other: float, partial: bool) -> None:
    doubts = [doubt_of_kind("unread", "")] if partial else []
    low, high = (confidence_of(value, doubts=doubts) for value in sorted((one, other)))
    assert 0.0 < low <= high < 1.0
