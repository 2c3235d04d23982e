"""Recordings of several runs of one program as one."""

from __future__ import annotations

from dataclasses import replace

from regionpredict.measure.recording import RecordedRegion, Recording, together
from regionpredict.measure.records import EntrySize

LOOP = RecordedRegion(
    "f.c", 3, 4, 0, "abc", 2, 5, 10, 20, {"n": EntrySize("n", 5, 10, 10, 20)},
    frozenset(("-DA", "-DB")),
)  # fmt: skip


def test_a_region_that_both_runs_came_to_is_told_once_with_the_widest_range() -> None:
    longer = replace(
        LOOP, least_trips=15, most_trips=40, macros=frozenset(("-DA",)),
        sizes={"n": EntrySize("n", 2, 15, 15, 40), "m": EntrySize("m", 2, 1, 1, 1)},
    )  # fmt: skip
    other = replace(LOOP, line=9, loop_line=10)
    both = together([Recording("a", (LOOP,)), Recording("b", (longer, other))])
    (merged, alone) = both.regions
    assert (both.path, alone) == ("a", other)
    assert (merged.least_trips, merged.most_trips) == (10, 40)
    assert {name: (size.least, size.most) for name, size in merged.sizes.items()} == {
        "n": (10, 40), "m": (1, 1),
    }  # fmt: skip
    assert merged.macros == {"-DA"}


def test_trips_of_the_run_that_counted_them_are_taken() -> None:
    uncounted = replace(LOOP, least_trips=None, most_trips=None)
    for pair in ((LOOP, uncounted), (uncounted, LOOP)):
        (merged,) = together([Recording("a", (own,)) for own in pair]).regions
        assert (merged.least_trips, merged.most_trips) == (10, 20)


def test_teams_are_merged_as_regions_are() -> None:
    both = together([Recording("a", (), (LOOP,)), Recording("b", (), (LOOP,))])
    assert (both.regions, both.teams) == ((), (LOOP,))
