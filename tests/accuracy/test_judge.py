"""The judgement of a case against a curve, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from judge import choice_of, constant_choices, curve_choice, judge, options_of
from measured import Case, DataSet
from predictor import Code

# Two packages of 20 cores: 100 s on one core, 10 s on one package, 9.8 s on both.
FLAT = Case("flat", Code(), "skylake-gold-6148", {1: 100.0, 10: 12.0, 20: 10.0, 40: 9.8})
STEEP = replace(FLAT, label="steep", measured={1: 100.0, 10: 10.0, 20: 5.0, 40: 2.5})
DATA = DataSet("d", "", "", (FLAT, STEEP), "packages", "out", "nothing")


def test_one_package_is_enough_where_the_second_gains_less_than_five_per_cent() -> None:
    assert choice_of(FLAT, DATA, 1) == (True, pytest.approx(10.0 / 9.8), 0.5)
    assert choice_of(FLAT, DATA, 2) == (True, 1.0, 1.0)


def test_one_package_is_wrong_where_the_second_doubles_the_speed() -> None:
    assert choice_of(STEEP, DATA, 1) == (False, 2.0, 0.5)


def test_constant_choices_look_at_nothing() -> None:
    known = constant_choices(DATA)
    assert [choose(FLAT) for choose in known.values()] == [2, 1]
    threads = constant_choices(replace(DATA, choice="threads"))
    assert [choose(FLAT) for choose in threads.values()] == [40, 20]
    assert constant_choices(replace(DATA, choice="none")) == {}


def test_packages_are_represented_by_their_best_time() -> None:
    assert options_of(FLAT, DATA) == {1: (10.0, 20), 2: (9.8, 40)}


def test_a_right_curve_has_no_error() -> None:
    found = judge(replace(FLAT, absolute=True), DATA, FLAT.measured, 0.9)
    assert (found.time_error, found.speedup_error, found.right) == (0.0, 0.0, True)
    assert found.saturating_right and found.point_right


def test_errors_and_class_of_a_curve_that_does_not_saturate() -> None:
    # Speedups 8.33, 10, 10.2 measured against 10, 20, 40: off by 0.2, 1 and 2.92.
    found = judge(FLAT, DATA, STEEP.measured, 0.9)
    assert found.speedup_error == pytest.approx(1.0)
    assert found.time_error is None  # only speeds are comparable
    # 90 % of the best from 20 of 40 on, against 40 of 40: one measured step away.
    assert found.saturating_right is False
    assert found.point_right is True
    assert found.top == (pytest.approx(40.0), pytest.approx(100 / 9.8))


def test_a_common_factor_makes_times_comparable() -> None:
    data = replace(DATA, common_factor=True)
    half = {threads: time / 2 for threads, time in FLAT.measured.items()}
    assert judge(FLAT, data, half, 0.9, factor=2.0).time_error == pytest.approx(0.0)


def test_a_single_time_has_neither_choice_nor_class() -> None:
    single = replace(FLAT, measured={20: 10.0}, absolute=True)
    found = judge(single, DATA, {20: 12.0}, 0.9)
    assert found.time_error == pytest.approx(0.2)
    assert (found.right, found.saturating_right, found.speedup_error) == (None, None, None)


def test_a_bare_curve_takes_the_fewest_within_five_per_cent() -> None:
    assert curve_choice(FLAT, DATA, FLAT.measured) == 1
    assert curve_choice(STEEP, DATA, STEEP.measured) == 2
    threads = replace(DATA, choice="threads")
    assert curve_choice(FLAT, threads, FLAT.measured) == 20
    # among the measured numbers alone: the curve may know others
    assert curve_choice(FLAT, threads, {**FLAT.measured, 15: 1.0}) == 20


def test_a_choice_and_a_band_that_are_given_are_kept() -> None:
    found = judge(STEEP, DATA, STEEP.measured, 0.9, choice=1, inside=0.5)
    assert (found.right, found.regret, found.inside) == (False, 2.0, 0.5)
    assert judge(STEEP, DATA, STEEP.measured, 0.9).right
