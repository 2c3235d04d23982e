"""What a thread gets of a nest: against dealing the iterations out one by one."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import STATIC, facts_of, group_of, loop_named, nest_of
from simulated_nest import values_of

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.loop_nest import Affine, LoopNest
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.thread_nest import DistributedNest, distribute_nest, parallel_trips

ROW = "for (int i = 0; i < n; i++) a[i] = 1;"


@cache
def _facts(loops: str, parameters: str, clauses: str) -> RegionFacts:
    return facts_of(loops, parameters, clauses)


def sized(loops: str, parameters: str, clauses: str = "", **sizes: int) -> LoopNest:
    """The loop in numbers: the text is read once for all sizes."""
    facts = _facts(loops, parameters, clauses)
    nest = loop_nest(facts.region, sizes)
    assert nest is not None
    return nest


def addresses(dealt: DistributedNest, array: str) -> list[float]:
    """Bytes from the array's begin to what one thread writes, in its order; loops run whole."""
    group = group_of(dealt.nest, array)
    envs: list[dict[str, float]] = [{}]
    for header in group.loops:
        loop = loop_named(dealt.nest, header.variable)
        envs = [
            {**env, loop.variable: float(value)}
            for env in envs
            for value in (values_of(loop, env) if loop.index not in dealt.lengths else [0])
        ]
    slopes = group.slopes.items()
    return [sum(s * env[v] for v, s in slopes) + group.offsets[0] for env in envs]


def test_shared_iterations() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i][j] = 1;"
    declared = "int n, double a[9][9]"
    assert parallel_trips(nest_of(loops, declared, n=9)) == (9,)
    # The inner loop in the middle of the outer one: i = 4.
    assert parallel_trips(nest_of(loops, declared, "collapse(2)", n=9)) == (9, 5)
    assert parallel_trips(nest_of("for (int i = 3; i < 3; i++) a[0][i] = 1;", declared)) == (0,)


