"""A case for each construct that loops in the wild have, each expectation derived by hand.

A case gives C text with one region, and what must come out: the number of iterations, executions
of its statements in the order of the text, the references of counted arrays, effective dimensions.
Formulas are evaluated at several values of the names, never compared as text. Both front ends go
through all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of, facts_of

pytestmark = pytest.mark.parametrize("frontend", FRONTENDS)
AT = ({"n": 12, "m": 7, "p": 3}, {"n": 20, "m": 9, "p": 4})


@dataclass(frozen=True)
class Case:
    """C text, and by hand: `iterations`, `runs` of each statement, `refs` as (text, kind,
    pattern), `dims` of arrays, and whether all of it is understood."""

    text: str
    iterations: str
    runs: tuple[str, ...] | None = None
    refs: tuple[tuple[str, str, str], ...] | None = None
    dims: dict[str, int] = field(default_factory=dict)
    status: str = "complete"
    bytes: str | None = None


S, L, X = "streaming", "latency", "irregular"

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


def _worth(formula: str, at: dict[str, int]) -> int:
    return int(eval(formula, {"min": min, "max": max}, dict(at)))


def _named(at: dict[str, int]) -> dict[str, int]:
    return at | {"g->n": at["n"], "half": at["n"] // 2}


@pytest.mark.parametrize("name", CASES)
def test_construct(tmp_path: Path, frontend: str, name: str) -> None:
    case = CASES[name]
    facts = facts_of(tmp_path, case.text, frontend)
    assert facts.status == case.status, facts.diagnostics
    assert facts.iterations.expr is not None
    if case.refs is not None:
        found = [
            (a.access.text, a.access.kind, a.pattern) for s in facts.statements for a in s.accesses
        ]
        assert sorted(found) == sorted(case.refs)
    dims = {array.name: array.dims for array in facts.arrays}
    assert {name: dims.get(name) for name in case.dims} == case.dims
    for at in AT:
        assert facts.iterations.expr.evaluate(_named(at)) == _worth(case.iterations, at)
        if case.runs is not None:
            runs = [s.executions.expr for s in facts.statements]
            values = [None if one is None else one.evaluate(_named(at)) for one in runs]
            assert values == [_worth(one, at) for one in case.runs]
        if case.bytes is not None:
            assert facts.working_set.expr is not None, facts.diagnostics
            assert facts.working_set.expr.evaluate(_named(at)) == _worth(case.bytes, at)


def test_reuse_of_a_matrix_product_in_every_order(tmp_path: Path, frontend: str) -> None:
    """With C[i][j] += A[i][k]*B[k][j], the array that both inner loops move misses."""
    missing = {"ijk": "B", "ikj": "B", "jik": "A", "jki": "A", "kij": "C", "kji": "C"}
    for order, array in missing.items():
        loops = "".join(f"for (int {v} = 0; {v} < n; {v}++) " for v in order)
        text = (
            "void f(int n, double A[n][n], double B[n][n], double C[n][n]) {\n"
            f"#pragma omp parallel for\n{loops}C[i][j] += A[i][k] * B[k][j];\n}}\n"
        )
        facts = facts_of(tmp_path, text, frontend)
        assert {a.access.array for a in facts.statements[0].accesses if a.reuse == "miss"} == {
            array
        }


def test_orphaned_for_of_another_function(tmp_path: Path, frontend: str) -> None:
    text = """
static void scale(int n, double *a) {
#pragma omp for
  for (int i = 0; i < n; i++) a[i] *= 2.0;
}
void f(int n, double *a) {
#pragma omp parallel
  scale(n, a);
}
"""
    facts = facts_of(tmp_path, text, frontend)
    assert (facts.region.function, facts.region.context) == ("scale", "orphaned")
    assert facts.iterations.expr is not None and facts.iterations.expr.evaluate({"n": 9}) == 9


def test_a_header_that_holds_a_region(tmp_path: Path, frontend: str) -> None:
    (tmp_path / "kernel.h").write_text(
        "static void zero(int n, double *a) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) a[i] = 0.0;\n}\n"
    )
    analysis = analysis_of(tmp_path, '#include "kernel.h"\nvoid g(void) { }\n', frontend)
    (region,) = analysis.program.regions
    assert Path(region.span.file).name == "kernel.h" and region.span.line == 2


def test_parallel_that_shares_its_loop_by_hand_is_named(tmp_path: Path, frontend: str) -> None:
    text = """
