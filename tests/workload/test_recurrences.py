"""Chains that wait for the iteration before: sums and recurrences, by hand and by enumeration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import MEBIBYTE, facts_of_text, workload_in

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse
from regionpredict.workload import LoopBody, Recurrence, workload_of

DECLARED = "int n, double s, double t, double *a, double *b, int *row"


def chains(inner: str, head: str = "j = 9; j < n; j++") -> tuple[Recurrence, ...]:
    loops = f"for (int i = 0; i < 100; i++)\n for (int {head}) {{ {inner} }}"
    made = workload_in(loops, DECLARED, **({"n": 50} if "n;" in head else {}))
    assert made.execution is not None
    (body,) = made.execution.work.bodies
    return body.recurrences


ADD, MULTIPLY = ("fp_add",), ("fp_mul",)


@pytest.mark.parametrize(
    ("inner", "chain"),
    [
        ("s += b[j];", [("sum into s", (ADD,), None)]),
        ("s = s * b[j];", [("sum into s", (MULTIPLY,), None)]),
        ("a[i] += b[j];", [("recurrence over a", (ADD,), None)]),
        ("a[j] = a[j - 1] * s;", [("recurrence over a", (MULTIPLY,), 1.0)]),
        ("a[j] = a[j - 3] + a[j - 5];", [("recurrence over a", (ADD,), 5.0)]),
        ("a[j] = a[j - 8] + s;", [("recurrence over a", (ADD,), 8.0)]),
        ("a[j] = a[j - 9] + s;", []),  # too far to wait for
        ("a[j] = a[j + 1] + s;", []),  # read before it is overwritten
        ("a[j] = a[j] + s;", []),
        ("a[j] = b[j - 1] + s;", []),
        ("a[i] = b[j] + s;", []),  # stored again and again, never read
        ("a[row[j]] = a[row[j]] + s;", []),
        ("t = b[j]; t = t + 1; a[j] = t;", []),  # t is made anew in every iteration
        (
            "s += b[j]; s *= a[j];",  # each waits for what the other left
            [
                ("sum into s", (ADD,), None),
                ("sum into s", (MULTIPLY,), None),
                ("recurrence over s", (("fp_add", "fp_mul"),), 1.0),
            ],
        ),
        ("s = t + b[j];", []),
    ],
)
def test_chains(inner: str, chain: list[tuple[str, tuple[tuple[str, ...], ...], float]]) -> None:
    assert [(one.name, one.operations, one.distance) for one in chains(inner)] == chain
    assert not any(one.unordered for one in chains(inner))


def test_a_sum_into_a_scalar_is_no_more_than_one() -> None:
    """It runs in every iteration, in registers, in its order, and goes on where it left off."""
    assert chains("s += b[j];") == (
        Recurrence(
            "sum into s", (ADD,), None, unordered=False, restarts=False, in_order=False, share=1.0,
            stored=False, forwarded=False,
        ),
    )  # fmt: skip


def bodies_of(text: str, **sizes: int) -> list[LoopBody]:
    made = workload_of(facts_of_text(text, **sizes)[0], MEBIBYTE, 64)
    assert made.execution is not None
    return list(made.execution.work.bodies)


@pytest.mark.parametrize(
    ("directive", "inner", "free"),
    [
        ("parallel for simd reduction(+:s)", "", [True]),
        ("parallel for reduction(+:s)", "", [False]),
        ("parallel for simd reduction(+:t)", "", [False]),
        ("parallel for simd reduction(+: t , s)", "", [True]),
        ("parallel for", "#pragma omp simd reduction(+:s)", [True]),
        ("parallel for", "#pragma omp simd", [False]),
    ],
)
def test_simd_reductions_are_summed_in_any_order(
    directive: str, inner: str, free: list[bool]
) -> None:
    """Only what the clause of a `simd` names, and only in the loop that it stands before."""
    loop = "for (int i = 0; i < n; i++) s += a[i];"
    around = (
        f"for (int k = 0; k < 9; k++)\n{{\n{inner}\n{loop}\n}}" if "simd" not in directive else loop
    )
    text = f"void f(int n, double s, double t, double *a) {{\n#pragma omp {directive}\n{around}\n}}"
    found = [one.unordered for body in bodies_of(text, n=50) for one in body.recurrences]
    assert found == free


def test_flags_that_free_the_order_free_sums_and_no_other_chains(tmp_path: Path) -> None:
    text = """void f(int n, double s, double m, double *a, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    s += a[i] * a[i];
    m = m > a[i] ? m : a[i];
    y[0] += a[i];
    a[i] = a[i - 1] + 1.0;
  }
}
"""
    path = tmp_path / "case.c"
    path.write_text(text)
    for free in (False, True):
        requests = [replace(one, reassociates=free) for one in requests_for((str(path),))]
        (facts,) = analyse(requests, {"n": 100}).facts
        made = workload_of(facts, MEBIBYTE, 64)
        assert made.execution is not None
        (body,) = made.execution.work.bodies
        order = {one.name: one.unordered for one in body.recurrences}
        assert order.pop("sum into s") == order.pop("recurrence over y through memory") == free
        assert order and not any(order.values())


def test_integer_sums_wait_for_nothing() -> None:
    loops = "for (int i = 0; i < 100; i++) for (int j = 0; j < n; j++) m += row[j];"
    made = workload_in(loops, "int n, int m, int *row", n=9)
    assert made.execution is not None
    assert made.execution.work.bodies[0].recurrences == ()


def test_a_sum_with_several_operations() -> None:
    (chain,) = chains("s += a[j] * b[j];")
    assert (chain.name, chain.distance) == ("sum into s", None)
    assert [sorted(kinds) for kinds in chain.operations] == [["fp_add", "fp_mul"]]


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize(
    ("inner", "way"),
    [
        ("a[i] = 0.5 * a[i] + b[j];", ("fp_mul", "fp_add")),
        ("a[i] = b[j] - s * (a[i] + t);", ("fp_add", "fp_mul", "fp_add")),
        ("a[i] *= a[i] + 1.0;", ("fp_add", "fp_mul")),
        ("a[i] += s * b[j];", None),  # the product waits for nothing: only the sum does
        ("a[i] = s * b[j] + a[i];", None),
    ],
)
def test_an_element_that_stands_still_goes_through_all_on_its_way(
    inner: str, way: tuple[str, ...] | None, frontend: str, tmp_path: Path
) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        f"void f({DECLARED})\n{{\n#pragma omp parallel for\nfor (int i = 0; i < 100; i++)\n"
        f" for (int j = 9; j < 50; j++) {{ {inner} }}\n}}\n"
    )
    facts = analyse(requests_for((str(path),)), {}, frontend=frontend).facts
    made = workload_of(facts[0], MEBIBYTE, 64)
    assert made.execution is not None
    (chain,) = made.execution.work.bodies[0].recurrences
    if way is None:
        assert (chain.distance, chain.in_order) == (None, False)
    else:
        assert (chain.operations, chain.distance, chain.in_order) == ((way,), 1.0, True)


def test_all_statements_that_write_the_array() -> None:
    """Those that write others are not in the chain."""
    (chain,) = chains("a[j] = a[j - 1] * s; b[j] = s + 1; a[j + 1] = b[j] - t;")
    assert chain.name == "recurrence over a through memory" and len(chain.operations) == 2
    assert chain.forwarded  # b may be a


def test_outer_loops_have_no_chains() -> None:
    loops = "for (int i = 0; i < 100; i++) { s += 1.0; for (int j = 0; j < n; j++) a[j] = 0; }"
    made = workload_in(loops, DECLARED, n=9)
    assert made.execution is not None
    assert [body.recurrences for body in made.execution.work.bodies] == [(), ()]


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.integers(-20, 20), st.sampled_from([1, 2, 3, -1, -2]))
def test_distances_by_enumeration(shift: int, step: int) -> None:
    """a[j] = a[j - shift]: how many iterations ago was what is read now written?"""
    values = range(30, 90, step) if step > 0 else range(90, 30, step)
    written: dict[int, int] = {}
    distances = set()
    for at, j in enumerate(values):
        if j - shift in written:
            distances.add(at - written[j - shift])
        written[j] = at
    head = f"j = {values[0]}; j {'<' if step > 0 else '>'} {values.stop}; j += {step}"
    made = chains(f"a[j] = a[j - ({shift})] + s;", head)
    near = {float(d) for d in distances if 0 < d <= 8}
    assert {chain.distance for chain in made} == near


@pytest.mark.parametrize(
    ("before", "restarts"),
    [("s = 0;", True), ("s = 0; t = 1;", True), ("t = 1;", False), ("s += t;", False), ("", False)],
)
def test_a_sum_that_the_loop_around_begins_anew(before: str, restarts: bool) -> None:
    loops = f"for (int i = 0; i < 9; i++) {{ {before} for (int j = 0; j < 9; j++) s += b[j]; }}"
    made = workload_in(loops, DECLARED)
    assert made.execution is not None
    sums = [chain for body in made.execution.work.bodies for chain in body.recurrences
            if body.trips == 9 and chain.operations == (ADD,)]  # fmt: skip
    assert [chain.restarts for chain in sums if chain.name == "sum into s"][-1] is restarts
