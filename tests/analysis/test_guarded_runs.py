"""How often the body of a nest runs where conditions let it: by hand."""

from __future__ import annotations

import pytest

from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.execution_counts import Guard, Runs, guarded_runs
from regionpredict.ir import Expr, Loop, Span

T, J, N, M = (Expr.name(name) for name in "tjnm")
PLACE, INNER = Span("f.c", 3), Span("f.c", 4)


def number(value: int) -> Expr:
    return Expr.const(value)


def less(left: Expr, right: Expr) -> Expr:
    return Expr.atom("lt", left, right)


def guard(condition: Expr, text: str = "c") -> Guard:
    return Guard(condition, text, (("t", PLACE), ("j", INNER)), Span("f.c", 9))


KNOWN = Loop("t", number(0), number(20), "<", number(1), (), PLACE)


@pytest.mark.parametrize(
    ("start", "comparison", "bound", "step", "condition", "runs"),
    [
        # ten iterations are assumed where nobody knows how many there are
        (number(0), "<", N, number(1), less(T, number(4)), 4),
        (number(5), "<", N, number(3), less(number(20), T), 4),  # 23, 26, 29 and 32
        (number(20), ">", N, number(-2), less(T, number(16)), 7),  # from 14 down to 2
        (number(3), ">", N, number(-1), less(T, number(-2)), 4),  # from -3 down to -6
        (N, "<", number(90), number(1), less(number(6), T), 3),  # from nought on: 7, 8 and 9
        (number(50), "<", N, M, less(number(6), T), 3),  # by ones, as nobody knows the step
    ],
)
def test_conditions_in_a_loop_of_which_nobody_knows_how_often_it_runs(
    start: Expr, comparison: str, bound: Expr, step: Expr, condition: Expr, runs: int
) -> None:
    loop = Loop("t", start, bound, comparison, step, (), PLACE)
    assert guarded_runs([loop], Bindings({}), [guard(condition)]) == Runs(None, None, float(runs))


def test_a_loop_that_is_known_keeps_its_iterations_beside_one_that_is_not() -> None:
    """Of t from 0 to 19 and ten of j: j = 3 - t for four of t."""
    inner = Loop("j", number(0), N, "<", number(1), (), INNER)
    both = [guard(less(T + J, number(4))), guard(less(number(2), T + J))]
    assert guarded_runs([KNOWN, inner], Bindings({}), both) == Runs(None, None, 4.0)
    assert guarded_runs([KNOWN, inner], Bindings({"n": 2}), both) == Runs(None, 2, 2.0)


def test_a_condition_that_nothing_decides_names_one_size_that_would() -> None:
    """Of two, the first; not the counter."""
    runs = guarded_runs([KNOWN], Bindings({}), [guard(less(T, M * N), "t < m * n")])
    note = "t < m * n at f.c:9 is assumed to hold each time (--set m=... decides it)"
    assert (runs.value, runs.weight, runs.assumed) == (None, 20.0, (note,))


def test_a_condition_on_data_names_none() -> None:
    read = Expr.atom("ref", T, label="x")
    for condition in (less(read, number(3)), less(read, N)):
        runs = guarded_runs([KNOWN], Bindings({}), [guard(condition, "x[t] < 3")])
        assert runs.assumed == ("x[t] < 3 at f.c:9 is assumed to hold each time",)


def test_a_condition_that_is_decided() -> None:
    holds, fails = guard(number(1)), guard(number(0))
    assert guarded_runs([KNOWN], Bindings({}), [holds])[1:3] == (20, 20.0)
    assert guarded_runs([KNOWN], Bindings({}), [holds, fails])[1:3] == (0, 0.0)
