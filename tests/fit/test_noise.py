"""Robustness: hiccups, outliers, and noise that is not relative."""

from dataclasses import replace

import numpy as np
import pytest

from regionpredict.fit import fit
from regionpredict.fit.model.noise import noise_scales, robust_squares, without_hiccups
from regionpredict.fit.model.observations import (
    explained_rows,
    summarise_repetitions,
    variance_factor,
)
from regionpredict.fit.search.criterion import DEFAULT_CRITERION

P = [4, 8, 16, 32, 64, 128]


def test_the_median_deviation_by_hand():
    # Median 3, deviations 2 1 0 1 97: their median 1, times 1.4826 and 1.206 for five.
    data = np.array([[1.0, 2.0, 3.0, 4.0, 100.0]])
    assert robust_squares(data)[0] == pytest.approx(4 * (1.4826 * 1.206) ** 2)
    assert robust_squares(np.array([[7.0]]))[0] == 0


def test_normal_noise_is_measured_alike_with_and_without_hiccups():
    rng = np.random.default_rng(3)
    data = 10 + rng.normal(size=(400, 7))
    assert np.sqrt(robust_squares(data) / 6).mean() == pytest.approx(1, rel=0.05)
    data[:, 0] *= 1000
    assert np.sqrt(robust_squares(data) / 6).mean() < 2


def test_a_hiccup_is_no_repetition():
    data = np.array([[1.0, 1.1, 0.9, 1000.0], [2.0, 2.1, 1.9, 2.05]])
    kept = without_hiccups(data)
    assert np.isnan(kept).tolist() == [[False, False, False, True], [False] * 4]
    assert without_hiccups(data[1:]) is None


@pytest.mark.parametrize("statistic", ["median", "minimum", "first-quartile"])
def test_one_slow_repetition_in_300_does_not_hide_a_square(statistic):
    rng = np.random.default_rng(4)
    values = [((3 + 0.2 * p**2) * (1 + 0.02 * rng.normal(size=50))).tolist() for p in P]
    values[3][17] *= 1000
    model = fit(P, values, statistic=statistic)
    assert model.leading_term == {0: (2.0, 0.0)}
    assert model.noise < 0.03


@pytest.mark.parametrize("count", [1, 2, 5, 10, 50, 70, 300])
def test_the_least_of_many_is_hardly_surer_than_that_of_few(count):
    drawn = np.random.default_rng(9).normal(size=(20000, count)).min(1)
    assert variance_factor("minimum", count) == pytest.approx(count * drawn.var(), rel=0.04)


def test_factors_of_points_with_different_numbers_of_repetitions():
    counts = np.array([1.0, 5.0, 50.0])
    each = [float(variance_factor("minimum", int(n))) for n in counts]
    assert np.asarray(variance_factor("minimum", counts)).tolist() == pytest.approx(each)
    assert variance_factor("mean", counts) == 1.0


def test_the_least_of_many_noisy_values_is_no_reason_for_more_terms():
    """50 repetitions at 10 % noise: the least values scatter by 5 %, not by 2."""
    rng = np.random.default_rng(10)
    right = 0
    for _ in range(40):
        values = [((5 + 0.5 * p) * (1 + 0.1 * rng.normal(size=50))).tolist() for p in P]
        right += fit(P, values, statistic="minimum").leading_term == {0: (1.0, 0.0)}
    assert right >= 32


def test_relative_noise_stays_relative():
    rng = np.random.default_rng(5)
    y = np.array([1.0, 10.0, 100.0, 1000.0])
    squares = ((y[:, None] * 0.05 * rng.normal(size=(4, 5))) ** 2).sum(1)
    assert noise_scales(y, squares, 4.0) is None


def test_constant_noise_is_weighed_as_constant():
    rng = np.random.default_rng(6)
    y = [1.0, 4.0, 16.0, 64.0, 256.0]
    seen = summarise_repetitions([(v + 0.5 * rng.normal(size=8)).tolist() for v in y])
    assert seen.relative  # all values are positive
    assert seen.weights.max() < 3 * seen.weights.min()
    again = summarise_repetitions([(v * (1 + 0.05 * rng.normal(size=8))).tolist() for v in y])
    assert again.weights[0] / again.weights[-1] > 1e4


def test_many_series_are_explained_as_each_alone():
    rng = np.random.default_rng(11)
    seen = [
        summarise_repetitions((3 + rng.normal(0, noise, (5, repetitions))).tolist())
        for noise in (0.0, 1e-4, 0.1)
        for repetitions in (1, 2, 5)
        for _ in range(10)
    ]
    seen[0].weights[1] = 0.0  # an outlier
    misfit = np.array([(o.within / max(o.dof, 1) + 1e-9) * 10 ** rng.uniform(-1, 2) for o in seen])
    used = rng.integers(1, 6, len(seen))
    rows = explained_rows(
        np.array([o.weights for o in seen]),
        np.array([o.within for o in seen]),
        np.array([o.dof for o in seen]),
        misfit,
        used,
    )
    alone = [
        o.explained(m, n) for o, m, n in zip(seen, misfit.tolist(), used.tolist(), strict=True)
    ]
    assert rows.tolist() == alone
    assert any(alone) and not all(alone)