#include <omp.h>
void f(int n, double *a) {
#pragma omp parallel
  {
    int t = omp_get_thread_num(), p = omp_get_num_threads();
    for (int i = t * n / p; i < (t + 1) * n / p; i++) a[i] = 0.0;
  }
}
"""
    analysis = analysis_of(tmp_path, text, frontend)
    assert analysis.program.regions == ()
    assert [(n.id, n.span.line) for n in analysis.program.diagnostics] == [("RP110", 4)]


def test_values_of_names_from_the_source(tmp_path: Path, frontend: str) -> None:
    """A parameter takes what every call passes, a local what it is set to once."""
    text = """
#ifndef SIZE
#define SIZE 300
#endif
static void kernel(int n, double *a) {
  int inner = n - 2;
#pragma omp parallel for
  for (int i = 0; i < inner; i++) a[i] = 0.0;
}
double space[SIZE];
int main(void) {
  int n = SIZE;
  kernel(n, space);
  return 0;
}
"""
    facts = facts_of(tmp_path, text, frontend)
    assert facts.iterations.value == 298
    assert facts.working_set.value == 298 * 8
    assert facts_of(tmp_path, text, frontend, given={"n": 50}).iterations.value == 48
    assert facts_of(tmp_path, text, frontend, defines=(("SIZE", "7"),)).iterations.value == 5


def test_a_loop_that_cannot_be_counted_takes_nothing_else_down(
    tmp_path: Path, frontend: str
) -> None:
    text = """
struct node { struct node *next; double x; };
void f(int n, double *a, struct node *head) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 0.0;
#pragma omp parallel for
  for (struct node *p = head; p; p = p->next) p->x = 0.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1.0;
}
"""
    first, middle, last = analysis_of(tmp_path, text, frontend).facts
    assert (first.status, last.status) == ("complete", "complete")
    assert middle.status in ("partial", "skipped")
    assert middle.diagnostics and all(note.span.line for note in middle.diagnostics)


def test_operations_by_kind_and_type(tmp_path: Path, frontend: str) -> None:
    text = """
#include <math.h>
void f(int n, double *a, float *b, int *c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    a[i] = (a[i] + 1.0) * 2.0 / 3.0 - sqrt(a[i]);
    b[i] = -b[i] * 2.0f;
    c[i] = (c[i] * 3 + 7) % 5 << 1;
    a[i] += sin(a[i]) > 0.5;
  }
}
"""
    statements = facts_of(tmp_path, text, frontend).statements
    found = [
        {(o.kind, o.bits): count for o, count in one.statement.operations} for one in statements
    ]
    assert found == [
        {("fp_add", 64): 2, ("fp_mul", 64): 1, ("fp_div", 64): 1, ("fp_sqrt", 64): 1},
        {("fp_neg", 32): 1, ("fp_mul", 32): 1},
        {("int_mul", 32): 1, ("int_add", 32): 1, ("int_div", 32): 1, ("int_logic", 32): 1},
        {("call:sin", 64): 1, ("fp_compare", 64): 1, ("fp_add", 64): 1},
    ]


@pytest.mark.parametrize("directive", ["parallel for", "for", "parallel for simd"])
def test_loop_behind_braces(tmp_path: Path, frontend: str, directive: str) -> None:
    text = (
        f"void f(int n, double *a) {{\n#pragma omp {directive}\n"
        "  for (int i = 0; i < n; i++) {{ a[i] = 0.0; }}\n}\n"
    )
    assert facts_of(tmp_path, text, frontend).status == "complete"
