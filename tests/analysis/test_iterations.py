"""How often: trip counts, shared iterations and executions, by carrying the loops out."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from texts import facts_of_loop, facts_of_texts

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.iterations import executions_in_loops
from regionpredict.ir import Expr, Loop, Span

HEAD = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
double x[9999], y[9999];
"""


def runs(loops: str, **sizes: int) -> int | None:
    """The executions of the last statement in the loops."""
    return facts_of_loop(loops + " x[0] = 1;", HEAD, **sizes).statements[-1].executions.value


@pytest.mark.parametrize(
    ("loops", "truth"),
    [
        ("for (int i = 0; i < n; i++)", range),
        ("for (int i = 0; i <= n; i++)", lambda n: range(n + 1)),
        ("for (int i = 2; i < n; i += 3)", lambda n: range(2, n, 3)),
        ("for (int i = 2; i <= n; i += 3)", lambda n: range(2, n + 1, 3)),
        ("for (int i = n; i > 1; i--)", lambda n: range(n, 1, -1)),
        ("for (int i = n; i >= 1; i -= 4)", lambda n: range(n, 0, -4)),
        ("for (int i = 0; i != n; i++)", range),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 12])
def test_one_loop(loops: str, truth: Callable[[int], range], n: int) -> None:
    facts = facts_of_loop(loops + " x[i] = 1;", HEAD, n=n)
    assert facts.iterations.value == facts.statements[0].executions.value == len(truth(n))


NESTS: list[tuple[str, Callable[[int, int], int]]] = [
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)", lambda n, m: n * m),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)", lambda n, m: n * (n - 1) // 2),
    ("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) for (int k = i; k <= j; k++)",
     lambda n, m: n * (n + 1) * (n + 2) // 6),
    ("for (int i = 0; i < n; i++) for (int j = i + 3; j < n; j++)",
     lambda n, m: sum(max(0, n - i - 3) for i in range(n))),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i - 3; j++)",
     lambda n, m: sum(max(0, i - 3) for i in range(n))),
    ("for (int i = 0; i < n; i++) for (int j = i; j < m; j++)",
     lambda n, m: sum(max(0, m - i) for i in range(n))),
    ("for (int i = 0; i < n; i++) for (int j = MAX(i - m, 0); j <= MIN(i + m, n - 1); j++)",
     lambda n, m: sum(min(i + m, n - 1) - max(i - m, 0) + 1 for i in range(n))),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j += 2)",
     lambda n, m: sum(len(range(0, i, 2)) for i in range(n))),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i / 3; j++)",
     lambda n, m: sum(i // 3 for i in range(n))),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i % 4; j++)",
     lambda n, m: sum(i % 4 for i in range(n))),
    ("for (int i = 0; i < n; i += 3) for (int j = i; j < n; j += 2)",
     lambda n, m: sum(len(range(i, n, 2)) for i in range(0, n, 3))),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < 2 * i + m; j++)",
     lambda n, m: n * (n - 1) + n * m),
]  # fmt: skip


@pytest.mark.parametrize(("loops", "truth"), NESTS, ids=[loops for loops, _ in NESTS])
def test_nests_by_value(loops: str, truth: Callable[[int, int], int]) -> None:
    for n, m in ((0, 4), (1, 0), (2, 5), (5, 3), (11, 4), (12, 0)):
        sizes = {"n": n, "m": m} if re.search(r"\bm\b", loops) else {"n": n}
        assert runs(loops, **sizes) == truth(n, m), (n, m)


@pytest.mark.parametrize(("loops", "truth"), [*NESTS[:3], NESTS[-1]])
def test_nests_by_their_shown_form(loops: str, truth: Callable[[int, int], int]) -> None:
    count = facts_of_loop(loops + " x[0] = 1;", HEAD).statements[-1].executions
    assert count.expr is not None
    for n, m in ((5, 3), (11, 4)):
        assert count.expr.evaluate({"n": n, "m": m}) == truth(n, m)


@pytest.mark.parametrize("shift", [0, 3, 5, 8])
@pytest.mark.parametrize("divisor", [2, 3])
def test_quotients_below_zero_are_rounded_up(shift: int, divisor: int) -> None:
    """C rounds towards zero: the form does, too, or there is none."""
    loops = f"for (int i = 0; i < n; i++) for (int j = -9; j < (i - {shift}) / {divisor}; j++)"
    count = facts_of_loop(loops + " x[0] = 1;", HEAD).statements[-1].executions
    for n in (1, 2, 3, 6, 20):
        truth = sum(int((i - shift) / divisor) + 9 for i in range(n))
        assert runs(loops, n=n) == truth
        assert count.expr is None or count.expr.evaluate({"n": n}) == truth


def shared(clauses: str, loops: str, **sizes: int) -> RegionFacts:
    text = f"{HEAD} void f(int n, int m) {{\n#pragma omp parallel for {clauses}\n{loops}\n}}\n"
    (facts,) = facts_of_texts(text, **sizes)
    return facts


