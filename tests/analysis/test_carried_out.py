"""Loops carried out with numbers, against running them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import facts_of_loop

from regionpredict.analysis.carried_out import Extent, extents, open_ended, runs, steps_of
from regionpredict.ir import Expr, Loop, Span

PLACE = Span("f.c", 1)
ROW, COLUMN, N = (Expr.name(name) for name in "ijn")


def loop(name: str, start: Expr | int, comparison: str, bound: Expr | int, step: int = 1) -> Loop:
    ends = (end if isinstance(end, Expr) else Expr.const(end) for end in (start, bound))
    first, last = ends
    return Loop(name, first, last, comparison, Expr.const(step), (), PLACE)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        (("i", 0, "<", 10, 3), [0, 3, 6, 9]),
        (("i", 0, "<=", 9, 3), [0, 3, 6, 9]),
        (("i", 9, ">=", 1, -4), [9, 5, 1]),
        (("i", 9, ">", 1, -4), [9, 5]),
        (("i", 2, "!=", 8, 2), [2, 4, 6]),
        (("i", 5, "<", 5, 1), []),
        (("i", 7, "<", 5, 1), []),
        (("i", 3, ">", 5, -1), []),
        (("i", 4, "!=", 4, 3), []),
    ],
)
def test_the_values_of_a_loop(header: tuple[str, int, str, int, int], values: list[int]) -> None:
    own = steps_of(loop(*header), {})
    assert [own.first + number * own.step for number in range(own.trips)] == values


@pytest.mark.parametrize(
    "header",
    [
        ("i", 0, "<", 9, -1),
        ("i", 0, "!=", 9, 2),
        ("i", 9, ">", 0, 1),
        ("i", 0, "<", 9, 0),
        ("i", 0, "!=", 9, 0),
        ("i", 0, "!=", 8, -2),
        ("i", 8, "!=", 0, 2),
    ],
)
def test_a_loop_that_goes_away_from_its_bound_is_not_known(
    header: tuple[str, int, str, int, int],
) -> None:
    assert runs((loop(*header),), {}) is None


def test_a_triangle_that_is_mostly_empty() -> None:
    """i < 5 alone runs j: from i + 4 to 8."""
    nest = (loop("i", 0, "<", N), loop("j", ROW + 4, "<", 9))
    assert runs(nest, {"n": 1000}) == sum(max(0, 9 - (i + 4)) for i in range(1000))
    assert extents((ROW, COLUMN), nest, {"n": 1000}) == (Extent(0, 4), Extent(4, 8))
    assert runs(nest, {}) is None


def test_extremes_lie_where_the_variables_have_theirs() -> None:
    nest = (loop("i", 1, "<", 12, 4), loop("j", 7, ">=", 0, -3))
    rows, columns = range(1, 12, 4), range(7, -1, -3)
    for a, b, c in product((-2, 0, 3), (-1, 1, 5), (0, 9)):
        subscript = ROW * a + COLUMN * b + ROW * COLUMN + c
        all_values = [a * i + b * j + i * j + c for i in rows for j in columns]
        assert extents((subscript,), nest, {}) == (Extent(min(all_values), max(all_values)),)


def test_remainders_and_minima_are_gone_through() -> None:
    nest = (loop("i", 0, "<", N),)
    wrapped = Expr.atom("mod", ROW + 3, N)
    clamped = Expr.atom("max", ROW - 4, Expr.const(2))
    assert extents((wrapped, clamped), nest, {"n": 10}) == (Extent(0, 9), Extent(2, 5))


def test_more_than_can_be_gone_through_is_not_known() -> None:
    nest = (loop("i", 0, "<", N), loop("j", 0, "<", ROW))
    assert runs(nest, {"n": 10_000}) == 10_000 * 9_999 // 2
    deep = (*nest, loop("k", 0, "<", COLUMN))
    assert runs(deep, {"n": 1_000}) is None


def test_a_part_that_nobody_knows_is_at_most_the_array() -> None:
    declared = "double x[100]; int idx[50];"
    facts = facts_of_loop("for (int i = 0; i < n; i++) x[idx[i]] = 1;", declared, n=10)
    assert str(facts.working_set) == "at most 4*(n + 200) = 840"


# -- nests at random -------------------------------------------------------------------------------

NAMES = ("i", "j", "k")
HOLDS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne,
}  # fmt: skip
SMALL = st.integers(-4, 4)


@st.composite
def affine(draw: st.DrawFn, names: Sequence[str]) -> Expr:
    """A number and a small multiple of one of the names."""
    place = Expr.const(draw(SMALL))
    if names and draw(st.booleans()):
        place = place + Expr.name(draw(st.sampled_from(names))) * draw(st.sampled_from((-1, 1, 2)))
    return place


@st.composite
def nests(draw: st.DrawFn) -> tuple[Loop, ...]:
    made: list[Loop] = []
    for depth in range(draw(st.integers(1, 3))):
        around = [one.variable for one in made]
        start, bound = draw(affine(around)), draw(affine(around)) + draw(SMALL)
        comparison = draw(st.sampled_from(sorted(HOLDS)))
        step = draw(st.sampled_from((-3, -2, -1, 1, 2, 3)))
        name = draw(st.sampled_from((*NAMES[depth : depth + 1] * 5, NAMES[0])))  # or once more
        made.append(loop(name, start, comparison, bound, step))
    return tuple(made)


class Endless(Exception):
    """A loop that ends where its type does."""


def carry_out(loops: Sequence[Loop], at: dict[str, int]) -> Iterator[dict[str, int]]:
    """As C does it: the values of the variables in each run of the body."""
    if not loops:
        yield dict(at)
        return
    own = loops[0]
    assert own.start is not None and own.bound is not None and own.step is not None
    value, bound = own.start.evaluate(at), own.bound.evaluate(at)
    step = own.step.constant
    assert isinstance(value, int) and isinstance(bound, int) and isinstance(step, int)
    for turn in range(60):
        if not HOLDS[own.comparison](value, bound):
            return
        if turn == 59:
            raise Endless
        yield from carry_out(loops[1:], {**at, own.variable: value})
        value += step


@settings(max_examples=150, deadline=None)
@given(nests(), st.data())
def test_random_nests_by_carrying_them_out(loops: tuple[Loop, ...], data: st.DataObject) -> None:
    names = [one.variable for one in loops]
    subscripts = [data.draw(affine(names)) for _ in range(2)]
    other = Expr.name(data.draw(st.sampled_from(names)))
    subscripts.append(subscripts[0] * other + data.draw(SMALL))
    subscripts.append(Expr.atom("mod", subscripts[1], Expr.const(3)))
    try:
        points = list(carry_out(loops, {}))
    except Endless:
        assert runs(loops, {}) is None
        assert extents(subscripts, loops, {}) is None
        return
    assert runs(loops, {}) == len(points)
    values = [[one.evaluate(at) for at in points] for one in subscripts]
    assert extents(subscripts, loops, {}) == (
        tuple(Extent(min(own), max(own)) for own in values) if points else ()  # type: ignore[type-var]
    )


def test_loops_whose_variables_nobody_asks_for_are_multiplied() -> None:
    """However long they are, and in whatever order."""
    long = loop("i", 0, "<", N), loop("j", 5, ">", -N, -2), loop("k", 0, "<=", 3)
    assert runs(long, {"n": 10**9}) == 10**9 * ((10**9 + 6) // 2) * 4
    assert extents((ROW - COLUMN,), long, {"n": 10**9}) == (Extent(-5, 2 * 10**9 - 2),)
    triangle = (loop("i", 0, "<", 9), loop("j", 0, "<=", ROW), loop("k", 0, "<", N))
    assert runs(triangle, {"n": 10**9}) == 45 * 10**9


def test_as_many_iterations_as_a_tenth_of_a_second_has() -> None:
    """Those of `i` are gone through, and for an extent each corner of what is left."""
    for most, known in ((20_000, True), (20_001, False)):
        nest = (loop("i", 0, "<", most), loop("j", 0, "<=", ROW))
        assert (runs(nest, {}) == most * (most + 1) // 2) is known
        halves = (loop("i", 0, "<", most // 2 + most % 2), loop("j", 0, "<=", ROW))
        assert (extents((ROW,), halves, {}) is not None) is known


def test_loops_that_nobody_can_count() -> None:
    """One that no subscript asks for is left out; where one does, nothing is known."""
    known, open_end = loop("i", 0, "<", 7), loop("j", 0, "<", N)
    data = Expr.atom("ref", ROW, label="row")
    by_data = loop("j", 0, "<", data)
    for other in (open_end, by_data):
        assert open_ended((known, other), {}) and not open_ended((known,), {})
        assert extents((ROW,), (known, other), {}) == (Extent(0, 6),)
        assert extents((COLUMN,), (known, other), {}) is None
        assert runs((known, other), {}) is None
    assert not open_ended((known, open_end), {"n": 3})
    assert not open_ended((known, loop("j", 0, "<", ROW)), {})
    # One that is not counted at all, and one whose start is data.
    endless = Loop("j", Expr.const(0), None, "", None, (), PLACE)
    assert open_ended((endless,), {})
    assert open_ended((known, loop("j", data, "<", 9)), {})
    # A half is no value of a variable.
    assert extents((ROW * Fraction(1, 2),), (loop("i", 0, "<", 4),), {}) is None
