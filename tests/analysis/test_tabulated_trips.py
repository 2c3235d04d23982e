"""Loops whose iterations stand in a table: one size for all of them, in the words of the source."""

from __future__ import annotations

import pytest
from texts import facts_of_texts

from regionpredict.analysis.given_sizes import every_loop, with_given_trips
from regionpredict.analysis.tabulated_trips import EntryTrips, entry_trips
from regionpredict.ir import Region

TEXT = """double x[9999], sum[99]; int row[99], last[9], count[9][9], cell[99];
void f(int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int k = row[i]; k < row[i + 1]; k++) sum[i] += x[k];
    for (int k = row[cell[i]]; k <= row[cell[i] + 1]; k++) sum[i] += x[k];
    for (int k = row[i]; k < row[i + m]; k++) sum[i] += x[k];
    for (int k = row[i]; k < last[i]; k++) sum[i] += x[k];
    for (int k = 0; k < count[i][cell[i]] - 2; k++) sum[i] += x[k];
    for (int k = 8 * i; k < 8 * i + last[i]; k++) sum[i] += x[k];
    for (int k = 0; k < 2 * last[i]; k++) sum[i] += x[k];
    for (int k = 0; k < m; k++) sum[i] += x[k];
    for (int k = row[i]; k < row[i] + m; k++) sum[i] += x[k];
  }
}
"""


@pytest.fixture(scope="module")
def region() -> Region:
    (facts,) = facts_of_texts(TEXT)
    return facts.region


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (5, EntryTrips("row[i+1]-row[i]", 0)),
        (6, EntryTrips("row[i+1]-row[i]", 1)),
        (7, None),  # how far one stands behind the other is not known
        (8, None),  # of two tables
        (9, EntryTrips("count[i][j]", -2)),
        (10, EntryTrips("last[i]", 0)),
        (11, None),  # twice an entry
        (12, None),
        (13, None),
    ],
)
def test_the_table_that_tells_the_iterations(
    region: Region, line: int, told: EntryTrips | None
) -> None:
    (loop,) = [loop for loop in every_loop(region) if loop.span.line == line]
    assert entry_trips(loop) == told


def trips_by_line(region: Region, given: dict[str, int]) -> dict[int, int]:
    """The iterations of the inner loops that have a number with these sizes."""
    counted = with_given_trips(region, given)
    trips = {
        loop.span.line: loop.trips.evaluate(given)
        for loop in every_loop(counted) if loop.trips is not None and loop.span.line > 4
    }  # fmt: skip
    return {line: int(number) for line, number in trips.items() if number is not None}


def test_one_size_counts_all_loops_over_a_table(region: Region) -> None:
    assert trips_by_line(region, {"row[i+1]-row[i]": 20}) == {5: 20, 6: 21}
    assert trips_by_line(region, {"count[i][j]": 20, "last[i]": 3}) == {9: 18, 10: 3}


def test_a_loop_by_its_place_goes_before_its_table(region: Region) -> None:
    place = f"{region.span.file}:5"
    assert trips_by_line(region, {"row[i+1]-row[i]": 20, place: 7}) == {5: 7, 6: 21}
