"""What is expected beyond the points: forecasters, and how they are combined."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.fit import fit
from regionpredict.fit.model.observations import summarise_repetitions
from regionpredict.fit.model.outlook import Outlook
from regionpredict.fit.model.terms import DEFAULT_SPACE
from regionpredict.fit.search.criterion import DEFAULT_CRITERION
from regionpredict.fit.search.forecasters import (
    NAMES,
    applicable_forecasters,
    forecasts_by_forecaster,
)
from regionpredict.fit.search.outlooks import combine_forecasts
from regionpredict.fit.search.uncertain_formula import UncertainFormula


def told(x, y, at):
    """The opinions on plain values, by the forecasters' names."""
    seen = summarise_repetitions([[v] for v in y])
    rows = forecasts_by_forecaster(
        np.array(x), seen, np.array([at]), DEFAULT_SPACE, DEFAULT_CRITERION, 2
    )
    return dict(zip(NAMES, rows[:, 0].tolist(), strict=True))


def test_each_simple_forecaster_by_hand():
    said = told([1.0, 2.0, 4.0, 8.0], [8.0, 6.0, 4.0, 2.0], 16.0)
    assert said["power 2"] == pytest.approx(1.0)  # halves with each doubling
    assert said["damped power 2"] == pytest.approx(2 * 2**-0.7)
    assert np.isnan(said["tree"])  # 2 a doubling: it reaches zero
    assert said["last"] == 2.0
    assert np.isnan(said["line 4"])  # falls below zero
    assert np.isnan(said["sum 6"])  # there are not so many points


def test_powers_whose_exponent_changes_by_hand():
    # Of doublings the exponents are -2 and -1; the next is 0 if they go on, -0.5 if by half.
    said = told([1.0, 2.0, 4.0], [32.0, 8.0, 4.0], 8.0)
    assert said["bent power"] == pytest.approx(4.0)
    assert said["curved power"] == pytest.approx(4 * 2**-0.5)
    # The work is 16, then 16: it stays.
    assert said["work line"] == pytest.approx(2.0)


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.3, 2.0])
def test_a_power_beside_a_constant_is_what_offset_power_expects(exponent):
    x = np.array([1.0, 3.0, 4.0, 7.0])
    said = told(x, 5 + 2 * x**exponent, 20.0)
    assert said["offset power"] == pytest.approx(5 + 2 * 20**exponent, rel=1e-6)


def test_a_logarithm_beside_a_constant_is_a_power_of_zero():
    x = np.array([2.0, 4.0, 8.0])
    assert told(x, 1 + np.log2(x), 64.0)["offset power"] == pytest.approx(7.0, rel=1e-6)


def test_no_power_turns():
    assert np.isnan(told([1.0, 2.0, 4.0], [8.0, 4.0, 5.0], 8.0)["offset power"])


def test_constant_noise_makes_the_largest_values_count_most():
    x = np.array([8.0, 16.0, 32.0, 64.0, 128.0])
    y = x**2
    y[0] *= 3  # a third of a thousandth of the largest value, and two thirds of its own
    said = told(x, y, 256.0)
    assert said["absolute sum all"] == pytest.approx(256**2, rel=0.01)
    assert abs(said["sum all"] / 256**2 - 1) > 0.02
    assert said["cross-validated"] == pytest.approx(256**2, rel=0.1)


def test_whether_the_last_points_rise_says_who_is_asked():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    rising, falling, flat = (
        set(np.array(NAMES)[applicable_forecasters(x, x**power)]) for power in (1, -1, 0)
    )
    assert {"absolute sum all", "cross-validated", "line 3"} <= rising
    assert not {"work all", "threads", "last"} & rising
    assert {"work all", "threads", "last", "bent power"} <= falling
    assert not {"line 3", "absolute sum all", "sum 3"} & falling
    assert {"work all", "line 3", "last", "absolute sum all"} <= flat


@pytest.mark.parametrize("values", [[1.0, 2.0, 1.5, 2.5], [1.0, 3.0, 5.0, 1.0]])
def test_values_that_fall_after_a_rise_have_no_trend(values):
    heard = set(
        np.array(NAMES)[applicable_forecasters(np.array([1.0, 2.0, 4.0, 8.0]), np.array(values))]
    )
    assert {"sum all", "last", "power 4", "formula"} <= heard
    assert not {"power 2", "line 3", "sum 3", "bent power"} & heard


