"""A call through a pointer to a method is a call of the methods that it may point to."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import analysis_of

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
