"""Packages and threads of curves made up by hand: the expected speed less the price of packages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.machine import load
from regionpredict.predict.constants import OPENED_SHARE, PACKAGE_PRICE
from regionpredict.predict.curve import saturation_point
from regionpredict.predict.hints import (
    Hint,
    Seats,
    choice_from,
    choice_on,
    hint_from,
    hint_on,
    seats_of,
)
from regionpredict.predict.uncertainty import ExpectedSpeedup


def curve(*values: float, first: int = 1) -> list[ExpectedSpeedup]:
    """What is to be expected of so many threads; `values` are speeds."""
    return [ExpectedSpeedup(threads, value, math.log(value), 0.0)
            for threads, value in enumerate(values, start=first)]  # fmt: skip


def test_the_price_is_ten_per_cent_a_package_half_of_it_for_using_it() -> None:
    """The numbers by which the tests below are worked out by hand."""
    assert (PACKAGE_PRICE.value, OPENED_SHARE.value) == (2.0, 0.5)


def test_a_perfect_curve_takes_all_cores() -> None:
    # The 40th thread gains ln(40/39) = 0.025 and costs 0.05/20. One package, 20, is slower by
    # ln 2 and 0.1 cheaper.
    hint = hint_from(curve(*range(1, 41)), 20)
    assert (hint.packages, hint.threads, hint.margin) == (2, 40, 0.593147)  # ln 2 - 0.1


def test_a_saturated_curve_takes_one_package_and_what_is_worth_its_core() -> None:
    # A core costs 0.0125. The third thread gains ln 1.95, the fourth ln(3.95/3.9) = 0.0127, the
    # second package ln(4.2/3.95) = 0.061: less than 0.05 and 0.0125.
    hint = hint_from(curve(1.0, 2.0, 3.9, 3.95, 4.2, 4.2, 4.2, 4.2), 4)
    assert (hint.packages, hint.threads) == (1, 4)
    assert hint.margin == pytest.approx(0.0625 - math.log(4.2 / 3.95), abs=1e-6)
    assert hint_from(curve(1.0, 2.0, 3.9, 3.94), 4).threads == 3


def test_a_second_package_is_worth_its_price() -> None:
    # Of two cores: 0.05 and 0.025 a core. From 2 to 4 threads 0.1 in all.
    assert hint_from(curve(1.0, 2.0, 2.0, 2.0 * math.exp(0.11)), 2)[:2] == (2, 4)
    assert hint_from(curve(1.0, 2.0, 2.0, 2.0 * math.exp(0.09)), 2)[:2] == (1, 2)


def test_prices_follow_what_may_be_lost() -> None:
    # A quarter may be lost: a package costs a half, and three quarters of the best are enough.
    hint = hint_from(curve(1.0, 3.0, 3.5, 4.0), 2, within=0.25)
    assert (hint.packages, hint.threads) == (1, 2)
    assert hint.margin == pytest.approx(0.5 - math.log(4 / 3), abs=1e-6)


def test_no_loss_allowed_is_no_price() -> None:
    assert hint_from(curve(1.0, 2.0, 3.0, 2.5), 2, within=0.0)[:2] == (2, 3)
    assert hint_from(curve(1.0, 2.0, 3.0, 2.5), 2, price=0.0)[:2] == (2, 3)


def test_of_equal_ones_the_fewest() -> None:
    assert hint_from(curve(1.0, 2.0, 2.0, 2.0), 2, within=0.0)[:2] == (1, 2)


def test_the_threads_of_a_package_that_dips_at_its_full_size() -> None:
    # Package 1 reaches its best on 3 of 4 threads, and the second adds nothing.
    assert hint_from(curve(1.0, 2.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0), 4)[:2] == (1, 3)


def test_one_package_has_no_other_choice() -> None:
    hint = hint_from(curve(1.0, 1.9, 2.7, 3.4), 4)
    assert (hint.packages, hint.threads, hint.margin) == (1, 4, 1.0)


def test_what_is_to_be_expected_counts_not_what_is_predicted() -> None:
    flat = [ExpectedSpeedup(1, 1.0, 0.0, 0.0), ExpectedSpeedup(2, 1.0, 0.2, 0.0)]
    assert hint_from(flat, 2).threads == 2


def test_numbers_of_threads_that_are_as_good() -> None:
    """Those on the hint's package that cost at most 0.05 more: ln 3.5 less 0.1 is its cost."""
    choice = choice_from(curve(1.0, 2.9, 3.35, 3.5, 4.0, 4.0), 4)
    # 2: ln(3.5/2.9) = 0.19 slower, two cores cheaper (0.025). 3: 0.044 and 0.0125.
    # 5: 0.134 faster, 0.0625 dearer; 6 no faster.
    assert (choice.hint.threads, choice.good) == (5, {5, 6})
    inside = choice_from(curve(1.0, 2.9, 3.35, 3.5), 4)
    assert (inside.hint.threads, inside.good) == (4, {3, 4})


