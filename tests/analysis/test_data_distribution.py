"""Which thread has which part of an array: the dimension that moves with the parallel loop."""

from __future__ import annotations

import pytest
from texts import facts_of_texts

from regionpredict.analysis.history.data_distribution import factor_of, parts_of
from regionpredict.ir import Expr

Shown = tuple[int | None, str, int]  # dimension, factor of the loop's variable, rank


def dealt(statement: str, kind: str, clauses: str = "") -> dict[str, set[Shown]]:
    text = f"""
double A[90][90], B[90][90], x[9999];
int row[90];
void f(int n, int m) {{
#pragma omp parallel for {clauses}
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      {statement}
}}
"""
    (facts,) = facts_of_texts(text)
    found = parts_of(facts.region, kind)
    return {
        name: {(part.dimension, part.slope, part.rank) for part in parts}
        for name, parts in found.items()
    }


@pytest.mark.parametrize(
    ("reference", "part"),
    [
        ("A[i][j]", (0, "1", 2)),
        ("A[j][i]", (1, "1", 2)),
        ("A[2 * i + j][3]", (0, "2", 1)),
        ("A[n - 1 - i][j]", (0, "-1", 2)),
        ("A[i][i]", (0, "1", 2)),  # the first dimension that moves
        ("A[0][i]", (1, "1", 1)),
        ("x[i * m + j]", (0, "m", 1)),
        ("x[i * i]", (0, "curved", 1)),
        ("x[row[i]]", (0, "curved", 1)),
        ("A[j][j]", (None, "", 2)),  # the same for every thread
        ("A[0][j]", (None, "", 1)),
        ("A[n][0]", (None, "", 0)),
    ],
)
def test_a_reference_s_part(reference: str, part: Shown) -> None:
    assert dealt(f"{reference} = 1;", "write")[reference[0]] == {part}


def test_reads_and_writes_apart_and_each_way_once() -> None:
    statement = "{ A[i][j] = B[j][i] + B[j + 1][i] + B[i][j]; x[i] += x[j]; }"
    assert dealt(statement, "write") == {"A": {(0, "1", 2)}, "x": {(0, "1", 1)}}
    assert dealt(statement, "read") == {
        "B": {(1, "1", 2), (0, "1", 2)}, "x": {(0, "1", 1), (None, "", 1)},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("clauses", "schedule"),
    [
        ("", ("static", None)),
        ("schedule(static)", ("static", None)),
        ("schedule(static, 4)", ("static", 4.0)),
        ("schedule(dynamic, 4)", ("dynamic", 4.0)),
    ],
)
def test_parts_are_dealt_out_by_the_schedule(
    clauses: str, schedule: tuple[str, float | None]
) -> None:
    text = f"""double x[99];
void f(void) {{
#pragma omp parallel for {clauses}
  for (int i = 0; i < 99; i++) x[i] = 1;
}}
"""
    (facts,) = facts_of_texts(text)
    ((part,),) = parts_of(facts.region, "write").values()
    assert tuple(part.schedule) == schedule


def test_factors() -> None:
    i, n = Expr.name("i"), Expr.name("n")
    assert factor_of(n, "i") is None
    assert factor_of(i * 3 - n, "i") == "3"
    assert factor_of(-i, "i") == "-1"
    assert factor_of(i * n + i, "i") == str(n + 1)
    assert factor_of(Expr.atom("min", i, n), "i") == "curved"
