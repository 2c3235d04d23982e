"""Numbers for names: what the caller gives, what the source defines, middles of loops around."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from texts import facts_of_texts

from regionpredict.analysis import Bindings, RegionFacts, bind_names
from regionpredict.analysis.bindings import middle_of, with_middles
from regionpredict.errors import UsageError
from regionpredict.ir import Definition, Expr, Loop, Region, Span, Statement
from regionpredict.ir.expr import ONE, ZERO

N, M = Expr.name("n"), Expr.name("m")
PLACE = Span("f.c", 1)
EMPTY = Region("f.c:1", PLACE, "f", "parallel for", (), "combined", 1, None, ())


def region(text: str, **sizes: int) -> RegionFacts:
    (facts,) = facts_of_texts("double x[9999];\n" + text, **sizes)
    return facts


@pytest.mark.parametrize(
    ("expression", "number", "whole"),
    [
        (N + 1, 8, 8),
        (N * Fraction(1, 2), Fraction(7, 2), 3),
        (N * Fraction(-1, 2), Fraction(-7, 2), -4),  # down, not towards zero
        (M, None, None),
        (N * M, None, None),
        (None, None, None),
        (Expr.const(0), 0, 0),
    ],
)
def test_values_of_expressions(
    expression: Expr | None, number: Fraction | None, whole: int | None
) -> None:
    known = Bindings({"n": 7})
    assert known.number(expression) == number
    assert known.whole(expression) == whole
    assert isinstance(known.whole(expression), int | None)


def test_what_is_given_goes_before_what_is_defined() -> None:
    definitions = (Definition("n", Expr.const(5), PLACE), Definition("m", N + 1, PLACE))
    assert dict(bind_names(EMPTY, definitions, {}).values) == {"n": 5, "m": 6}
    assert dict(bind_names(EMPTY, definitions, {"n": 9}).values) == {"n": 9, "m": 10}
    assert dict(bind_names(EMPTY, definitions, {"m": 3}).values) == {"n": 5, "m": 3}


def test_definitions_in_any_order() -> None:
    """Each on the one behind it, so that one turn through them is not enough."""
    chain = tuple(Definition(f"a{k}", Expr.name(f"a{k + 1}") + 1, PLACE) for k in range(5))
    last = Definition("a5", Expr.const(10), PLACE)
    known = bind_names(EMPTY, (*chain, last), {})
    assert dict(known.values) == {"a5": 10, "a4": 11, "a3": 12, "a2": 13, "a1": 14, "a0": 15}


def test_definitions_in_a_circle_or_without_an_end_give_nothing() -> None:
    circle = (Definition("n", M, PLACE), Definition("m", N, PLACE))
    assert dict(bind_names(EMPTY, circle, {}).values) == {}
    assert dict(bind_names(EMPTY, (Definition("n", M + 1, PLACE),), {}).values) == {}


def test_a_region_whose_names_are_defined_in_a_circle_asks_for_no_more() -> None:
    i, t = Expr.name("i"), Expr.name("t")
    nest = Loop("i", ZERO, N, "<", ONE, (Statement("x = 1", PLACE, (), ()),), PLACE)
    around = Loop("t", ZERO, Expr.const(8), "<", ONE, (), PLACE)
    region = replace(EMPTY, nest=nest, enclosing=(around,))
    circle = (Definition("n", M + t, PLACE), Definition("m", N - i, PLACE))
    known = bind_names(region, circle, {})
    assert dict(known.values) == {"t": 4}
    assert len(known.assumed) == 1  # `n` hangs on it
    away = (Definition("q", t, PLACE),)
    assert bind_names(region, away, {}).assumed == ()  # which no count asks for


@pytest.mark.parametrize(
    ("definitions", "given", "derived", "unbound"),
    [
        ({"n": M * M}, {}, M * M, ["m"]),
        ({"n": M + 1, "m": Expr.name("k") * 2}, {}, Expr.name("k") * 2 + 1, ["k"]),
        ({"n": M * Expr.name("k")}, {"m": 3}, M * Expr.name("k"), ["k"]),
        ({"n": M * M}, {"m": 3}, None, []),  # it has a number
        ({}, {}, None, ["n"]),
        ({"n": N + 1}, {}, None, ["n"]),  # of what it was before
        ({"n": Expr.name("i") + 1}, {}, None, ["n"]),  # of what the loop moves
        ({"n": Expr.atom("ref", ZERO, label="size")}, {}, None, ["n"]),
    ],
)
def test_names_that_the_source_makes_of_others(
    definitions: dict[str, Expr], given: dict[str, int], derived: Expr | None, unbound: list[str]
) -> None:
    """Of a loop over i up to n: what has to be known, and n by that."""
    nest = Loop("i", ZERO, N, "<", ONE, (Statement("x = 1", PLACE, (), ()),), PLACE)
    told = tuple(Definition(name, value, PLACE) for name, value in definitions.items())
    known = bind_names(replace(EMPTY, nest=nest), told, given)
    assert known.derived == ({} if derived is None else {"n": derived})
    assert known.unbound(["n"]) == unbound
    assert known.in_unbound(N + 5) == (N if derived is None else derived) + 5
    if derived is not None:
        values = {**given, **dict.fromkeys(unbound, 7)}
        assert known.with_derived(values) == {**values, "n": derived.evaluate(values)}


def test_halves_stay_exact() -> None:
    known = bind_names(EMPTY, (Definition("n", M * Fraction(1, 2), PLACE),), {"m": 7})
    assert known.values["n"] == Fraction(7, 2)


AROUND = """
void f(int n) {{
  for (int t = {start}; t < {bound}; t++) {{
#pragma omp parallel for
    for (int i = 0; i < {end}; i++) x[{place}] = 1;
  }}
}}
"""


@pytest.mark.parametrize(
    ("start", "bound", "middle"),
    [(0, 100, 50), (10, 21, 15), (7, 8, 7), (0, 5, 2), (-9, 0, -5)],  # (start + bound) / 2, down
)
def test_the_middle_of_the_loop_around(start: int, bound: int, middle: int) -> None:
    facts = region(AROUND.format(start=start, bound=bound, end="n + t", place="i"), n=1000)
    assert facts.bindings.values["t"] == middle
    assert facts.iterations.value == 1000 + middle
    assert facts.bindings.assumed == (f"t = {middle} (the middle of the loop around the region)",)


@pytest.mark.parametrize(
    ("end", "place", "assumed"),
    [("n", "i", False), ("n - t", "i", True), ("n", "i + t", True), ("n", "t", True)],
)
def test_a_middle_is_told_where_it_matters(end: str, place: str, assumed: bool) -> None:
    facts = region(AROUND.format(start=0, bound=8, end=end, place=place), n=1000)
    assert bool(facts.bindings.assumed) == assumed


def test_middles_go_from_the_outside_in() -> None:
    """The inner loop runs from t = 50 to 60: its middle is 55, and m = 56 follows from it."""
    facts = region("""
