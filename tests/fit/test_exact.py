"""Measurements without noise: the term that made them is found, or it is said that none is."""

import math

import numpy as np
import pytest

from regionpredict.api import fit_table
from regionpredict.fit import fit, fit_many
from regionpredict.fit.search.refine import fit_refined

POWERS = [16, 32, 64, 128, 256]
SIZES = [100, 200, 300, 400, 500, 600]

# The search space of Shudler 2018, eq. 2.2.
EQUATION_2_2 = [(k / 4, float(j)) for k in range(13) for j in range(3) if k or j]

# Shudler 2018, table 5.2: constant, coefficient, exponents.
TABLE_5_2 = {
    "Cholesky, depth": (0, 4.31e-9, 1.75, 1),
    "Cholesky, parallelism": (2.29, 2.35, 1, 0),
    "FFT, depth": (0.08, 1.33e-14, 2.75, 1),
    "FFT, parallelism": (0, 1.19e-2, 2 / 3, 1),
    "Fibonacci, parallelism": (25.48, 0.49, 2.75, 1),
    "N-Queens, depth": (0, 6.57e-4, 2, 1),
    "N-Queens, parallelism": (0, 2.18, 2.875, 1),
    "Sort, depth": (0, 3.03e-6, 0.5, 0),
    "Sort, parallelism": (3.53, 3.32e-2, 0.5, 0),
    "SparseLU, depth": (0, 5.12e-5, 0.75, 1),
    "SparseLU, parallelism": (0, 5.8e-5, 1.75, 1),
    "Strassen, depth": (0, 1.47e-9, 2, 1),
    "Strassen, parallelism": (0, 0.25, 0.75, 0),
}


def values(points, constant, coefficient, poly, log2, repetitions=1):
    return [[constant + coefficient * p**poly * math.log2(p) ** log2] * repetitions for p in points]


@pytest.mark.parametrize("points", [POWERS, SIZES])
@pytest.mark.parametrize("repetitions", [1, 5])
@pytest.mark.parametrize(("poly", "log2"), EQUATION_2_2)
def test_every_term_of_equation_2_2_is_found(points, repetitions, poly, log2):
    for constant, coefficient in ((1, 0.01), (100, 1), (0, 3), (1000, 0.001)):
        model = fit(points, values(points, constant, coefficient, poly, log2, repetitions))
        [(found, monomial)] = model.terms
        assert monomial == {0: (poly, log2)}
        assert found == pytest.approx(coefficient, rel=1e-6)
        assert model.pieces == ()


@pytest.mark.parametrize("points", [POWERS, SIZES, [1024, 2048, 4096, 8192, 16384]])
@pytest.mark.parametrize("name", TABLE_5_2)
def test_the_models_of_table_5_2_are_found(points, name):
    *_, poly, log2 = TABLE_5_2[name]
    [(_, monomial)] = fit(points, values(points, *TABLE_5_2[name])).terms
    assert monomial == {0: (pytest.approx(poly), log2)}


def test_many_call_paths_without_noise_are_found_as_one_is():
    many = [values(POWERS, 1, 0.01, *term) for term in EQUATION_2_2]
    assert [m.monomials for m in fit_many(POWERS, many)] == [({0: term},) for term in EQUATION_2_2]


def test_a_power_that_no_list_has_is_one_formula_not_pieces():
    points = [2**k for k in range(1, 9)]
    model = fit(points, values(points, 2, 3, 3.5, 0))
    assert model.formula() == "2 + 3*p^(7/2)"


@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_power_that_no_list_has_is_one_formula_too(seed):
    rng = np.random.default_rng(seed)
    points = [2**k for k in range(2, 12)]
    noisy = [(row[0] * rng.normal(1, 0.01, 5)).tolist() for row in values(points, 2, 3, 3.5, 0)]
    model = fit(points, noisy)
    assert model.monomials == ({0: (3.5, 0.0)},)
    assert model.pieces == ()


def test_refinement_keeps_the_plainer_of_two_exponents():
    points = [2**k for k in range(1, 9)]
    rng = np.random.default_rng(3)
    noisy = [(row[0] * rng.normal(1, 0.01, 5)).tolist() for row in values(points, 2, 3, 1, 0)]
    assert fit_refined(points, noisy).monomials == ({0: (1.0, 0.0)},)


def test_no_formula_is_the_answer_where_none_is_better_than_the_mean():
    points = [2, 4, 8, 16, 32, 64]
    model = fit(points, [[v] * 3 for v in (1.0, 5.0, 1.0, 5.0, 1.0, 5.0)])
    assert (model.formula(), model.law, model.terms, model.pieces) == ("no model", "none", [], ())
    assert any("no formula" in warning for warning in model.warnings)
    assert model.predict(8) == pytest.approx(1.5, rel=0.5)


@pytest.mark.parametrize("seed", range(40))
def test_a_model_is_never_worse_than_the_mean(seed):
    rng = np.random.default_rng(seed)
    points = [2**k for k in range(1, rng.integers(6, 10))]
    rows = np.exp(rng.normal(0, 1.5, len(points)))[:, None] * rng.normal(1, 0.1, (len(points), 4))
    for model in (fit(points, rows.tolist()), *fit_many(points, [rows.tolist()] * 2)):
        assert not model.adjusted_r2 < 0


def test_points_of_two_parameters_are_no_better_described_by_less_than_their_mean():
    points = [(p, n) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50)]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = fit(points, np.exp(rng.normal(0, 2, (25, 3))).tolist())
        assert not model.adjusted_r2 < 0


def test_models_are_a_frame():
    pytest.importorskip("pandas")
    table = {"p": POWERS * 2, "name": ["a"] * 5 + ["b"] * 5, "time": [*POWERS, *[7.0] * 5]}
    frame = fit_table(table).to_frame()
    assert frame["growth"].tolist() == ["p", "1"]
    assert frame["smape"].max() == pytest.approx(0, abs=1e-9)
