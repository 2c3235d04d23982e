"""What sums over `min`, `max` and floor divisions are made of: each by hand and by its values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from regionpredict.analysis.symbolic.piecewise import (
    _RUNS,
    _T,
    Steps,
    _bounds_of_expression,
    _floor_divisor,
    _follows_from,
    _grouped_by_atoms,
    _has_iteration_count,
    _innermost_atom,
    _may_be_negative,
    _nonnegative_operands,
    _simplify_condition,
    _sum_polynomial,
    _with_atom_replaced,
    _with_integer_coefficients,
    _WithheldError,
    exact_total,
)
from regionpredict.analysis.symbolic.summation import MAX_DEGREE
from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO, Atom

A, B, N, M, T = (Expr.name(name) for name in ("a", "b", "n", "m", _T))


def over(value: Expr, divisor: Expr | int) -> Expr:
    return Expr.atom(
        "floordiv", value, divisor if isinstance(divisor, Expr) else Expr.const(divisor)
    )


def least(first: Expr, second: Expr) -> Expr:
    return Expr.atom("min", first, second)


def most(first: Expr, second: Expr) -> Expr:
    return Expr.atom("max", first, second)


def atom_of(expression: Expr) -> Atom:
    (atom,) = {factor for monomial in expression.terms for factor, _ in monomial
               if isinstance(factor, Atom)}  # fmt: skip
    return atom


# -- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    [
        (Expr.const(5), 5, 5),
        (N, None, None),
        (N - 2 * over(N, 2), 0, 1),  # the remainder
        (N - 5 * over(N, 5), 0, 4),
        (3 * over(N, 3) - N, -2, 0),
        (3 * over(N + 1, 3) - N, -1, 1),
        (over(N, 2) - over(N + 1, 2), -1, 0),
        (over(N + 1, 2) + over(N, 2) - N, Fraction(-1, 2), Fraction(1, 2)),
        (over(N, 2) * M, None, None),  # a product has no bounds
        (over(N, M) - over(N, M), 0, 0),
        (over(N, 0) * 2, None, None),
    ],
)
def test_bounds_of_floor_divisions(
    expression: Expr, low: Fraction | int | None, high: Fraction | int | None
) -> None:
    """`a/c - (c - 1)/c <= floor(a/c) <= a/c`: from below for a positive factor, else from above."""
    assert _bounds_of_expression(expression) == (low, high)
    if low is not None and high is not None:
        assert all(low <= (expression.evaluate({"n": n, "m": 3}) or 0) <= high for n in range(30))


def test_what_may_be_negative() -> None:
    assert _may_be_negative(N)
    assert _may_be_negative(Expr.const(-1))
    assert not _may_be_negative(ZERO)
    assert not _may_be_negative(N - 2 * over(N, 2))
    assert _may_be_negative(N - 2 * over(N, 2) - 1)


def test_divisors() -> None:
    assert _floor_divisor(atom_of(over(N, 3))) == 3
    assert _floor_divisor(Atom("floordiv", (N, ONE))) == 1
    assert _floor_divisor(atom_of(over(N, M))) is None
    assert _floor_divisor(atom_of(over(N, 0))) is None
    assert _floor_divisor(atom_of(over(N, -2))) is None
    assert _floor_divisor(atom_of(least(N, M))) is None


# -- what follows from what -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "known", "follows"),
    [
        (ZERO, (), True),
        (Expr.const(-1), (), False),
        (N, (), False),
        (N, (N,), True),
        (N + 1, (N,), True),
        (N - 1, (N,), False),
        (N + M, (N, M), True),
        (2 * N + M, (N, M), True),  # three of them
        (3 * N + M, (N, M), False),  # four
        (N, (N + 1,), False),
        (N, (N - 1,), True),
        (N - M, (N, M), False),
    ],
)
def test_sums_of_conditions(condition: Expr, known: tuple[Expr, ...], follows: bool) -> None:
    assert _follows_from(condition, known) == follows


@pytest.mark.parametrize(
    ("condition", "plain"),
    [
        (N, N),
        (2 * N - 3, N - 2),  # n >= 3/2
        (2 * N - 4, N - 2),
        (2 * N + 4 * M - 5, N + 2 * M - 3),
        (6 * N - 4 * M, 3 * N - 2 * M),
        (over(N, 3) - 2, N - 6),
        (2 * over(N, 3) - 3, N - 6),
        (over(N, 3), N),
        (over(N, 3) + M, over(N, 3) + M),
        (-over(N, 3) + 2, -over(N, 3) + 2),
    ],
)
def test_plain_conditions_hold_at_the_same_values(condition: Expr, plain: Expr) -> None:
    assert _simplify_condition(condition) == plain
    for n, m in product(range(-9, 10), range(-4, 5)):
        one, other = (side.evaluate({"n": n, "m": m}) for side in (condition, plain))
        assert one is not None and other is not None
        assert (one >= 0) == (other >= 0), (n, m)


@pytest.mark.parametrize(
    ("expression", "sides"),
    [
        (T + N, {"T + n"}),
        (least(T, N), {"T", "n"}),
        (least(T, N) - most(A, T), {"0", "T - a", "n - T", "n - a"}),
        (least(least(T, A), N), {"T", "a", "n"}),
        (2 * least(T, N) + 1, {"2*T + 1", "2*n + 1"}),
        (most(T, N), None),  # either may be negative
        (-least(T, N), None),
        (least(T, N) * M, None),
        (least(A, N), {"min(a, n)"}),  # t does not move it
    ],
)
def test_alternatives(expression: Expr, sides: set[str] | None) -> None:
    """All of them are not negative exactly where the expression is not."""
    found = _nonnegative_operands(expression)
    assert (found is None) == (sides is None)
    if found is None or sides is None:
        return
    assert len({str(one) for one in found}) == len(sides)
    for t, n, a in product(range(-3, 4), repeat=3):
        at = {_T: t, "n": n, "a": a}
        values = [one.evaluate(at) for one in found]
        whole = expression.evaluate(at)
        assert whole is not None
        assert (whole >= 0) == all(value is not None and value >= 0 for value in values)


# -- parts ----------------------------------------------------------------------------------------


def test_terms_are_parted_by_the_atoms_that_t_moves() -> None:
    one, other = least(T, N), over(T, 2)
    groups = _grouped_by_atoms(one * 3 + one * one + other + one * other + T + 5 + least(A, N))
    assert len(groups) == 4
    assert {str(group) for group in groups} == {
        str(one * 3 + one * one), str(other), str(one * other), str(T + 5 + least(A, N)),
    }  # fmt: skip


def test_the_innermost_atom_that_t_moves() -> None:
    inner = over(T, 2)
    assert _innermost_atom(least(inner, N) + M) == atom_of(inner)
    assert _innermost_atom(least(T, over(N, 2))) == atom_of(least(T, over(N, 2)))
    assert _innermost_atom(least(A, N) + T) is None
    assert _innermost_atom(T * 2 + 1) is None


def test_an_atom_is_put_away_everywhere() -> None:
    """In powers, in products and inside other atoms; others stay."""
    atom = over(T, 2)
    expression = 3 * atom * atom + M * atom + least(atom + 1, N) + over(M, 2)
    found = _with_atom_replaced(expression, atom_of(atom), A + 1)
    assert found == 3 * (A + 1) * (A + 1) + M * (A + 1) + least(A + 2, N) + over(M, 2)
    labelled = Expr.atom("max", ZERO, atom - N, label=_RUNS)
    assert atom_of(_with_atom_replaced(labelled, atom_of(atom), A)).label == _RUNS
    assert _has_iteration_count(labelled) and not _has_iteration_count(atom)


def test_whole_coefficients_are_a_positive_multiple() -> None:
    assert _with_integer_coefficients(N * Fraction(1, 2) - M * Fraction(2, 3)) == 3 * N - 4 * M
    assert _with_integer_coefficients(-N * Fraction(1, 4) + 1) == -N + 4
    assert _with_integer_coefficients(2 * N + 3) == 2 * N + 3
    assert _with_integer_coefficients(ZERO) == ZERO


@pytest.mark.parametrize("low", [0, 1, 4])
def test_a_polynomial_between_two_ends(low: int) -> None:
    total = _sum_polynomial(3 * T * T - M * T + 2, Expr.const(low), N)
    for n in range(low, 9):
        truth = sum(3 * t * t - 7 * t + 2 for t in range(low, n))
        assert total.evaluate({"n": n, "m": 7}) == truth
    assert _sum_polynomial(ONE, Expr.const(low), N) == N - low


def test_what_is_no_polynomial_or_of_too_high_a_degree_is_withheld() -> None:
    total = _sum_polynomial(T**MAX_DEGREE, ZERO, N)
    assert total.evaluate({"n": 4}) == sum(t**MAX_DEGREE for t in range(4))
    for body in (T ** (MAX_DEGREE + 1), Expr.atom("ref", T, label="x"), over(T, 3) * T):
        with pytest.raises(_WithheldError):
            _sum_polynomial(body, ZERO, N)


@pytest.mark.parametrize(
    "bound",
    [
        over(Expr.name("i") * Fraction(1, 2), 3),  # i by halves
        over(Expr.name("i") + M * Fraction(1, 2), 3),  # beside half of a size
        over(Expr.name("i") * M, 3),  # by a size
        over(Expr.name("i") * Expr.name("i"), 3),
        least(Expr.name("i") * M, N),
        least(Expr.name("i") * Expr.name("i"), N),
        Expr.atom("mod", Expr.name("i"), M),
        Expr.atom("ref", Expr.name("i"), label="row"),
    ],
)
def test_sums_of_no_known_form_are_withheld(bound: Expr) -> None:
    outer, inner = Steps("i", ZERO, N, ONE), Steps("j", ZERO, bound, ONE)
    assert exact_total([outer, inner]) is None