void f(void) {
  for (int t = 0; t < 100; t++)
    for (int s = t; s < t + 10; s++) {
      int m = s + 1;
#pragma omp parallel for
      for (int i = 0; i < m; i++) x[i] = 1;
    }
}
""")
    assert (facts.bindings.values["t"], facts.bindings.values["s"]) == (50, 55)
    assert facts.iterations.value == 56
    assert facts.bindings.assumed[-1].startswith("s = 55 (")


def test_a_middle_through_a_definition_is_told() -> None:
    inside = "{ int m = 2 * t; \n#pragma omp parallel for\n for (int i = 0; i < m; i++) x[i] = 1; }"
    facts = region("void f(void) { for (int t = 0; t < 10; t++) " + inside + "}")
    assert facts.iterations.value == 10
    assert len(facts.bindings.assumed) == 1


def test_no_middle_where_a_value_is_given_or_an_end_unknown() -> None:
    inside = region(AROUND.format(start=0, bound=100, end="n + t", place="i"), n=1000).region
    given = bind_names(inside, (), {"n": 1000, "t": 3})
    assert (dict(given.values), given.assumed) == ({"n": 1000, "t": 3}, ())
    unknown = region(AROUND.format(start=0, bound="n", end="n + t", place="i"))
    assert "t" not in unknown.bindings.values
    assert (unknown.iterations.value, unknown.bindings.assumed) == (None, ())


@pytest.mark.parametrize(
    ("turns", "end", "value", "iterations"),
    [
        (5, "t - 2", 3, 1),  # 0, 0, 0, 1 and 2 iterations: 0.6 on average, nearest to one
        (5, "2 - t", 1, 1),
        (5, "t", 2, 2),
        (5, "t * t", 2, 4),  # 0, 1, 4, 9 and 16: six, of which four is nearest
        (6, "t * t", 3, 9),  # 0, 1, 4, 9, 16 and 25: 9 1/6
        (2, "7 * t", 0, 0),  # 0 and 7: as near, and so the nearer to the middle, which is 0
        (1, "t + 3", 0, 3),
        # 25, 16, 16, 9, 9, 4, 4, 1, 1, 0 and 0: 7.7, and of both nines the one nearer to five
        (11, "(10 - t) / 2 * ((10 - t) / 2)", 4, 9),
    ],
)
def test_a_callers_counter_stands_where_the_loop_is_as_long_as_on_average(
    turns: int, end: str, value: int, iterations: int
) -> None:
    """A loop that would run backwards does not run: it counts as none."""
    facts = region(f"""
