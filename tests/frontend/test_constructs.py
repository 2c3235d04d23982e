"""Constructs that loops in the wild have, beyond one region at a time (`construct_case.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of, facts_of

pytestmark = pytest.mark.parametrize("frontend", FRONTENDS)


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
        {("fp_add", 64): 2, ("fp_mul", 64): 1, ("fp_div:/3.0", 64): 1, ("fp_sqrt", 64): 1},
        {("fp_neg", 32): 1, ("fp_mul", 32): 1},
        {("int_mul", 32): 1, ("int_add", 32): 1, ("int_div:%5", 32): 1, ("int_logic", 32): 1},
        {("call:sin", 64): 1, ("fp_compare", 64): 1, ("fp_add", 64): 1},
    ]


@pytest.mark.parametrize("directive", ["parallel for", "for", "parallel for simd"])
def test_loop_behind_braces(tmp_path: Path, frontend: str, directive: str) -> None:
    text = (
        f"void f(int n, double *a) {{\n#pragma omp {directive}\n"
        "  for (int i = 0; i < n; i++) {{ a[i] = 0.0; }}\n}\n"
    )
    assert facts_of(tmp_path, text, frontend).status == "complete"
