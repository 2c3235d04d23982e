"""Recurrences: how often they go on and what they carry, held to loops of Python."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.ir.recurrence import MOST_ROUNDS, Number, rounds, trips

J, E, N, K = (Expr.atom("state", label="j"), Expr.atom("state", label="e"), Expr.name("n"),
              Expr.name("k"))  # fmt: skip


@given(st.integers(-5, 400), st.integers(1, 9), st.integers(2, 4))
def test_a_counter_that_is_multiplied(bound: int, first: int, factor: int) -> None:
    held = [first]
    while held[-1] < bound:
        held.append(held[-1] * factor)
    parts = (Expr.atom("lt", J, N), J, Expr.const(first), J * factor)
    assert Expr.atom("trips", *parts).evaluate({"n": bound}) == len(held) - 1
    value = Expr.atom("carried", K, J, *parts)
    assert [value.evaluate({"n": bound, "k": k}) for k in range(len(held))] == held


@given(st.integers(-9, 60), st.integers(0, 9), st.integers(1, 3), st.integers(0, 3))
def test_two_that_move(end: int, start: int, up: int, down: int) -> None:
    j, e, trips = start, end, 0
    while j < e:
        j, e, trips = j + up, e - down, trips + 1
    parts = (Expr.atom("lt", J, E), J, Expr.const(start), J + up, E, N, E - down)
    counted = Expr.atom("trips", *parts)
    assert counted.names == {"n"}
    assert not counted.has_unreadable_part
    assert counted.evaluate({"n": end}) == trips
    assert counted.substitute({"n": Expr.const(end)}) == trips


@given(st.lists(st.integers(-1, 18)), st.integers(0, 16), st.sampled_from(["lt", "le"]))
def test_values_that_rise_and_fall(limits: list[int], first: int, comparison: str) -> None:
    parts = (Expr.atom(comparison, J, N), J, Expr.const(first),
             Expr.atom("mod", J * 5 + 3, Expr.const(17)))  # fmt: skip
    for limit in limits:
        held = [first]
        while (held[-1] < limit or (held[-1] == limit and comparison == "le")) and len(held) < 99:
            held.append((5 * held[-1] + 3) % 17)
        trips = len(held) - 1 if len(held) < 99 else None
        assert Expr.atom("trips", *parts).evaluate({"n": limit}) == trips


ROUNDS = (st.integers(-3, 30), st.integers(-4, 4), st.integers(-3, 3),
          st.sampled_from(["lt", "ne"]))  # fmt: skip


@settings(max_examples=6)
@given(*ROUNDS)
def test_a_count_is_the_number_of_rounds(n: int, step: int, grown: int, kind: str) -> None:
    """Also without an end, with a fraction, and with a division by zero on the way."""
    quotient = Expr.atom("floordiv", Expr.const(60), E)
    half = Expr.const(Fraction(1, 2)) * J
    for after in (J + step, half + E, J + quotient):
        parts = (Expr.atom(kind, J, N + E), J, ZERO, after, E, Expr.const(3), E + grown)
        done = rounds(parts, {"n": n})
        assert trips(parts, {"n": n}) == (None if done is None else done.trips)


@pytest.mark.slow
@given(*ROUNDS)
def test_many_counts_are_the_number_of_rounds(n: int, step: int, grown: int, kind: str) -> None:
    test_a_count_is_the_number_of_rounds.hypothesis.inner_test(n, step, grown, kind)  # type: ignore[attr-defined]


def test_what_is_not_known() -> None:
    counted = Expr.atom("trips", Expr.atom("lt", J, N), J, ONE, J * 2)
    assert counted.evaluate({}) is None
    assert str(counted) == "count(j = 1; (j < n); j = 2*j)"
    for_ever = Expr.atom("trips", Expr.atom("lt", J, ONE), J, ZERO, J)
    assert for_ever.constant is None
    assert for_ever.evaluate({}) is None
    long = Expr.atom("trips", Expr.atom("lt", J, N), J, ZERO, J + 1)
    assert long.evaluate({"n": MOST_ROUNDS}) == MOST_ROUNDS
    assert long.evaluate({"n": MOST_ROUNDS + 1}) is None
    beyond = Expr.atom("carried", K, J, Expr.atom("lt", J, N), J, ONE, J * 2)
    assert beyond.evaluate({"n": 4, "k": 9}) is None


def test_numbers_of_iterations_are_kept_for_all_iterations_of_a_loop() -> None:
    class Counted(Expr):
        """The next value, which counts how often it is computed."""

        computed = 0

        def evaluate(self, bindings: Mapping[str, Number]) -> Number | None:
            Counted.computed += 1
            return super().evaluate(bindings)

    state, first = Expr.atom("state", label="j"), Expr.name("i")
    parts = (Expr.atom("lt", state, Expr.const(4000)), state, first, Counted((state * 2).terms))
    numbers = [trips(parts, {"i": value}) for value in range(1, 2001)]
    assert numbers[0] == 12  # 1, 2, ..., 2048
    assert numbers[-1] == 1
    computed = Counted.computed
    assert [trips(parts, {"i": value}) for value in range(1, 2001)] == numbers
    assert Counted.computed == computed > 0
