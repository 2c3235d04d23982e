"""Several parameters on points that are no full grid."""

from __future__ import annotations

import numpy as np
import pytest

from regionpredict.fit import fit

FULL = [(p, n) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50)]


def values(points, f, noise=0.01, seed=1):
    rng = np.random.default_rng(seed)
    return [list(f(*p) * rng.normal(1, noise, 5)) for p in points]


SHAPES = {
    "sum": (lambda p, n: 5 + 3 * p + 0.2 * n**2, {((0, (1.0, 0.0)),), ((1, (2.0, 0.0)),)}),
    "product": (lambda p, n: 5 + 0.01 * p * n**2, {((0, (1.0, 0.0)), (1, (2.0, 0.0)))}),
    "mixed": (
        lambda p, n: 5 + 30 * p + 0.01 * p * n**2,
        {((0, (1.0, 0.0)),), ((0, (1.0, 0.0)), (1, (2.0, 0.0)))},
    ),
}


def shape(model):
    return {tuple(sorted(m.items())) for m in model.monomials}


@pytest.mark.parametrize("name", SHAPES)
def test_incomplete_grid(name):
    f, expected = SHAPES[name]
    points = [p for k, p in enumerate(FULL) if k % 4 != 1]
    assert shape(fit(points, values(points, f))) == expected


@pytest.mark.parametrize("name", SHAPES)
def test_cross_of_two_lines_and_two_corners(name):
    f, expected = SHAPES[name]
    points = [q for q in FULL if q[0] == 2 or q[1] == 10] + [(32, 50), (8, 30)]
    assert shape(fit(points, values(points, f))) == expected


@pytest.mark.parametrize("name", SHAPES)
def test_scattered_points_without_any_line(name):
    f, expected = SHAPES[name]
    rng = np.random.default_rng(6)
    points = [tuple(2.0 ** rng.uniform(1, 6, 2)) for _ in range(24)]
    assert shape(fit(points, values(points, f))) == expected


def test_three_parameters_of_which_one_has_no_influence():
    points = [(p, n, d) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50) for d in (1, 2, 3)]
    model = fit(points, values(points, lambda p, n, d: 7 + 0.5 * p * n + 0 * d, 0.05))
    assert shape(model) == {((0, (1.0, 0.0)), (1, (1.0, 0.0)))}
    assert model.predict((320, 500, 9)) == pytest.approx(80_007, rel=0.05)


def test_a_parameter_that_never_changes_is_left_alone():
    points = [(p, 7) for p in (2, 4, 8, 16, 32)]
    model = fit(points, [[3 + 2 * p] for p, _ in points])
    assert model.monomials == ({0: (1.0, 0.0)},)
