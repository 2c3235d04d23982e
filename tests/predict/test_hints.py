"""Packages and threads of curves made up by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.predict.curve import saturation_point
from regionpredict.predict.hints import choice_from, hint_from


def curve(*values: float) -> list[tuple[int, float]]:
    return list(enumerate(values, start=1))


def test_a_perfect_curve_takes_all_packages_and_the_fewest_threads_within_the_margin() -> None:
    # 40 threads in two packages: 95 % of 40 are 38. One package, 20, misses that by 18 of 40.
    hint = hint_from(curve(*range(1, 41)), 20)
    assert (hint.packages, hint.threads) == (2, 38)
    assert hint.margin == pytest.approx(18 / 40)


def test_a_saturated_curve_takes_one_package() -> None:
    # Best is 4; 3.8 are enough, which 3 threads reach. Package 1 exceeds that by 0.1, of 4.
    hint = hint_from(curve(1.0, 2.0, 3.9, 3.9, 4.0, 4.0, 4.0, 4.0), 4)
    assert (hint.packages, hint.threads) == (1, 3)
    assert hint.margin == pytest.approx(0.1 / 4)


def test_just_within_the_margin_is_enough() -> None:
    # A quarter of the best may be lost: exactly 3 of 4.
    hint = hint_from(curve(1.0, 3.0, 3.5, 4.0), 2, within=0.25)
    assert (hint.packages, hint.threads, hint.margin) == (1, 2, 0.0)


def test_no_loss_allowed() -> None:
    assert hint_from(curve(1.0, 2.0, 3.0, 2.5), 2, within=0.0)[:2] == (2, 3)


def test_the_threads_of_a_package_that_dips_at_its_full_size() -> None:
    # Package 1 reaches its best on 3 of 4 threads, and the second adds nothing.
    assert hint_from(curve(1.0, 2.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0), 4)[:2] == (1, 3)


def test_one_package_has_no_other_choice() -> None:
    hint = hint_from(curve(1.0, 1.9, 2.7, 3.4), 4)
    assert (hint.packages, hint.threads, hint.margin) == (1, 4, 1.0)  # 3.23 are enough


def test_the_nearest_other_choice_is_the_margin() -> None:
    # Three packages of one core; best 10, enough 9.5: 4 and 9 miss it by 0.55 and 0.05.
    assert hint_from(curve(4.0, 9.0, 10.0), 1).margin == pytest.approx(0.05)
    # Two are chosen with 9.6: by 0.01 of the best; one package, 4, is farther.
    assert hint_from(curve(4.0, 9.6, 10.0), 1).margin == pytest.approx(0.01)


def test_numbers_of_threads_that_are_as_good() -> None:
    """Three quarters of the best are enough: exactly 3 is, on the one package of the hint."""
    assert choice_from(curve(1.0, 3.0, 3.5, 4.0), 2, within=0.25).good == {2}
    assert choice_from(curve(1.0, 2.9, 3.5, 4.0), 2, within=0.25).good == {3, 4}
    assert choice_from(curve(3.0, 3.0, 3.5, 4.0), 2, within=0.25).good == {1}


def test_margins_are_told_to_a_millionth() -> None:
    assert hint_from(curve(1.0, 3.0), 1, within=0.0).margin == 0.666667


def test_some_thread_counts_are_a_curve_too() -> None:
    # 2 threads are package 1, 5 and 8 package 2 and 2 of four cores.
    assert hint_from([(2, 2.0), (5, 5.0), (8, 5.1)], 4)[:2] == (2, 5)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.lists(st.floats(0.1, 100.0), min_size=1, max_size=24),
    st.integers(1, 8),
    st.floats(0.0, 0.5),
)
def test_fewest_within_the_margin(values: list[float], cores: int, within: float) -> None:
    """By trying: no fewer packages are enough, and in these no fewer threads."""
    hint = hint_from(curve(*values), cores, within)
    enough = (1 - within) * max(values)
    good = [threads for threads, value in curve(*values) if value >= enough]
    assert hint.packages == min(-(-threads // cores) for threads in good)
    assert hint.threads == min(t for t in good if -(-t // cores) == hint.packages)
    assert 0.0 <= hint.margin <= 1.0


def test_saturation_is_nine_tenths_of_the_best() -> None:
    assert saturation_point({1: 1.0, 2: 8.9, 4: 9.0, 8: 10.0, 16: 9.5}) == 4
    assert saturation_point({1: 1.0, 2: 2.0}, share=0.5) == 1
    assert saturation_point({1: 1.0}) == 1
