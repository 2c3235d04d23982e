"""Lines of references whose rows lie within each other: by hand, and by sets of addresses."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from further_cases import further_slow
from nest_texts import STATIC, counter_of, nest_of

from regionpredict.frontend.lowering.member_arrays import extents_with_stride
from regionpredict.ir import Array, Expr
from regionpredict.workload.address_runs import merge_runs
from regionpredict.workload.cache_traffic import CacheLevel, TrafficCounter, touched_bytes
from regionpredict.workload.constants import MOST_RUNS
from regionpredict.workload.enumerated_lines import EnumeratedGroup, Part, distinct_lines, path_of
from regionpredict.workload.loop_nest import LoopNest
from regionpredict.workload.thread_nest import undivided_nest
from regionpredict.workload.work_distribution import work_profile


def lines_in(nest: LoopNest) -> float:
    """The lines of the whole nest, all its groups gone through."""
    walks = [EnumeratedGroup(group, path_of(group.loops), ()) for group in nest.groups()]
    part = Part({}, undivided_nest(nest).lengths, None, 64.0, aligned=True)
    found = distinct_lines(walks, part)
    assert found is not None
    return found.touched


def test_rows_that_several_iterations_share() -> None:
    """a[i + j][j]: 39 rows of 20 columns, each met again by the next i."""
    text = "for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) s += a[i + j][8 * j];"
    nest = nest_of(text, "double s, double a[64][160]")
    assert lines_in(nest) == 400  # each its own line
    text = "for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) s += a[i + j][0];"
    assert lines_in(nest_of(text, "double s, double a[64][160]")) == 39


def test_two_groups_of_one_array_count_a_line_once() -> None:
    """A diagonal that another loop's rows hold already."""
    text = """for (int i = 0; i < 16; i++) {
      b[0] += a[i][8 * i];
      for (int j = 0; j < 128; j++) b[0] += a[i][j];
    }"""
    nest = nest_of(text, "double b[8], double a[16][128]")
    assert touched_bytes(nest, 64) / 64 == pytest.approx(16 * 16 + 1, rel=0.01)


def test_a_band_that_ends_before_its_loop() -> None:
    """The inner loop runs in the first 23 of 100 iterations; in the middle one it does not."""
    text = "for (int i = 0; i < 100; i++) for (int j = i; j < 23; j++) s += a[8 * j];"
    nest = nest_of(text, "double s, double a[1000]")
    assert lines_in(nest) == 23