def test_one_small_value_bends_no_model():
    model = fit([1, 2, 4, 8, 16], [[1], [10], [10], [10], [10]])
    assert str(model) == "10"
    assert "p = 1 is left out as an outlier" in model.notes[0]
    assert model.smape == 0


@pytest.mark.parametrize("factor", [0.1, 2, 10])
def test_one_mistyped_point_of_125_is_named(factor):
    rng = np.random.default_rng(7)
    points = [
        (p, q, r) for p in (4, 8, 16, 32, 64) for q in (1, 2, 3, 4, 5) for r in (2, 4, 6, 8, 10)
    ]
    values = [
        ((3 + 0.2 * p * q + 0.5 * r) * (1 + 0.03 * rng.normal(size=5))).tolist()
        for p, q, r in points
    ]
    row = points.index((16, 4, 6))
    values[row] = [factor * v for v in values[row]]
    model = fit(points, values, parameters=("p", "q", "r"))
    assert [note for note in model.notes if "p = 16, q = 4, r = 6 is left out" in note]
    assert model.predict((16, 4, 6)) == pytest.approx(3 + 12.8 + 3, rel=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_noise_makes_no_outliers(seed):
    rng = np.random.default_rng(seed)
    values = [((3 + 0.2 * p) * (1 + 0.1 * rng.normal(size=3))).tolist() for p in P]
    assert not fit(P, values).notes


def test_a_change_at_the_end_is_no_outlier():
    model = fit(P, [[1.0, 1.1], [2.0, 2.1], [4.1, 4.0], [8.3, 8.1], [30, 31], [60, 61]])
    assert not model.notes


def test_a_robust_summary_prefers_the_common_term_in_a_near_tie():
    # At 5 % noise, 5 + 0.5 p^(5/4) is nearly 6 + 0.24 p log2(p): one value more or less decides.
    values = [
        [(1 + share) * (5 + 0.5 * p**1.25) for share in (-0.06, -0.03, 0, 0.03, 0.06)] for p in P
    ]
    [(_, by_means)] = fit(P, values).terms
    [(_, by_medians)] = fit(P, values, statistic="median").terms
    assert (by_means, by_medians) == ({0: (1.25, 0.0)}, {0: (1.0, 1.0)})


@pytest.mark.parametrize("statistic", ["median", "minimum", "first-quartile"])
def test_the_price_of_many_repetitions_is_the_same_after_a_hiccup(statistic):
    rng = np.random.default_rng(4)
    values = [((5 + 0.5 * p) * (1 + 0.05 * rng.normal(size=50))).tolist() for p in P]
    usual = summarise_repetitions(values, statistic)
    values[1][7] *= 1000
    disturbed = summarise_repetitions(values, statistic)
    assert round(disturbed.repetitions) == round(usual.repetitions) == 50


def test_a_slow_repetition_is_still_one_that_did_not_take_the_least_time():
    values = [[5.1, 5.0, 5.2, 5.3] for _ in P]
    usual = summarise_repetitions(values, "minimum")
    values[2][3] = 5300.0
    disturbed = summarise_repetitions(values, "minimum")
    assert disturbed.y.tolist() == usual.y.tolist()
    assert disturbed.weights.tolist() == usual.weights.tolist()


def test_prices_for_robust_summaries():
    usual, steady = DEFAULT_CRITERION, DEFAULT_CRITERION.for_summaries("minimum", 5)
    assert usual.for_summaries("mean", 40) is usual
    assert steady == replace(usual, rarity=usual.steadiness * usual.rarity)
    # Eight times the repetitions are twice the price, of rare terms and of second ones.
    steadier = usual.for_summaries("median", 40)
    assert steadier.rarity == pytest.approx(2 * steady.rarity)
    assert steadier.second == pytest.approx(2 * usual.second)
    assert usual.for_summaries("median", 2) == steady
    assert steady.rarity > usual.rarity


@pytest.mark.slow  # `test_fit_more.py` has the intervals without repetitions
def test_intervals_of_formulas_hold_what_is_measured_beyond_the_points():
    """Runs differ by 1 %, and their repetitions by 2 %."""
    rng = np.random.default_rng(3)
    x = np.array([4.0 * 2**k for k in range(7)])
    held = 0
    for _ in range(100):
        runs = (5 + 0.5 * x) * rng.normal(1, 0.01, len(x))
        rows = runs[:, None] * rng.normal(1, 0.02, (len(x), 5))
        band = fit(x[:-1].tolist(), rows[:-1].tolist()).interval(x[-1])
        held += band.low <= rows[-1].mean() <= band.high
    assert 84 <= held <= 98


def test_a_model_has_two_more_points_than_coefficients():
    values = [[10.0 / p + 0.3 * p + 1] * 3 for p in (1, 2, 4, 8)]
    assert len(fit([1, 2, 4, 8], values, min_points=4).terms) <= 1
