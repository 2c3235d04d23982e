"""Symbolic integers obey arithmetic: checked on random polynomials and atoms against numbers."""

from __future__ import annotations

import re
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.ir.folding import TRUNCATES

NAMES = ("i", "j", "n", "m")
numbers = st.integers(-9, 9) | st.fractions(-4, 4, max_denominator=6)
leaves = st.sampled_from(NAMES).map(Expr.name) | numbers.map(Expr.const)
bindings = st.fixed_dictionaries({name: st.integers(-20, 20) for name in NAMES})


def _grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pair = st.tuples(inner, inner)
    return (
        pair.map(lambda ab: ab[0] + ab[1])
        | pair.map(lambda ab: ab[0] - ab[1])
        | pair.map(lambda ab: ab[0] * ab[1])
        | inner.map(lambda a: -a)
    )


polynomials = st.recursive(leaves, _grow, max_leaves=6)
integers = st.recursive(
    st.sampled_from(NAMES).map(Expr.name) | st.integers(-9, 9).map(Expr.const), _grow, max_leaves=5
)


def _with_atoms(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    kinds = st.sampled_from(["min", "max", "lt", "le", "eq"])
    both = st.tuples(kinds, inner, inner).map(lambda k: Expr.atom(*k))
    divided = st.tuples(st.sampled_from(["floordiv", "mod"]), inner, st.integers(1, 7)).map(
        lambda k: Expr.atom(k[0], k[1], Expr.const(k[2]))
    )
    chosen = st.tuples(inner, inner, inner).map(lambda k: Expr.atom("select", *k))
    return both | divided | chosen | _grow(inner)


with_atoms = st.recursive(integers, _with_atoms, max_leaves=5)


@given(with_atoms, with_atoms, bindings)
def test_evaluation_is_a_homomorphism(a: Expr, b: Expr, at: dict[str, int]) -> None:
    x, y = a.evaluate(at), b.evaluate(at)
    assert x is not None and y is not None
    assert (a + b).evaluate(at) == x + y
    assert (a - b).evaluate(at) == x - y
    assert (a * b).evaluate(at) == x * y
    assert (-a).evaluate(at) == -x
    assert (a**3).evaluate(at) == x**3
    assert a.over(3).evaluate(at) == Fraction(x) / 3


@given(polynomials, polynomials, polynomials)
def test_the_ring_laws_hold_as_equality_of_expressions(a: Expr, b: Expr, c: Expr) -> None:
    assert a + b == b + a and a * b == b * a
    assert (a + b) + c == a + (b + c) and (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - a == ZERO and a * ONE == a and a + ZERO == a
    assert hash(a + b) == hash(b + a)


@given(with_atoms, integers, bindings)
def test_substitution_is_evaluation_at_the_substitute(
    a: Expr, inner: Expr, at: dict[str, int]
) -> None:
    there = at | {"i": inner.evaluate(at)}
    assert a.substitute({"i": inner}).evaluate(at) == a.evaluate(there)


@given(with_atoms, bindings)
def test_what_does_not_name_a_variable_does_not_depend_on_it(a: Expr, at: dict[str, int]) -> None:
    for name in set(NAMES) - a.names:
        assert a.evaluate(at | {name: at[name] + 5}) == a.evaluate(at)
    left = {name: value for name, value in at.items() if name in a.names}
    assert a.evaluate(left) == a.evaluate(at)


@given(polynomials)
def test_a_missing_name_is_no_number(a: Expr) -> None:
    for name in a.names:
        assert a.evaluate({other: 1 for other in NAMES if other != name}) is None


@given(polynomials, bindings)
def test_text_reads_back_as_the_same_number(a: Expr, at: dict[str, int]) -> None:
    """Python's arithmetic on exact fractions understands what is printed."""
    exact = re.sub(r"\b(\d+)\b", r"Fraction(\1)", str(a))
    names = {name: Fraction(value) for name, value in at.items()}
    assert eval(exact, {"Fraction": Fraction} | names) == a.evaluate(at)


@given(with_atoms, bindings)
def test_text_of_integers_reads_back_with_whole_divisions(a: Expr, at: dict[str, int]) -> None:
    text = str(a)
    if "?" in text or re.search(r"\b[a-z]+\(.*\?", text):
        return  # C's conditional is not Python's
    # Every '/' of an expression over integers is the floor division of an atom.
    assert eval(text.replace("/", "//"), {"min": min, "max": max} | at) == a.evaluate(at)


@given(polynomials, bindings)
def test_coefficient_and_the_terms_without_it_give_the_whole(a: Expr, at: dict[str, int]) -> None:
    slope = a.coefficient("i")
    if slope is None:  # not linear: then doubling the steps does not double the change
        return
    assert "i" not in slope.names
    assert slope * Expr.name("i") + a.without(["i"]) == a


@given(integers)
def test_equal_numbers_of_whatever_type(a: Expr) -> None:
    value = a.constant
    if value is not None:
        assert a == value and a == Fraction(value) and a == Expr.const(Fraction(value))


def test_division_by_zero_is_no_number() -> None:
    n = Expr.name("n")
    assert Expr.atom("floordiv", Expr.const(4), n).evaluate({"n": 0}) is None
    assert Expr.atom("mod", Expr.const(4), Expr.const(0)).evaluate({}) is None


def test_texts_as_people_write_them() -> None:
    n, i, ni, nk = (Expr.name(x) for x in ("n", "i", "ni", "nk"))
    assert str((n * n - n) * Fraction(1, 2)) == "(n*n - n)/2"
    assert str(n - 1) == "n - 1"
    assert str(8 * ni * nk) == "8*ni*nk"
    assert str(8 * ni * nk + 16 * ni) == "8*(ni*nk + 2*ni)"
    assert str(Expr.atom("floordiv", n + 3, Expr.const(4))) == "((n + 3) / 4)"
    assert str(-i) == "-i"
    assert str(Expr.const(0)) == "0"


def test_opaque_values_have_no_number_but_a_name() -> None:
    read = Expr.atom("ref", Expr.name("i"), label="idx")
    assert str(read) == "idx[i]" and read.names == {"i"}
    assert read.evaluate({"i": 3}) is None
    assert Expr.atom("varying", label="k", over=["i"]).names == {"i"}


@given(polynomials, polynomials, polynomials)
def test_a_whole_number_is_an_integer(a: Expr, b: Expr, c: Expr) -> None:
    """Whatever it is made of: halves that add up to one are 1, not a fraction."""
    made = (a + b, a - b, a * b, -a, a**2, a.over(2) + a.over(2), a.substitute({"i": b, "n": c}))
    numbers = [number for one in made for number in one.terms.values()]
    assert all(isinstance(number, int) or number.denominator > 1 for number in numbers)


@given(with_atoms, integers, integers, bindings)
def test_what_is_put_in_at_once_does_not_meet(
    a: Expr, b: Expr, c: Expr, at: dict[str, int]
) -> None:
    """`i` and `n` are replaced at the same time: an `n` in what replaces `i` stays."""
    i, n = b.evaluate(at), c.evaluate(at)
    assert i is not None and n is not None
    there = {**at, "i": i, "n": n}
    assert a.substitute({"i": b, "n": c}).evaluate(at) == a.evaluate(there)


@given(st.integers(-(10**30), 10**30), st.integers(-99, 99), st.integers(1, 9))
def test_truncating_quotients_and_remainders(above: int, below: int, part: int) -> None:
    """a = q b + r with q towards zero: |r| < |b|, and r has the sign of a (C17, 6.5.5)."""
    a, b = Expr.const(Fraction(above, part)), Expr.const(below)
    values = [Expr.atom(kind, a, b, label=TRUNCATES).evaluate({}) for kind in ("floordiv", "mod")]
    if below == 0:
        assert values == [None, None]
        return
    quotient, rest = values
    assert isinstance(quotient, int)
    assert rest is not None
    assert quotient * below + rest == Fraction(above, part)
    assert abs(rest) < abs(below)
    assert rest * above >= 0
