"""Loops in numbers: trips, sections and executions against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import loop_named, nest_of

from regionpredict.ir import Expr
from regionpredict.workload.loop_nest import (
    Affine,
    Curved,
    LoopHeader,
    body_executions,
    innermost_iterations,
)


def header(first: float | None, limit: float | None, step: int = 1) -> LoopHeader:
    """A loop over i between two numbers."""
    forms = [None if end is None else Affine(end, {}) for end in (first, limit)]
    return LoopHeader(
        0, "i", *forms, step, True, frozenset(), 3, counted=True, conditional=False,
        unordered=frozenset(),
    )  # fmt: skip


def test_an_affine_form() -> None:
    form = Affine(3.0, {"i": 2.0, "j": -1.0})
    assert form.at({"i": 4.0, "j": 5.0}) == 3 + 8 - 5
    assert form.at({"i": 4.0}) == 11  # j counts as 0
    assert form.names == {"i", "j"}


def test_a_curved_form() -> None:
    """min(i + 8, n) at n = 10: i rounded to whole numbers, 0 where it is absent."""
    least = Expr.atom("min", Expr.name("i") + 8, Expr.name("n"))
    form = Curved(least, {"n": Fraction(10)}, frozenset({"i"}))
    assert [form.at({"i": i}) for i in (0, 1.4, 1.6, 5)] == [8, 9, 10, 10]
    assert form.at({}) == 8
    lost = Curved(least, {}, frozenset({"i"})).at({"i": 1})
    assert math.isnan(lost)  # n has no value


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(-20, 20), st.integers(-20, 20), st.sampled_from([1, -1, 2, -3, 7]))
def test_trips_and_middle_are_those_of_a_range(first: int, limit: int, step: int) -> None:
    loop, values = header(first, limit, step), range(first, limit, step)
    assert loop.trips({}) == len(values)
    assert loop.begin({}) == first
    middle = sum(values) / len(values) if values else first
    assert loop.middle_value({}) == pytest.approx(middle)


def test_trips_between_whole_numbers() -> None:
    """At the middle of a loop around it a bound is half: unit steps keep the mean."""
    assert header(0.5, 3).trips({}) == 2.5
    assert header(3, 0.5, -1).trips({}) == 2.5
    assert header(0.5, 3, 2).trips({}) == 2  # 0.5 and 2.5


@pytest.mark.parametrize(("first", "limit"), [(None, 5.0), (5.0, None), (None, None)])
def test_unknown_bounds_are_sixteen_iterations(first: float | None, limit: float | None) -> None:
    loop = header(first, limit)
    assert loop.trips({}) == 16
    assert loop.begin({}) == (first or 0)


def test_a_section_is_the_middle_piece() -> None:
    loop = header(10, 110)  # 10..109
    assert loop.section_of({}, None, None) == (10, 100)
    assert loop.section_of({}, 100, None) == (10, 100)
    assert loop.section_of({}, 300, None) == (10, 100)  # no piece is longer than the loop
    assert loop.section_of({}, 20, None) == (50, 20)  # 40 before it, 40 behind
    assert loop.section_of({}, None, (0.25, 0.75)) == (35, 50)
    assert loop.section_of({}, 20, (0.5, 0.75)) == (60, 5)
    down = header(109, 9, -1)
    assert down.section_of({}, 20, None) == (69, 20)
    assert down.section_of({}, 20, (0.5, 1.0)) == (59, 10)


LOOPS = """
for (int i = 2; i < n; i++) {
  a[i] = 0;
  for (int j = n - 1; j > i; j--)
    a[j] += i;
  for (int j = 0; j <= i; j++) {
    for (int k = j; k < n + 1; k++) a[k] = 1;
    for (int l = 3; l < 9; l += 2) a[l] = 2;
  }
}
"""


def test_executions_of_a_nest() -> None:
    """Linear bounds: the middle of the loops around stands for all of them, to the last one."""
    n = 12
    trips = body_executions(nest_of(LOOPS, "int n, double *a", n=n))
    outer = range(2, n)
    falling = [len(range(n - 1, i, -1)) for i in outer]
    rising = [i + 1 for i in outer]
    assert trips[0] == (10, 10)
    assert trips[1] == (pytest.approx(sum(falling) / 10), pytest.approx(sum(falling)))
    assert trips[2] == (pytest.approx(sum(rising) / 10), pytest.approx(sum(rising)))
    # i in the middle at 6.5: 7.5 turns of j around 3.25, from which 13 - 3.25 = 9.75 turns of k.
    assert trips[3] == (pytest.approx(9.75), pytest.approx(sum(rising) * 9.75))
    assert trips[4] == (3, pytest.approx(3 * sum(rising)))


def test_innermost_iterations_at_a_place() -> None:
    """At i = 5: 6 of the first j; 6 of the second around 2.5, each with 10.5 of k and 3 of l."""
    nest = nest_of(LOOPS, "int n, double *a", n=12)
    below = innermost_iterations(nest.root.children, {"i": 5.0})
    assert below == pytest.approx(6 + 6 * (10.5 + 3))
    assert innermost_iterations((), {}) == 0
    # A loop without any inside runs its body once an iteration; so does one whose inner is empty.
    empty = nest_of(
        "for (int i = 0; i < n; i++) for (int j = 5; j < 5; j++) a[i] = 0;", "int n, double *a", n=9
    )
    assert innermost_iterations(empty.loops[:1], {}) == 9


def test_a_loop_of_one_iteration_has_its_middle_there() -> None:
    """i = 4 alone, with i + 1 iterations inside; of none, where it would begin."""
    loops = "for (int i = 4; i < %d; i++) for (int j = 0; j <= i; j++) a[j] = 0;"
    one, none = (nest_of(loops % end, "double *a") for end in (5, 4))
    assert body_executions(one) == ((1, 1), (5, 5))
    assert innermost_iterations(one.loops[:1], {}) == 5
    assert one.root.middle_value({}) == none.root.middle_value({}) == 4
    assert body_executions(none) == ((0, 0), (5, 0))
    assert innermost_iterations(none.loops[:1], {}) == 0


def test_a_falling_loop_has_its_middle_below_its_begin() -> None:
    """i = 9, 7, 5, 3, 1 with i + 1 iterations inside: 10 + 8 + 6 + 4 + 2 = 30."""
    nest = nest_of(
        "for (int i = 9; i > 0; i -= 2) for (int j = 0; j <= i; j++) a[j] = 0;", "int n, double *a"
    )
    assert body_executions(nest) == ((5, 5), (6, 30))
    assert innermost_iterations(nest.loops[:1], {}) == 30
    assert loop_named(nest, "j").trips({"i": 9}) == 10
