"""Which region is which after an edit: by hand, and by shuffling what must not matter."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.compare.hint_changes import hint_changes
from regionpredict.compare.hint_outline import HintOutline, Reference, RegionOutline
from regionpredict.compare.region_matching import matched_regions, same_files


def region(
    line: int, arrays: str = "a", *, function: str = "f", file: str = "x.c", trips: str = "n",
    packages: int | None = 1, seconds: float | None = 1.0, pattern: str = "streaming",
    clauses: tuple[str, ...] | None = (), rules: tuple[tuple[str, str], ...] = (),
) -> RegionOutline:  # fmt: skip
    """A region whose references are `a[i]` for each letter of `arrays`; four threads, twice as
    fast as one."""
    return RegionOutline(
        f"{file}:{line}", file, line, function, "omp parallel for", clauses, "predicted",
        (trips, 100), ("8*n", 800), packages, 4, {1: 1.0, 4: 2.0}, seconds, "compute", 0.5,
        tuple(Reference(f"{name}[i]", "read", pattern, "miss") for name in arrays), rules,
    )  # fmt: skip


def places(old: list[RegionOutline], new: list[RegionOutline]):
    """({new line: old line}, lines removed, lines added)."""
    pairs, removed, added = matched_regions(old, new)
    return (
        {after.line: before.line for before, after in pairs},
        [one.line for one in removed],
        [one.line for one in added],
    )


def test_lines_move_and_a_new_region_is_no_old_one() -> None:
    old = [region(3, "a"), region(9, "ab"), region(20, "c")]
    new = [region(5, "d"), region(8, "a"), region(14, "ab"), region(25, "c")]
    assert places(old, new) == ({8: 3, 14: 9, 25: 20}, [], [5])


def test_a_changed_body_keeps_its_place_between_neighbours() -> None:
    old = [region(3, "a"), region(9, "ab"), region(20, "c")]
    new = [region(3, "a"), region(9, "axyz", trips="m"), region(22, "c")]
    assert places(old, new)[0] == {3: 3, 9: 9, 22: 20}


def test_of_several_changed_those_that_share_arrays_go_together() -> None:
    old = [region(1, "ab"), region(2, "cd")]
    new = [region(1, "xyz"), region(2, "cde"), region(3, "abf")]
    assert places(old, new) == ({2: 2, 3: 1}, [], [1])


def test_a_region_that_is_alone_may_move_to_another_function() -> None:
    old = [region(1, "ab", function="f"), region(2, "c", function="f")]
    new = [region(7, "ab", function="g"), region(2, "c", function="f")]
    assert places(old, new) == ({7: 1, 2: 2}, [], [])
    twice = [*new, region(9, "ab", function="h")]
    assert places(old, twice) == ({2: 2}, [1], [7, 9])


def test_files_are_known_by_the_end_of_their_paths() -> None:
    assert same_files({"old/src/x.c", "old/x.c"}, {"new/x.c", "new/src/x.c"}) == {
        "old/src/x.c": "new/src/x.c", "old/x.c": "new/x.c",
    }  # fmt: skip
    assert same_files({"x.c"}, {"y.c"}) == {}


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.data())
def test_what_only_moved_is_found_whole(data: st.DataObject) -> None:
    """Functions in any order, lines anywhere: every region finds itself."""
    functions = data.draw(st.lists(st.lists(st.sampled_from(["a", "b", "ab"]), max_size=4),
                                   max_size=4))  # fmt: skip
    old = [
        region(100 * at + line, arrays, function=f"f{at}")
        for at, bodies in enumerate(functions)
        for line, arrays in enumerate(bodies, 1)
    ]
    order = data.draw(st.permutations(range(len(functions))))
    new = [
        region(1000 + 50 * order.index(at) + line, arrays, function=f"f{at}")
        for at in order
        for line, arrays in enumerate(functions[at], 1)
    ]
    pairs, removed, added = matched_regions(old, new)
    assert not removed
    assert not added
    assert all(a.function == b.function and a.arrays == b.arrays for a, b in pairs)
    assert all(a.line % 100 == b.line % 50 for a, b in pairs)


def changed(old: RegionOutline, new: RegionOutline):
    sides = (HintOutline("o", "m", "saturation", (one,)) for one in (old, new))
    (change,) = hint_changes(*sides).changes
    return change


def test_the_reasons_are_what_is_not_as_it_was() -> None:
    old = region(3, "a", clauses=("nowait",), rules=(("RP101", "why"),))
    new = region(5, "ab", clauses=("schedule(dynamic)",), pattern="irregular", trips="m",
                 rules=(("RP221", "depends"),), packages=2)  # fmt: skip
    assert changed(old, new).reasons == (
        "iterations n = 100 -> m = 100",
        "new: schedule(dynamic)",
        "gone: nowait",
        "read a[i] is irregular, was streaming",
        "new: read b[i], irregular",
        "new: depends (RP221)",
        "gone: RP101",
    )


def test_the_same_is_the_same_wherever_it_stands() -> None:
    assert changed(region(3), region(30)).kind == "same"
    assert changed(region(3), region(3, seconds=1.04)).kind == "same"  # 4 % is noise
    assert changed(region(3), region(3, seconds=1.06)).kind == "changed"
    # 0.1 % more bytes with the same hint and time are listed, but do not count.
    more = changed(region(3), replace(region(3), working_set=("8*n", 801)))
    assert (more.kind, bool(more.reasons)) == ("same", True)
    assert changed(region(3), region(3, packages=2)).kind == "changed"
    assert changed(region(3), region(3, packages=None)).kind == "changed"
    assert changed(region(3, clauses=None), region(3, clauses=("nowait",))).kind == "same"
