"""What scalars carry from iteration to iteration: by hand, and by running many iterations."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import workload_in

from regionpredict.analysis import StatementFact
from regionpredict.analysis.facts import Count
from regionpredict.ir import Expr, Span, Statement
from regionpredict.workload import Recurrence
from regionpredict.workload.dependence_cycles import CarriedCycle, carried_cycles

DECLARED = "int n, double r, double s, double t, int m, int q, double *a, int *row"


def chains(inner: str) -> list[Recurrence]:
    loops = f"for (int i = 0; i < 100; i++)\n for (int j = 0; j < n; j++) {{ {inner} }}"
    made = workload_in(loops, DECLARED, n=50)
    assert made.execution is not None
    (body,) = made.execution.work.bodies
    return [one for one in body.recurrences if one.in_order]


@pytest.mark.parametrize(
    ("inner", "operations", "iterations", "share"),
    [
        ("t = 0.5 * s; s = t + 1.0;", "fp_mul fp_add", 1, 1),
        ("t = s + a[j]; s = t;", "fp_add", 1, 1),
        ("s = 0.5 * s + a[j];", "fp_mul fp_add", 1, 1),
        ("m = m * 5 + 1;", "int_mul int_add", 1, 1),
        ("m = (m * 5 + q) % q;", "int_mul int_add int_div", 1, 1),
        # A quotient of the upper half of a product, and what its product with 17 leaves.
        (
            "m = (m * 5 + q) % 17;",
            "int_mul int_add int_mul int_logic int_add int_mul int_add",
            1,
            1,
        ),
        ("m = (m * 5 + q) / 2;", "int_mul int_add int_logic int_add int_logic", 1, 1),
        ("t = s + a[j]; s = t / 2.0;", "fp_add fp_mul", 1, 1),
        ("t = s + a[j]; s = t / 3.0;", "fp_add fp_div", 1, 1),
        ("m = row[m];", "load", 1, 1),
        ("m = m / q;", "int_div", 1, 1),
        ("s = sin(s);", "call:sin", 1, 1),
        ("t = r + s; r = s; s = t;", "fp_add", 1, 1),  # s alone; by way of r it takes two
        ("t = r * s + 1.0; r = s; s = t;", "fp_mul fp_add", 1, 1),
        ("t = r * 2.0 + 1.0; r = s; s = t;", "fp_mul fp_add", 2, 1),
        ("if (a[j] > 0.0) { t = 2.0 * s; s = t * t; }", "fp_mul fp_mul", 1, 0.5),
        ("t = 2.0 * s; if (a[j] > 0.0) s = t * t;", "fp_mul fp_mul", 1, 0.5),
    ],
)
def test_cycles(inner: str, operations: str, iterations: int, share: float) -> None:
    """The slowest of them, where there are several."""
    chain = max(chains(inner), key=_pace)
    assert (chain.operations, chain.distance) == ((tuple(operations.split()),), iterations)
    assert chain.share == share


def _pace(chain: Recurrence) -> float:
    assert chain.distance is not None
    return chain.share * len(chain.operations[0]) / chain.distance


@pytest.mark.parametrize(
    "inner",
    [
        "t = a[j] * a[j]; s = t + 1.0;",  # made anew in every iteration
        "t = s; s = a[j];",  # the value of the iteration before, and not of that before it
        "s += a[j] * t;",  # only the sum waits: `sum into s`
        "s = s > a[j] ? s : a[j];",
        "m += row[j]; m += q;",  # integers are added up in any order
        "m = m + (row[j] > 3);",
        "q = m + 1; row[j] = q;",
        "if (a[j] > s) { s = a[j]; m = j; }",  # the branch is guessed
        "a[j] = s * t;",
    ],
)
def test_no_cycles(inner: str) -> None:
    assert chains(inner) == []


def test_a_cycle_is_told_once_by_its_first_name() -> None:
    (chain,) = chains("t = r * 2.0; r = s; s = t; a[j] = r;")
    assert chain.name == "recurrence over r"


def test_what_the_loop_around_begins_anew_goes_beside_the_next() -> None:
    text = """for (int i = 0; i < 100; i++) {
  s = 0.0;
  for (int j = 0; j < n; j++) { t = 0.5 * s; s = t + 1.0; }
  a[i] = s;
}"""
    made = workload_in(text, DECLARED, n=50)
    assert made.execution is not None
    (chain,) = made.execution.work.bodies[-1].recurrences
    assert chain.restarts and not chain.unordered


@pytest.mark.parametrize(
    ("before", "after", "anew"),
    [
        ("s = b[i];", "a[i] = s;", True),
        ("r = b[i]; s = r;", "r = 0.5 * s;", True),
        ("s = r;", "r = s;", False),  # goes on where the loop left off
        ("t = r; s = t;", "r = 2.0 * s;", False),
        ("s = r;", "r += 1.0;", True),
    ],
)  # fmt: skip
def test_what_goes_on_where_the_loop_left_off_is_one_chain(
    before: str, after: str, anew: bool
) -> None:
    text = f"""for (int i = 0; i < 100; i++) {{
  {before}
  for (int j = 0; j < n; j++) {{ s = s * 0.5 + a[j]; }}
  {after}
}}"""
    made = workload_in(text, DECLARED, n=50)
    assert made.execution is not None
    chains = made.execution.work.bodies[-1].recurrences
    assert {chain.restarts for chain in chains} == {anew}


@pytest.mark.parametrize(
    ("inner", "free"),
    [("t = s + a[j]; s = t;", True), ("t = 0.5 * s; s = t + 1.0;", False)],
)
def test_a_sum_over_two_statements_may_be_reordered(inner: str, free: bool) -> None:
    made = workload_in(
        f"for (int i = 0; i < 100; i++)\n#pragma omp simd reduction(+:s)\n"
        f" for (int j = 0; j < n; j++) {{ {inner} }}", DECLARED, n=50,
    )  # fmt: skip
    assert made.execution is not None
    (chain,) = made.execution.work.bodies[0].recurrences
    assert chain.unordered == free


# -- random iterations, run many times -------------------------------------------------------------

NAMES = ("p", "q", "r", "s")
LENGTHS = st.sampled_from([0, 2, 3, 5])
STATEMENT = st.tuples(
    st.sampled_from(NAMES), st.dictionaries(st.sampled_from(NAMES), LENGTHS, max_size=3)
)
ONCE = Count(Expr.const(1), 1)


def fact(target: str, lengths: dict[str, int]) -> StatementFact:
    paths = tuple((name, ("fp_mul",) * length) for name, length in sorted(lengths.items()))
    statement = Statement(
        "", Span("", 1, 1), (), (), reads=frozenset(lengths), writes=frozenset([target]),
        paths=paths,
    )  # fmt: skip
    return StatementFact(statement, (), ONCE, ())


def pace(statements: list[tuple[str, dict[str, int]]]) -> Fraction:
    """Operations an iteration, long after the beginning; 12 is a multiple of any cycle's length."""
    ready = dict.fromkeys(NAMES, 0)
    at: dict[int, int] = {}
    for iteration in range(1, 73):
        for target, lengths in statements:
            ready[target] = max((ready[name] + n for name, n in lengths.items()), default=0)
        at[iteration] = max(ready.values())
    return Fraction(at[72] - at[60], 12)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.lists(STATEMENT, min_size=1, max_size=7))
