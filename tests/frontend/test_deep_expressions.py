"""Generated code: a sum of thousands of terms nests as deep, and is read all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import read, requests_for

TERMS = 3000


@pytest.mark.parametrize(
    "frontend", ["libclang", pytest.param("pycparser", marks=pytest.mark.slow)]
)
def test_a_sum_of_thousands_of_terms(tmp_path: Path, frontend: str) -> None:
    terms = " + ".join(f"a[i+{k}]" for k in range(TERMS))
    source = tmp_path / "sum.c"
    source.write_text(
        "void f(int n, double *a, double *b) {\n#pragma omp parallel for\n"
        f"for (int i = 0; i < n; i++) b[i] = {terms};\n}}\n"
    )
    (region,) = read(requests_for([str(source)]), frontend).regions
    ((statement, _),) = region.statements()
    assert len(statement.accesses) == TERMS + 1
    assert dict(statement.operations) == {("fp_add", 64): TERMS - 1}
