"""Numbers that keep their expression: the value is that of plain floats, the expression its own."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.ir import Expr
from regionpredict.ir.folding import Number
from regionpredict.workload.derived_number import Derived, as_number, evaluated, formula_of

N, M = Expr.name("n"), Expr.name("m")
OPERATIONS: list[Callable[[float, float], float]] = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: b - 3 * a,
    lambda a, b: a / 8 + b / 2, lambda a, b: abs(a - b), lambda a, b: max(a, b) - min(a, b),
    lambda a, b: a**2 - b**0, lambda a, b: a // 1 + round(b), lambda a, b: math.prod([a, b, 2]),
    lambda a, b: sum([a, b, a]), lambda a, b: -(-a // 4), lambda a, b: 6 * a / (3 * a),
    lambda a, b: (16 * a * b + 8 * a * a * b) / (4 * a),
]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS)
@given(st.integers(1, 999), st.integers(1, 999))
def test_values_and_expressions_agree(
    operation: Callable[[float, float], float], n: int, m: int
) -> None:
    result = operation(Derived(n, N), Derived(m, M))
    assert float(result) == operation(float(n), float(m))
    expr = formula_of(result)
    assert expr is not None
    assert expr.evaluate({"n": n, "m": m}) == pytest.approx(float(result))


def test_what_has_no_expression() -> None:
    n, m = Derived(7, N), Derived(3, M)
    none = Derived(7, None)
    for lost in (n / m, n**-1, 1 / n, round(n / 4), none + n, n * math.inf, none // 2, 8 // none):
        assert formula_of(lost) is None
    assert (float(none // 2), float(8 // none)) == (3.0, 1.0)
    assert float(n / m) == 7 / 3
    assert str(formula_of(n // m)) == "(n / m)"
    long = Derived(1.0, Expr.const(1))
    for power in range(40):
        long = long + n**power
    assert long.expr is None


def test_equal_numbers_of_different_names_differ() -> None:
    """Or one table of footprints would give the answers of one for the other."""
    n, m = Derived(7, N), Derived(7, M)
    assert n != m
    assert n == 7
    assert n == Derived(7, N)
    assert len({n, m, Derived(7, N)}) == 2
    assert n < 8 <= m + 1


def named(value: float, expr: Expr | None) -> Number:
    """What stands for a size, as the values of a nest's names do."""
    return cast("Number", Derived(value, expr))


def test_evaluated() -> None:
    least = Expr.atom("min", N, M)
    assert evaluated(least, {"n": 4, "m": 5}) == 4.0
    assert evaluated(least, {"n": 4}) is None
    both = evaluated(least, {"n": named(4, N * 2), "m": named(5, M)})
    assert (float(both or 0), str(formula_of(both or 0))) == (4.0, "min(2*n, m)")
    assert formula_of(evaluated(least, {"n": named(4, None), "m": 5}) or 0) is None
    assert isinstance(as_number(Fraction(1, 2)), float)
    assert as_number(Derived(4, N)) == Derived(4, N)


def test_the_expression_travels() -> None:
    assert pickle.loads(pickle.dumps(Derived(4, N))) == Derived(4, N)


@pytest.mark.parametrize("value", [1.75, 2.5, -3.2, 4.0, 1.26])
def test_rounded_as_a_float(value: float) -> None:
    for digits in (None, 0, 1):
        rounded = round(Derived(value, N), digits)
        assert float(rounded) == float(round(value, digits or 0))
        assert (formula_of(rounded) == N) is (float(rounded) == value)