@pytest.mark.parametrize("seed", further_slow(20, range(40)))
def test_as_many_as_the_set_of_all_addresses_has(seed: int) -> None:
    choose = random.Random(seed)
    i_row, j_row, i_column, j_column = (choose.randint(0, 3) for _ in range(4))
    back, last = choose.randint(0, 4), choose.choice(["12", "i + 5", "20 - i"])
    text = (
        f"for (int i = 4; i < 16; i++) for (int j = i - {back}; "
        f"j < {last}; j++) s += a[{i_row} * i + {j_row} * j][{i_column} * i + {j_column} * j];"
    )
    seen = set()
    for i in range(4, 16):
        end = {"12": 12, "i + 5": i + 5, "20 - i": 20 - i}[last]
        for j in range(i - back, end):
            place = 8 * ((i_row * i + j_row * j) * 300 + i_column * i + j_column * j)
            seen.add(place // 64)
    assert lines_in(nest_of(text, "double s, double a[300][300]")) == len(seen)


def test_too_many_runs_are_left_to_closed_forms() -> None:
    text = "for (int i = 0; i < 5000; i++) for (int j = 0; j < 99; j++) s += a[2 * i + j][i];"
    (group,) = nest_of(text, "double s, double a[20000][6000]").groups()
    part = Part({}, {}, None, 64.0, aligned=False)
    assert distinct_lines([EnumeratedGroup(group, path_of(group.loops), ())], part) is None


@pytest.mark.parametrize(
    ("loops", "most"),
    [
        # an outer iteration, and each element two lines behind the one before
        ("for (int i = {0}; i < {0} + 1; i++) for (int j = 0; j < i; j++) s += a[16 * j];", 9),
        # outer iterations, and for each a row whose neighbours are one step
        ("for (int i = 1; i <= {0}; i++) for (int j = 0; j < i; j++) s += a[100 * i + j];", 5),
        # a loop that nothing hangs on, and two references in it
        ("for (int i = 0; i < {0}; i++) s += a[100 * i];", 10),
        ("for (int i = 0; i < {0}; i++) s += a[100 * i] + a[100 * i + 50];", 5),
    ],
)
def test_as_many_steps_as_there_may_be(
    monkeypatch: pytest.MonkeyPatch, loops: str, most: int
) -> None:
    """Ten steps are gone through here, and not one more."""
    ten = MOST_RUNS._replace(value=10.0)
    monkeypatch.setattr("regionpredict.workload.enumerated_lines.MOST_RUNS", ten)
    for number in (most - 1, most, most + 1):
        nest = nest_of(loops.format(number), "double s, double *a")
        (group,) = (group for group in nest.groups() if group.array == "a")
        part = Part({}, {}, None, 64.0, aligned=True)
        lines = distinct_lines([EnumeratedGroup(group, path_of(group.loops), ())], part)
        assert (lines is not None) == (number <= most), number


def test_as_many_steps_of_a_team(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads have five each, or six, which are two too many."""
    ten = MOST_RUNS._replace(value=10.0)
    monkeypatch.setattr("regionpredict.workload.enumerated_lines.MOST_RUNS", ten)
    for number, lines in ((5, 10.0), (6, None)):
        nest = nest_of(
            f"for (int i = 0; i < {number}; i++) s += a[100 * i];", "double s, double *a"
        )
        (group,) = nest.groups()
        walk = EnumeratedGroup(group, path_of(group.loops), ((400.0, 2.0),))
        told = distinct_lines([walk], Part({}, {}, None, 64.0, aligned=True))
        assert (None if told is None else told.touched) == lines


def test_joined_runs_stay_apart_where_a_line_fits_between() -> None:
    assert merge_runs([(0.0, 8.0), (64.0, 72.0), (20.0, 30.0)], 56.0) == [(0.0, 72.0)]
    assert merge_runs([(0.0, 8.0), (64.0, 72.0)], 56.0) == [(0.0, 8.0), (64.0, 72.0)]


def test_what_all_threads_read_is_there_once() -> None:
    """Four threads of one cache: x once, the rows of a in four pieces."""
    text = "for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) y[i] += a[i][j] * x[j];"
    nest = nest_of(text, "double y[64], double a[64][64], double x[64]")
    counter: TrafficCounter = counter_of(nest, STATIC)
    (level,) = counter.traffic([CacheLevel(1 << 20, 4)], 4)
    read = {one.array: one.read / 64 for one in level.arrays}
    assert read["x"] == pytest.approx(8, abs=1)
    assert read["a"] == pytest.approx(512, rel=0.01)


def test_arrays_in_structs_lie_a_struct_apart() -> None:
    v = Array("v", 8, (Expr.const(3),), "global")
    assert [str(extent) for extent in extents_with_stride(v, 40)] == ["5"]
    assert extents_with_stride(v, 44) == v.dims  # no whole number of elements
    matrix = Array("m", 8, (Expr.const(3), Expr.const(3)), "global")
    assert [str(extent) for extent in extents_with_stride(matrix, 96)] == ["4", "3"]
    assert extents_with_stride(Array("p", 8, (None,), "global"), 40) == (None,)


def test_closed_forms_replace_long_enumerations() -> None:
    """Five loops whose bounds depend on each other, around references in 24 orders."""
    orders = ["".join(f"[{name}]" for name in order) for order in permutations("jklm")]
    text = """for (int i = 0; i < 60; i++) for (int j = i; j < 60; j++)
      for (int k = i; k < 60; k++) for (int l = i; l < 60; l++)
      for (int m = l; m < 60; m++) s += """ + " + ".join(f"b[i]{order}" for order in orders)
    nest = nest_of(f"{text};", "double s, double b[60][60][60][60][60]")
    caches = [CacheLevel(float(1 << bits), 1) for bits in (15, 20)]
    few, all_of_them = (
        TrafficCounter(nest, work_profile(nest), STATIC, 64, traced=False, limited=limited)
        for limited in (True, False)
    )
    closed, exact = (counter.traffic(caches, 1) for counter in (few, all_of_them))
    assert (few.is_closed_form, all_of_them.is_closed_form) == (True, False)
    for less, more in zip(closed, exact, strict=True):
        assert less.total == pytest.approx(more.total, rel=0.2)
    # The answers of a counter do not depend on what it was asked before.
    assert few.traffic(caches, 1) == closed
    assert few.with_schedule(STATIC).traffic([caches[1]], 1) == (closed[1],)
