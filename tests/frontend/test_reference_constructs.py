"""A case for each way to say which element is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from construct_case import Case, L, S, X, check
from reading import FRONTENDS

CASES = {
    # -- references -----------------------------------------------------------------------------
    "array macro": Case(
        """
#define A(i, j) a[(i)*n + (j)]
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A(i, j) = 1.0;
}
""",
        "n", ("n*n",), None, {"a": 2}, bytes="8*n*n",
    ),
    "linearised in three": Case(
        """
void f(int n, int m, int p, const double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        b[(i*m + j)*p + k] = a[(k*m + j)*n + i];
}
""",
        "n", ("n*m*p",), (("b[(i * m + j) * p + k]", "write", S),
                          ("a[(k * m + j) * n + i]", "read", L)),
        {"a": 3, "b": 3}, bytes="16*n*m*p",
    ),
    "struct members that are pointers": Case(
        """
struct grid { int n; double *u, *v; };
void f(struct grid *g) {
#pragma omp parallel for
  for (int i = 0; i < g->n; i++)
    g->u[i] = 2.0 * g->v[i];
}
""",
        "n", None, (("g->u[i]", "write", S), ("g->v[i]", "read", S)),
        {"g->u": 1, "g->v": 1},
    ),
    "array of structs": Case(
        """
struct point { double x, y, z; };
void f(int n, struct point *p) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    p[i].x = p[i].y;
}
""",
        "n", ("n",), (("p[i].x", "write", S), ("p[i].y", "read", S)), {"p": 1}, bytes="24*n",
    ),
    "structs longer than a line": Case(
        """
struct cell { double f[19]; };
void f(int n, struct cell *c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    c[i].f[0] = 1.0;
}
""",
        "n", ("n",), (("c[i].f[0]", "write", L),),
    ),
    "pointer arithmetic": Case(
        """
void f(int n, int m, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double *row = a + i*m;
    for (int j = 0; j < m; j++)
      *(row + j) = b[j];
  }
}
""",
        "n", None, (("*(row + j)", "write", S), ("b[j]", "read", S)), {"a": 2, "b": 1},
    ),
    "pointer that walks": Case(
        """
void f(int n, int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double *p = &a[i*m];
    for (int j = 0; j < m; j++)
      *p++ = 0.0;
  }
}
""",
        "n", None, None, {"a": 2}, bytes="8*n*m",
    ),
    "indirect": Case(
        """
void f(int n, double *a, const double *x, const int *idx) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] += x[idx[i]];
}
""",
        "n", ("n",),
        (("a[i]", "read", S), ("a[i]", "write", S), ("x[idx[i]]", "read", X),
         ("idx[i]", "read", S)),
        {"a": 1, "x": 1, "idx": 1},
    ),
    "rows by pointer, compressed": Case(
        """
void f(int n, double *y, const double *v, const double *x, const int *rows, const int *cols) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0.0;
    for (int k = rows[i]; k < rows[i + 1]; k++)
      sum += v[k] * x[cols[k]];
    y[i] = sum;
  }
}
""",
        "n", None,
        (("v[k]", "read", S), ("x[cols[k]]", "read", X), ("cols[k]", "read", S),
         ("y[i]", "write", S)),
    ),
    "small leading index": Case(
        """
double u[5][30][40];
void f(void) {
#pragma omp parallel for
  for (int j = 0; j < 30; j++)
    for (int i = 0; i < 40; i++)
      u[0][j][i] = u[1][j][i] + u[4][j][i];
}
""",
        "30", ("1200",), None, {"u": 2}, bytes="5*30*40*8",
    ),
    "pointer to variable-length rows": Case(
        """
#include <stdlib.h>
void f(int n, int m) {
  double (*A)[m] = malloc(sizeof(double) * n * m);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] = 0.0;
}
""",
        "n", ("n*m",), (("A[i][j]", "write", S),), {"A": 2}, bytes="8*n*m",
    ),
    "array of a thread's own": Case(
        """
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double t[4];
    for (int k = 0; k < 4; k++)
      t[k] = a[i];
    a[i] = t[0] + t[3];
  }
}
""",
        "n", ("4*n", "n"), None, {"a": 1, "t": 1}, bytes="8*n",
    ),
    "rows shorter than a line": Case(
        """
void f(int n, double u[n][5]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    u[i][2] = u[i][3];
}
""",
        "n", ("n",), (("u[i][2]", "write", S), ("u[i][3]", "read", S)), {"u": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", CASES)
def test_construct(tmp_path: Path, frontend: str, name: str) -> None:
    check(tmp_path, CASES[name], frontend)
