"""Which statements of an iteration wait for which, and for how many loads, by hand."""

from __future__ import annotations

import pytest
from nest_texts import facts_of

from regionpredict.workload.iteration_chain import Step, steps_of

DECLARED = "int n, double s, double t, double *a, double *b, double *c, double *x, int *k"


def steps(body: str, *gathered: str) -> tuple[Step, ...]:
    facts = facts_of(f"for (int i = 0; i < n; i++) {{ {body} }}", DECLARED)
    return steps_of(facts.statements, gathered, reassociates=False)


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("t = a[i]; s = t * b[i]; c[i] = s + t;", [(), (0,), (0, 1)]),
        ("c[i] = b[i]; a[i] = c[i];", [(), (0,)]),
        ("c[i] = b[i]; a[i] = c[i + 1];", [(), ()]),
        ("t = a[i]; t = b[i]; s = t;", [(), (), (1,)]),  # the last that wrote it
        ("t = a[i]; s = a[i]; c[i] = t;", [(), (), (0,)]),
        ("s = t; t = a[i];", [(), ()]),  # the iteration before has left it
        ("t += a[i]; t += b[i];", [(), (0,)]),
        ("a[i] = 1; a[i] = 2; s = a[i]; t = a[i];", [(), (), (1,), (1,)]),
    ],
)
def test_a_step_follows_the_last_that_wrote_what_it_reads(
    body: str, after: list[tuple[int, ...]]
) -> None:
    assert [step.after for step in steps(body)] == after


@pytest.mark.parametrize(
    ("body", "gathered", "loads"),
    [
        ("s = t;", "", [0]),
        ("a[i] = 1;", "", [0]),  # a store is no load
        ("a[i] = b[i];", "", [1]),
        ("a[i] = b[i] + c[i] + b[i + 1];", "", [1]),  # side by side
        ("a[i] = x[k[i]] + b[i];", "", [1]),
        ("a[i] = x[k[i]] + b[i];", "x[k[i]]", [2]),  # the address first, beside b[i]
        ("a[i] = b[i];", "x[k[i]]", [1]),
        ("a[i] = b[i]; c[i] = a[i];", "", [1, 0]),  # what has just been stored
        ("a[i] = b[i]; c[i] = a[i] + b[i];", "", [1, 1]),
        ("x[k[i]] = 1; a[i] = x[k[i]] + b[i];", "x[k[i]]", [1, 1]),
    ],
)
def test_loads_before_a_step_can_begin(body: str, gathered: str, loads: list[int]) -> None:
    assert [step.loads for step in steps(body, gathered)] == loads


def test_operations_of_a_step() -> None:
    product, total = steps("t = a[i] * b[i] * 3.0; s = s + t;")
    assert dict(product.operations) == {"fp_mul": 2.0}
    assert dict(total.operations) == {"fp_add": 1.0}
