"""Loops carried out with numbers, against running them."""

from __future__ import annotations

from itertools import product

import pytest
from texts import facts_of_loop

from regionpredict.analysis.loop_enumeration import (
    Extent,
    count_executions,
    extents_of_all,
    extents_over_loops,
    steps_of,
)
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
    assert count_executions((loop(*header),), {}) is None


def test_a_triangle_that_is_mostly_empty() -> None:
    """i < 5 alone runs j: from i + 4 to 8."""
    nest = (loop("i", 0, "<", N), loop("j", ROW + 4, "<", 9))
    assert count_executions(nest, {"n": 1000}) == sum(max(0, 9 - (i + 4)) for i in range(1000))
    assert extents_over_loops((ROW, COLUMN), nest, {"n": 1000}) == (Extent(0, 4), Extent(4, 8))
    assert count_executions(nest, {}) is None


def test_extremes_lie_where_the_variables_have_theirs() -> None:
    nest = (loop("i", 1, "<", 12, 4), loop("j", 7, ">=", 0, -3))
    rows, columns = range(1, 12, 4), range(7, -1, -3)
    for a, b, c in product((-2, 0, 3), (-1, 1, 5), (0, 9)):
        subscript = ROW * a + COLUMN * b + ROW * COLUMN + c
        all_values = [a * i + b * j + i * j + c for i in rows for j in columns]
        assert extents_over_loops((subscript,), nest, {}) == (
            Extent(min(all_values), max(all_values)),
        )


@pytest.mark.parametrize("step", [1, 3, -2])
def test_nobody_goes_through_loops_that_only_begin_elsewhere(step: int) -> None:
    """Boxes of 64 places, of which n are taken, and m for each of these: as by running them."""
    comparison, least = ("<", 0) if step > 0 else (">", 8)
    place, inner = Expr.name("p"), Expr.name("q")
    for boxes, shown in ((7, 7), (10**6, 10**6)):
        nest = (
            loop("i", 0, "<", N),
            loop("p", ROW * 64, "<", ROW * 64 + Expr.name("m")),
            loop("q", place * 5 - ROW + least, comparison, place * 5 - ROW + 8 - least, step),
        )
        values = {"n": boxes, "m": 9}
        own = range(least, 8 - least, step)
        assert count_executions(nest, values) == boxes * 9 * len(own)
        by_hand = [
            5 * p - i + q
            for i in (range(boxes) if boxes < 10 else (0, boxes - 1))
            for p in (64 * i, 64 * i + 8)
            for q in own
        ]
        assert extents_over_loops((place, inner), nest, values) == (
            Extent(0, 64 * (shown - 1) + 8),
            Extent(min(by_hand), max(by_hand)),
        )


def test_remainders_and_minima_are_gone_through() -> None:
    nest = (loop("i", 0, "<", N),)
    wrapped = Expr.atom("mod", ROW + 3, N)
    clamped = Expr.atom("max", ROW - 4, Expr.const(2))
    assert extents_over_loops((wrapped, clamped), nest, {"n": 10}) == (Extent(0, 9), Extent(2, 5))


def test_more_than_can_be_gone_through_is_not_known() -> None:
    nest = (loop("i", 0, "<", N), loop("j", 0, "<", ROW))
    assert count_executions(nest, {"n": 10_000}) == 10_000 * 9_999 // 2
    deep = (*nest, loop("k", 0, "<", COLUMN))
    assert count_executions(deep, {"n": 1_000}) is None


@pytest.mark.parametrize(("outer", "known"), [(19_999, True), (20_000, True), (20_001, False)])
def test_as_many_iterations_as_are_gone_through(outer: int, known: bool) -> None:
    """20,000 of i, whether or not some of them run j."""
    never = (loop("i", 0, "<", outer), loop("j", ROW + 30_000, "<", 9))
    assert extents_over_loops((ROW, COLUMN), never, {}) == (() if known else None)
    assert count_executions(never, {}) == (0 if known else None)
    some = (loop("i", 0, "<", outer), loop("j", ROW, "<", 9))
    assert count_executions(some, {}) == (sum(range(10)) if known else None)


def test_a_part_that_nobody_knows_is_at_most_the_array() -> None:
    declared = "double x[100]; int idx[50];"
    facts = facts_of_loop("for (int i = 0; i < n; i++) x[idx[i]] = 1;", declared, n=10)
    assert str(facts.working_set) == "at most 4*(n + 200) = 840"


@pytest.mark.parametrize(
    "loops",
    [
        (loop("i", 0, "<", N), loop("j", 2, "<=", 7)),
        (loop("i", 0, "<", N), loop("j", ROW, "<", N)),
        (loop("i", 5, "<", 5), loop("j", 0, "<", 3)),
        (loop("i", 0, "<", N), loop("j", 0, "<", Expr.name("m"))),
    ],
)
@pytest.mark.parametrize("bent", [False, True])
def test_several_references_have_the_extents_of_each(loops: tuple[Loop, ...], bent: bool) -> None:
    references = [[ROW, COLUMN], [COLUMN - 1], [], [ROW, ROW], [N - ROW, ROW + COLUMN]]
    if bent:
        references.append([ROW * COLUMN, ROW])
    values = {"n": 9}
    told = list(extents_of_all(references, loops, values))
    assert told == [extents_over_loops(own, loops, values) for own in references]


def test_what_a_counter_is_behind_its_loop_is_nothing_to_its_conditions() -> None:
    """199 steps, every tenth from the first on: 20; the counter ends as 199."""
    t, steps = Expr.name("t"), Expr.name("steps")
    loop = Loop("t", Expr.const(0), steps, "<", Expr.const(1), (), Span("f.c", 1))
    tenth = Expr.atom("eq", Expr.atom("mod", t, Expr.const(10)), Expr.const(0))
    assert count_executions((loop,), {"steps": 199, "t": 199}, [tenth]) == 20
    assert count_executions((loop,), {"steps": 20, "t": 20}, [tenth]) == 2