def test_iterations_are_those_of_the_collapsed_loops() -> None:
    rectangle = (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 3; k++)"
        " x[k] = 1;"
    )
    for clauses, truth in (("", 5), ("collapse(1)", 5), ("collapse(2)", 20), ("collapse(3)", 60)):
        assert shared(clauses, rectangle, n=5, m=4).iterations.value == truth
    triangle = "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) { x[j] = 1; }"
    assert shared("collapse(2)", triangle, n=5).iterations.value == 5 + 4 + 3 + 2 + 1
    assert shared("", triangle, n=5).iterations.value == 5


def test_a_statement_counts_the_loops_around_it_alone() -> None:
    loops = (
        "for (int i = 0; i < n; i++) { x[i] = 1; for (int j = 0; j < m; j++) y[j] = 1; y[i] = 2; }"
    )
    facts = shared("", loops, n=5, m=4)
    assert [s.executions.value for s in facts.statements] == [5, 20, 5]


def test_a_loop_known_to_be_empty_needs_no_other_number() -> None:
    """With n at most 0 nothing runs, whatever m is; at 1 it depends on m."""
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    assert runs(loops, n=0) == runs(loops, n=-4) == 0
    assert runs(loops, n=1) is None
    assert runs(loops, m=0) == 0
    assert runs(loops, m=3) is None
    assert runs(loops, n=1, m=1) == 1
    # nor does an inner loop whose number depends on the outer one
    assert runs("for (int i = 0; i < n; i++) for (int j = i; j < m; j++)", n=3) is None


def test_where_the_shown_form_holds_it_is_the_value() -> None:
    """2 i n - i i ... of a band: at its condition n = m + 1, and on both sides of it."""
    loops = "for (int i = 0; i < n; i++) for (int j = MAX(i - m, 0); j <= MIN(i + m, n - 1); j++)"
    count = facts_of_loop(loops + " x[0] = 1;", HEAD).statements[-1].executions
    assert count.expr is not None
    for n, m in ((4, 3), (5, 3), (3, 3), (2, 3), (1, 0)):
        truth = sum(min(i + m, n - 1) - max(i - m, 0) + 1 for i in range(n))
        if all((one.evaluate({"n": n, "m": m}) or 0) >= 0 for one in count.holds):
            assert count.expr.evaluate({"n": n, "m": m}) == truth
        assert runs(loops, n=n, m=m) == truth


def test_a_shown_form_holds_from_one_iteration_on() -> None:
    """k runs 0 + i + 2 i times for each i: 3 n (n - 1) / 2 in all.

    No sum is known that would hold where k does not run: the shown form alone gives the number.
    """
    loops = (
        "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < i * j; k++)"
    )
    assert [runs(loops, n=n) for n in (1, 2, 4)] == [0, 3, 18]


@pytest.mark.parametrize("m", [0, 10, 29_998, 29_999, 30_000, 45_000])
def test_bands_too_long_to_be_carried_out(m: int) -> None:
    """By the shown form where that holds, up to n = m + 1, and else by the exact one."""
    loops = "for (int i = 0; i < n; i++) for (int j = MAX(i - m, 0); j <= MIN(i + m, n - 1); j++)"
    n = 30_000
    truth = sum(min(i + m, n - 1) - max(i - m, 0) + 1 for i in range(n))
    assert runs(loops, n=n, m=m) == truth


@pytest.mark.parametrize("m", [1, 2, 5])
def test_a_shown_form_alone_gives_the_number_of_many(m: int) -> None:
    """No sum is known that holds where k does not run; one t is the least that the form takes."""
    loops = (
        "for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++)"
        " for (int k = 0; k < i * j; k++)"
    )
    n = 30_000
    assert runs(loops, n=n, m=m) == m * sum(i * j for i in range(n) for j in range(3))


def test_a_loop_that_is_not_counted_has_no_number() -> None:
    loops = "for (int i = 0; i < n; i++) { double v = y[i]; while (v > 1) v = x[i] * v; }"
    facts = shared("", loops, n=5)
    assert facts.iterations.value == 5
    assert facts.statements[0].executions.value == 5
    assert facts.statements[-1].executions.value is None
    assert facts.statements[-1].executions.expr is None


def test_an_early_end_makes_an_upper_bound_of_its_loop_alone() -> None:
    loops = (
        "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) { if (y[j] > 0) break;"
        " y[j] = 1; } x[i] = 1; }"
    )
    facts = shared("", loops, n=5, m=4)
    told = [(s.executions.value, s.executions.at_most) for s in facts.statements]
    assert told[0] == (20, True)
    assert told[-1] == (5, False)
    assert facts.iterations.at_most is False


def test_a_count_by_a_square_is_right_or_withheld() -> None:
    for n in (0, 1, 2, 7):
        found = runs("for (int i = 0; i < n; i++) for (int j = 0; j < i * i; j++)", n=n)
        assert found in (None, sum(i * i for i in range(n)))


@pytest.mark.parametrize(("names", "constant", "shown"), [(59, 5, True), (60, 0, False)])
def test_a_form_of_120_parts_is_shown(names: int, constant: int, shown: bool) -> None:
    """A sum of 59 names and a number: a sum, 60 terms and 59 factors; of 60 names: one more."""
    bound = sum((Expr.name(f"n{at}") for at in range(names)), Expr.const(constant))
    assert bound.size == 120 + (not shown)
    loop = Loop("i", Expr.const(0), bound, "<", Expr.const(1), (), Span("f.c", 1))
    assert (executions_in_loops((loop,)).expr is not None) is shown
