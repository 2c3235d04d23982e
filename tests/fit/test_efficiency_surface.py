"""Efficiency surfaces: the models that Shudler 2018 publishes, and points made from them."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.fit.laws.efficiency_surface import (
    LARGEST,
    fit_efficiency,
    most_threads,
    size_for,
    smallest_size,
    surface_with_coefficients,
    threads_for,
)

LOG = (0.0, 1.0)
# Table 5.3: C, A, B, f(p), g(n), and the size that it gives for p = 60 and E = 0.8.
MODELS = {
    "Cholesky E_ac": (1.09, 0.51, 3.11e-2, (0.5, 0.0), LOG, 37_718),
    "Cholesky E_cf": (1.14, 0.54, 3.4e-2, (0.5, 0.0), LOG, 24_685),
    "FFT E_ac": (0.96, 0.1, 5.08e-22, LOG, (4.5, 0.0), 30_310),
    "FFT E_cf": (1.03, 0.16, 1.04e-2, (0.67, 0.0), LOG, 15_800),
    "NQueens E_ac": (1.04, 0.66, 0.17, (0.5, 0.0), LOG, 14),
    "NQueens E_cf": (1.0, 6.21e-2, 1.61e-2, (1.0, 0.0), LOG, 13),
    "Sort E_ac": (0.99, 9.2e-3, 2.29e-4, (1.5, 0.0), LOG, 350e9),
    "Sort E_cf": (1.0, 4.61e-2, 1.62e-3, (0.75, 0.0), LOG, 6.6e6),
    "SparseLU E_ac": (1.02, 0.46, 3.28e-2, (0.67, 0.0), LOG, 12_000),
    "SparseLU E_cf": (1.05, 0.48, 3.49e-2, (0.67, 0.0), LOG, 11_000),
    "Strassen E_ac": (1.55, 1.02, 4.59e-2, (0.25, 0.0), LOG, 83_600),
    "Strassen E_cf": (1.26, 0.65, 3.89e-2, (0.33, 0.0), LOG, 12_680),
}
# pi(n), of which E_ub = min(1, pi/p).
BOUNDS = {
    "Cholesky": (lambda n: 2.29 + 2.35e-3 * n, 19_500),
    "FFT": (lambda n: 1.19e-2 * n**0.67 * math.log2(n), 5_800),
    "Sort": (lambda n: 3.53 + 3.32e-2 * math.sqrt(n), 1.7e6),
    "Strassen": (lambda n: 0.25 * n**0.75, 1_200),
}
# What the printed coefficients cannot give: their solution lies far from the printed size.
FIBONACCI = {
    "E_ac": (0.98, 5.11e-3, 1.76e-3, (1.25, 0.0), LOG, 51),
    "E_cf": (0.97, 1.46e-2, 9.26e-3, (1.25, 0.0), LOG, 51),
}
BROKEN_BOUNDS = {
    "Fibonacci": (lambda n: 25.48 + 0.49 * n**2.75 * math.log2(n), 49),
    "NQueens": (lambda n: 2.18 * n**2.875 * math.log2(n), 12),
    "SparseLU": (lambda n: 5.8e-5 * n**1.75 * math.log2(n), 7_800),
}


@pytest.mark.parametrize("name", MODELS)
def test_published_models_give_their_sizes(name):
    *model, size = MODELS[name]
    solved = size_for(surface_with_coefficients(*model), 60, 0.8)
    assert solved.value == pytest.approx(size, rel=0.1)
    assert solved.low == solved.high == solved.value  # nothing is known of their spread
    # The size keeps the efficiency, and hardly a smaller one does.
    assert surface_with_coefficients(*model).value(60, solved.value) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("name", BOUNDS)
def test_published_bounds_give_their_sizes(name):
    parallelism, size = BOUNDS[name]
    assert smallest_size(lambda n: min(1, parallelism(n) / 60), 0.8) == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize("name", FIBONACCI)
def test_the_printed_models_of_fibonacci_cannot_give_its_size(name):
    *model, size = FIBONACCI[name]
    assert size_for(surface_with_coefficients(*model), 60, 0.8).value < size / 10


@pytest.mark.parametrize("name", BROKEN_BOUNDS)
def test_printed_bounds_that_cannot_give_their_sizes(name):
    parallelism, size = BROKEN_BOUNDS[name]
    assert smallest_size(lambda n: min(1, parallelism(n) / 60), 0.8) < size / 4


def test_the_table_has_21_models():
    """Of which 16 give their sizes, and no rounding of the printed digits makes it 17."""
    assert len(MODELS) + len(BOUNDS) == 16
    assert len(FIBONACCI) + len(BROKEN_BOUNDS) == 5
    halves = {"E_ac": (0.005, 5e-6, 5e-6), "E_cf": (0.005, 5e-5, 5e-6)}
    for name, (constant, loss, gain, *terms, size) in FIBONACCI.items():
        for signs in itertools.product((-1, 1), repeat=3):
            moved = (
                value + sign * half
                for value, sign, half in zip(
                    (constant, loss, gain), signs, halves[name], strict=True
                )
            )
            assert size_for(surface_with_coefficients(*moved, *terms), 60, 0.8).value < size / 5
    # The least coefficients that print like these: pi still reaches 48 at a quarter of the size.
    assert 25.475 + 0.485 * (49 / 4) ** 2.745 * math.log2(49 / 4) > 48
    assert 2.175 * (12 / 4) ** 2.8745 * math.log2(12 / 4) > 48
    assert 5.75e-5 * (7_800 / 4) ** 1.745 * math.log2(7_800 / 4) > 48


def test_strassens_size_to_the_digit():
    *model, _ = MODELS["Strassen E_ac"]
    # 0.8 = 1.55 - 1.02 * 60^0.25 + 0.0459 * 60^0.25 * log2(n), solved for n by hand.
    by_hand = 2 ** ((0.8 - 1.55 + 1.02 * 60**0.25) / (0.0459 * 60**0.25))
    assert size_for(surface_with_coefficients(*model), 60, 0.8).value == pytest.approx(
        by_hand, rel=1e-9
    )
    assert round(by_hand, -2) == 83_600


@pytest.mark.parametrize("name", MODELS)
def test_points_of_published_models_are_fitted_back(name):
    *model, size = MODELS[name]
    made = surface_with_coefficients(*model)
    points = [
        (p, size * factor) for p in (1, 2, 4, 8, 15, 30, 60) for factor in (0.25, 0.5, 1, 2, 4)
    ]
    fitted = fit_efficiency(points, [made.value(*point) for point in points])
    for factor in (0.3, 0.7, 1, 3):
        assert abs(fitted.value(60, size * factor) - made.value(60, size * factor)) <= 0.03
    solved = size_for(fitted, 60, 0.8)
    assert solved.value == pytest.approx(size_for(made, 60, 0.8).value, rel=0.05)


@given(st.floats(0.2, 0.95), st.floats(1, 200))
@settings(max_examples=60, deadline=None)
def test_threads_and_sizes_are_each_others_inverse(efficiency, threads):
    made = surface_with_coefficients(1.0, 0.05, 0.004, (0.5, 0.0), LOG)
    size = size_for(made, threads, efficiency).value
    assert size is not None
    back = threads_for(made, size, efficiency).value
    # Below the smallest size, more threads than asked for keep it.
    assert back is not None
    assert back >= threads * (1 - 1e-6)
    if size > 1:
        assert back == pytest.approx(threads, rel=1e-6) or back == LARGEST


def test_what_has_no_solution():
    never = surface_with_coefficients(0.7, 0.1, 0.0, LOG, LOG)
    assert size_for(never, 60, 0.8).value is None
    assert threads_for(never, 1000, 0.8).value is None
    assert most_threads(lambda p: 0.9, 0.8) == LARGEST


def test_coefficients_keep_the_sign_of_the_points():
    # Larger sizes are worse here, as where they leave the caches.
    made = surface_with_coefficients(1.0, 0.01, -0.002, (1.0, 0.0), LOG)
    points = [(p, n) for p in (1, 2, 4, 8) for n in (10, 100, 1000, 10000)]
    fitted = fit_efficiency(points, [made.value(*point) for point in points])
    assert fitted.gain < 0
    assert fitted.value(6, 500) == pytest.approx(made.value(6, 500), abs=1e-6)


def test_noise_widens_the_band():
    made = surface_with_coefficients(1.0, 0.2, 0.01, (0.5, 0.0), LOG)
    points = [(p, n) for p in (1, 2, 4, 8, 16) for n in (1e3, 1e4, 1e5, 1e6)]
    noise = [0.01 * (-1) ** k for k in range(len(points))]
    fitted = fit_efficiency(
        points, [made.value(*q) + e for q, e in zip(points, noise, strict=True)]
    )
    solved = size_for(fitted, 16, 0.5)
    assert solved.low < solved.value
    assert solved.high is None or solved.high > solved.value
    assert solved.low <= size_for(made, 16, 0.5).value


@pytest.mark.parametrize("threads", [32, 64])
@pytest.mark.parametrize(
    ("overhead", "size"),
    [
        (lambda p, n: 60 * math.log2(p), lambda p: 240 * p * math.log2(p)),  # a barrier
        (lambda p, n: 8 * math.sqrt(n / p), lambda p: 1024 * p),  # a halo
        (lambda p, n: 20 * p, lambda p: 80 * p**2),  # a message from each
    ],
)
def test_the_band_contains_the_size_of_programs_outside_the_family(overhead, size, threads):
    """E = 1 / (1 + p * overhead / n) is 0.8 at n = 4 p * overhead."""

    def exact(p, n):
        return 1 / (1 + p * overhead(p, n) / n)

    assert exact(threads, size(threads)) == pytest.approx(0.8)
    points = [(p, 1000 * 2**k) for p in (2, 4, 8, 16) for k in range(5)]
    fitted = fit_efficiency(points, [exact(*point) for point in points])
    solved = size_for(fitted, threads, 0.8)
    assert solved.low <= size(threads) <= solved.high


@pytest.mark.parametrize(
    "points", [[(1, 1)] * 5, [(1, n) for n in range(1, 9)], [(p, 7) for p in range(1, 9)]]
)
def test_too_few_points(points):
    with pytest.raises(InputError, match="too few"):
        fit_efficiency(points, [0.5] * len(points))
