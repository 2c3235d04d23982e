"""Recordings of several runs of one program as one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from regionpredict.measure.recording import RecordedRegion, Recording, read_recording, together
from regionpredict.measure.records import Campaign, EntryCase, EntrySize, Host, RegionRun, Run
from regionpredict.measure.store import Store

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


def test_a_distribution_that_differs_is_not_kept() -> None:
    cases = (EntryCase(3, 10, {"n": 10}), EntryCase(2, 20, {"n": 20}))
    known = replace(LOOP, cases=cases)
    for other, kept in ((known, cases), (LOOP, ())):
        (merged,) = together([Recording("a", (known,)), Recording("b", (other,))]).regions
        assert merged.cases == kept


def test_loops_of_runs_on_more_threads_are_taken_from_them(tmp_path: Path) -> None:
    def region(line: int, trips: int) -> RegionRun:
        return RegionRun("f.c", line, line + 1, "f", "omp parallel for", "gcc", 1, 1.0, 1.0, 1.0,
                         1.0, 1, trips, trips, trips, 1, 1)  # fmt: skip

    store = Store(tmp_path / "m.jsonl")
    host = Host("h", "p", 1, 2, 1, 1)
    store.begin(Campaign(("./p",), host, {}, "now"))
    for threads, lines in ((2, (3, 9)), (1, (3,))):
        regions = tuple(region(line, 10 * threads) for line in lines)
        store.add(Run(threads, 0, False, 1.0, "now", 0.1, "/p", "gcc", "libgomp", regions))
    recording = read_recording(tmp_path / "m.jsonl")
    assert [(one.line, one.most_trips) for one in recording.regions] == [(3, 10), (9, 20)]
