"""Elements that stand still in an inner loop: what GCC 12.2 stores and loads again, from its
assembly of these loops at -O2, -O3 and -Ofast."""

from __future__ import annotations

import pytest
from nest_texts import MEBIBYTE, facts_of_text

from regionpredict.workload import LoopBody, workload_of

POINTERS = "int n, double *y, double *t, double *x, double *a, float *f, char *c, struct part *p"
GLOBALS = "struct part { double l, m, r; };\ndouble Y[400], T[400], X[400], A[400][400];\n"
LOCALS = "double v[400]; "


def inner_body(statements: str, before: str = "") -> LoopBody:
    text = f"""{GLOBALS}void work({POINTERS}) {{
{before}
#pragma omp parallel for
  for (int i = 0; i < 400; i++) {{
    double own[4];
    for (int j = 0; j < 400; j++) {{ {statements} }}
  }}
}}
"""
    made = workload_of(facts_of_text(text)[0], MEBIBYTE, 64)
    assert made.execution is not None
    return next(body for body in made.execution.work.bodies if body.innermost)


@pytest.mark.parametrize(
    ("statements", "before", "loads", "stores"),
    [
        # loads alone: the value stays in a register, but goes to memory each time
        ("y[i] += a[400 * i + j] * x[j];", "", 0, 1),
        ("y[i] = x[j];", "", 0, 1),
        # another store may have changed it
        ("t[i] += a[400 * i + j]; y[i] += x[j];", "", 2, 2),
        ("t[j] += a[400 * i + j]; y[i] += a[400 * i + j] * x[j];", "", 1, 1),
        ("y[i] += a[400 * i + j]; t[j] = x[j];", "", 1, 1),
        # an array of the function's own is shared by its address
        ("v[i] += a[400 * i + j];", LOCALS, 0, 1),
        # nothing but itself is loaded
        ("y[i] += 1.0;", "", 0, 0),
        # arrays that are declared outside are apart, but not from what pointers point to
        ("Y[i] += A[i][j] * X[j];", "", 0, 0),
        ("T[i] += A[i][j]; Y[i] += A[j][i];", "", 0, 0),
        ("Y[i] += x[j];", "", 0, 1),
        ("Y[i] += A[i][j] * Y[j];", "", 0, 1),
        # numbers of other types are apart, but for characters
        ("f[i] += x[j]; t[j] = x[j];", "", 0, 0),
        ("y[i] += x[j]; f[j] = 1.0f;", "", 0, 1),
        ("y[i] += x[j]; c[j] = 1;", "", 1, 1),
        # a whole struct has numbers of any length
        ("y[i] += x[j]; p[j] = p[j + 400];", "", 1, 1),
        # of a thread's own
        ("own[0] += x[j]; t[j] = x[j];", "", 0, 0),
        # elements of one place at known distances are apart
        ("y[2 * i] += 1.0; y[2 * i + 1] += 2.0;", "", 0, 0),
    ],
)
def test_what_is_in_memory_after_each_iteration(
    statements: str, before: str, loads: int, stores: int
) -> None:
    body = inner_body(statements, before)
    assert body.kept == (loads, stores)
    chains = {chain.stored for chain in body.recurrences}
    assert chains <= {bool(stores)}
    assert any(chain.forwarded for chain in body.recurrences) == bool(loads)


def test_what_moves_is_counted_once() -> None:
    body = inner_body("t[j] += a[400 * i + j]; y[i] += a[400 * i + j] * x[j];")
    assert (body.loads, body.stores) == (3, 1)  # t, a, x; t


@pytest.mark.parametrize(
    ("statements", "forwarded"),
    [
        ("y[j] = y[j - 1] + x[j];", False),
        ("y[j] = y[j - 1] + x[j]; t[j] = x[j];", True),
        ("Y[j] = Y[j - 1] + X[j]; T[j] = X[j];", False),
        ("y[j] = y[j - 1] + x[j]; f[j] = 1.0f;", False),
    ],
)
def test_a_recurrence_goes_through_memory_where_another_store_may_change_it(
    statements: str, forwarded: bool
) -> None:
    (chain,) = inner_body(statements).recurrences
    assert (chain.distance, chain.forwarded, chain.stored) == (1.0, forwarded, False)
