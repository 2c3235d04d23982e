"""Where the threads of a cache stand, over what their loops range, and what they touch: by hand."""

from __future__ import annotations

import random
from collections.abc import Collection
from itertools import product
from operator import mul

import pytest
from further_cases import further_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import STATIC, nest_of

from regionpredict.workload.footprint_tables import FootprintTables
from regionpredict.workload.joined_groups import merge_groups
from regionpredict.workload.loop_nest import LoopNest
from regionpredict.workload.loop_ranges import Range, loop_ranges
from regionpredict.workload.team_footprint import (
    TeamFootprints,
    TeamLevel,
    team_levels,
)
from regionpredict.workload.team_levels import column_levels
from regionpredict.workload.thread_nest import (
    ColumnSpacing,
    TeamSpacing,
    distribute_nest,
    undivided_nest,
)

TRIANGLE = "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[j] = i;"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < 100; j++) b[i][j] = a[%s][j] + a[%s][j];"
NOTHING = frozenset[str]()


@pytest.mark.parametrize(
    ("threads", "levels"),
    [
        (1, []),
        (3, [("j", 3.0)]),
        (4, [("j", 4.0)]),
        (6, [("j", 4.0), ("i", 1.5)]),
        (20, [("j", 4.0), ("i", 2.0)]),  # along i no more than one and a half stand, two at most
    ],
)
def test_threads_stand_along_the_closest_loop_first(
    threads: int, levels: list[tuple[str, float]]
) -> None:
    spacings = [TeamSpacing("j", 2.0, 4.0), TeamSpacing("i", 1.0, 1.5)]
    apart = {"j": 2.0, "i": 1.0}
    expected = tuple(TeamLevel(name, apart[name], along) for name, along in levels)
    assert team_levels(spacings, threads) == expected


@pytest.mark.parametrize(
    ("turn", "threads", "apart", "along"),
    [
        (0.1, 5, 10, 5),  # together half a row: one after the other
        (-0.1, 5, -10, 5),
        (0.0, 3, 0, 3),  # all at one place
        (0.25, 4, 25, 4),  # just a row
        (0.25, 8, 25, 4),  # the fifth stands where the first does
        (-0.25, 8, 25, 4),
        (0.5, 5, 50, 2),
        (0.4, 9, 20, 5),  # at 0, 40, 80, 20 and 60
        (0.3, 6, 100 / 6, 6),  # the first place comes again at the eleventh only
        (0.3, 20, 10, 10),
        (1 / 3, 7, 100 / 3, 3),  # a third is no number of a computer's
    ],
)
def test_threads_in_rows_stand_at_as_many_places_as_they_come_to(
    turn: float, threads: int, apart: float, along: int
) -> None:
    (level,) = column_levels([ColumnSpacing("i", "j", turn, 100.0)], threads)
    assert level == TeamLevel("j", pytest.approx(apart), along, "i")


def test_one_thread_has_no_neighbours_in_rows() -> None:
    assert column_levels([ColumnSpacing("i", "j", 0.4, 100.0)], 1) == ()
    assert column_levels([], 8) == ()


def ranges_of(nest: LoopNest, *, cut: tuple[float, float] | None = None, **pieces: float) -> dict:
    """The ranges of the innermost loop's chain; `pieces` by the variable of their loop."""
    index = {loop.variable: loop.index for loop in nest.loops}
    lengths = {index[name]: length for name, length in pieces.items()}
    return loop_ranges(nest.loops, {}, lengths, cut)


def test_the_ranges_of_a_triangle() -> None:
    """In the middle, at i = 4, five of j; over all i from 0 to 8."""
    nest = nest_of(TRIANGLE, "int n, double *a", n=9)
    assert ranges_of(nest) == {
        "i": Range(9, 9, NOTHING, 1, 0), "j": Range(5, 9, frozenset("i"), 1, 0),
    }  # fmt: skip
    # The mean thread of three has i from 3 to 5, and j from 3 to 8.
    assert ranges_of(nest, i=3.0) == {
        "i": Range(3, 3, NOTHING, 1, 3), "j": Range(5, 6, frozenset("i"), 1, 3),
    }  # fmt: skip
    # The last third: i from 6, in the middle 7 with two of j.
    assert ranges_of(nest, cut=(2 / 3, 1.0)) == {
        "i": Range(pytest.approx(3), pytest.approx(3), NOTHING, 1, pytest.approx(6)),
        "j": Range(pytest.approx(2), pytest.approx(3), frozenset("i"), 1, pytest.approx(6)),
    }


