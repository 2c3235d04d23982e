"""Pieces: a range in which the behaviour changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.fit import fit
from regionpredict.fit.model.observations import summarise_repetitions
from regionpredict.fit.model.terms import DEFAULT_SPACE, SearchSpace
from regionpredict.fit.search.division import divide_points

POINTS = [2**k for k in range(1, 13)]


def kinked(p):
    """Linear up to 64, then a tree with a large constant."""
    return 3 + 0.5 * p if p < 100 else 200 + 40 * np.log2(p)


def noisy(truth, noise=0.02, seed=0, repetitions=5):
    rng = np.random.default_rng(seed)
    return [(truth(p) * (1 + noise * rng.normal(size=repetitions))).tolist() for p in POINTS]


def test_a_change_is_found_where_it_is_and_what_follows_is_extrapolated():
    model = fit(POINTS, noisy(kinked))
    [piece] = model.pieces
    assert (piece.first, piece.last, model.start) == (2, 64, 128)
    assert piece.terms[0][1] == {0: (1.0, 0.0)}
    assert model.leading_term == {0: (0.0, 1.0)}
    far = 16 * POINTS[-1]
    assert model.predict(far) == pytest.approx(kinked(far), rel=0.02)
    assert model.predict(16) == pytest.approx(kinked(16), rel=0.02)
    band = model.interval(4 * POINTS[-1])
    assert band.low < kinked(4 * POINTS[-1]) < band.high
    assert band.high - band.low < 0.2 * band.high


def test_the_quality_is_that_of_all_pieces():
    model = fit(POINTS, noisy(kinked))
    assert model.smape < 2
    assert model.cross_validated_error < 3
    assert model.adjusted_r2 > 0.99


def test_formulas_say_where_each_piece_holds():
    model = fit(POINTS, noisy(kinked))
    first, last = model.formula().split("; ")
    assert first.endswith(" up to p = 64")
    assert last.endswith(" from p = 128")
    assert model.formula("latex").startswith("\\begin{cases}")
    scope = {"log2": np.log2}
    for p in POINTS:
        value = eval(model.formula("python"), scope, {"p": p})
        assert value == pytest.approx(model.predict(p), rel=1e-12)


def test_runners_up_are_those_of_the_last_piece():
    model = fit(POINTS, noisy(kinked))
    other = model.runners_up(1)[0]
    assert not other.pieces
    assert other.points[:, 0].min() == 128
    assert other.predict(1024) == pytest.approx(kinked(1024), rel=0.05)


def test_one_piece_if_asked():
    assert not fit(POINTS, noisy(kinked), segments=1).pieces


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 5]), st.sampled_from([0.02, 0.1]))
def test_one_behaviour_is_one_piece(seed, repetitions, noise):
    def truth(p):
        return 4 + 0.3 * p * np.log2(p)

    assert not fit(POINTS, noisy(truth, noise, seed, repetitions)).pieces


def test_the_division_is_the_best_of_all():
    """By trying all pairs of stretches with an unlimited price of a third."""
    space = SearchSpace.of([(1.0, 0.0)])
    x = np.arange(1.0, 10.0)
    y = np.where(x < 5.5, 2 + x, 30 - 0.1 * x + (x % 2))
    seen = summarise_repetitions([[v] for v in y])
    found, _ = divide_points(x, seen, space, floor=1e-3, most=2, price=0.0)

    def misfit(part):
        weights = 1 / y[part] ** 2
        best = np.inf
        for columns in ([np.ones_like(x[part])], [np.ones_like(x[part]), x[part]]):
            a = np.stack(columns, 1) * np.sqrt(weights)[:, None]
            c = np.linalg.lstsq(a, y[part] * np.sqrt(weights), rcond=None)[0]
            if len(c) == 1 or c[1] > 0:
                best = min(best, float((weights * (y[part] - np.stack(columns, 1) @ c) ** 2).sum()))
        return best

    costs = {cut: misfit(slice(0, cut)) + misfit(slice(cut, 9)) for cut in range(3, 7)}
    assert found[0][1] == min(costs, key=costs.get) == 5


def test_too_few_points_are_not_divided():
    x = np.arange(1.0, 6.0)
    assert divide_points(x, summarise_repetitions([[v] for v in x]), DEFAULT_SPACE, floor=1e-3)[
        0
    ] == [(0, 5)]
