"""Random nests carried out with numbers, against doing what C does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from test_loop_enumeration import COLUMN, PLACE, ROW, N, loop

from regionpredict.analysis.loop_enumeration import (
    Extent,
    count_executions,
    extents_over_loops,
    has_unknown_trips,
)
from regionpredict.ir import Expr, Loop

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
        assert count_executions(loops, {}) is None
        assert extents_over_loops(subscripts, loops, {}) is None
        return
    assert count_executions(loops, {}) == len(points)
    values = [[one.evaluate(at) for at in points] for one in subscripts]
    assert extents_over_loops(subscripts, loops, {}) == (
        tuple(Extent(min(own), max(own)) for own in values) if points else ()  # type: ignore[type-var]
    )


def test_loops_whose_variables_nobody_asks_for_are_multiplied() -> None:
    """However long they are, and in whatever order."""
    long = loop("i", 0, "<", N), loop("j", 5, ">", -N, -2), loop("k", 0, "<=", 3)
    assert count_executions(long, {"n": 10**9}) == 10**9 * ((10**9 + 6) // 2) * 4
    assert extents_over_loops((ROW - COLUMN,), long, {"n": 10**9}) == (Extent(-5, 2 * 10**9 - 2),)
    triangle = (loop("i", 0, "<", 9), loop("j", 0, "<=", ROW), loop("k", 0, "<", N))
    assert count_executions(triangle, {"n": 10**9}) == 45 * 10**9


def test_as_many_iterations_as_a_tenth_of_a_second_has() -> None:
    """Those of `i` are gone through, and for an extent each corner of what is left."""
    for most, known in ((20_000, True), (20_001, False)):
        nest = (loop("i", 0, "<", most), loop("j", 0, "<=", ROW))
        assert (count_executions(nest, {}) == most * (most + 1) // 2) is known
        halves = (loop("i", 0, "<", most // 2 + most % 2), loop("j", 0, "<=", ROW))
        assert (extents_over_loops((ROW,), halves, {}) is not None) is known


def test_loops_that_nobody_can_count() -> None:
    """One that no subscript asks for is left out; where one does, nothing is known."""
    known, open_end = loop("i", 0, "<", 7), loop("j", 0, "<", N)
    data = Expr.atom("ref", ROW, label="row")
    by_data = loop("j", 0, "<", data)
    for other in (open_end, by_data):
        assert has_unknown_trips((known, other), {}) and not has_unknown_trips((known,), {})
        assert extents_over_loops((ROW,), (known, other), {}) == (Extent(0, 6),)
        assert extents_over_loops((COLUMN,), (known, other), {}) is None
        assert count_executions((known, other), {}) is None
    assert not has_unknown_trips((known, open_end), {"n": 3})
    assert not has_unknown_trips((known, loop("j", 0, "<", ROW)), {})
    # One that is not counted at all, and one whose start is data.
    endless = Loop("j", Expr.const(0), None, "", None, (), PLACE)
    assert has_unknown_trips((endless,), {})
    assert has_unknown_trips((known, loop("j", data, "<", 9)), {})
    # A half is no value of a variable.
    assert extents_over_loops((ROW * Fraction(1, 2),), (loop("i", 0, "<", 4),), {}) is None
