"""What shares that a caller gives mean in one region: which `if` has them, and which has none."""

from __future__ import annotations

from fractions import Fraction

import pytest
from texts import facts_of_texts

from regionpredict.analysis.given_shares import (
    conditions_at,
    every_condition,
    split_by_kind,
    with_given,
)
from regionpredict.analysis.given_sizes import every_loop
from regionpredict.errors import UsageError
from regionpredict.ir import Region

TEXT = """double x[9999]; int row[99];
void solve(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    if (x[i] > 0) x[i] = 1;
    for (int k = row[i]; k < row[i + 1]; k++) {
      if (x[k] > 1) x[k] = 1; else if (x[k] < -1)
        x[k] = 2;
    }
    if (x[i] > 2) for (int j = 0; j < row[i]; j++) x[j] = 1;
#pragma omp critical
    {
      if (x[0] > 3) x[0] = 3;
      switch (row[i]) { case 1: x[1] = 2; }
    }
    if (x[i] > 4)
      if (x[i] > 5) x[i] = 5;
  }
}
"""


@pytest.fixture(scope="module")
def region() -> Region:
    (facts,) = facts_of_texts(TEXT)
    return facts.region


def shares(region: Region) -> dict[str, Fraction]:
    """The given shares by the condition."""
    return {
        branch.condition: branch.share
        for branch in every_condition(region)
        if branch.share is not None
    }


def test_every_if_in_source_order(region: Region) -> None:
    lines = [branch.span.line for branch in every_condition(region)]
    assert lines == [5, 7, 7, 10, 13, 16, 17]  # no loop, no switch


def test_a_place_may_leave_folders_out(region: Region) -> None:
    path = region.span.file
    for name in (path, "text.c", "/".join(path.split("/")[-2:])):
        assert [branch.condition for branch in conditions_at(region, name, 13)] == ["x[0] > 3"]
    for name, line in (("xt.c", 13), ("other.c", 13), ("text.c", 12)):
        assert not [*conditions_at(region, name, line)]


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ({"text.c:5": 0.25}, {"x[i] > 0": Fraction(1, 4)}),
        ({"text.c:5": 0}, {"x[i] > 0": Fraction(0)}),
        ({"text.c:5": 1, "text.c:17": 0.5}, {"x[i] > 0": 1, "x[i] > 5": Fraction(1, 2)}),
        ({"text.c:13": Fraction(1, 3)}, {"x[0] > 3": Fraction(1, 3)}),
        ({"text.c:5": 2}, {}),
        ({"text.c:5": -0.5}, {}),
        ({"text.c:14": 0.5}, {}),  # a switch
        ({"n": 1}, {}),
        ({"text.c:10": 1}, {}),  # the loop's
        ({"text.c:10": 1.0}, {"x[i] > 2": 1}),
    ],
)
def test_which_condition_has_it(
    region: Region, given: dict[str, float], held: dict[str, Fraction]
) -> None:
    assert shares(with_given(region, split_by_kind(given))) == held


def test_iterations_and_a_share_of_one_line(region: Region) -> None:
    """Each has its own; nothing else changes."""
    made = with_given(region, split_by_kind({"text.c:10": 7}))
    (loop,) = (loop for loop in every_loop(made) if loop.span.line == 10)
    assert loop.trips is not None and str(loop.trips).endswith("text.c:10")
    assert shares(made) == {}
    made = with_given(region, split_by_kind({"text.c:10": 0.5}))
    assert [*every_loop(made)][-1].trips == [*every_loop(region)][-1].trips
    assert with_given(region, split_by_kind({"n": 3})) is region


def test_whole_numbers_and_shares_are_told_apart() -> None:
    given = split_by_kind({"n": 4, "f.c:3": 0.5, "f.c:4": 1})
    assert given.whole == {"n": 4, "f.c:4": 1}
    assert given.shares == {"f.c:3": Fraction(1, 2)}
    assert given.without({"n", "f.c:3"}) == {"f.c:4": 1}
    for number in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match="not a number"):
            split_by_kind({"f.c:3": number})
