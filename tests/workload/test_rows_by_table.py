"""Rows that a table picks: taken in its order where they lie apart, left irregular elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse
from regionpredict.workload.loop_nest import ReferenceGroup
from regionpredict.workload.nest_lowering import loop_nest


def group(tmp_path: Path, reference: str, inner: str = "") -> ReferenceGroup:
    """The group of `a` in a nest over i and j (and `inner`) that reads it by `reference`."""
    path = tmp_path / "rows.c"
    path.write_text(f"""
void kernel(double *restrict a, double *restrict b, int *restrict row, int *restrict col) {{
#pragma omp parallel for
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 200; j++)
      {inner}
      b[i * 200 + j] += a[{reference}];
}}
""")
    (facts,) = analyse(requests_for([str(path)]), {}).facts
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    (found,) = (one for one in nest.groups() if one.array == "a")
    return found


@pytest.mark.parametrize(
    ("reference", "slopes"),
    [
        ("row[i] * 200 + j", {"i": 1600.0, "j": 8.0}),
        ("row[i + 1] * 200 + j", {"i": 1600.0, "j": 8.0}),
        ("row[2 * i] * 200 + j", {"i": 3200.0, "j": 8.0}),
    ],
)
def test_rows_lie_apart(tmp_path: Path, reference: str, slopes: dict[str, float]) -> None:
    found = group(tmp_path, reference)
    assert (found.irregular, found.slopes) == (False, slopes)


@pytest.mark.parametrize(
    "reference",
    [
        "i * 200 + col[j]",  # the table moves with the inner loop: a gather
        "row[i] + j",  # rows of unknown length, not a table of rows
        "row[i]",  # nothing moves inside
    ],
)
def test_what_is_no_table_of_rows_stays_irregular(tmp_path: Path, reference: str) -> None:
    assert group(tmp_path, reference).irregular


@pytest.mark.parametrize(
    ("places", "widest"),
    [("200 * j + k", 200), ("200 * (8 - k) + j", 200), ("8 * j + 1600 * k", 1600)],
)
def test_rows_lie_apart_by_more_than_the_widest_step_inside(
    tmp_path: Path, places: str, widest: int
) -> None:
    """Of rows that are closer than a step of either loop, one lies within the other."""
    for rows in (widest // 2, widest, widest + 1, 2 * widest, -widest, -widest - 1):
        found = group(tmp_path, f"{rows} * row[i] + {places}", "for (int k = 0; k < 9; k++)")
        assert found.irregular is (abs(rows) <= widest)
        assert found.slopes.get("i") == (None if found.irregular else 8.0 * rows)


@pytest.mark.parametrize(("columns", "irregular"), [(8, True), (9, False)])
def test_each_of_two_tables_has_rows_apart(tmp_path: Path, columns: int, irregular: bool) -> None:
    reference = f"1600 * row[i] + {columns} * col[j] + 8 * k"
    found = group(tmp_path, reference, "for (int k = 0; k < 9; k++)")
    assert found.irregular is irregular
