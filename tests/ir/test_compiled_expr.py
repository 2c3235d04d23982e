"""Expressions that are evaluated again and again, against walking over them."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from further_cases import further_slow

from regionpredict.ir import Expr
from regionpredict.ir.compiled_expr import COMPILED_FROM
from regionpredict.ir.folding import TRUNCATES

NAMES = "ijn"
PAIRS = ("min", "max", "lt", "le", "eq", "ne", "and", "or", "bitand", "bitor", "bitxor")


def drawn(choose: random.Random, depth: int) -> Expr:
    if depth == 0:
        return choose.choice([Expr.name(choose.choice(NAMES)), Expr.const(choose.randint(-9, 9))])
    left, right = drawn(choose, depth - 1), drawn(choose, depth - 1)
    kind = choose.choice([*PAIRS, "floordiv", "mod", "select", "wrap", "not", "bitnot", "+", "*"])
    if kind == "+":
        return left * choose.choice([1, -3, Fraction(1, 2)]) + right
    if kind == "*":
        return left * right
    if kind in ("floordiv", "mod"):
        return Expr.atom(kind, left, right, label=choose.choice(["", TRUNCATES]))
    if kind == "select":
        return Expr.atom(kind, left, right, drawn(choose, depth - 1))
    if kind == "wrap":
        return Expr.atom(kind, left, Expr.const(8), Expr.const(choose.randint(0, 1)), label="char")
    return Expr.atom(kind, *((left,) if kind in ("not", "bitnot") else (left, right)))


def asked_often(expression: Expr) -> Expr:
    for _ in range(COMPILED_FROM):
        expression.evaluate({})
    return expression


@pytest.mark.parametrize("seed", further_slow(100, range(300)))
def test_the_value_is_that_of_walking_over_it(seed: int) -> None:
    """What is asked once is walked over. Divisions by zero have no value on either way."""
    choose = random.Random(seed)
    expression = drawn(choose, choose.randint(1, 4))
    again = asked_often(Expr(dict(expression.terms)))
    for _ in range(20):
        values = {name: choose.randint(-4, 4) for name in NAMES}
        walked = Expr(dict(expression.terms)).evaluate(values)
        found = again.evaluate(values)
        assert (found, type(found)) == (walked, type(walked)), (str(expression), values)
        del values["n"]
        assert again.evaluate(values) == Expr(dict(expression.terms)).evaluate(values)


def test_every_side_of_a_condition_needs_a_value() -> None:
    n, i = Expr.name("n"), Expr.name("i")
    for kind in ("and", "or"):
        condition = asked_often(Expr.atom(kind, n, Expr.atom("floordiv", i, n)))
        assert condition.evaluate({"n": 0, "i": 4}) is None
        assert condition.evaluate({"n": 2}) is None
        assert condition.evaluate({"n": 2, "i": 4}) == 1


def test_what_has_no_value_has_none_however_often_it_is_asked_for() -> None:
    entry = asked_often(Expr.atom("ref", Expr.name("i"), label="row") + 1)
    assert entry.evaluate({"i": 1}) is None


def test_an_expression_that_is_too_long_to_compile_is_walked_over() -> None:
    long = Expr.name("n")
    for _ in range(300):
        long = Expr.atom("bitnot", long * 3)
    by_hand = 5
    for _ in range(300):
        by_hand = ~(by_hand * 3)
    assert asked_often(long).evaluate({"n": 5}) == by_hand


def test_rounds_of_a_recurrence() -> None:
    """`for (j = 1; j < n; j *= 2)` has the binary logarithm of n, rounded up, as trips."""
    state, n = Expr.atom("state", label="j"), Expr.name("n")
    parts = (Expr.atom("lt", state, n), state, Expr.const(1), state * 2)
    trips = asked_often(Expr.atom("trips", *parts) + 1)
    assert [trips.evaluate({"n": n}) for n in (1, 2, 3, 1024, 1025)] == [1, 2, 3, 11, 12]
    assert trips.evaluate({}) is None
