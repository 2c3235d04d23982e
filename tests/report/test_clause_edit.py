"""Clauses written into directives, by hand."""

from __future__ import annotations

import pytest

from regionpredict.report.editor_notes import advised_clause, with_clause


@pytest.mark.parametrize(
    ("line", "clause", "edited"),
    [
        ("#pragma omp parallel for", "schedule(auto)", "#pragma omp parallel for schedule(auto)"),
        ("#pragma omp for   ", "collapse(2)", "#pragma omp for collapse(2)   "),
        ("\t# pragma omp for nowait", "collapse(2)", "\t# pragma omp for nowait collapse(2)"),
        ("#pragma omp for schedule (dynamic, 4) nowait", "schedule(static)",
         "#pragma omp for schedule(static) nowait"),
        ("#pragma omp parallel for \\", "collapse(2)", "#pragma omp parallel for collapse(2) \\"),
        ("#pragma omp for /* why */", "collapse(2)", "#pragma omp for collapse(2) /* why */"),
        ("#pragma omp parallel", "collapse(2)", None),  # no loop's
        ("for (i = 0; i < n; i++)", "collapse(2)", None),
        ("#pragma omp for schedule(f(2))", "schedule(static)", None),
        ("#pragma omp for schedule(static) // schedule(dynamic)", "schedule(guided)", None),
    ],
)  # fmt: skip
def test_a_line(line: str, clause: str, edited: str | None) -> None:
    assert with_clause(line, clause) == edited


def test_an_advice_that_is_no_clause_asks_for_none() -> None:
    assert advised_clause("write collapse(2)") == "collapse(2)"
    assert advised_clause("write the sums of rows apart") is None
