"""Where the lines of one reference group lie, and how many they are: all figures by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from nest_texts import STATIC, group_of, nest_of

from regionpredict.workload.footprint_tables import ChainRanges, FootprintTables
from regionpredict.workload.joined_groups import group_equal_arrays
from regionpredict.workload.line_overlap import GroupLines
from regionpredict.workload.loop_nest import LoopNest, ReferenceGroup
from regionpredict.workload.loop_ranges import Range, loop_ranges
from regionpredict.workload.team_footprint import (
    TeamFootprints,
    _separate_rows,
)
from regionpredict.workload.thread_nest import distribute_nest, undivided_nest

GRID = "for (int i = 0; i < 10; i++) for (int j = 0; j < 20; j++) a[i][j] = 1;"
DECLARED = "int n, double a[10][20], double *b, int *k"
NOTHING = frozenset[str]()


def _spans(ranges: Mapping[str, Range]) -> ChainRanges:
    return ChainRanges(ranges, all(one.trips > 0 for one in ranges.values()))


def team_of(nest: LoopNest, threads: int = 1, sharers: int = 1) -> TeamFootprints:
    dealt = distribute_nest(nest, threads, STATIC) if threads > 1 else undivided_nest(nest)
    return TeamFootprints(dealt, float(sharers), 64, FootprintTables())


def lines_of(
    nest: LoopNest, array: str = "a", *, team: TeamFootprints | None = None, inner: int = 0,
    env: dict[str, float] | None = None, per_thread: bool = False,
) -> GroupLines:  # fmt: skip
    """The lines of an array's only group in its loops from the `inner`-th on."""
    group, team = group_of(nest, array), team or team_of(nest)
    ranges = loop_ranges(group.loops[inner:], env or {}, team.pieces)
    (lines,) = team._group_lines(group, _spans(ranges), env or {}, per_thread)
    return lines


def test_rows_one_behind_the_other() -> None:
    """Ten rows of 160 bytes: 1600 in all."""
    found = lines_of(nest_of(GRID, DECLARED))
    assert found.touched == found.written == pytest.approx(1 + 1592 / 64)
    assert (found.low, found.high, found.origin) == (0.0, 1600.0, 0.0)
    assert sorted(found.levels) == [(8.0, 20.0), (160.0, 10.0)]
    assert (found.strides, found.slanted, found.team, found.offsets) == (
        (160.0, 8.0), False, (), (0.0,),
    )  # fmt: skip


def test_one_row_where_it_stands() -> None:
    found = lines_of(nest_of(GRID, DECLARED), inner=1, env={"i": 3.0})
    assert found.touched == pytest.approx(1 + 152 / 64)
    assert (found.low, found.high, found.origin, found.levels) == (480, 640, 480, ((8.0, 20.0),))


def test_falling_loops_begin_at_the_top() -> None:
    falling = GRID.replace("int j = 0; j < 20; j++", "int j = 19; j >= 0; j--")
    found = lines_of(nest_of(falling, DECLARED), inner=1, env={"i": 0.0})
    assert (found.low, found.high, found.origin) == (0, 160, 152)
    assert (found.levels, found.strides) == (((-8.0, 20.0),), (8.0,))
    by_threes = GRID.replace("j < 20; j++", "j < 20; j += 3")  # 0, 3, ... 18
    found = lines_of(nest_of(by_threes, DECLARED), inner=1, env={"i": 0.0})
    assert (found.low, found.high, found.levels) == (0, 152, ((24.0, 7.0),))


def test_a_loop_of_one_iteration_has_no_stride() -> None:
    loops = "for (int i = 0; i < 10; i++) for (int j = 4; j < 5; j++) b[i + 100 * j] = 1;"
    found = lines_of(nest_of(loops, DECLARED), "b")
    assert (found.strides, found.low, found.high) == ((8.0,), 3200, 3280)
    twice = lines_of(nest_of(loops.replace("j < 5", "j < 6"), DECLARED), "b")
    assert twice.strides == (800.0, 8.0)