def test_the_ranges_of_a_falling_triangle_by_twos() -> None:
    """i = 8, 6, ... 0 with j from i down to 1: at i = 4 four, from 8 to 1 in all."""
    loops = "for (int i = 8; i >= 0; i -= 2) for (int j = i; j > 0; j--) a[j] = i;"
    found = ranges_of(nest_of(loops, "double *a"))
    assert found == {"i": Range(5, 5, NOTHING, -2, 8), "j": Range(4, 9, frozenset("i"), -1, 8)}


def _head(name: str, first: str, steps: int, count: str) -> str:
    """`count` iterations from `first` on."""
    sign, by = ("<", "+=") if steps > 0 else (">", "-=")
    limit = f"{first} + {steps} * ({count})"
    return f"for (int {name} = {first}; {name} {sign} {limit}; {name} {by} {abs(steps)})"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.tuples(st.integers(-9, 9), st.sampled_from([1, -1, 2, -3]), st.integers(1, 6)),
    st.tuples(*[st.integers(-3, 3)] * 2, st.sampled_from([1, -1, 2, -3]), st.integers(0, 2)),
    st.tuples(*[st.integers(-3, 3)] * 2, st.sampled_from([1, -1, 2]), st.integers(0, 2)),
)
def test_ranges_against_all_values(outer: tuple, middle: tuple, inner: tuple) -> None:
    """Bounds of j that follow i, and of k that follow j, count by count; none is ever empty."""
    begin, step, number = outer
    i_values = [begin + step * turn for turn in range(number)]
    j_add = 1 + max(0, -min(middle[3] * i for i in i_values))
    runs = [
        [middle[0] * i + middle[1] + middle[2] * turn for turn in range(middle[3] * i + j_add)]
        for i in i_values
    ]
    j_values = {j for run in runs for j in run}
    k_add = 1 + max(0, -min(inner[3] * j for j in j_values))
    k_values = {
        inner[0] * j + inner[1] + inner[2] * turn
        for j in j_values
        for turn in range(inner[3] * j + k_add)
    }
    heads = (
        _head("i", str(begin), step, str(number)),
        _head("j", f"{middle[0]} * i + {middle[1]}", middle[2], f"{middle[3]} * i + {j_add}"),
        _head("k", f"{inner[0]} * j + {inner[1]}", inner[2], f"{inner[3]} * j + {k_add}"),
    )
    # Moved by all three: none is counted from its begin.
    found = ranges_of(nest_of(" ".join(heads) + " a[i + j + k + 9999] = i;", "double *a"))

    def extent(values: Collection[int], step: int) -> float:
        return (max(values) - min(values)) / abs(step) + 1

    assert found["i"] == Range(number, number, NOTHING, step, begin)
    assert found["j"].extent == pytest.approx(extent(j_values, middle[2]))
    assert found["j"].trips == pytest.approx(sum(map(len, runs)) / number)
    assert found["k"].extent == pytest.approx(extent(k_values, inner[2]))
    assert found["j"].first == runs[0][0]
    assert found["k"].first == inner[0] * runs[0][0] + inner[1]


def test_what_depends_on_no_loop_inside_the_chain_is_as_it_is() -> None:
    """With i given from outside, j ranges over what it takes there alone."""
    nest = nest_of(TRIANGLE, "int n, double *a", n=9)
    assert loop_ranges(nest.loops[1:], {"i": 6.0}, {}) == {"j": Range(3, 3, NOTHING, 1, 6)}


