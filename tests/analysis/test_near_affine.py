"""Quotients, remainders and casts of subscripts read as affine: how far off that is, by values."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.analysis.near_affine import near_affine
from regionpredict.ir import Expr

I_, J, N, M = (Expr.name(name) for name in "ijnm")
NEAR = 8


def over(value: Expr, divisor: Expr | int | Fraction) -> Expr:
    return Expr.atom(
        "floordiv", value, divisor if isinstance(divisor, Expr) else Expr.const(divisor)
    )


def mod(value: Expr, divisor: Expr | int) -> Expr:
    return Expr.atom("mod", value, divisor if isinstance(divisor, Expr) else Expr.const(divisor))


def cast(value: Expr) -> Expr:
    return Expr.atom("wrap", value, Expr.const(32), Expr.const(1), label="uint32_t")


def read(subscript: Expr, near: int = NEAR) -> Expr:
    return near_affine(subscript, {"i", "j"}, near)


@given(st.integers(-6, 6).filter(bool), st.integers(-9, 9), st.integers(1, 9))
def test_a_quotient_is_a_line_through_the_middle_of_its_steps(
    factor: int, shift: int, divisor: int
) -> None:
    """As far above the values as below; on them where each step is of the divisor's multiples."""
    line = read(over(factor * I_ + shift, divisor))
    values = range(10, 10 + divisor)
    apart = [(line.evaluate({"i": i}) or 0) - (factor * i + shift) // divisor for i in values]
    if factor % divisor == 0:
        assert not any(apart)
        assert not any(line.atoms())
    else:
        assert max(map(abs, apart)) <= Fraction(divisor - 1, 2 * divisor)
        if gcd(factor, divisor) == 1:  # each remainder once
            assert sum(apart) == 0


@given(st.integers(1, 12), st.integers(0, 12))
def test_a_remainder_of_few_values_is_their_mean(divisor: int, near: int) -> None:
    rest = mod(3 * I_ + N, divisor)
    if divisor <= near:
        assert read(rest, near) == Expr.const(Fraction(sum(range(divisor)), divisor))
    else:
        assert read(rest, near) == rest


def test_all_terms_of_the_place_have_to_be_multiples() -> None:
    assert read(over(4 * I_ + 2 * N + 3, 2)) == 2 * I_ + N + 1
    assert read(over(4 * I_ + N, 2)) == 2 * I_ + N.over(2) - Fraction(1, 4)
    assert read(over(4 * I_ - 1, 4)) == I_ - 1  # rounded down


def test_terms_keep_their_factors_and_powers() -> None:
    half = I_.over(2) - Fraction(1, 4)
    assert read(5 * over(I_, 2) * M + J + 7) == 5 * half * M + J + 7
    assert read(over(I_, 2) * over(I_, 2)) == half * half
    assert read(over(I_, 2) * mod(J, 3) + over(2 * I_, 2)) == half + I_


def test_what_no_loop_moves_stays() -> None:
    for fixed in (over(N, 2), mod(N, 3), cast(N), over(N, 2) * M):
        assert read(fixed + over(2 * I_, 2)) == fixed + I_
    assert near_affine(over(I_, 2), {"j"}, NEAR) == over(I_, 2)


@pytest.mark.parametrize(
    "divisor", [N, Expr.const(0), Expr.const(-2), Expr.const(Fraction(3, 2)), J]
)
def test_divisors_that_say_nothing(divisor: Expr) -> None:
    assert read(over(I_, divisor)) == over(I_, divisor)
    assert read(mod(I_, divisor)) == mod(I_, divisor)


def test_divisions_by_one() -> None:
    assert read(over(3 * I_ + 1, 1)) == 3 * I_ + 1
    assert read(mod(I_, 1)) == Expr.const(0)


def test_division_in_a_division_and_in_a_choice() -> None:
    assert read(over(2 * over(2 * I_ + 1, 2), 2)) == I_
    for kind in ("min", "max"):
        assert read(Expr.atom(kind, over(2 * I_, 2), N)) == Expr.atom(kind, I_, N)
    choice = Expr.atom("select", Expr.atom("lt", I_, N), over(4 * I_, 2), mod(I_, 3))
    assert read(choice) == Expr.atom("select", Expr.atom("lt", I_, N), 2 * I_, Expr.const(1))
    # A choice beside a quotient, and a reference, which no line stands for.
    lower = Expr.atom("min", I_, N)
    table = Expr.atom("ref", I_, label="t")
    assert read(lower + table + over(2 * J, 2)) == lower + table + J
    assert read(lower + table) == lower + table


@pytest.mark.parametrize(("factor", "small"), [(1 << 16, True), ((1 << 16) + 1, False)])
def test_large_factors_of_a_loop_s_variable_make_a_hash(factor: int, small: bool) -> None:
    """A type keeps all of `65536 * i`, and of more it is asked which part."""
    for place in (factor * I_ + J, -factor * I_ + J, I_ + factor * J, factor * I_ * N):
        assert read(cast(place)) == (place if small else cast(place))
        third = over(place, 3)
        assert (read(third) == place.over(3) - Fraction(1, 3)) is small
    assert read(cast(I_ + factor * N)) == I_ + factor * N  # a size is no hash
    assert read(cast(over(2 * I_, 2))) == I_
