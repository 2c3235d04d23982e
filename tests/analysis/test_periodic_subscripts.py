"""Subscripts that wrap round: by running them, all but a few places are the neighbour's."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.analysis.periodic_subscripts import without_wrap_around
from regionpredict.ir import Expr, Loop, Span

I_, J, N = Expr.name("i"), Expr.name("j"), Expr.name("n")


def loop(variable: str, start: Expr, bound: Expr, step: int = 1) -> Loop:
    return Loop(variable, start, bound, "<" if step > 0 else ">", Expr.const(step), (),
                Span("f.c", 1))  # fmt: skip


LOOPS = (loop("j", Expr.const(0), N), loop("i", Expr.const(0), N))


def mod(place: Expr, period: Expr) -> Expr:
    return Expr.atom("mod", place, period)


def select(condition: Expr, then: Expr, other: Expr) -> Expr:
    return Expr.atom("select", condition, then, other)


@pytest.mark.parametrize(
    ("subscript", "expected"),
    [
        (mod(I_ + 1, N), I_ + 1),
        (mod(I_ - 1 + N, N), I_ - 1),
        (mod(I_ + N - 3, N), I_ - 3),
        (mod(I_ - N + 3, N), I_ + 3),  # a period below
        (mod(I_, N), I_),
        (mod(N - 1 - I_, N), N - 1 - I_),
        (4 * mod(I_ + 1, N) + J, 4 * I_ + 4 + J),
        (select(Expr.atom("lt", Expr.const(0), I_), I_ - 1, N - 1), I_ - 1),
        (select(Expr.atom("eq", I_, N - 1), Expr.const(0), I_ + 1), I_ + 1),
    ],
)  # fmt: skip
def test_a_neighbour(subscript: Expr, expected: Expr) -> None:
    assert without_wrap_around(subscript, LOOPS) == expected


@pytest.mark.parametrize(
    "subscript",
    [
        mod(I_, Expr.const(16)),  # a table that is walked through again and again
        mod(7 * I_, N),  # a hash
        mod(I_ + J, N),
        mod(I_, J),
        mod(Expr.atom("ref", I_, label="p"), N),
        select(Expr.atom("lt", I_, J), I_, J),
        select(I_, Expr.atom("ref", I_, label="p"), Expr.const(0)),
        Expr.atom("floordiv", I_, N),
        3 * I_ + 1,
    ],
)
def test_no_neighbour(subscript: Expr) -> None:
    assert without_wrap_around(subscript, LOOPS) == subscript


@settings(max_examples=100, derandomize=True)
@given(st.integers(4, 60), st.integers(0, 5), st.integers(0, 60), st.integers(-70, 70))
def test_each_step_but_one_goes_to_the_place_beside(
    period: int, start: int, trips: int, apart: int
) -> None:
    """The place and what it is read as differ by whole periods, which change once at most."""
    around = (loop("i", Expr.const(start), Expr.const(start + trips)),)
    read = without_wrap_around(mod(I_ + apart, Expr.const(period)), around)
    if trips > period:
        assert read == mod(I_ + apart, Expr.const(period))
        return
    turns = []
    for i in range(start, start + trips):
        value = read.evaluate({"i": i})
        assert value is not None
        turns.append(((i + apart) % period - value) / period)
    assert all(turn == int(turn) for turn in turns)
    assert sum(a != b for a, b in pairwise(turns)) <= 1
    middle = (2 * start + trips) // 2
    if -period <= middle + apart < 2 * period:  # a period up or down leads into the array
        value = read.evaluate({"i": middle})
        assert value is not None and 0 <= value <= period