def test_a_rise_after_a_fall_is_a_trend():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert "power 2" in np.array(NAMES)[applicable_forecasters(x, np.array([9.0, 5.0, 6.0, 9.0]))]


def test_no_work_divides_faster_than_by_the_processors():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    heard = set(np.array(NAMES)[applicable_forecasters(x, np.array([9.0, 8.0, 7.0, 1.0]))])
    assert {"sum all", "last"} <= heard
    assert not {"work all", "damped power 2", "power 2"} & heard


def test_windows_of_the_same_points_are_one_opinion():
    said = told([1.0, 2.0, 4.0, 8.0], [1.0, 2.0, 4.1, 8.0], 16.0)
    sums = [said[f"sum {size}"] for size in ("4", "half", "all")]
    assert sum(np.isfinite(sums)) == 1


def test_divided_work_with_overhead_is_what_work_expects():
    p = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    said = told(p, 100 / p + 3, 32.0)  # the work is 100 + 3 p
    assert said["work all"] == pytest.approx(100 / 32 + 3, rel=0.01)
    assert said["formula of work"] == pytest.approx(100 / 32 + 3, rel=1e-6)


def test_the_forecaster_that_was_right_counts_most():
    past = [np.array([10.0, 13.0, 20.0]), np.array([20.0, 26.0, 10.0])]
    value, spread, shares = combine_forecasts(
        past, [10.0, 20.0], [1.0, 1.0], np.array([40.0, 52.0, 99.0])
    )
    assert value == 40.0
    assert shares[0] > 0.5 > shares[1] > shares[2]
    assert shares.sum() == pytest.approx(1)
    assert spread > 0


def test_nothing_known_is_the_middle_opinion():
    value, _, shares = combine_forecasts([], [], [], np.array([3.0, np.nan, 1.0, 2.0]))
    assert value == 2.0
    assert shares.tolist() == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_an_error_nearer_by_counts_as_more_far_off():
    now = np.array([40.0, 40.0])
    past = [np.array([11.0, 11.0])]
    near = combine_forecasts(past, [10.0], [1.0], now)[1]
    far = combine_forecasts(past, [10.0], [4.0], now)[1]
    assert far > 2 * near


def test_who_was_wrong_before_does_not_widen_the_interval():
    past = [np.array([10.0, 10.0, 10.0, 70.0, 1.0])] * 4
    truths = [10.0] * 4
    among_equals = combine_forecasts(
        past, truths, [1.0] * 4, np.array([20.0, 20.0, 20.0, 20.0, 20.0])
    )[1]
    beside_others = combine_forecasts(
        past, truths, [1.0] * 4, np.array([20.0, 20.0, 20.0, 140.0, 2.0])
    )[1]
    assert beside_others == pytest.approx(among_equals)
    unknown = combine_forecasts([], [], [], np.array([20.0, 20.0, 20.0, 140.0, 2.0]))[1]
    assert unknown > 5 * beside_others


def test_a_power_outside_the_search_space_goes_on():
    p = [2.0**k for k in range(1, 10)]
    model = fit(p, [[3 * v**0.41 * (1 + 0.01 * (-1) ** k)] for k, v in enumerate(p)])
    assert model.predict(1024) == pytest.approx(3 * 1024**0.41, rel=0.03)


def test_a_formula_that_explains_the_noise_speaks_for_itself():
    rng = np.random.default_rng(1)
    p = [4, 8, 16, 32, 64]
    model = fit(p, [(5 + 2 * v + 0.05 * (5 + 2 * v) * rng.normal(size=5)).tolist() for v in p])
    point = np.array([[512.0]])
    assert model.outlook(point) is None
    assert model.predict(512) == model.formula_values(point)[0]


@dataclass(frozen=True)
class Normal:
    """A formula whose logarithm is normal about that of 4."""

    deviation: float

    def formula_quantiles(self, point, levels):
        return [4 * np.exp(NormalDist(0, self.deviation).inv_cdf(level)) for level in levels]

    def formula_values(self, points):
        return np.full(len(points), 4.0)