def test_the_slowest_cycle_paces_the_iterations(
    statements: list[tuple[str, dict[str, int]]],
) -> None:
    facts = [fact(*statement) for statement in statements]
    cycles = list(carried_cycles(facts, (), "i", reassociates=False))
    slowest = max(
        (Fraction(len(cycle.operations), cycle.iterations) for cycle in cycles), default=Fraction(0)
    )
    assert slowest == pace(statements)


def test_the_counter_is_no_value_that_waits() -> None:
    facts = [fact("s", {"s": 2})]
    assert list(carried_cycles(facts, (), "s", reassociates=False)) == []
    assert list(carried_cycles(facts, (), "i", reassociates=False)) == [
        CarriedCycle(("s",), ("fp_mul", "fp_mul"), 1, 1.0)
    ]


@pytest.mark.parametrize("length", range(1, 7))
def test_values_that_come_back_after_more_than_four_iterations(length: int) -> None:
    """x0 = f(x1), x1 = f(x2), ... and the last of x0, which has been set: x1 goes to the last by
    two steps, the last to the one before it by one, and so back to x1.
    """
    names = [f"x{at}" for at in range(length + 1)]
    facts = [fact(name, {behind: 1}) for name, behind in pairwise([*names, names[0]])]
    cycles = list(carried_cycles(facts, (), "i", reassociates=False))
    steps = ("fp_mul",) * (length + 1)
    ring = (names[1], *names[:1:-1])
    assert cycles == ([CarriedCycle(ring, steps, length, 1.0)] if length <= 4 else [])
