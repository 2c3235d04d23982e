"""A call through a pointer to a method is a call of the methods that it may point to."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import analysis_of, predicted_iterations

TEXT = """\
struct Kernel {{
  double (Kernel::*rule)(int, int) const;
  const double *x, *y;
  double linear(int i, int j) const {{ return x[i] * x[j]; }}
  double cubed(int i, int j) const {{ double s = x[i] + y[j]; return s * s * s; }}
  Kernel(int kind) {{ if (kind == 0) rule = &Kernel::linear; else rule = &Kernel::cubed; }}
}};
struct Derived : public Kernel {{ Derived() : Kernel(1) {{}} }};
void f(Kernel &k, Kernel *p, Derived &d, int n, double *a) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = {0};
}}
"""


@pytest.mark.parametrize("call", [
    "(p->*(p->rule))(3, i)", "(k.*(k.rule))(3, i)", "(d.*(d.rule))(3, i)"
])  # fmt: skip
def test_both_methods_are_read(tmp_path: Path, call: str) -> None:
    (facts,) = analysis_of(tmp_path, TEXT.format(call), "libclang", name="case.cpp").facts
    assert facts.status == "complete", facts.diagnostics
    accesses = {
        access.kind[0] + access.array for one in facts.statements
        for access in one.statement.accesses
    }  # fmt: skip
    owner = "p->" if call.startswith("(p") else f"{call[1]}."
    assert accesses == {"wa", f"r{owner}x", f"r{owner}y"}
    products = sum(
        count for one in facts.statements for operation, count in one.statement.operations
        if operation.kind == "fp_mul"
    )  # fmt: skip
    assert products == 3  # one of `linear`, two of `cubed`


def test_a_method_through_a_pointer_leaves_what_no_method_writes(tmp_path: Path) -> None:
    """The accessors that a message packs write no size, so `main` gives the iterations."""
    path = tmp_path / "case.cpp"
    path.write_text(
        """\
#include <stdlib.h>
struct Domain {
  Domain(int size) : n(size) { x = (double *)malloc(n * sizeof(double)); }
  double &place(int i) { return x[i]; }
  int n;
  double *x;
};
typedef double &(Domain::*Member)(int);
void pack(Domain &d, int fields, Member *field, double *out) {
  for (int f = 0; f < fields; f++) out[f] = (d.*field[f])(0);
}
void step(Domain &d) {
#pragma omp parallel for
  for (int i = 0; i < d.n; i++) d.x[i] = i;
}
int main() {
  Domain *d = new Domain(54321);
  Member field[1];
  double out[1];
  field[0] = &Domain::place;
  for (int t = 0; t < 3; t++) { pack(*d, 1, field, out); step(*d); }
  return 0;
}
"""
    )
    assert predicted_iterations(path)[0] == 54321
