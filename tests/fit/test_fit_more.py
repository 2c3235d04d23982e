"""Segments, refinement, laws, priors, intervals, repetitions: what goes beyond one fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.fit import Prior, fit, fit_many
from regionpredict.fit.model import quality
from regionpredict.fit.model.observations import summarise_repetitions
from regionpredict.fit.model.quality import smape
from regionpredict.fit.search.refine import fit_refined
from regionpredict.fit.search.segments import fit_segments

THREADS = [(1,), (2,), (4,), (8,), (16,), (32,)]


def noisy(rng, values, noise=0.02, repetitions=5):
    return [list(v * rng.normal(1, noise, repetitions)) for v in values]


def test_segments_find_the_change_of_algorithm():
    points = [(2**k,) for k in range(1, 13)]
    values = [[5 + math.log2(p)] * 3 if p <= 64 else [0.5 * p] * 3 for (p,) in points]
    found = fit_segments(points, values)
    assert found.changes == ((64.0, 128.0),)
    assert found.predict(16) == pytest.approx(9.0)
    assert found.predict(8192) == pytest.approx(4096.0)


def test_three_segments_two_changes():
    points = [(float(p),) for p in range(1, 25)]

    def f(p):
        return 10 + p if p <= 8 else 100.0 if p <= 16 else 3 * p**2

    found = fit_segments(points, noisy(np.random.default_rng(3), [f(p) for (p,) in points], 0.01))
    assert found.changes == ((8.0, 9.0), (16.0, 17.0))


@pytest.mark.parametrize("seed", range(8))
def test_one_behaviour_is_one_segment(seed):
    points = [(2**k,) for k in range(1, 13)]
    values = noisy(np.random.default_rng(seed), [3 + 0.2 * p for (p,) in points])
    assert fit_segments(points, values).changes == ()


@pytest.mark.parametrize("exponent", [0.25, 0.375, 0.75, 1.125, 2.0, -0.5])
def test_refinement_finds_exponents_that_no_one_listed(exponent):
    points = [(2**k,) for k in range(1, 9)]
    model = fit_refined(points, [[1 + 2 * p**exponent] * 3 for (p,) in points])
    assert model.monomials == ({0: (exponent, 0.0)},)


@pytest.mark.parametrize(
    ("law", "function"),
    [
        ("amdahl", lambda p: 50 * (0.1 + 0.9 / p)),
        ("amdahl-log", lambda p: 50 * (0.1 + 0.9 / p) + 2 * math.log2(p)),
        ("amdahl-linear", lambda p: 50 * (0.1 + 0.9 / p) + 0.5 * p),
        ("usl", lambda p: 50 * (1 + 0.05 * (p - 1) + 0.001 * p * (p - 1)) / p),
        ("saturation", lambda p: max(50 / p, 50 / 6)),
        ("amdahl-speedup", lambda p: 1 / (0.1 + 0.9 / p)),
        ("usl-speedup", lambda p: p / (1 + 0.05 * (p - 1) + 0.001 * p * (p - 1))),
        ("saturation-speedup", lambda p: min(p, 6.0)),
        ("amdahl-efficiency", lambda p: 0.98 / (0.97 + 0.03 * p)),
        ("pipeline", lambda p: 0.95 * p / ((1 - 0.7) + 0.7 * (2 * p - 1))),
    ],
)
def test_laws_reproduce_their_own_data_far_out(law, function):
    model = fit(THREADS, [[function(p)] * 2 for (p,) in THREADS], law=law)
    assert model.law == law
    for p in (3, 64, 512):
        assert model.predict((p,)) == pytest.approx(function(p), rel=1e-6)


def test_laws_name_their_parameters():
    usl = fit(
        THREADS,
        [[50 * (1 + 0.05 * (p - 1) + 0.001 * p * (p - 1)) / p] for (p,) in THREADS],
        law="usl",
    )
    assert usl.law_parameters == pytest.approx({"t1": 50, "sigma": 0.05, "kappa": 0.001})
    pipe = fit(
        THREADS, [[0.95 * p / (0.3 + 0.7 * (2 * p - 1))] for (p,) in THREADS], law="pipeline"
    )
    assert pipe.law_parameters == pytest.approx({"a": 0.95, "f": 0.7})


@pytest.mark.parametrize(
    ("law", "function"),
    [("amdahl", lambda p: 50 * (0.1 + 0.9 / p)), ("saturation", lambda p: max(50 / p, 50 / 6))],
)
def test_the_best_thread_law_is_chosen(law, function):
    rng = np.random.default_rng(5)
    model = fit(THREADS, noisy(rng, [function(p) for (p,) in THREADS], 0.01), law="threads")
    assert model.law == law


@settings(deadline=None)  # the first call loads what the others have
@given(st.floats(0.001, 0.5), st.floats(0, 0.1), st.integers(0, 1000))
def test_thread_scaling_is_never_negative(serial, noise, seed):
    values = noisy(
        np.random.default_rng(seed), [serial + (1 - serial) / p for (p,) in THREADS], noise
    )
    model = fit(THREADS, np.abs(values).tolist())
    assert all(model.predict((p,)) >= 0 for p in (1, 64, 512, 10**6))


def test_unknown_law_says_which_there_are():
    with pytest.raises(InputError, match="unknown law 'gustafson'; use one of amdahl"):
        fit(THREADS, [[1.0]] * 6, law="gustafson")


def test_prior_keeps_to_its_terms_and_parameters():
    points = [(p, n) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50)]
    rng = np.random.default_rng(1)
    values = noisy(rng, [3 + 2 * p + 0.1 * n**2 for p, n in points], 0.05)
    known = fit(points, values, prior=Prior(terms=({0: (1.0, 0.0)}, {1: (2.0, 0.0)})))
    assert known.monomials == ({0: (1.0, 0.0)}, {1: (2.0, 0.0)})
    assert known.predict((512, 500)) == pytest.approx(3 + 1024 + 25000, rel=0.05)
    without = fit(points, values, prior=Prior(parameters=(0,)))
    assert all(set(m) == {0} for m in without.monomials)
    grown = fit(points, values, prior=Prior(growth={0: [(1.0, 0.0)], 1: [(2.0, 0.0)]}))
    assert set(map(str, grown.monomials)) == {"{0: (1.0, 0.0)}", "{1: (2.0, 0.0)}"}


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Extrapolated 4 times, 90 % intervals should hold about 90 %; 80 % is a broken method."""
    rng = np.random.default_rng(7)
    points = [(4,), (8,), (16,), (32,), (64,)]
    held = 0
    for _ in range(150):
        c0, c1 = rng.uniform(1, 10), rng.uniform(0.1, 1)
        model = fit(points, noisy(rng, [c0 + c1 * p for (p,) in points], 0.03))
        band = model.interval((256,))
        held += band.low <= c0 + 256 * c1 <= band.high
    assert 0.8 < held / 150 <= 1.0