def test_one_thread_is_as_good_only_as_one() -> None:
    assert choice_from(curve(3.0, 3.0, 3.02), 3).good == {1}
    # two are worth the second core; one costs little more, and is another kind of run
    assert choice_from(curve(3.0, 3.1, 3.1), 3).good == {2, 3}


def test_a_choice_between_equals_without_spread_is_certain() -> None:
    assert choice_from(curve(1.0, 2.0, 2.0), 3).chance == 1.0


def test_some_thread_counts_are_a_curve_too() -> None:
    # 2 threads are package 1, 5 and 8 package 2 and 2 of four cores.
    known = [ExpectedSpeedup(threads, value, math.log(value), 0.0)
             for threads, value in ((2, 2.0), (5, 5.0), (8, 5.1))]  # fmt: skip
    assert hint_from(known, 4)[:2] == (2, 5)


def test_spread_threads_are_on_several_packages_at_once() -> None:
    """Close, three threads of 4 x 6 cores are one package; spread, three."""
    machine = load("dunnington")
    rising = curve(1.0, 2.0, 3.0, 3.0)
    spread = machine.as_run(binding="spread")
    assert hint_on(machine, rising)[:2] == (1, 3)
    assert hint_on(spread, rising)[:2] == (3, 3)
    assert choice_on(machine, rising).hint.packages == 1
    choice = choice_on(spread, rising)
    assert (choice.hint.packages, choice.good) == (3, frozenset({3}))  # four are four packages


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.lists(st.floats(0.1, 100.0), min_size=1, max_size=24),
    st.integers(1, 8),
    st.floats(0.0, 0.5),
)
def test_no_other_number_is_worth_more(values: list[float], cores: int, within: float) -> None:
    """By trying: speed less price, the fewest of equal ones."""
    hint = hint_from(curve(*values), cores, within)

    def worth(threads: int) -> float:
        packages = math.ceil(threads / cores)
        return math.log(values[threads - 1]) - within * (packages + threads / cores)

    best = max(worth(threads) for threads in range(1, len(values) + 1))
    assert worth(hint.threads) == pytest.approx(best, abs=1e-8)
    assert hint.packages == math.ceil(hint.threads / cores)
    assert hint.margin >= 0.0


@pytest.mark.parametrize(
    ("speedup", "doubled", "seats"),
    [
        ([(20, 9.0)], None, Seats(20)),
        ([(20, 9.0)], (40, 9.5), Seats(40, 2, 9.5)),  # 5 % less are 9.025: a little more
        ([(20, 9.0)], (40, 9.4), Seats(20)),
        ([(20, 9.0), (21, 99.0)], (40, 9.6), Seats(40, 2, 9.6)),  # another package's do not count
        ([(19, 9.6), (20, 9.0)], (40, 9.6), Seats(20)),  # fewer on the same package do
        ([(21, 99.0)], (40, 0.1), Seats(40, 2, 0.1)),  # nothing else is known of this package
    ],
)
def test_hardware_threads_gain_more_than_may_be_lost(
    speedup: list[tuple[int, float]], doubled: tuple[int, float] | None, seats: Seats
) -> None:
    machine = load("skylake-gold-6148")  # 20 cores a package, two threads each
    assert seats_of(Hint(1, 20, 1.0), speedup, doubled, machine, 0.05) == seats


def test_saturation_is_nine_tenths_of_the_best() -> None:
    assert saturation_point({1: 1.0, 2: 8.9, 4: 9.0, 8: 10.0, 16: 9.5}) == 4
    assert saturation_point({1: 1.0, 2: 2.0}, share=0.5) == 1
    assert saturation_point({1: 1.0}) == 1
