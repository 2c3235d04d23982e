"""What is to be expected of a curve, and its band, by hand and by laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.machine import load
from regionpredict.predict.curve import Point
from regionpredict.predict.uncertainty import (
    SHIPPED,
    FittedCurves,
    Spreads,
    at_threads,
    band_of,
    outlook_of,
    traits_of,
)

# Creeps up by a tenth a doubling, loses a quarter of its growth; spreads that are told apart.
BY_HAND = FittedCurves(0.1, 0.25, Spreads(0.3, 0.4), 1.5, 0.0, 1.0, 1.0)
# Two packages of four cores.
NODE = load("clovertown")


def point(threads: int, speedup: float, **terms: float) -> Point:
    named = {name.replace("_", "-"): value for name, value in terms.items()}
    return Point(threads, sum(named.values()), speedup, "", named, 0.0, 0.0)


def test_what_a_fit_knows_of_a_number_of_threads() -> None:
    """From 1 to 4 two doublings, a third of them memory's; to 8 one more of threads, and packages;
    to 16 one of threads, and of the threads on a core."""
    curve = [
        point(1, 1.0, compute=9.0),
        point(4, 3.0, compute=1.0, cache=1.0, memory_bandwidth=1.0),
        point(8, 2.0, cache=1.0, overhead=0.5),
        point(16, 2.5, memory_bandwidth=1.0, serialization=1.0),
    ]
    first, second, third, fourth = traits_of(curve, NODE)
    assert first == (1, 1.0, 0.0, (0.0, 0.0), 0.0)
    assert second == (4, 3.0, pytest.approx(math.log(3.0)), (2.0, 0.0), pytest.approx(2 / 3))
    assert third == (8, 2.0, pytest.approx(math.log(3.0)), (3.0, 1.0), pytest.approx(2 / 3))
    assert fourth[3:] == ((4.0, 2.0), pytest.approx(2 / 3 + 0.5))


def test_threads_that_are_spread_go_to_other_packages_at_once() -> None:
    curve = [point(n, float(n), compute=1.0) for n in (1, 2, 8)]
    _, two, eight = traits_of(curve, NODE.as_run(binding="spread"))
    assert (two.doublings, eight.doublings) == ((1.0, 1.0), (3.0, 1.0))


def test_another_package_is_one_more_doubt() -> None:
    curve = [point(n, float(n), compute=1.0) for n in (1, 4, 8)]
    _, four, eight = outlook_of(curve, NODE, BY_HAND)
    assert four.variance == pytest.approx(2 * 0.09)
    assert eight.variance == pytest.approx(3 * 0.09 + 0.16)


def test_a_curve_that_streams() -> None:
    """Twice as fast on two threads, no faster on four: ln 2 less a quarter, and 0.1 a doubling."""
    curve = [point(n, speed, memory_bandwidth=1.0) for n, speed in ((1, 1.0), (2, 2.0), (4, 2.0))]
    one, two, four = outlook_of(curve, NODE, BY_HAND)
    assert (one.gain, one.variance) == (0.0, 0.0)
    assert two.gain == pytest.approx(0.75 * math.log(2) + 0.1)
    assert four.gain == pytest.approx(0.75 * math.log(2) + 0.2)
    assert (two.variance, four.variance) == pytest.approx((0.09, 0.18))
    low, high = band_of([one, two, four], BY_HAND)[1]
    assert low == pytest.approx(math.exp(two.gain - 1.5 * 0.3))
    assert high == pytest.approx(math.exp(two.gain + 1.5 * 0.3))


def test_what_goes_up_and_down_is_charged_once() -> None:
    """Imbalance makes a curve of teeth: growth is lost up to the highest, not at each of them."""
    teeth = [
        point(n, speed, imbalance=1.0) for n, speed in ((1, 1.0), (2, 2.0), (3, 1.5), (4, 2.0))
    ]
    last = outlook_of(teeth, NODE, BY_HAND)[-1]
    assert last.gain == pytest.approx(0.75 * math.log(2))


def test_a_slower_curve_loses_nothing_more() -> None:
    slow = [point(1, 1.0, overhead=1.0), point(2, 0.5, overhead=1.0)]
    assert outlook_of(slow, NODE, BY_HAND)[1].gain == pytest.approx(math.log(0.5))


def test_speeds_are_over_the_first_number_of_threads() -> None:
    curve = [point(4, 3.0, compute=1.0), point(8, 6.0, compute=1.0)]
    assert [one.predicted for one in outlook_of(curve, NODE, BY_HAND)] == [1.0, 2.0]


def test_a_region_that_takes_no_time() -> None:
    none = [point(1, 1.0, compute=0.0), point(2, 1.0, compute=0.0)]
    assert outlook_of(none, NODE, BY_HAND)[1] == (2, 1.0, 0.0, pytest.approx(0.09))


def test_only_some_numbers_of_threads() -> None:
    outlook = outlook_of([point(n, float(n), compute=1.0) for n in (1, 2, 4)], NODE)
    assert at_threads(outlook, [2, 4, 7]) == outlook[1:]
    assert at_threads(outlook, []) == at_threads(outlook, [16]) == outlook


@given(st.lists(st.floats(0.05, 20.0), min_size=1, max_size=30))
def test_a_band_holds_what_is_predicted(factors: list[float]) -> None:
    curve = [point(1, 1.0, compute=1.0)]
    curve += [point(n, speed, compute=1.0, cache=0.5, memory_bandwidth=speed)
              for n, speed in enumerate(factors, 2)]  # fmt: skip
    outlook = outlook_of(curve, NODE)
    for one, bounds in zip(curve, band_of(outlook), strict=True):
        assert 0.0 < bounds.low <= one.speedup <= bounds.high
    variances = [one.variance for one in outlook]
    assert variances == sorted(variances)
    assert band_of(outlook)[0] == (1.0, 1.0)


def test_what_ships_is_a_fit_with_sense() -> None:
    assert SHIPPED.creep >= 0.0 and 0.0 <= SHIPPED.lost < 1.0
    assert all(0.0 < spread < 1.0 for spread in SHIPPED.spreads)
    assert SHIPPED.slope >= 0.0 and 0.5 <= SHIPPED.most < 1.0