def views_of_one(points):
    """Views that expect 1, with a deviation of 0.2 of the logarithm."""
    one = np.ones((1, len(points)))
    return Outlook(one[0], 0.2 * one[0], ("last",), one, one)


def test_an_uncertain_formula_and_views_are_averaged_by_precision():
    # Twice the deviation is a quarter of the precision: a fifth of the way from 1 to 4 in logs.
    outlook = UncertainFormula(Normal(0.4), views_of_one).at(np.array([[8.0]]))
    assert outlook.values == pytest.approx([4**0.2])
    between = 0.2 * 0.8 * np.log(4) ** 2
    assert outlook.spread**2 == pytest.approx([0.2 * 0.4**2 + 0.8 * 0.2**2 + between])
    assert outlook.forecasters == ("candidates", "last")
    assert outlook.shares[:, 0] == pytest.approx([0.2, 0.8])
    # Of a hundredth of the deviation, the average is 1.4e-4 away, less than a quarter of 0.002.
    assert UncertainFormula(Normal(0.002), views_of_one).at(np.array([[8.0]])) is None


def test_noise_that_hides_growth_from_the_formula_does_not_hide_it_from_the_forecast():
    """One of four repetitions is ten times slower: even a constant explains such points."""
    p = [1, 2, 4, 8, 16]
    model = fit(p, [[0.1 * v, 0.2 * v, 0.3 * v, 3.4 * v] for v in p])
    assert model.terms == []
    assert model.predict(32) == pytest.approx(32, rel=0.01)
    band = model.interval(32)
    assert band.low < 32 < band.high


def test_what_no_formula_explains_is_forecast():
    p = [1, 2, 4, 8, 16, 32]
    model = fit(p, [[100.0], [55.0], [30.0], [19.0], [13.0], [11.0]])
    outlook = model.outlook(np.array([[64.0]]))
    assert outlook is not None
    assert model.predict(64) == outlook.values[0]
    assert model.predict(32) == model.formula_values(np.array([[32.0]]))[0]
    band = model.interval(64, 0.9)
    assert band.low < model.predict(64) < band.high
    assert model.interval(64, 0.5).high < band.high


def test_the_largest_corner_of_a_grid_is_beyond_it():
    rng = np.random.default_rng(2)
    points = [(p, n) for p in (2, 4, 8, 16) for n in (10, 20, 30, 40) if (p, n) != (16, 40)]
    values = [[p**0.45 * n**1.1 * (1 + 0.05 * rng.normal())] for p, n in points]
    model = fit(points, values)
    outlook = model.outlook(np.array([[16.0, 40.0]]))
    assert outlook is not None
    assert "factors of neighbours 1, 2" in outlook.forecasters
    assert model.predict((16, 40)) == outlook.values[0]
    assert model.predict((16, 40)) == pytest.approx(16**0.45 * 40**1.1, rel=0.15)
    # No point reaches this one in both; within the grid the formula gives the value.
    assert model.predict((8, 40)) == model.formula_values(np.array([[8.0, 40.0]]))[0]


SERIES = st.lists(st.floats(0.01, 1e4), min_size=5, max_size=9)


@settings(max_examples=40, deadline=None)
@given(SERIES, st.sampled_from([1.5, 2.0, 16.0]))
def test_positive_values_have_finite_forecasts_within_their_intervals(values, factor):
    p = [2**k for k in range(len(values))]
    model = fit(p, [[v] for v in values])
    point = factor * p[-1]
    value, band = model.predict(point), model.interval(point)
    assert np.isfinite([value, band.low, band.high]).all()
    assert 0 <= band.low <= value <= band.high


@settings(max_examples=25, deadline=None)
@given(SERIES, st.randoms(use_true_random=False))
def test_units_and_order_do_not_matter(values, random):
    p = [2**k for k in range(len(values))]
    model = fit(p, [[v] for v in values])
    order = list(range(len(p)))
    random.shuffle(order)
    other = fit([p[k] for k in order], [[1024 * values[k]] for k in order])
    assert other.predict(2 * p[-1]) == pytest.approx(1024 * model.predict(2 * p[-1]), rel=1e-6)
