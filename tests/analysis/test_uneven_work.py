"""Which inner loops take as long as data say: C text, and the lines of these loops by hand."""

from __future__ import annotations

import pytest
from texts import facts_of_texts

from regionpredict.analysis.uneven_work import uneven_loops

HEAD = "void f(int n, int m, int *row, int *deg, int *at, double *x, double *y) {\n"
HEAD += "#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n"
CASES = {
    "rows": ("for (int k = row[i]; k < row[i + 1]; k++) y[i] += x[k];", [4]),
    "degree": ("int d = deg[at[i]];\nfor (int k = 0; k < d; k++) y[i] += x[k];", [5]),
    "while": ("double s = x[i];\nwhile (s > 1e-6)\ns *= 0.5;\ny[i] = s;", [5]),
    "break": ("for (int k = 0; k < m; k++) if (x[k] > y[i]) break;", [4]),
    "condition": ("if (deg[i] > 0)\nfor (int k = 0; k < m; k++) y[i] += x[k];", [5]),
    "continue": ("if (deg[i] == 0) continue;\nfor (int k = 0; k < m; k++) y[i] += x[k];", [5]),
    "deeper": (
        "for (int j = 0; j < m; j++)\nfor (int k = row[i + j]; k < row[i + j + 1]; k++)"
        " y[i] += x[k];", [5],
    ),
    "through a counter": (
        "for (int j = i; j < m; j++)\nfor (int k = 0; k < deg[j]; k++) y[i] += x[k];", [5],
    ),
    # The same for all iterations, or counted.
    "table of all": (
        "for (int j = 0; j < m; j++)\nfor (int k = row[j]; k < row[j + 1]; k++) y[i] += x[k];", [],
    ),
    "one entry": ("for (int k = 0; k < deg[0]; k++) y[i] += x[k];", []),
    "triangle": ("for (int k = 0; k < i; k++) y[i] += x[k];", []),
    "square": ("for (int k = 0; k < m; k++) y[i] += x[at[k]];", []),
    "condition on a counter": ("if (i % 2)\nfor (int k = 0; k < m; k++) y[i] += x[k];", []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_loops_that_data_decide(case: str) -> None:
    body, lines = CASES[case]
    (facts,) = facts_of_texts(f"{HEAD}{body}\n}}\n}}\n")
    assert [found.loop.span.line for found in uneven_loops(facts.region)] == lines