def test_far_extrapolation_of_noisy_data_is_warned_of():
    rng = np.random.default_rng(2)
    points = [(4,), (8,), (16,), (32,), (64,)]
    model = fit(points, noisy(rng, [10 + 0.05 * p for (p,) in points], 0.1))
    assert model.extrapolation_warning((10_000,))
    assert not fit(points, [[2 * p] * 3 for (p,) in points]).extrapolation_warning((128,))


def test_statistics_of_repetitions():
    rows = [[1.0, 2.0, 3.0, 10.0, 4.0]]
    assert summarise_repetitions(rows).y[0] == 4.0
    assert summarise_repetitions(rows, "median").y[0] == 3.0
    assert summarise_repetitions(rows, "minimum").y[0] == 1.0
    assert summarise_repetitions(rows, "first-quartile").y[0] == 2.0


def test_noise_is_estimated_from_the_repetitions():
    rng = np.random.default_rng(0)
    points = [(2**k,) for k in range(10)]
    model = fit(points, noisy(rng, [5 + p for (p,) in points], 0.03, 40))
    assert model.noise == pytest.approx(0.03, rel=0.1)


def test_leave_one_out_error_is_what_leaving_one_out_gives():
    """The closed form against refitting: weighted least squares of constant and p, by hand."""
    points = [(2.0,), (4.0,), (8.0,), (16.0,), (32.0,)]
    values = [[5.1], [6.8], [11.3], [18.9], [35.2]]
    model = fit(points, values, prior=Prior(terms=({0: (1.0, 0.0)},)))
    x = np.array([p for (p,) in points])
    y = np.array([v for (v,) in values])
    predicted = []
    for k in range(5):
        rest = np.arange(5) != k
        slope, constant = np.polyfit(x[rest], y[rest], 1, w=1 / y[rest])
        predicted.append(constant + slope * x[k])
    assert model.cross_validated_error == pytest.approx(smape(y, np.array(predicted)), rel=1e-6)


def test_zero_and_negative_values_are_modelled():
    points = [(1,), (2,), (4,), (8,), (16,)]
    assert fit(points, [[0.0]] * 5).predict((64,)) == 0.0
    model = fit(points, [[p - 4.0] * 2 for (p,) in points])
    assert model.predict((64,)) == pytest.approx(60.0)


def test_repeated_points_are_merged():
    points = [(2,), (2,), (4,), (8,), (16,), (32,)]
    model = fit(points, [[4.9], [5.1], [9.0], [17.0], [33.0], [65.0]])
    assert len(model.points) == 5
    assert model.predict((64,)) == pytest.approx(129.0, rel=0.02)


def test_formula_in_three_styles():
    model = fit([2, 4, 8, 16, 32], [[3 + 0.5 * p * math.log2(p)] for p in (2, 4, 8, 16, 32)])
    assert model.formula() == "3 + 0.5*p*log2(p)"
    assert model.formula("latex") == "3 + 0.5 \\cdot p \\log_2 p"
    value = eval(model.formula("python"), {"p": 64.0, "log2": math.log2})
    assert value == pytest.approx(model.predict((64,)))


def test_quality_together_is_quality_one_by_one():
    rng = np.random.default_rng(4)
    points = [(2,), (4,), (8,), (16,), (32,)]
    many = [
        noisy(rng, [c + a * p**i for (p,) in points], 0.05)
        for c in (1, 5)
        for a in (0, 1)
        for i in (0.5, 1, 2)
        for _ in range(3)
    ]
    models = fit_many(points, many)
    for one, model in zip(quality.of_models(models), models, strict=True):
        alone = quality.of_model(model)
        assert one.smape == pytest.approx(alone.smape)
        assert one.cross_validated_error == pytest.approx(alone.cross_validated_error)
        assert one.adjusted_r2 == pytest.approx(alone.adjusted_r2, nan_ok=True)
