"""A case for each kind of control flow, call and directive in a loop, and for what is not read."""

from __future__ import annotations

from pathlib import Path

import pytest
from construct_case import Case, S, X, check
from reading import FRONTENDS

CASES = {
    # -- control flow and calls -----------------------------------------------------------------
    "if and else": Case(
        """
void f(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    if (a[i] > 0.0)
      b[i] = a[i];
    else
      b[i] = 0.0;
  }
}
""",
        "n", ("n", "n", "n"), None, {"a": 1, "b": 1}, bytes="16*n",
    ),
    "ternary in the body": Case(
        """
void f(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[i] = a[i] > 0.0 ? a[i] : -a[i];
}
""",
        "n", ("n",),
    ),
    "continue": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    if (a[i] < 0.0) continue;
    a[i] = 1.0;
  }
}
""",
        "n", ("n", "n"),
    ),
    "switch": Case(
        """
void f(int n, double *a, const int *kind) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    switch (kind[i]) {
    case 0: a[i] = 0.0; break;
    case 1: a[i] = 1.0; break;
    default: a[i] = 2.0;
    }
  }
}
""",
        "n", ("n", "n", "n", "n"), None, {"a": 1, "kind": 1},
    ),
    "callee in the same file": Case(
        """
static double square(double x) { return x * x; }
static void row(int m, double *to, const double *from) {
  for (int j = 0; j < m; j++)
    to[j] = square(from[j]);
}
void f(int n, int m, double A[n][m], double B[n][m]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    row(m, A[i], B[i]);
}
""",
        "n", None, None, {"A": 2, "B": 2}, bytes="16*n*m",
    ),
    "mathematics": Case(
        """
#include <math.h>
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = exp(a[i]) + sqrt(a[i]);
}
""",
        "n", ("n",),
    ),
    "atomic and critical": Case(
        """
void f(int n, double *a, int *bin, double *total) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    bin[(int) a[i]]++;
#pragma omp critical
    *total += a[i];
  }
}
""",
        "n", ("n", "n"),
    ),
    "simd inside": Case(
        """
void f(int n, int m, double A[n][m]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp simd
    for (int j = 0; j < m; j++)
      A[i][j] = 0.0;
  }
}
""",
        "n", ("n*m",), (("A[i][j]", "write", S),), {"A": 2},
    ),
    "reduction over an array section": Case(
        """
void f(int n, const int *kind, int m, double *sum) {
#pragma omp parallel for reduction(+ : sum[:m])
  for (int i = 0; i < n; i++)
    sum[kind[i]] += 1.0;
}
""",
        "n", ("n",),
        (("sum[kind[i]]", "read", X), ("sum[kind[i]]", "write", X), ("kind[i]", "read", S)),
    ),
    # -- not understood, and said -----------------------------------------------------------------
    "while inside": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double x = a[i];
    while (x > 1.0)
      x *= 0.5;
    a[i] = x;
  }
}
""",
        "n", None, None, {"a": 1},
    ),
    "body not seen": Case(
        """
void step(double *row, int m);
void f(int n, int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    step(a + i*m, m);
}
""",
        "n", ("n",), status="partial",
    ),
}  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", CASES)
def test_construct(tmp_path: Path, frontend: str, name: str) -> None:
    check(tmp_path, CASES[name], frontend)
