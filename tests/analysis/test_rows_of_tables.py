"""Rows of a table are the same in both spellings: from the row's start, or from zero beside it."""

from __future__ import annotations

import pytest
from texts import facts_of_texts

from regionpredict.ir import Region

ROWS = """double y[99999], w[99];
void f(int n, const int *row, const int *t, const int *length, const double *x) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{
    double s = 0;
    {loop}
    y[i] = s;
  }}
}}
"""
FROM_THE_START = "for (int k = row[i]; k < row[i + 1]; k++) s += x[t[k]];"


def region(loop: str) -> Region:
    (found,) = facts_of_texts(ROWS.format(loop=loop), n=99999)
    return found.region


def walked(loop: str) -> tuple[str, list[str]]:
    """The start and the bound of the inner loop, and the subscripts of the table and through it."""
    found = region(loop)
    (inner,) = (own for own in found.loops() if own.variable != "i")
    subscripts = {
        str(subscript) for statement, _ in found.statements() for access in statement.accesses
        if access.array in ("t", "x") for subscript in access.subscripts
    }  # fmt: skip
    return f"{inner.start} to {inner.bound}", sorted(subscripts)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = 0; k < row[i + 1] - row[i]; k++) s += x[t[row[i] + k]];",
        "int many = row[i + 1] - row[i]; const int *own = &t[row[i]];"
        " for (int k = 0; k < many; k++) { int e = own[k]; s += x[e]; }",
        "const int *own = t + row[i];"
        " for (int k = 0; k < row[i + 1] - row[i]; k++) s += x[own[k]];",
    ],
)
def test_rows_from_zero_are_rows_from_their_start(loop: str) -> None:
    assert walked(FROM_THE_START) == ("row[i] to row[i + 1]", ["k", "t[k]"])
    assert walked(loop) == walked(FROM_THE_START)


def test_a_row_with_a_length_of_its_own_ends_behind_its_start() -> None:
    loop = "for (int k = 0; k < length[i]; k++) s += x[t[row[i] + k]];"
    assert walked(loop) == ("row[i] to length[i] + row[i]", ["k", "t[k]"])


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = 0; k < length[i]; k++) s += x[t[row[i] + k]] * w[k];",  # k alone, too
        "for (int k = 0; k < n; k++) s += x[t[row[i] + k]];",  # blocks of one length
        "for (int k = 0; k < length[i]; k++) if (k > 2) s += x[t[row[i] + k]];",
        "for (int k = 0; k < length[i]; k++) s += x[t[row[i] + 2 * k]];",
        "for (int k = 0; k < length[i]; k++) s += x[t[row[0] + k]];",  # one start for all rows
        "for (int k = 0; k < length[i]; k++) s += x[t[row[i] + row[i + 1] + k]];",
    ],
)
def test_other_loops_count_as_they_are_written(loop: str) -> None:
    assert walked(loop)[0] in ("0 to length[i]", "0 to n")