def test_offsets_widen_what_is_touched() -> None:
    loops = "for (int i = 0; i < 10; i++) b[i + 2] = b[i] + b[i + 7];"
    found = lines_of(nest_of(loops, DECLARED), "b")
    assert (found.offsets, found.low, found.high) == ((0.0, 16.0, 56.0), 0, 56 + 72 + 8)
    assert found.touched == pytest.approx(1 + (56 + 80 - 8) / 64)
    assert found.written == pytest.approx(1 + 72 / 64)


def test_a_triangle_has_its_mean_where_both_loops_move_it() -> None:
    """j from i on: in the middle, at 4.5, 5.5 of ten; b[j] sees all ten, whatever i is."""
    loops = """for (int i = 0; i < 10; i++) for (int j = i; j < 10; j++) {
      a[i][j] = 1; b[j] = 2; }"""
    nest = nest_of(loops, DECLARED)
    both = lines_of(nest)
    assert (sorted(both.levels), both.slanted) == ([(8.0, 5.5), (160.0, 10.0)], True)
    assert both.high == 160 * 9 + 8 * 9 + 8
    one = lines_of(nest, "b")
    assert (one.levels, one.slanted) == (((8.0, 10.0),), False)


def test_threads_of_a_cache_stand_a_piece_apart() -> None:
    """Two of two threads, five rows each: the mean one begins in the middle, at 2.5."""
    nest = nest_of(GRID, DECLARED)
    team = team_of(nest, 2, 2)
    together = lines_of(nest, team=team)
    assert together.touched == pytest.approx(1 + 1592 / 64)
    assert together.team == ((800.0, 2.0),)
    assert sorted(together.levels) == [(8.0, 20.0), (160.0, 5.0)]
    assert (together.low, together.high, together.origin) == (400, 1200, 400)
    # Apart in time: each by itself.
    alone = lines_of(nest, team=team, per_thread=True)
    assert alone.touched == pytest.approx(2 * (1 + 792 / 64))
    assert alone.team == together.team
    # Inside one iteration they stand apart as ever.
    row = lines_of(nest, team=team, inner=1, env={"i": 2.0}, per_thread=True)
    assert row.touched == pytest.approx(2 * (1 + 152 / 64))
    # What does not move with the threads is there once.
    same = nest_of(GRID.replace("a[i][j]", "b[j]"), DECLARED)
    shared = lines_of(same, "b", team=team_of(same, 2, 2))
    assert (shared.touched, shared.team) == (pytest.approx(1 + 152 / 64), ())


def test_an_array_of_each_thread_s_own_is_there_for_each() -> None:
    loops = "for (int i = 0; i < 10; i++) { double t[20]; for (int j = 0; j < 20; j++) t[j] = i; }"
    nest = nest_of(loops, DECLARED)
    assert lines_of(nest, "t", team=team_of(nest, 2, 2)).touched == pytest.approx(
        2 * (1 + 152 / 64)
    )


def test_threads_that_drift_apart_are_counted_each() -> None:
    """a[j] over j from i on: side by side in one sweep, at other places where they are apart."""
    loops = "for (int i = 0; i < 100; i++) for (int j = i; j < 100; j++) b[j] += i;"
    nest = nest_of(loops, DECLARED)
    team = team_of(nest, 2, 2)
    assert group_of(nest, "b").drifts == {"j"}
    once, each = (
        lines_of(nest, "b", team=team, per_thread=per_thread) for per_thread in (False, True)
    )
    assert each.touched == pytest.approx(2 * once.touched)


def test_loops_that_do_not_run_touch_nothing() -> None:
    nest = nest_of(GRID, DECLARED)
    team, group = team_of(nest), group_of(nest, "a")
    ranges = loop_ranges(group.loops, {}, {})
    for trips, parts in ((0.0, 0), (-3.0, 0), (0.5, 1)):
        some = {**ranges, "j": Range(trips, trips, NOTHING, 1, 0.0)}
        assert len(team._group_lines(group, _spans(some), {}, False)) == parts


