"""Bounds made of the thread's number: which deal a range to a team, by writing all ranges out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.frontend.lowering.thread_partition import (
    TEAM,
    ThreadBounds,
    partition_of,
    simplify_conditionals,
)
from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.ir.region import THREAD_NUMBER

N, T, P = Expr.name("n"), Expr.name(THREAD_NUMBER), Expr.name(TEAM)


def over(dividend: Expr, divisor: Expr) -> Expr:
    return Expr.atom("floordiv", dividend, divisor)


def least(left: Expr, right: Expr) -> Expr:
    return Expr.atom("min", left, right)


ROUNDED_UP = over(N + P - 1, P)
SIZE, REST = over(N, P), N - over(N, P) * P
FIRST_HAVE_MORE = Expr.atom("lt", T, REST)
HALF, ROW = over(N, 2 * P), over(T, Expr.const(2))
LAST = Expr.atom("eq", T, P - 1)
POWER = Expr.atom("exp2", Expr.name("k"))


def upward(start: Expr, bound: Expr, step: Expr = ONE, comparison: str = "<") -> ThreadBounds:
    return ThreadBounds(start, comparison, bound, step)


DEALT = {
    "the same rule for both ends": (upward(over(T * N, P), over((T + 1) * N, P)), "static"),
    "blocks rounded up": (
        upward(T * ROUNDED_UP, least(T * ROUNDED_UP + ROUNDED_UP, N)), "static",
    ),
    "the first ones have one more": (
        upward(
            Expr.atom("select", FIRST_HAVE_MORE, T * SIZE + T, T * SIZE + REST),
            Expr.atom("select", FIRST_HAVE_MORE, (T + 1) * SIZE + T + 1, (T + 1) * SIZE + REST),
        ),
        "static",
    ),
    "the last one has the rest": (
        upward(T * SIZE, Expr.atom("select", LAST, N, T * SIZE + SIZE)), "static",
    ),
    "a shifted size": (
        upward(over(T * over(N, POWER), P), over((T + 1) * over(N, POWER), P)), "static",
    ),
    "a rest is left undone": (upward(T * SIZE, T * SIZE + SIZE), "static"),
    "the last element is in": (
        upward(over(T * N, P), over((T + 1) * N, P) - 1, ONE, "<="), "static",
    ),
    "of millions": (
        upward(over(T * 1000, P) * 2000, over((T + 1) * 1000, P) * 2000), "static",
    ),
    "in turn": (upward(T, N, P), "static,1"),
    "in turn from 1 on": (upward(T + 1, N, P, "<="), "static,1"),
    "downward": (ThreadBounds(N - 1 - T, ">=", ZERO, -P), "static,1"),
}  # fmt: skip


@pytest.mark.parametrize("case", DEALT)
def test_what_is_dealt(case: str) -> None:
    bounds, schedule = DEALT[case]
    partition = partition_of(bounds)
    assert partition is not None and partition.schedule == schedule
    assert not {THREAD_NUMBER, TEAM} & partition.whole.names


def test_the_whole_range_is_in_the_names_of_the_program() -> None:
    """Thread 0 of 1 has it; the choices of the formulas are none then."""
    for case, (bounds, _) in DEALT.items():
        partition = partition_of(bounds)
        assert partition is not None
        start, comparison, bound, step = partition.whole
        told = f"{start} {comparison} {bound} {step}"
        expected = {
            "of millions": "0 < 2000000 1",
            "in turn from 1 on": "1 <= n 1",
            "downward": "n - 1 >= 0 -1",
            "a shifted size": "0 < (n / (1 << k)) 1",
        }
        assert told == expected.get(
            case, "0 <= n - 1 1" if case == "the last element is in" else "0 < n 1"
        ), case


NOT_DEALT = {
    "every thread has all": upward(ZERO, N),
    "neighbours' edges, too": upward(over(T * N, P) - 1, over((T + 1) * N, P) + 1),
    "one is left out": upward(over(T * N, P) + 1, over((T + 1) * N, P)),
    "the last has most": upward(T * HALF, Expr.atom("select", LAST, N, (T + 1) * HALF)),
    "steps of another number": upward(T, N, P + 1),
    "from a table": upward(
        Expr.atom("ref", T, label="first"), Expr.atom("ref", T + 1, label="first")
    ),
    "rows of a grid of threads": upward(ROW * SIZE, ROW * SIZE + SIZE),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_DEALT)
def test_what_is_not_dealt(case: str) -> None:
    assert partition_of(NOT_DEALT[case]) is None


def test_a_team_of_a_number_that_the_source_says() -> None:
    blocks = upward(T * 250, T * 250 + 250)
    assert partition_of(blocks) is None  # without it the range grows with the team
    partition = partition_of(blocks, 4)
    assert partition is not None and partition.schedule == "static"
    assert partition.whole == upward(ZERO, Expr.const(1000))
    turns = partition_of(upward(T, N, Expr.const(4)), 4)
    assert turns is not None and turns == (upward(ZERO, N), "static,1")
    assert partition_of(upward(T, N, Expr.const(4)), 8) is None


@given(
    lower=st.integers(-3, 9), spare=st.integers(-2, 2), team=st.integers(3, 9),
    parts=st.integers(1, 4), turns=st.booleans(),
)  # fmt: skip
def test_any_team_against_the_definition(
    lower: int, spare: int, team: int, parts: int, turns: bool
) -> None:
    """Blocks or turns with an error put in by `spare`: a partition only where there is none."""
    size = Expr.const(8 * parts)
    bound = Expr.const(8 * parts * team + lower)
    if turns:
        bounds = upward(T + lower, bound, Expr.const(team + spare))
    else:
        bounds = upward(T * size + lower, T * size + size + lower + spare)
    partition = partition_of(bounds, team)
    had: list[int] = []
    for thread in range(team):
        if turns:
            had += range(thread + lower, 8 * parts * team + lower, team + spare)
        else:
            had += range(thread * 8 * parts + lower, (thread + 1) * 8 * parts + lower + spare)
    once = sorted(had) == list(range(min(had), max(had) + 1))
    assert (partition is not None) == (once and spare == 0)
    if partition is not None:
        start, _, end, step = (getattr(part, "constant", part) for part in partition.whole)
        assert list(range(start, end, step)) == sorted(had)


@given(n=st.integers(-20, 20), a=st.integers(-9, 9), b=st.integers(-9, 9))
def test_short_forms_have_the_same_value(n: int, a: int, b: int) -> None:
    """Of each kind of choice, between names and numbers."""
    left, right = N + a, N + b
    for kind in ("lt", "le", "eq", "ne", "min", "max"):
        whole = Expr.atom(kind, left, right)
        assert simplify_conditionals(whole).evaluate({"n": n}) == whole.evaluate({"n": n})
        assert kind in ("min", "max") or not simplify_conditionals(whole).names
        chosen = Expr.atom("select", whole, left * 2, right)
        assert simplify_conditionals(chosen).evaluate({"n": n}) == chosen.evaluate({"n": n})
    assert simplify_conditionals(Expr.atom("mod", left, ONE)) == ZERO
