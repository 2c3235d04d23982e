"""The library's door: exact data come back exactly, wrong input gets one line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.fit import fit, fit_many

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


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.001, 0.02, 0.1]))
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