def test_groups_of_the_same_addresses_are_one() -> None:
    """The store before the loop, the sum in it: c is one group, of the shorter chain of loops."""
    loops = """for (int i = 0; i < n; i++) {
      c[i] = 0;
      for (int k = 0; k < n; k++) c[i + 1] += x[k];
      for (int l = 0; l < n; l++) d[i] += x[l] + x[l + 1];
      for (int m = 1; m < n; m++) e[i] += x[m];
    }"""
    nest = nest_of(loops, "int n, double *c, double *d, double *e, double *x", n=9)
    joined = merge_groups(list(nest.groups()), {})
    (c,) = (group for group in joined if group.array == "c")
    assert (c.offsets, c.written, len(c.loops)) == ((0.0, 8.0), (0.0, 8.0), 1)
    # x over k and over l, which range alike; over m it begins later.
    assert [group.offsets for group in joined if group.array == "x"] == [(0.0, 8.0), (0.0,)]


def footprints(nest: LoopNest, threads: int, sharers: int) -> TeamFootprints:
    dealt = distribute_nest(nest, threads, STATIC) if threads > 1 else undivided_nest(nest)
    return TeamFootprints(dealt, float(sharers), 64, FootprintTables())


@pytest.mark.parametrize(
    ("loops", "declared", "far"),
    [
        # rows of 800 bytes, a thread's ten of them 8000 away from its neighbour's
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 100; j++) a[i][j] = 1;",
         "int n, double a[n][100]", True),
        # rows that reach into a neighbour's ten, and rows that do not reach far
        (ROWS % ("i - 5", "i + 5"), "int n, double a[n][100], double b[n][100]", False),
        (ROWS % ("i - 1", "i + 1"), "int n, double a[n][100], double b[n][100]", True),
        # a row that stands more than half as far from another as threads do is the neighbour's:
        # twice 3200 bytes, a row and a line are less than 8000, twice 4000 are not
        (ROWS % ("i - 2", "i + 2"), "int n, double a[n][100], double b[n][100]", True),
        (ROWS % ("i - 2", "i + 3"), "int n, double a[n][100], double b[n][100]", False),
        # ten elements are 80 bytes, more than a line with an element; of floats they are 40
        ("for (int i = 0; i < n; i++) a[i] = 1;", "int n, double *a", True),
        ("for (int i = 0; i < n; i++) a[i] = 1;", "int n, float *a", False),
        # columns that lie inside each other's rows: the step from row to row is the longer one
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 9; j++) a[j][i] = 1;",
         "int n, double a[9][n]", True),
        # 720 bytes apart, a line and an element from the last of 81, but not of 82, elements
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 81; j++) a[9 * i + j] = 1;",
         "int n, double *a", True),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 82; j++) a[9 * i + j] = 1;",
         "int n, double *a", False),
        # what moves and what all read, in one array
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += a[j];",
         "int n, double *a", False),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += b[j];",
         "int n, double *a, double *b", True),
    ],
)  # fmt: skip
def test_threads_that_cannot_meet_in_a_line(loops: str, declared: str, far: bool) -> None:
    """Ten threads have ten of a hundred iterations each. Of those far apart any two are alike."""
    nest = nest_of(loops, declared, n=100)
    key = footprints(nest, 10, 2).key
    assert key == (2.0, 1) if far else key == (2.0, footprints(nest, 10, 2).team)


@pytest.mark.parametrize(
    ("read", "far"), [("i", True), ("a[j]", False), ("a[i]", False), ("a[999 * i]", False)]
)
def test_threads_along_two_loops_meet_in_what_only_one_of_them_moves(read: str, far: bool) -> None:
    """Four threads have a hundred j each of one i: they meet in what i alone moves, and those of
    the next i in what j alone moves. In b they are 800 bytes apart, a row 3200 from the next.
    """
    loops = f"for (int i = 0; i < 10; i++) for (int j = 0; j < 400; j++) b[i][j] = {read};"
    nest = nest_of(loops, "double a[9999], double b[10][400]", "collapse(2)")
    team = footprints(nest, 40, 8)
    assert [(level.variable, level.threads) for level in team.team] == [("j", 4), ("i", 2)]
    assert team.key == (8.0, 2 if far else team.team)


