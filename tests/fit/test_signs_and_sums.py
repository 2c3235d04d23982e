"""Sums of three parameters, and coefficients that are negative."""

import numpy as np
import pytest

from regionpredict.fit import fit

GRID = [
    (p, q, r) for p in (4, 8, 16, 32, 64) for q in (10, 20, 30, 40, 50) for r in (2, 4, 6, 8, 10)
]


@pytest.mark.parametrize(
    "terms",
    [
        ((1, 0), (2, 0), (0, 1)),
        ((0, 1), (1, 0), (3, 0)),
        ((0.5, 0), (1, 1), (2, 0)),
        ((2, 0), (0, 1), (1.5, 0)),
    ],
)
def test_a_sum_of_three_parameters(terms):
    rng = np.random.default_rng(1)
    x = np.array(GRID, dtype=float)
    columns = [x[:, k] ** i * np.log2(x[:, k]) ** j for k, (i, j) in enumerate(terms)]
    truth = 5 + sum(8 * column / column.max() for column in columns)
    values = truth[:, None] * (1 + 0.01 * rng.normal(size=(125, 5)))
    model = fit(GRID, values.tolist())
    found = {index: term for _, monomial in model.terms for index, term in monomial.items()}
    assert found == {k: tuple(map(float, term)) for k, term in enumerate(terms)}
    assert all(len(monomial) == 1 for _, monomial in model.terms)


@pytest.mark.parametrize(
    ("constant", "loss", "gain", "f", "g"),
    [
        (1.12, 0.19, 0.02, np.log2, np.log2),
        (1.0, 0.05, 0.004, np.sqrt, lambda n: n**0.25),
        (0.98, 0.02, 0.0015, lambda p: p, np.log2),
        (1.02, 0.08, 0.0008, np.log2, np.sqrt),
    ],
)
def test_efficiencies_of_processes_and_sizes(constant, loss, gain, f, g):
    """Efficiencies of the form of Shudler 2018, table 5.3, at more processes than measured."""

    def truth(p, n):
        return constant - loss * f(p) + gain * f(p) * g(n)

    rng = np.random.default_rng(2)
    sizes = [2**k for k in (8, 10, 12, 14, 16)]
    points = [(p, n) for p in (1, 5, 10, 20, 30, 40) for n in sizes]
    values = [(truth(p, n) * (1 + 0.01 * rng.normal(size=5))).tolist() for p, n in points]
    model = fit(points, values, parameters=("p", "n"))
    for n in sizes:
        assert model.predict((60, n)) == pytest.approx(truth(60, n), abs=0.03)


def test_what_grows_has_no_negative_coefficients():
    rng = np.random.default_rng(3)
    values = [
        ((3 + 0.2 * p * q + 0.5 * r) * (1 + 0.05 * rng.normal(size=5))).tolist() for p, q, r in GRID
    ]
    assert all(coefficient > 0 for coefficient, _ in fit(GRID, values).terms)
