"""The library's door: exact data come back exactly, wrong input gets one line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.fit import fit, fit_many
from regionpredict.fit.model.quality import design_matrix
from regionpredict.fit.model.terms import DEFAULT_TERMS, evaluate_term
from regionpredict.fit.search import one_parameter

POINTS = [(2.0,), (4.0,), (8.0,), (16.0,), (32.0,)]


@pytest.mark.parametrize(
    ("function", "term"),
    [
        (lambda p: 3 + 2 * p, (1.0, 0.0)),
        (lambda p: 3 + 2 * math.log2(p), (0.0, 1.0)),
        (lambda p: 1 + 0.5 * p * math.log2(p), (1.0, 1.0)),
        (lambda p: 7 + 0.1 * p**2, (2.0, 0.0)),
        (lambda p: 5 + 4 * p**0.25, (0.25, 0.0)),
    ],
)
def test_exact_data_give_the_generating_function(function, term):
    model = fit(POINTS, [[function(p)] * 3 for (p,) in POINTS])
    assert [t for _, m in model.terms for t in m.values()] == [term]
    assert model.predict((1024,)) == pytest.approx(function(1024.0), rel=1e-6)


def test_equal_values_are_a_constant():
    model = fit(POINTS, [[4.0, 4.0]] * 5)
    assert model.terms == []
    assert model.predict((1e6,)) == 4.0


def test_amdahl_is_recognised_and_extrapolates_without_going_negative():
    points = [(1,), (2,), (4,), (8,), (16,)]
    model = fit(points, [[100 * (0.1 + 0.9 / p)] for (p,) in points])
    assert model.law == "amdahl"
    assert model.predict((256,)) == pytest.approx(100 * (0.1 + 0.9 / 256), rel=1e-3)


SERIES = (st.integers(0, 2**32 - 1), st.sampled_from([0.001, 0.02, 0.1]))


@settings(max_examples=5)
@given(*SERIES)
def test_one_by_one_and_many_at_once_agree(seed, noise):
    """Two ways through the same formulas: `select_one`, and `select` for many."""
    rng = np.random.default_rng(seed)
    many = []
    for _ in range(12):
        c, a, b = rng.uniform(0, 5, 3) * (rng.random(3) < 0.7) + [0.1, 0, 0]
        i, j = rng.choice([-1, 0, 0.5, 1, 2], 2, replace=False)
        many.append([(c + a * p**i + b * p**j) * rng.normal(1, noise, 3) for (p,) in POINTS])
    together = fit_many(POINTS, many)
    for model, values in zip(together, many, strict=True):
        alone = fit(POINTS, values)
        assert alone.monomials == model.monomials
        assert alone.predict((500,)) == pytest.approx(model.predict((500,)), rel=1e-6)


@pytest.mark.slow
@given(*SERIES)
def test_a_thousand_series_agree(seed, noise):
    test_one_by_one_and_many_at_once_agree.hypothesis.inner_test(seed, noise)


def test_the_ratio_of_constant_and_coefficient_by_hand():
    cost = one_parameter._ratio_cost(
        np.array([100.0, 1.0, 1e-6, 1e8, -1.0]),
        np.array([1e-9, 1e-9, 1e-9, 1e-9, 0.01]),
        np.array([1.0, 1.0, -1.0, 1.0, 1.0]),
    )
    # Two decades cost 2 log 2, three times as many 2 log 10; below its error it is its error.
    assert cost == pytest.approx(
        [2 * np.log(2), 0, 2 * np.log(10), 2 * np.log(17), 2 * np.log(2)], rel=1e-9
    )


def test_rare_terms_are_found_where_the_noise_is_small():
    """Of 42 terms alike, at 2 % noise, five points; with twice the price of rarity it is 157."""
    rng = np.random.default_rng(12)
    right = 0
    for _ in range(200):
        term = DEFAULT_TERMS[rng.integers(len(DEFAULT_TERMS))]
        c, a = rng.uniform(1, 10), rng.uniform(0.1, 1)
        x = 2.0 ** np.arange(2, 7)
        y = (c + a * evaluate_term(term, x))[:, None] * (1 + 0.02 * rng.normal(size=(5, 5)))
        right += fit(x, y.tolist()).leading_term == {0: term}
    assert right >= 160


@pytest.mark.parametrize("powers", [((1, 0), (0, 2)), ((1, 1), (1, 0)), ((2, 1),)])
def test_coefficients_of_several_parameters_are_those_of_least_squares(powers):
    rng = np.random.default_rng(13)
    points = [(p, n) for p in (2.0, 4.0, 8.0, 16.0, 32.0) for n in (10.0, 20.0, 30.0, 40.0)]
    columns = np.array([[p**a * n**b / 32**a / 40**b for a, b in powers] for p, n in points])
    values = (2 + 3 * columns.sum(1))[:, None] * (1 + 0.01 * rng.normal(size=(20, 4)))
    model = fit(points, values.tolist())
    found = design_matrix(model.monomials, np.array(points))
    mean = values.mean(1)
    expected = np.linalg.lstsq(found / mean[:, None], np.ones(20), rcond=None)[0]
    assert [model.constant, *(c for c, _ in model.terms)] == pytest.approx(expected, rel=1e-6)


def test_product_of_two_parameters():
    points = [(p, n) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50)]
    model = fit(points, [[3 + 2 * p * n**2] for p, n in points])
    assert [m for _, m in model.terms] == [{0: (1.0, 0.0), 1: (2.0, 0.0)}]
    assert model.terms[0][0] == pytest.approx(2.0)


def test_parameter_without_influence_stays_out():
    points = [(p, n) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50)]
    model = fit(points, [[3 + 2 * p] for p, n in points])
    assert [m for _, m in model.terms] == [{0: (1.0, 0.0)}]


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        (POINTS[:3], [[1.0]] * 3, "3 different points"),
        (POINTS, [[1.0]] * 4, "4 lists of repetitions for 5 points"),
        (POINTS, [[1.0]] * 4 + [[math.nan]], "point 5 has no finite value"),
        ([], [], "no points"),
        ([(1,), (2, 3)], [[1.0]] * 2, "differ in length"),
    ],
)
def test_wrong_input_is_one_line(points, values, message):
    with pytest.raises(InputError, match=message) as caught:
        fit(points, values)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_nan_repetitions_and_unequal_counts_are_left_out():
    values = [[3 + 2 * p, 3 + 2 * p] for (p,) in POINTS]
    values[1].append(math.nan)
    values[2].pop()
    assert str(fit(POINTS, values)) == "3 + 2*p"


def test_what_rounding_leaves_is_no_constant():
    assert str(fit(POINTS, [[0.3 * p * p] for (p,) in POINTS])) == "0.3*p^2"
    assert str(fit(POINTS, [[1e-9 + 2 * p] for (p,) in POINTS])) == "1e-09 + 2*p"
    assert str(fit(POINTS, [[0.0]] * 5)) == "0"
    # Of a reciprocal the constant is as small as the values are large.
    rates = fit(POINTS, [[1e9 / (1 + 0.5 * p)] for (p,) in POINTS], law="amdahl-efficiency")
    assert str(rates) == "1/(1e-09 + 5e-10*p)"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-40, 1e9, 1e59])
def test_equal_values_of_any_size_are_a_constant(size):
    assert not fit([1, 2, 4, 8, 16], [[size, size]] * 5).terms
    for model in fit_many([1, 2, 4, 8, 16], [[[size * k] for _ in range(5)] for k in (1, 2)]):
        assert not model.terms