@pytest.mark.parametrize(
    ("trips", "threads", "lengths"),
    [
        (34, 15, [3] * 4 + [2] * 11),
        (34, 16, [3] * 2 + [2] * 14),
        (34, 17, []),
        (9, 9, [1] * 9),
        (9, 10, [1] * 9),  # no more threads than iterations
    ],
)
def test_pieces_of_few_threads_are_gone_through_one_by_one(
    trips: int, threads: int, lengths: list[int]
) -> None:
    """Each has the next iterations; those with one more come first."""
    nest = nest_of(f"for (int i = 0; i < {trips}; i++) a[i] = 1;", "double *a")
    team = footprints(nest, threads, 1)
    (group,) = nest.groups()
    chain = team._chain(group, (nest.root.index,))
    expected = [(sum(lengths[:at]), number) for at, number in enumerate(lengths)]
    assert list(team._iteration_blocks([chain], [group], 1)) == expected


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("seed", further_slow(8, range(16)))
def test_references_touch_the_lines_of_their_addresses(seed: int, threads: int) -> None:
    """One or two in loops of any steps, by the set of all addresses; the array begins with any of a
    line's elements, as often with one as with another. The mean of the caches of one thread, of
    two, ...
    """
    choose = random.Random(seed)
    heads, values = [], []
    for name in "ijk"[: choose.choice([2, 2, 3])]:
        step, number = choose.choice([1, 2, 3, -1, -2]), choose.choice([1, 2, 4, 8])
        number = 4 * choose.randint(1, 3) if name == "i" else number
        end, compared = (0, ">=") if step < 0 else (step * number, "<")
        begin = -step * (number - 1) if step < 0 else 0
        heads.append(f"for (int {name} = {begin}; {name} {compared} {end}; {name} += {step})")
        values.append([begin + step * turn for turn in range(number)])
    references = [
        [choose.choice([0, 1, 2, 7, 8, 9, 40, 41, 300, 302]) for _ in values]
        for _ in range(1 + seed % 2)
    ]
    subscripts = [
        " + ".join(f"{slope} * {name}" for slope, name in zip(slopes, "ijk", strict=False))
        for slopes in references
    ]
    body = " ".join(f"a[{subscript}] = 1;" for subscript in subscripts)
    nest = nest_of(f"{' '.join(heads)} {{ {body} }}", "double *a")
    for sharers in (1, 2, 4)[: threads.bit_length()]:
        own = len(values[0]) // threads * sharers
        caches = [
            [values[0][first : first + own], *values[1:]]
            for first in range(0, len(values[0]), own)
        ]  # fmt: skip
        lines = [
            {
                (begin + sum(map(mul, slopes, place))) // 8
                for slopes in references for place in product(*ranges)
            }
            for ranges in caches for begin in range(8)
        ]  # fmt: skip
        mean = sum(map(len, lines)) / len(lines)
        assert footprints(nest, threads, sharers).all_bytes() / 64 == pytest.approx(mean), sharers


@pytest.mark.parametrize(
    ("loops", "declared", "one", "four"),
    [
        # a row each of 25: 25 lines and a byte, or all hundred
        ("for (int i = 0; i < 4; i++) for (int j = 0; j < 200; j++) a[i][j] = 1;",
         "double a[4][200]", 64 + 1592, 64 + 6392),
        # the same row for all
        ("for (int i = 0; i < 4; i++) for (int j = 0; j < 200; j++) b[j] = 1;",
         "double *b", 64 + 1592, 64 + 1592),
        # an array of each thread's own
        ("for (int i = 0; i < 4; i++) { double t[200];"
         " for (int j = 0; j < 200; j++) t[j] = 1; }", "", 64 + 1592, 4 * (64 + 1592)),
    ],
)  # fmt: skip
def test_bytes_of_one_thread_and_of_four(loops: str, declared: str, one: int, four: int) -> None:
    nest = nest_of(loops, declared)
    assert footprints(nest, 4, 1).all_bytes() == pytest.approx(one)
    assert footprints(nest, 4, 4).all_bytes() == pytest.approx(four)
    whole = one if "b[j]" in loops else four if "a[i]" in loops else one
    assert footprints(nest, 1, 1).all_bytes() == pytest.approx(whole)