SCHEDULES = st.one_of(
    st.builds(Schedule, st.just("static"), st.none()),
    st.builds(Schedule, st.sampled_from(["static", "dynamic"]), st.integers(1, 40).map(float)),
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.integers(1, 200), st.integers(1, 40), SCHEDULES)
def test_threads_run_all_iterations(iterations: int, threads: int, schedule: Schedule) -> None:
    nest = sized(ROW, "int n, double *a", n=iterations)
    dealt = distribute_nest(nest, threads, schedule)
    assert dealt.iterations * dealt.threads == pytest.approx(iterations)
    assert dealt.threads == min(threads, -(-iterations // int(schedule.chunk or 1)))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 6), st.integers(1, 30), SCHEDULES)
def test_collapsed_loops_too(
    rows: int, columns: int, depth: int, threads: int, schedule: Schedule
) -> None:
    loops = """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++) a[i][j][k] = 1;"""
    nest = sized(
        loops, "int n, int m, int l, double a[n][m][l]", "collapse(3)", n=rows, m=columns, l=depth
    )
    dealt = distribute_nest(nest, threads, schedule)
    assert dealt.iterations * dealt.threads == pytest.approx(rows * columns * depth)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.integers(1, 12), st.integers(0, 5), st.integers(1, 30), SCHEDULES,
    st.sampled_from([
        ("i = 0; i < n; i++", "j = 0; j <= i + m; j++"),
        ("i = n - 1; i >= 0; i--", "j = 0; j <= i + m; j++"),
        ("i = 0; i < 3 * n; i += 3", "j = i; j < 3 * n + m; j++"),
        ("i = 5; i < n + 5; i++", "j = n + m; j > i - 5; j--"),
    ]),
)  # fmt: skip
def test_collapsed_triangles_too(
    rows: int, more: int, threads: int, schedule: Schedule, heads: tuple[str, str]
) -> None:
    """Of a range that grows or shrinks evenly, the middle one is the mean of all."""
    outer, inner = heads
    loops = f"for (int {outer}) for (int {inner}) a[i][j] = 1;"
    nest = sized(loops, "int n, int m, double a[99][99]", "collapse(2)", n=rows, m=more)
    first, second = nest.parallel
    iterations = sum(len(values_of(second, {"i": float(i)})) for i in values_of(first, {}))
    dealt = distribute_nest(nest, threads, schedule)
    assert dealt.iterations * dealt.threads == pytest.approx(iterations)


def test_pieces_of_collapsed_loops_are_cut_below_where_there_are_few() -> None:
    """Six rows of 20: three threads have two rows each, 24 a quarter row of five columns."""
    loops = "for (int i = 0; i < 6; i++) for (int j = 0; j < 20; j++) a[i][j] = 1;"
    nest = nest_of(loops, "double a[6][20]", "collapse(2)")
    outer, inner = (loop.index for loop in nest.parallel)
    assert distribute_nest(nest, 3, STATIC).lengths == {outer: 2.0}
    assert distribute_nest(nest, 24, STATIC).lengths == {outer: 1.0, inner: 5.0}
    most = distribute_nest(nest, 1000, STATIC)
    assert (most.threads, most.lengths) == (120, {outer: 1.0, inner: 1.0})


@pytest.mark.parametrize(("threads", "chunk", "step"), [(4, 3, 1), (2, 1, 2), (5, 4, -1)])
def test_the_mean_thread_of_a_team(threads: int, chunk: int, step: int) -> None:
    """Its addresses are those of every thread's, on average, round by round in its order."""
    number = 3 * threads * chunk
    head = (
        f"i = 0; i < {number * step}; i += {step}" if step > 0 else f"i = {number - 1}; i >= 0; i--"
    )
    nest = nest_of(f"for (int {head}) a[i] = 1;", f"double a[{abs(number * step)}]")
    dealt = distribute_nest(nest, threads, Schedule("static", float(chunk)))
    order = values_of(nest.root, {})
    expected = []
    for place in range(3 * chunk):
        first = place // chunk * threads * chunk + place % chunk
        values = [order[first + thread * chunk] for thread in range(threads)]
        expected.append(8 * sum(values) / threads)
    assert addresses(dealt, "a") == pytest.approx(expected)
    (spacing,) = dealt.spacings
    slope = group_of(dealt.nest, "a").slopes[spacing.variable]
    assert slope * spacing.distance == pytest.approx(8 * chunk * step)
    assert spacing.most == pytest.approx(threads)


def test_loops_inside_see_the_variable_s_values() -> None:
    """Bounds and subscripts follow the variable through rounds and chunks, `min` too."""
    loops = """for (int i = 0; i < 24; i++) for (int j = i; j < (i + 4 < 20 ? i + 4 : 20); j++)
      a[2*i + j] = 1;"""
    nest = nest_of(loops, "double a[100]")
    dealt = distribute_nest(nest, 3, Schedule("static", 2.0))
    inner = loop_named(dealt.nest, "j")
    assert inner.first is not None and inner.limit is not None
    # Round 2, second of the chunk: thread 1, in the middle, has i = 2 * 6 + 2 + 1.
    env = {"i": 2.0, "i in a chunk": 1.0}
    assert inner.first.at(env) == 15.0
    assert inner.limit.at(env) == 19.0
    assert inner.limit.at({"i": 2.0, "i in a chunk": 4.0}) == 20.0
    assert inner.depends == inner.limit.names == {"i", "i in a chunk"}
    assert group_of(dealt.nest, "a").slopes == {"i": 2 * 8 * 6.0, "i in a chunk": 16.0, "j": 8.0}


def test_rounds_of_a_team_that_spans_rows() -> None:
    """Rows of four, six threads: a round is a row and a half, one column of each is a thread's."""
    loops = "for (int i = 0; i < 12; i++) for (int j = 0; j < 4; j++) a[i][j] = 1;"
    nest = nest_of(loops, "double a[12][4]", "collapse(2)")
    dealt = distribute_nest(nest, 6, Schedule("static", 1.0))
    rounds, columns = dealt.nest.parallel
    assert rounds.limit == Affine(8.0, {})  # 48 iterations, six at a time
    assert dealt.lengths == {columns.index: 1.0}
    assert [(s.variable, s.most) for s in dealt.spacings] == [("j", 4.0), ("i", 1.5)]
    # A team as wide as a row goes on by rows.
    dealt = distribute_nest(nest, 4, Schedule("static", 1.0))
    assert [loop.trips({}) for loop in dealt.nest.parallel] == [12.0, 4.0]
    assert dealt.nest.parallel[0].limit == Affine(12.0, {})
    assert dealt.lengths == {columns.index: 1.0}
    assert [(s.variable, s.most) for s in dealt.spacings] == [("j", 4.0), ("i", 1.0)]
    # Within a row, rounds go along it, and each thread sees every row.
    dealt = distribute_nest(nest, 2, Schedule("static", 1.0))
    assert [loop.trips({}) for loop in dealt.nest.parallel] == [12.0, 2.0]
    assert [s.variable for s in dealt.spacings] == ["j"]


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize(("row_step", "step"), [(1, 1), (3, 1), (1, 2), (3, 2)])
@pytest.mark.parametrize(("columns", "later"), [(11, 1), (13, -1), (12, 0)])
def test_columns_of_a_thread_drift_from_row_to_row(
    columns: int, later: int, row_step: int, step: int, down: bool
) -> None:
    """Four threads, one iteration at a time: of rows of 11 a thread has columns 0, 4, 8; then 1, 5,
    9; of rows of 13 columns 0 to 12; then 3, 7, 11, which is one less than 4, 8, 12.
    """
    inner = f"j = 0; j < {columns * step}; j += {step}"
    if down:
        inner = f"j = {(columns - 1) * step}; j >= 0; j -= {step}"
    loops = f"for (int i = 0; i < {12 * row_step}; i += {row_step}) for (int {inner}) a[i][j] = 1;"
    nest = nest_of(loops, "double a[36][40]", "collapse(2)")
    slopes = group_of(distribute_nest(nest, 4, Schedule("static", 1.0)).nest, "a").slopes
    along = -step if down else step
    assert slopes["i"] == pytest.approx(8 * (40 + later * along / row_step))
    assert slopes["j"] == 8 * 4 * along  # by rounds


def test_one_piece_a_thread_is_no_round() -> None:
    nest = nest_of(ROW, "int n, double *a", n=12)
    for schedule in (Schedule("static", 4.0), STATIC, Schedule("guided", 1.0)):
        dealt = distribute_nest(nest, 3, schedule)
        assert (dealt.nest, dealt.lengths) == (nest, {nest.root.index: 4.0})
        assert not dealt.in_step
    assert distribute_nest(nest, 1, Schedule("dynamic", 1.0)).nest is nest


def test_loops_inside_that_do_not_see_the_variable_stay_as_they_are() -> None:
    """One between data, of sixteen iterations, and one up to a minimum of sizes and of j."""
    loops = """for (int i = 0; i < 24; i++) {
      for (int k = row[i]; k < row[i + 1]; k++) s[i] += v[k];
      for (int j = 0; j < 9; j++) for (int l = j; l < (j + 4 < 7 ? j + 4 : 7); l++) s[l] = 1; }"""
    nest = nest_of(loops, "int *row, double *v, double *s")
    dealt = distribute_nest(nest, 3, Schedule("static", 2.0))
    data, before = loop_named(dealt.nest, "k"), loop_named(nest, "l")
    assert (data.first, data.limit, data.trips({})) == (None, None, 16)
    inner = loop_named(dealt.nest, "l")
    assert (inner.first, inner.limit, inner.depends) == (
        before.first, before.limit, before.depends,
    )  # fmt: skip
    # v goes on behind the rows of the iterations before: 16 doubles each, 6 iterations a round.
    assert group_of(dealt.nest, "v").slopes == {"k": 8.0, "i": 6 * 128.0, "i in a chunk": 128.0}