static void part(int t) {{
#pragma omp parallel for
  for (int i = 0; i < {end}; i++) x[i] = 1;
}}
void f(void) {{ for (int s = 0; s < {turns}; s++) part(s); }}
""")
    assert (facts.bindings.values["t"], facts.iterations.value) == (value, iterations)
    middle = value == (turns - 1) // 2
    assert all(("its middle" in line) is middle for line in facts.bindings.assumed)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # bounds, starts, steps, subscripts, extents and the loops around; no loop's own variable
        ("void f(int n, int m) {\n#pragma omp parallel for\nfor (int i = m; i < n; i++) x[i] = 1;}",
         {"n", "m"}),
        ("void f(int n, int s) {\n#pragma omp parallel for\n"
         "for (int i = 0; i < n; i += s) x[i] = 1;}", {"n", "s"}),
        ("void f(int n, int k) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++)"
         " x[i + k] = 1;}", {"n", "k"}),
        ("void f(int n, int c, double a[n][c]) {\n#pragma omp parallel for\n"
         "for (int i = 0; i < n; i++) a[i][0] = 1;}", {"n", "c"}),
        ("void f(int n, int e, int s) { for (int t = 0; t < e; t += s) {\n"
         "#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i + t] = 1;}}", {"n", "e", "s"}),
    ],
)  # fmt: skip
def test_names_that_a_value_may_be_given_for(text: str, names: set[str]) -> None:
    """Each is taken; what no region depends on is refused."""
    region(text, **dict.fromkeys(names, 5))
    for other in ("i", "t", "q"):
        with pytest.raises(UsageError, match=f"--set {other}: no region depends on it"):
            region(text, **{other: 5})


def test_the_middle_of_a_range() -> None:
    """(start + bound) / 2 rounded down; not known where an end is not."""

    def middle(start: Expr | None, bound: Expr | None) -> int | None:
        loop = Loop("t", start, bound, "<", Expr.const(1), (), PLACE)
        return middle_of(loop, {"n": 9})

    assert middle(Expr.const(2), N) == 5
    assert middle(N, Expr.const(2)) == 5
    assert middle(Expr.const(-4), Expr.const(1)) == -2
    for ends in ((None, N), (N, None), (None, None), (M, N), (N, M)):
        assert middle(*ends) is None


@pytest.mark.parametrize(
    ("bound", "end", "place", "values", "told"),
    [
        ("8", "n", "i + t", {"n": 5}, {"t": 4}),
        ("m", "n", "i + t", {"n": 5, "m": 6}, {"t": 3}),
        ("m", "n", "i + t", {"n": 5}, {"t": 0}),  # wherever its addresses lie, they are the same
        ("m", "n + t", "i", {"n": 5}, {}),  # it decides how often the loop turns
        ("m", "n + t", "i", {"n": 5, "t": 7}, {"t": 7}),
    ],
)
def test_loops_around_stand_in_their_middle_or_anywhere(
    bound: str, end: str, place: str, values: dict[str, int], told: dict[str, int]
) -> None:
    text = (
        f"void f(int n, int m) {{ for (int t = 0; t < {bound}; t++) {{\n"
        f"#pragma omp parallel for\nfor (int i = 0; i < {end}; i++)"
        f" for (int j = 0; j < 3; j++) x[{place}] = j; }} }}\n"
    )
    assert with_middles(region(text).region, values) == {**values, **told}