@pytest.mark.parametrize("head", ["j = 5; j < 5", "j = 5; j < 3", "j = 5; j < 6"])
def test_what_no_iteration_runs_touches_nothing(head: str) -> None:
    nest = nest_of(f"for (int i = 0; i < 8; i++) for (int {head}; j++) a[9 * i + j] = 1;",
                   "double *a")  # fmt: skip
    found = footprints(nest, 1, 1).lines_by_array((nest.root,), {}, nest.root.groups_below)
    lines = pytest.approx(8)  # one each, 72 bytes apart
    assert found == ({"a": (lines, lines)} if "j < 6" in head else {})


def test_only_what_is_stored_to_is_written() -> None:
    """Every 16th double and the one 64 bytes behind it: two lines each, of which one is written."""
    nest = nest_of("for (int i = 0; i < 100; i++) a[16 * i] = a[16 * i + 8];", "double *a")
    found = footprints(nest, 1, 1).lines_by_array((nest.root,), {}, nest.root.groups_below)
    assert found == {"a": (pytest.approx(200), pytest.approx(100))}


def test_parts_that_stand_apart_in_time_count_for_each_thread() -> None:
    """Of 25 elements each, 200 bytes: side by side four threads touch 100 of them as one run."""
    nest = nest_of("for (int i = 0; i < 100; i++) a[i] = 1;", "double *a")
    team = footprints(nest, 4, 4)
    groups = nest.root.groups_below
    together = team.lines_by_array((nest.root,), {}, groups)["a"]
    assert together == (pytest.approx(1 + 99 / 8), pytest.approx(1 + 99 / 8))
    apart = team.lines_by_array((nest.root,), {}, groups, per_thread=True)["a"]
    assert apart.touched == pytest.approx(4 * (1 + 24 / 8))
    # In one iteration each is in a line of its own.
    (inside,) = team.lines_by_array((), {"i": 50.0}, groups).values()
    assert inside.touched == pytest.approx(4)


@pytest.mark.parametrize("falls", [False, True])
def test_a_triangle_by_columns_touches_every_row(falls: bool) -> None:
    """1024 rows, of which the k-th has one to sixteen columns: one or two lines each, on average
    over where rows begin. More rows than are gone through one by one.
    """
    inner = (
        "for (int j = 1023; j >= 64 * i; j--)" if falls else "for (int j = 64 * i; j < 1024; j++)"
    )
    nest = nest_of(f"for (int i = 0; i < 16; i++) {inner} a[129 * j + i] = 1;", "double *a")
    rows = sum(1 + (row // 64) * 8 / 64 for row in range(1024))
    assert footprints(nest, 1, 1).all_bytes() / 64 == pytest.approx(rows)
    # Row by row each of the sixteen has its columns, half of 1024 in the mean.
    long = nest_of(f"for (int i = 0; i < 16; i++) {inner} a[9999 * i + j] = 1;", "double *a")
    columns = sum(1 + (1024 - 64 * i - 1) * 8 / 64 for i in range(16))
    assert footprints(long, 1, 1).all_bytes() / 64 == pytest.approx(columns)


@pytest.mark.parametrize("kind", ["char", "double"])
@pytest.mark.parametrize(
    "head", ["i = 0; i < 9; i++", "i = 8; i >= 0; i -= 2", "i = 3; i < 4; i++"]
)
@pytest.mark.parametrize("subscripts", [("5 * j + i",), ("i", "i + 7"), ("99 - i - 3 * j",)])
def test_lines_lie_between_the_first_and_the_last_byte(
    kind: str, head: str, subscripts: tuple[str, ...]
) -> None:
    """Whether loops rise or fall, a byte or a double a step."""
    body = " ".join(f"a[{subscript}] = 1;" for subscript in subscripts)
    nest = nest_of(f"for (int {head}) for (int j = 2; j < 6; j++) {{ {body} }}", f"{kind} *a")
    team = footprints(nest, 1, 1)
    (group,) = nest.groups()
    chain = team._chain(group, (nest.root.index,))
    (lines,) = team._group_lines(group, team._chain_ranges(chain, {}, None), {}, per_thread=False)
    rows = {"i = 0": range(9), "i = 8": range(8, -1, -2), "i = 3": range(3, 4)}[head[:5]]
    places = [
        eval(text, {"i": i, "j": j}) for text in subscripts for i in rows for j in range(2, 6)
    ]
    size = group.element
    assert (lines.low, lines.high) == (size * min(places), size * (max(places) + 1))
