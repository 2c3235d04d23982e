"""Iteration domains against carrying the loops out, and loops that are nearly, but not, tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from texts import facts_of_loop

from regionpredict.analysis.symbolic.domain import Domain, _is_tile, domain_of, steps_of
from regionpredict.ir import Expr, Loop, Span

I, J, N, M = (Expr.name(name) for name in "ijnm")  # noqa: E741
At = dict[str, int]


def loop(
    name: str, start: Expr | int, comparison: str, bound: Expr | int, step: Expr | int = 1
) -> Loop:
    """`for (name = start; name comparison bound; name += step)`."""
    ends = [one if isinstance(one, Expr) else Expr.const(one) for one in (start, bound, step)]
    return Loop(name, ends[0], ends[1], comparison, ends[2], (), Span("f.c", 1))


def number(expression: Expr | None, at: At) -> int:
    assert expression is not None
    value = expression.evaluate(at)
    assert isinstance(value, int), (str(expression), at)
    return value


def carried_out(loops: tuple[Loop, ...], at: At) -> Iterator[At]:
    """Every iteration of the innermost loop, as C runs the nest."""
    if not loops:
        yield at
        return
    first, *inside = loops
    start, bound, step = (number(one, at) for one in (first.start, first.bound, first.step))
    past = {"<": 0, ">": 0, "!=": 0, "<=": 1, ">=": -1}[first.comparison]
    for value in range(start, bound + past, step):
        yield from carried_out(tuple(inside), at | {first.variable: value})


def of_domain(domain: Domain, at: At) -> Iterator[At]:
    """Every point of a domain; a range that is empty where it is asked is a mistake."""
    assert domain.ranges is not None

    def below(depth: int, at: At) -> Iterator[At]:
        if depth == len(domain.ranges or ()):
            yield at
            return
        one = (domain.ranges or ())[depth]
        first, trips = number(one.first, at), number(one.trips, at)
        assert trips >= 1, (one.variable, at)
        assert number(one.last, at) == first + (trips - 1) * one.step
        for turn in range(trips):
            yield from below(depth + 1, at | {one.variable: first + turn * one.step})

    return below(0, at)


UP = loop("i", 0, "<", N)
DOWN = loop("i", N - 1, ">=", 0, -1)
EVEN = loop("i", 0, "<", N, 2)


@pytest.mark.parametrize(
    "loops",
    [
        (UP,),
        (DOWN,),
        (loop("i", 2, "<=", N),),
        (loop("i", N, ">", 2, -1),),
        (loop("i", 2, "!=", N),),
        (loop("i", N, "!=", 2, -1),),
        (EVEN,),
        (loop("i", N, ">", 1, -3),),
        (UP, loop("j", 0, "<", M)),
        # the last or the first i runs no j: their number by the slope and what is missing
        (UP, loop("j", I, "<", N)),
        (UP, loop("j", I + 1, "<", N)),
        (UP, loop("j", I + 2, "<", N)),
        (UP, loop("j", N - 1, ">", I + 2, -1)),
        (UP, loop("j", 0, "<", I)),
        (UP, loop("j", 0, "<", I - 3)),
        (UP, loop("j", 0, "<=", I)),
        (DOWN, loop("j", I + 2, "<", N)),
        (DOWN, loop("j", 0, "<", I - 3)),
        (DOWN, loop("j", 0, "<=", I - 3)),
        (UP, loop("j", I * 2 + 3, "<", N * 2)),
        (UP, loop("j", 0, "<", I * 2 - 3)),
        (UP, loop("j", 0, "<", I * 3 - 3)),
        (UP, loop("j", 0, "<", I * 3 - 2)),
        # strides
        (EVEN, loop("j", 0, "<", I - 3)),
        (EVEN, loop("j", 0, "<", I - 4)),
        (loop("i", N - 1, ">=", 0, -2), loop("j", I + 2, "<", N)),
        (loop("i", N - 1, ">=", 0, -2), loop("j", I + 3, "<", N)),
        (EVEN, loop("j", I, "<", N)),
        # an end that moves with the clipped loop moves with it
        (UP, loop("j", I, "<", N), loop("k", J + 2, "<", N)),
        (UP, loop("j", 0, "<=", I), loop("k", 0, "<", J - 2)),
        (UP, loop("j", 0, "<", M), loop("k", I + 1, "<", N)),
        # two loops around in one bound, which never make it empty
        (UP, loop("j", 0, "<", N), loop("k", I + J, "<", N * 2)),
        (UP, loop("j", 0, "<=", I), loop("k", J, "<=", I)),
    ],
    ids=lambda loops: " ".join(f"{x.start}{x.comparison}{x.bound};{x.step}" for x in loops),
)
@pytest.mark.parametrize("n", [8, 13])
def test_every_iteration_once_and_none_that_runs_nothing(loops: tuple[Loop, ...], n: int) -> None:
    at = {"n": n, "m": 3}
    assert list(of_domain(domain_of(loops), at)) == list(carried_out(loops, at))


@pytest.mark.parametrize(
    "loops",
    [
        (UP,), (DOWN,), (loop("i", 2, "<=", N),), (loop("i", N, ">", 2, -1),),
        (UP, loop("j", I + 2, "<", N)),
        (DOWN, loop("j", 0, "<", I - 3)),
        (DOWN, loop("j", N - 1, ">", I, -1)),
    ],
    ids=lambda loops: " ".join(f"{x.start}{x.comparison}{x.bound};{x.step}" for x in loops),
)  # fmt: skip
def test_ends_of_steps_of_one(loops: tuple[Loop, ...]) -> None:
    """The smallest and the largest value, for given values of the loops around."""
    domain = domain_of(loops)
    assert domain.ranges is not None
    points = list(carried_out(loops, {"n": 9}))
    for depth, one in enumerate(domain.ranges):
        outer = [r.variable for r in domain.ranges[:depth]]
        for point in points:
            alike = [p[one.variable] for p in points if all(p[v] == point[v] for v in outer)]
            assert [number(end, point) for end in one.ends] == [min(alike), max(alike)]


@pytest.mark.parametrize(
    ("strided", "ends"),
    [
        # what the comparison still allows, in whose stride's reach the last value lies
        (loop("i", 1, "<", 9, 2), (1, 8)),
        (loop("i", 8, ">=", 1, -2), (1, 8)),
        (loop("i", 1, "<", 9, 3), (1, 8)),
        (loop("i", 1, "<=", 9, 3), (1, 9)),
        (loop("i", 9, ">", 1, -3), (2, 9)),
        (loop("i", 9, ">=", 1, -3), (1, 9)),
    ],
)
def test_ends_of_strides(strided: Loop, ends: tuple[int, int]) -> None:
    domain = domain_of((strided,))
    assert domain.ranges is not None
    assert tuple(number(end, {}) for end in domain.ranges[0].ends) == ends


def test_the_bound_moves_with_what_is_cut_off() -> None:
    """`i` of (i < n, j from i + 3 to n) ends at n - 4, the last that runs a `j`."""
    domain = domain_of((UP, loop("j", I + 3, "<", N)))
    assert domain.ranges is not None
    assert domain.ranges[0].bound == domain.ranges[0].last == N - 4


@pytest.mark.parametrize(
    "loops",
    [
        (loop("i", 0, "<", N), Loop("j", None, None, "<", None, (), Span("f.c", 1), "while")),
        (EVEN, loop("j", I + 2, "<", N)),  # 0 or 1 values of i run nothing, by n
        (UP, loop("j", 0, "<", N), loop("k", I + J + 3, "<", N * 2)),  # empty for the last alone
        (UP, loop("j", 0, "<=", I), loop("k", J + 2, "<=", I)),
    ],
)
def test_domains_that_are_no_boxes_are_withheld(loops: tuple[Loop, ...]) -> None:
    assert domain_of(loops).ranges is None


def test_guards_are_the_counts_over_parameters() -> None:
    """What must run at all: n - 2 and m, and not the count of k, which moves with j."""
    domain = domain_of((UP, loop("j", 2, "<", M), loop("k", 0, "<", J)))
    assert [number(one, {"n": 9, "m": 7}) for one in domain.guards] == [9, 5]
    # where only some i run a j, those are the ones that count
    assert [str(one) for one in domain_of((UP, loop("j", I + 2, "<", N))).guards] == ["n - 2"]
    assert Domain(None).guards == ()


def test_loops_as_they_count() -> None:
    found = steps_of((UP, loop("j", I, "<", N, 2)))
    assert found is not None
    assert [(s.variable, str(s.first), str(s.step)) for s in found] == [
        ("i", "0", "1"), ("j", "i", "2"),
    ]  # fmt: skip
    assert [number(s.trips, {"n": 9, "i": 2}) for s in found] == [9, 4]  # 2, 4, 6, 8
    uncounted = Loop("j", None, None, "<", None, (), Span("f.c", 1), "while")
    assert steps_of((UP, uncounted)) is None


def test_a_step_of_unknown_size_takes_no_value_beyond_its_bound() -> None:
    """Every value that `i += m` may take is one that `i++` takes, from the same first one."""
    for found, first, last in (
        (domain_of((loop("i", 0, "<", N, M),)), 0, 8),
        (domain_of((loop("i", N, ">=", 1, -M),)), 9, 1),
    ):
        assert found.ranges is not None
        (one,) = found.ranges
        assert (number(one.first, {"n": 9}), number(one.last, {"n": 9})) == (first, last)


# -- tiles, and what looks like them ---------------------------------------------------------------

HEAD = "#define MIN(a, b) ((a) < (b) ? (a) : (b))\ndouble x[9999], y[9999];\n"


@pytest.mark.parametrize(
    ("loops", "runs"),
    [
        # true tiles: every i once
        ("for (int t = 0; t < n; t += 4) for (int i = t; i < MIN(t + 4, n); i++) x[i] = 1;",
         lambda n: n),
        ("for (int t = 0; t <= n; t += 4) for (int i = t; i <= MIN(t + 3, n); i++) x[i] = 1;",
         lambda n: n + 1),
        ("for (int t = 2; t < n; t += 4) for (int i = t; i < MIN(n, t + 4); i++) x[i] = 1;",
         lambda n: n - 2),
        # tiles with a gap between them, tiles that overlap, tiles that leave their first out
        ("for (int t = 0; t < n; t += 4) for (int i = t; i < MIN(t + 3, n); i++) x[i] = 1;",
         lambda n: sum(1 for t in range(0, n, 4) for i in range(t, min(t + 3, n)))),
        ("for (int t = 0; t < n; t += 4) for (int i = t; i < MIN(t + 6, n); i++) x[i] = 1;",
         lambda n: sum(1 for t in range(0, n, 4) for i in range(t, min(t + 6, n)))),
        ("for (int t = 0; t < n; t += 4) for (int i = t + 1; i < MIN(t + 4, n); i++) x[i] = 1;",
         lambda n: sum(1 for t in range(0, n, 4) for i in range(t + 1, min(t + 4, n)))),
        ("for (int t = 0; t < n; t += 4) for (int i = t; i < MIN(t + 4, n); i += 2) x[i] = 1;",
         lambda n: sum(1 for t in range(0, n, 4) for i in range(t, min(t + 4, n), 2))),
        ("for (int t = 0; t < n; t += 4) for (int i = t; i <= MIN(t + 4, n); i++) x[i] = 1;",
         lambda n: sum(1 for t in range(0, n, 4) for i in range(t, min(t + 4, n) + 1))),
        ("for (int t = 0; t < n; t += 4) for (int i = t; i < MIN(t + 4, n + 1); i++) x[i] = 1;",
         lambda n: sum(1 for t in range(0, n, 4) for i in range(t, min(t + 4, n + 1)))),
        ("for (int t = 0; t <= n; t += 4) for (int i = t; i < MIN(t + 4, n); i++) x[i] = 1;",
         lambda n: n),
        # two loops in one tile: every i with every j of its tile
        ("for (int t = 0; t < n; t += 4) for (int i = t; i < MIN(t + 4, n); i++)"
         " for (int j = t; j < MIN(t + 4, n); j++) x[i] = y[j];",
         lambda n: sum(min(4, n - t) ** 2 for t in range(0, n, 4))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("n", [9, 12, 14])
def test_tiles_and_what_looks_like_them(loops: str, runs: object, n: int) -> None:
    assert callable(runs)
    facts = facts_of_loop(loops, HEAD, n=n)
    assert facts.statements[-1].executions.value == runs(n)


def test_a_tile_is_all_of_a_step_one_by_one() -> None:
    t = Expr.name("t")
    tile = loop("t", 0, "<", N, 3)
    inner = loop("i", t, "<", Expr.atom("min", t + 3, N))
    assert _is_tile(tile, inner)
    assert _is_tile(tile, replace(inner, bound=Expr.atom("min", N, t + 3)))
    for change in (
        {"step": Expr.const(2)}, {"step": None}, {"start": t + 1}, {"start": None},
        {"bound": Expr.atom("min", t + 2, N)}, {"bound": N}, {"bound": None}, {"comparison": ">"},
    ):  # fmt: skip
        assert not _is_tile(tile, replace(inner, **change))
    for change in ({"step": Expr.const(2)}, {"step": None}, {"bound": N + 1}, {"bound": None}):
        assert not _is_tile(replace(tile, **change), inner)


@pytest.mark.parametrize("first", [0, 3, 9])
def test_tiles_that_begin_where_their_variable_stands(first: int) -> None:
    """`for (; t < n; t += 4)`: every i from there on once, and the loop over tiles is none."""
    tile = Expr.name("t")
    loops = (
        loop("t", tile, "<", N, 4), loop("i", tile, "<", Expr.atom("min", tile + 4, N)),
    )  # fmt: skip
    counted = steps_of(loops)
    assert counted is not None
    assert [own.variable for own in counted] == ["i"]
    at = {"n": 10, "t": first}
    reached = [point["i"] for point in carried_out(loops, at)]
    assert number(counted[0].first, at) == reached[0]
    assert number(counted[0].trips, at) == len(reached)


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("most", range(-2, 12))
def test_two_strided_loops_around_one_bound(step: int, most: int) -> None:
    """Where some of the innermost loops run nothing, nothing false is said of them."""
    loops = (loop("i", 0, "<", 5, step), loop("j", 0, "<", 4), loop("k", I + J, "<", most))
    domain = domain_of(loops)
    turns = [most - at["i"] - at["j"] for at in carried_out(loops[:2], {})]
    if min(turns) < 0:
        assert domain.ranges is None
    elif min(turns) > 0 and domain.ranges is not None:
        assert list(of_domain(domain, {})) == list(carried_out(loops, {}))