# -- gathers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("threads", "private"), [(1, False), (4, False), (1, True), (4, True)])
def test_random_accesses_hit_lines_at_least_once(threads: int, private: bool) -> None:
    """100 by each thread over 62.5 lines, of one array or of each thread's own."""
    nest = nest_of("for (int i = 0; i < 100; i++) g[k[i]] += 1;", "int n, double g[500], int *k")
    group = replace(group_of(nest, "g"), private=private)
    team = team_of(nest)
    team.threads = float(threads)
    ranges = {"i": Range(100.0, 100.0, NOTHING, 1, 0.0)}
    (found,) = team._group_lines(group, _spans(ranges), {}, False)
    number, copies = (100, threads) if private else (100 * threads, 1)
    expected = copies * 62.5 * (1 - math.exp(-number / 62.5))
    assert found.touched == found.written == pytest.approx(expected)
    assert (found.low, found.high) == (0.0, 4000.0)
    (read,) = team._group_lines(replace(group, written=(), index=7), _spans(ranges), {}, False)
    assert read.written == 0.0
    small = replace(group, extent=8.0, private=False, index=8)
    (one,) = team._group_lines(small, _spans(ranges), {}, False)
    assert one.touched == pytest.approx(1.0)  # no fewer than a line
    (none,) = team._group_lines(group, _spans({"i": Range(-1.0, 0.0, NOTHING, 1, 0.0)}), {}, False)
    assert none.touched == 0.0


# -- rows that do not interleave ------------------------------------------------------------------


def row_group(*offsets: float, written: tuple[float, ...] = ()) -> ReferenceGroup:
    nest = nest_of("for (int i = 0; i < 100; i++) b[i] = 1;", DECLARED)
    return replace(group_of(nest, "b"), offsets=offsets, written=written)


@pytest.mark.parametrize(
    ("offsets", "parts"),
    [
        ((0.0,), [(0.0,)]),
        ((0.0, 8.0), [(0.0, 8.0)]),
        # a hundred doubles reach 792 bytes, and a line is 64
        ((0.0, 856.0), [(0.0, 856.0)]),
        ((0.0, 857.0), [(0.0,), (857.0,)]),
        ((-857.0, 0.0, 8.0, 900.0), [(-857.0,), (0.0, 8.0), (900.0,)]),
        ((0.0, 500.0, 1000.0, 1500.0), [(0.0, 500.0, 1000.0, 1500.0)]),  # each near the next
    ],
)
def test_offsets_beyond_the_reach_are_rows_of_their_own(
    offsets: tuple[float, ...], parts: list[tuple[float, ...]]
) -> None:
    ranges = {"i": Range(100.0, 100.0, NOTHING, 1, 0.0)}
    found = _separate_rows(row_group(*offsets, written=offsets[1:]), ranges, 64)
    assert [own for own, _ in found] == parts
    assert [stored for _, stored in found] == [
        tuple(o for o in part if o in offsets[1:]) for part in parts
    ]
    # Where the loop stands still nothing reaches anywhere; nor where it does not run.
    for still in ({}, {"i": Range(0.0, 0.0, NOTHING, 1, 0.0)}):
        apart = _separate_rows(row_group(0.0, 64.0, 129.0), still, 64)
        assert [own for own, _ in apart] == [(0.0, 64.0), (129.0,)]


def test_arrays_that_are_referred_to_alike() -> None:
    """a and c alike, d by another offset, e written: each of its own kind."""
    loops = "for (int i = 0; i < 9; i++) e[i] = x[i] + y[i] + z[i + 1] + w[2 * i];"
    nest = nest_of(loops, "double *e, double *x, double *y, double *z, double *w")
    found = [one.arrays for one in group_equal_arrays(list(nest.groups()), {})]
    assert sorted(map(sorted, found)) == [["e"], ["w"], ["x", "y"], ["z"]]
