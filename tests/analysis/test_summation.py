"""Sums of powers over a loop against adding them up, to the highest degree; and bisection."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.analysis.bisection import smallest_reaching
from regionpredict.analysis.symbolic.summation import (
    MAX_DEGREE,
    by_powers,
    power_sum_at,
    sum_over,
)
from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO

I, N, M = (Expr.name(name) for name in "inm")  # noqa: E741


@pytest.mark.parametrize("power", range(MAX_DEGREE + 1))
def test_sums_of_powers(power: int) -> None:
    """0**p + 1**p + ... + (n - 1)**p, where 0**0 is 1; a polynomial of degree p + 1 in n.

    It is fixed by its values at p + 2 places.
    """
    total = power_sum_at(power, N)
    for n in range(MAX_DEGREE + 3):
        assert total.evaluate({"n": n}) == sum(k**power for k in range(n)), n
    # Moved: up to m + 2.
    assert power_sum_at(power, M + 2).evaluate({"m": 5}) == sum(k**power for k in range(7))


def test_the_highest_degree_that_is_summed() -> None:
    for power, known in ((MAX_DEGREE, True), (MAX_DEGREE + 1, False)):
        found = sum_over(I**power, "i", ZERO, N, 1)
        assert (found is not None) == known
    assert MAX_DEGREE == 12


@pytest.mark.parametrize("power", [0, 1, 2, 3, 7])
@pytest.mark.parametrize(("start", "step"), [(0, 1), (3, 1), (-2, 1), (5, -1), (1, 3), (20, -4)])
def test_sums_over_a_loop(power: int, start: int, step: int) -> None:
    """m i**p + n, for so many values of i from `start` by `step`."""
    total = sum_over(M * I**power + N, "i", Expr.const(start), Expr.name("c"), step)
    assert total is not None
    for count in range(5):
        values = range(start, start + count * step, step)
        at = {"c": count, "m": 7, "n": 11}
        assert total.evaluate(at) == sum(7 * i**power + 11 for i in values)


def test_what_does_not_move_is_there_each_time() -> None:
    assert sum_over(M + 2, "i", ZERO, N, 1) == (M + 2) * N
    assert sum_over(Expr.atom("min", I, M), "i", ZERO, N, 1) is None


def test_coefficients_by_powers() -> None:
    """3 i² m + i m - i + n i + 5 in i: 5, m - 1 + n, and 3 m."""
    found = by_powers(I * I * M * 3 + I * M - I + N * I + 5, "i")
    assert found == {0: Expr.const(5), 1: M - 1 + N, 2: M * 3}
    assert by_powers(I * Fraction(1, 2), "i") == {1: Expr.const(Fraction(1, 2))}
    assert by_powers(N, "i") == {0: N}
    # An atom that i moves makes it none; one that it does not is a coefficient.
    least = Expr.atom("min", N, M)
    assert by_powers(I * least, "i") == {1: least}
    assert by_powers(I + Expr.atom("min", I, M), "i") is None
    assert by_powers(ONE, "i") == {0: ONE}


# -- bisection ------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(-1, 60), st.integers(-5, 5)
)
def test_the_smallest_that_reaches(steps: list[int], target: int, low: int) -> None:
    """Of a count that never falls, by asking all."""
    counts = [sum(steps[: k + 1]) for k in range(len(steps))]
    high = low + len(steps) - 1
    found = smallest_reaching(lambda n: counts[n - low], target, low, high)
    assert found == next((low + k for k, count in enumerate(counts) if count >= target), None)


def test_measures_that_are_not_known() -> None:
    assert smallest_reaching(lambda n: None, 5, 0, 10) is None
    assert smallest_reaching(lambda n: n if n > 8 else None, 5, 0, 10) is None
    assert smallest_reaching(lambda n: n if n > 4 else None, 10, 0, 10) == 10
    assert smallest_reaching(lambda n: 5, 5, 3, 3) == 3
