"""A case for each shape of a nest, and each way to write bounds and steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from construct_case import Case, L, S, check
from reading import FRONTENDS

CASES = {
    # -- shape of the nest ----------------------------------------------------------------------
    "depth 4": Case(
        """
double u[8][9][10][5];
void f(void) {
#pragma omp parallel for
  for (int k = 1; k < 7; k++)
    for (int j = 1; j < 8; j++)
      for (int i = 1; i < 9; i++)
        for (int c = 0; c < 5; c++)
          u[k][j][i][c] = 0.0;
}
""",
        "6", ("6*7*8*5",), (("u[k][j][i][c]", "write", S),), {"u": 4}, bytes="6*7*8*5*8",
    ),
    "imperfect nest": Case(
        """
void f(int n, int m, double A[n][m], double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int j = 0; j < m; j++)
      y[i] += A[i][j] * x[j];
    y[i] *= 2.0;
  }
}
""",
        "n", ("n", "n*m", "n"), None, {"A": 2, "x": 1, "y": 1}, bytes="8*(n*m + n + m)",
    ),
    "loops side by side": Case(
        """
void f(int n, int m, double A[n][m], double B[n][m]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      A[i][j] = 0.0;
    for (int j = m - 1; j >= 1; j--)
      B[i][j] = A[i][j - 1];
  }
}
""",
        "n", ("n*m", "n*(m - 1)"), None, {"A": 2, "B": 2}, bytes="8*(n*m + n*(m - 1))",
    ),
    "collapse": Case(
        """
void f(int n, int m, double A[n][m]) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 2; j <= m; j += 2)
      A[i][j - 1] = 1.0;
}
""",
        "n*(m//2)", ("n*(m//2)",), (("A[i][j - 1]", "write", S),), {"A": 2},
    ),
    # -- bounds and steps -----------------------------------------------------------------------
    "step of three, down": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = n - 1; i >= 0; i -= 3)
    a[i] = 0.0;
}
""",
        "(n + 2)//3", ("(n + 2)//3",), (("a[i]", "write", S),),
    ),
    "a stride of a line or more is no stream": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[8*i] = a[7*i];
}
""",
        "n", None, (("a[8 * i]", "write", L), ("a[7 * i]", "read", S)),
    ),
    "not equal": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i != n; ++i)
    a[i] = 0.0;
}
""",
        "n", ("n",),
    ),
    "limit on the left, counter = counter + c": Case(
        """
void f(int n, double *a) {
  int i;
#pragma omp parallel for
  for (i = 0; n > i; i = i + 2)
    a[i] = 0.0;
}
""",
        "(n + 1)//2", ("(n + 1)//2",),
    ),
    "unsigned counter": Case(
        """
#include <stddef.h>
void f(size_t n, double *a) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = 0.0;
}
""",
        "n", ("n",), (("a[i]", "write", S),),
    ),
    "unsigned counter down": Case(
        """
void f(unsigned n, double *a) {
#pragma omp parallel for
  for (unsigned i = n; i > 0; i--)
    a[i - 1] = 0.0;
}
""",
        "n", ("n",), (("a[i - 1]", "write", S),), bytes="8*n",
    ),
    "pointer counter": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (double *p = a; p < a + n; p++)
    *p = 1.0;
}
""",
        "n", ("n",), (("*p", "write", S),), bytes="8*n",
    ),
    "triangle": Case(
        """
void f(int n, double A[n][n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      A[i][j] = 0.0;
}
""",
        "n", ("n*(n + 1)//2",), None, {"A": 2}, bytes="8*n*n",
    ),
    "band": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 2; i < n - 2; i++)
    for (int j = i - 2; j <= i + 2; j++)
      a[j] = a[i];
}
""",
        "n - 4", ("5*(n - 4)",),
    ),
    "macro in a bound": Case(
        """
#define INTERIOR(n) ((n) - 2*GHOST)
#define GHOST 2
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < INTERIOR(n); i++)
    a[i + GHOST] = 0.0;
}
""",
        "n - 4", ("n - 4",), None, bytes="8*(n - 4)",
    ),
    "ternary in a bound": Case(
        """
void f(int n, int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < (n < m ? n : m); i++)
    a[i] = 0.0;
}
""",
        "min(n, m)", ("min(n, m)",),
    ),
    "blocked, by min macro": Case(
        """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void f(int n, double *a) {
#pragma omp parallel for
  for (int b = 0; b < n; b += 4)
    for (int i = b; i < MIN(n, b + 4); i++)
      a[i] = 0.0;
}
""",
        "(n + 3)//4", None, (("a[i]", "write", S),), {"a": 1},
    ),
    "bound through a local": Case(
        """
void f(int n, double *a) {
  int half = n / 2;
#pragma omp parallel for
  for (int i = 0; i < half; i++)
    a[i] = 0.0;
}
""",
        "n//2", ("n//2",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", CASES)
def test_construct(tmp_path: Path, frontend: str, name: str) -> None:
    check(tmp_path, CASES[name], frontend)
