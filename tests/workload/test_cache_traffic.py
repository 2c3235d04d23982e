"""Bytes below caches against caches that are simulated: every reference of small nests is run."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import counter_of, facts_of_text, group_of, nest_of, workload_in
from simulated_nest import simulated

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import (
    ArrayTraffic,
    CacheContents,
    CacheLevel,
    LevelTraffic,
    left_by_itself,
)
from regionpredict.workload.cache_traffic import (
    staying,
    touched_bytes,
)
from regionpredict.workload.loop_nest import LoopNest


class Nest(NamedTuple):
    """Loops in n, and caches that they are run on: threads, sharers, bytes, chunk if there is one.

    `near`: within 2.5 %, an array, read and written apart. `rough`: within 14 %, where lines at the
    ends of rows or of pieces weigh more than in anything that is worth a team.
    """

    loops: str
    arrays: str
    n: int
    near: list[tuple[int, ...]]
    rough: list[tuple[int, ...]]


NESTS = {
    "copy": Nest(  # two streams
        """for (int i = 0; i < n; i++) b[i] = a[i];""",
        "double *a, double *b",
        700,
        near=[(1, 1, 512), (4, 1, 4096), (4, 4, 65536), (8, 2, 2048), (2, 2, 16384), (3, 3, 1024)],
        rough=[],
    ),
    "strided": Nest(  # strides of half a line and of more
        """for (int i = 0; i < n; i++) b[4*i] = a[12*i];""",
        "double *a, double *b",
        400,
        near=[
            (1, 1, 512),
            (4, 1, 4096),
            (4, 4, 65536),
            (8, 2, 2048),
            (2, 2, 16384),
            (4, 2, 1024, 2),
        ],
        rough=[],
    ),
    "stencil2d": Nest(  # rows that are read three times
        """for (int i = 1; i < n-1; i++)
      for (int j = 1; j < n-1; j++) b[i][j] = a[i][j-1] + a[i][j+1] + a[i-1][j] + a[i+1][j];""",
        "double a[n][n], double b[n][n]",
        48,
        near=[
            (1, 1, 2048),
            (4, 1, 16384),
            (4, 4, 16384),
            (8, 2, 4096),
            (2, 2, 4096),
            (4, 2, 65536, 2),
        ],
        rough=[(1, 1, 512), (4, 1, 1024)],
    ),
    "matmul": Nest(  # a row, a matrix and an element
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];""",
        "double a[n][n], double b[n][n], double c[n][n]",
        20,
        near=[(1, 1, 4096), (4, 1, 65536), (4, 4, 8192), (8, 2, 8192), (2, 2, 8192), (3, 3, 8192)],
        rough=[(4, 4, 1024, 1), (4, 4, 4096, 1)],
    ),
    "syrk": Nest(  # a triangle of rows with rows
        """for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * a[j][k];""",
        "double a[n][n], double c[n][n]",
        24,
        near=[],
        rough=[(1, 1, 1024), (4, 1, 65536), (8, 2, 8192), (4, 2, 4096, 2)],
    ),
    "transpose": Nest(  # rows and columns
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) b[j][i] = a[i][j];""",
        "double a[n][n], double b[n][n]",
        48,
        near=[(1, 1, 65536), (4, 4, 65536), (2, 2, 65536), (3, 3, 65536)],
        rough=[(1, 1, 4096), (4, 1, 4096), (4, 4, 512), (8, 2, 4096)],
    ),
    "triangle": Nest(  # columns of half a matrix
        """for (int i = 0; i < n; i++)
      for (int j = i; j < n; j++) s[i] += a[j][i] * x[j];""",
        "double a[n][n], double *x, double *s",
        48,
        near=[],
        rough=[(4, 1, 4096), (4, 4, 65536), (8, 2, 8192), (4, 1, 8192)],
    ),
    "mvt": Nest(  # a vector that all read
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) s[i] += a[i][j] * x[j];""",
        "double a[n][n], double *x, double *s",
        64,
        near=[
            (1, 1, 2048),
            (4, 4, 65536),
            (2, 2, 65536),
            (3, 3, 65536),
            (1, 1, 4096),
            (1, 1, 8192),
        ],
        rough=[(1, 1, 512), (4, 1, 4096), (4, 4, 4096), (8, 2, 1024)],
    ),
    "two": Nest(  # loops beside each other
        """for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) x[j] = a[i][j];
        for (int j = 0; j < n; j++) b[i][j] = x[j] + a[i][j]; }""",
        "double a[n][n], double b[n][n], double *x",
        40,
        near=[
            (1, 1, 2048),
            (4, 1, 16384),
            (4, 4, 4096),
            (8, 2, 65536),
            (2, 2, 8192),
            (4, 4, 512, 1),
        ],
        rough=[(1, 1, 512), (4, 1, 512)],
    ),
    "joined": Nest(  # two loops that fit together, and one that does not fit beside them
        """for (int i = 0; i < n; i++) {
        for (int j = 0; j < 40; j++) x[j] = 1;
        for (int j = 0; j < 40; j++) y[j] += x[j];
        for (int k = 0; k < 400; k++) b[i][k] = 1; }""",
        "double *x, double *y, double b[n][400]",
        16,
        near=[(1, 1, 1024), (1, 1, 2048), (4, 1, 1024), (4, 4, 1024), (1, 1, 65536)],
        rough=[],
    ),
    "private": Nest(  # a row of each thread's own
        """for (int i = 0; i < n; i++) {
        double t[40];
        for (int j = 0; j < 40; j++) t[j] = a[i][j];
        for (int j = 0; j < 40; j++) b[i][j] = t[39 - j]; }""",
        "double a[n][40], double b[n][40]",
        40,
        near=[(1, 1, 2048), (4, 1, 16384), (4, 4, 8192), (8, 2, 8192), (2, 2, 4096), (3, 3, 65536)],
        rough=[(4, 4, 512), (4, 4, 512, 1)],
    ),
    "down": Nest(  # falling loops, every second element
        """for (int i = n-1; i >= 0; i--)
      for (int j = n-1; j >= 0; j -= 2) b[i][j] = a[i][j] + a[i+1][j];""",
        "double a[n+1][n], double b[n][n]",
        40,
        near=[
            (1, 1, 2048),
            (4, 1, 16384),
            (4, 4, 16384),
            (8, 2, 8192),
            (2, 2, 4096),
            (4, 2, 65536, 2),
        ],
        rough=[(4, 1, 512), (4, 4, 2048)],
    ),
    "columns": Nest(  # threads within one line
        """for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) a[i][j] = x[i];""",
        "double a[n][n], double *x",
        40,
        near=[(1, 1, 512), (4, 1, 512), (4, 4, 65536), (8, 2, 512), (2, 2, 512), (4, 2, 512, 2)],
        rough=[(1, 1, 4096), (4, 1, 65536)],
    ),
    "collapse": Nest(  # two loops shared out
        """for (int i = 0; i < 6; i++)
      for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) a[i][j] += b[j][k];""",
        "double a[6][n], double b[n][n]",
        24,
        near=[(1, 1, 8192), (4, 1, 8192), (4, 4, 8192), (2, 2, 8192), (3, 3, 8192), (1, 1, 65536)],
        rough=[(4, 1, 512), (8, 2, 2048)],
    ),
    "small": Nest(  # a matrix that every iteration reads
        """for (int r = 0; r < n; r++)
      for (int q = 0; q < n; q++)
      for (int p = 0; p < 8; p++)
      for (int s = 0; s < 8; s++) a[r][q][p] += c[s][p];""",
        "double a[n][n][8], double c[8][8]",
        9,
        near=[(1, 1, 2048), (4, 4, 65536), (2, 2, 4096), (3, 3, 8192), (1, 1, 4096), (4, 4, 4096)],
        rough=[(1, 1, 1024), (4, 4, 2048)],
    ),
    "rowsdown": Nest(  # a triangle in a triangle
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++)
      for (int k = 0; k < j; k++) a[i][j] += a[i][k] * a[j][k];""",
        "double a[n][n]",
        30,
        near=[],
        rough=[(1, 1, 1024), (4, 1, 8192), (4, 4, 4096), (8, 2, 8192)],
    ),
    "rounds": Nest(  # chunks that go round the team: parts of lines, and rows between others'
        """for (int i = 1; i < n-1; i++) b[i] = a[i-1] + a[i] + a[i+1];""",
        "double *a, double *b",
        802,
        near=[
            (1, 1, 4096, 1),
            (4, 1, 4096, 1),
            (4, 4, 4096, 1),
            (4, 1, 4096, 3),
            (8, 2, 4096, 2),
            (4, 4, 1024, 8),
            (4, 1, 65536, 50),
            (3, 1, 4096, 400),
        ],
        rough=[],
    ),
    "k-loop": Nest(  # a window that moves on
        """for (int k = 0; k < 30; k++)
      for (int i = 0; i < n; i++) y[i] += x[i+k];""",
        "double *x, double *y",
        200,
        near=[(1, 1, 512), (4, 1, 4096), (4, 4, 16384), (8, 2, 8192), (2, 2, 16384), (3, 3, 1024)],
        rough=[(4, 4, 512), (8, 2, 512)],
    ),
    "collapsed": Nest(  # chunks of two loops' iterations
        """for (int i = 0; i < 12; i++)
          for (int j = 0; j < n; j++)
            for (int k = 0; k < 24; k++) b[i][j][k] = a[i][j][k] + a[i][j+1][k];""",
        "double a[12][n+1][24], double b[12][n][24]",
        16,
        near=[
            (1, 1, 4096, 1),
            (4, 1, 4096, 1),
            (4, 4, 8192, 1),
            (16, 1, 4096, 1),
            (32, 1, 4096, 1),
            (64, 4, 8192, 1),
            (4, 1, 4096, 2),
            (4, 2, 8192, 4),
            (6, 1, 4096, 32),
            (3, 1, 8192, 48),
            (200, 1, 4096, 1),
        ],
        rough=[],
    ),
}


def lowered(name: str) -> LoopNest:
    nest = NESTS[name]
    clause = "collapse(2)" if name.startswith("collapse") else ""
    return nest_of(nest.loops, f"int n, {nest.arrays}", clause, n=nest.n)


@pytest.mark.parametrize("name", NESTS)
def test_traffic_of_small_nests(name: str) -> None:
    nest = lowered(name)
    wrong = []
    for caches, tolerance in ((NESTS[name].near, 0.025), (NESTS[name].rough, 0.14)):
        for threads, sharers, size, *chunks in caches:
            chunk = chunks[0] if chunks else None
            every = 8 if name in ("rounds", "collapsed") else 4  # parts of lines show each
            truth = simulated(nest, size, threads, sharers, chunk=chunk, alignments=every)
            schedule = Schedule("static", None if chunk is None else float(chunk))
            counter = counter_of(nest, schedule)
            (level,) = counter.traffic([CacheLevel(float(size), sharers)], threads)
            assert sorted(one.array for one in level.arrays) == sorted(truth)
            for one in level.arrays:
                read, written = truth[one.array]
                if one.read != pytest.approx(read, rel=tolerance) or (
                    one.written != pytest.approx(written, rel=tolerance)
                ):
                    wrong.append((threads, sharers, size, chunk, one, truth[one.array]))
    assert not wrong


ROWS = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) b[i][j] = a[i][j];"""


def test_what_has_been_touched() -> None:
    """Two matrices of 4800 bytes at any place in a line: 74.875 lines and one byte more."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    lines = 1 + (24 * 24 * 8 - 8) / 64
    counter = counter_of(nest, Schedule("dynamic", 1.0))
    assert counter.touched() == {"a": pytest.approx(64 * lines), "b": pytest.approx(64 * lines)}
    assert touched_bytes(nest, 64) == pytest.approx(2 * 64 * lines)
    # In two loops, each its own part of one array.
    twice = nest_of("for (int i = 0; i < n; i++) { a[i] = 1; a[i + 5000] = 2; b[i] = 3; }",
                    "int n, double *a, double *b", n=100)  # fmt: skip
    assert counter_of(twice).touched()["a"] == pytest.approx(2 * 64 * (1 + 792 / 64))


def test_totals() -> None:
    level = LevelTraffic((ArrayTraffic("a", 3.0, 1.0, None), ArrayTraffic("b", 5.0, 0.0, None)))  # type: ignore[arg-type]
    assert (level.read, level.written, level.total) == (8.0, 1.0, 9.0)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.floats(0, 300), st.floats(1, 300))
def test_what_stays(held: float, size: float) -> None:
    share = staying(held, size)
    assert 0 <= share <= 1
    if held <= size / 2:
        assert share == 1
    elif held >= size:
        assert share == 0
    else:
        assert share == pytest.approx((size - held) / (size / 2))


def test_loops_that_do_not_run_touch_nothing() -> None:
    """50 doubles of a: 1 + 392 / 64 lines; b is not there at all."""
    for inner in ("b[j] = 0;", "b[i] = 0;", "for (int k = 0; k < n; k++) b[k] = 0;"):
        loops = f"for (int i = 0; i < n; i++) {{ for (int j = 5; j < 5; j++) {inner} a[i] = 1; }}"
        counter = counter_of(nest_of(loops, "int n, double *a, double *b", n=50))
        assert counter.touched() == {"a": 64 + 392}


def test_an_element_that_is_cleared_before_its_sum_stays() -> None:
    """No iteration of j fits 8 lines; c[i][j] stands still in it, from its store on: of each row
    of 20 doubles, 64 + 152 bytes come once, and of b a line for every element.
    """
    loops = """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
      c[i][j] = 0;
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j]; }"""
    nest = nest_of(loops, "int n, double a[n][n], double b[n][n], double c[n][n]", n=20)
    (level,) = counter_of(nest).traffic([CacheLevel(512.0, 1)], 1)
    moved = {one.array: (one.read, one.written) for one in level.arrays}
    assert moved["c"] == (pytest.approx(20 * 216), pytest.approx(20 * 216))
    assert moved["b"] == (pytest.approx(64 * 8000), 0.0)


def test_threads_of_a_triangle_read_a_row_at_different_times() -> None:
    """The two loops over j fit the cache together, those over k do not beside them.

    Each iteration of i reads the n - i doubles of a once: 64 + 8 (n - i - 1) bytes. Of four
    threads each is at another i and reads them for itself, whether they share the cache or not.
    """
    loops = """for (int i = 0; i < n; i++) {
      for (int j = i; j < n; j++) s[j] = a[j];
      for (int j = i; j < n; j++) t[j] += 2 * a[j];
      for (int k = 0; k < 400; k++) b[i][k] = 1; }"""
    n = 64
    declared = "int n, double b[n][400], double *a, double *s, double *t"
    nest = nest_of(loops, declared, n=n)
    for threads, sharers, size in ((1, 1, 2048.0), (4, 1, 2048.0), (4, 4, 4096.0)):
        (level,) = counter_of(nest).traffic([CacheLevel(size, sharers)], threads)
        read = {one.array: one.read for one in level.arrays}
        assert read["a"] == pytest.approx(sum(64 + 8 * (n - i - 1) for i in range(n)), rel=0.01)


@pytest.mark.parametrize("threads", [1, 3, 4])
def test_a_second_run_finds_what_the_cache_holds(threads: int) -> None:
    """Data of 2 * 4671 bytes: all of it stays in a cache of twice that, a half in one and a third,
    nothing in one as large."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    for size, share in ((2 * data + 1, 0.0), (data * 4 / 3, 0.5), (data - 1, 1.0)):
        level = CacheLevel(size, threads)
        (cold,) = counter.traffic([level], threads)
        (warm,) = counter.traffic([level], threads, contents=left_by_itself(nest))
        assert cold.read == pytest.approx(data, rel=0.06)
        assert warm.read == pytest.approx(share * cold.read, abs=0.02 * data)
        assert warm.written == pytest.approx(share * cold.written, abs=0.02 * data)


def test_threads_with_caches_of_their_own_need_less_of_each() -> None:
    """Four threads on 9342 bytes: each holds a quarter, which stays in a cache of half of it."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    for size, share in ((0.56 * data, 0.0), (data / 3, 0.5), (0.25 * data, 1.0)):
        (warm,) = counter.traffic([CacheLevel(size, 1)], 4, contents=left_by_itself(nest))
        assert warm.read == pytest.approx(share * data, abs=0.12 * data)


def test_chunks_of_a_thread_stay_together() -> None:
    """Six chunks of one row each are a quarter of the data, whatever their number."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest, Schedule("static", 1.0))
    (warm,) = counter.traffic([CacheLevel(0.7 * data, 1)], 4, contents=left_by_itself(nest))
    assert warm.read == 0
    # Six rows of both, of 192 bytes each: 2976 of 3265 with the ends of their lines.
    held = 2 * 6 * 64 * (1 + 184 / 64)
    (tight,) = counter.traffic([CacheLevel(0.35 * data, 1)], 4, contents=left_by_itself(nest))
    assert tight.read == pytest.approx(4 * held * (2 * held / (0.35 * data) - 1))


@pytest.mark.parametrize("name", ["copy", "strided"])
def test_schedules_that_share_what_is_counted(name: str) -> None:
    """In whatever order they are asked, each counter says what one of its own says."""
    caches = [CacheLevel(512, 1), CacheLevel(4096, 2), CacheLevel(16384, 4)]
    schedules = [
        Schedule("static", None), Schedule("static", 1.0), Schedule("dynamic", 1.0),
        Schedule("guided", 1.0), Schedule("dynamic", 16.0),
    ]  # fmt: skip
    nest = lowered(name)
    alone = {
        (schedule, threads): counter_of(nest, schedule).traffic(caches, threads)
        for schedule in schedules for threads in (1, 3, 4, 8)
    }  # fmt: skip
    first = counter_of(nest, schedules[0])
    shared = {schedule: first.under(schedule) for schedule in schedules}
    for (schedule, threads), expected in reversed(alone.items()):
        assert shared[schedule].traffic(caches, threads) == expected
        assert shared[schedule].schedule == schedule


def test_no_more_threads_than_iterations() -> None:
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    counter, level = counter_of(nest), [CacheLevel(1024.0, 1), CacheLevel(8192.0, 24)]
    assert counter.traffic(level, 500) == counter.traffic(level, 24)
    once = nest_of("for (int i = 0; i < 1; i++) a[i] = 1;", "double *a")
    assert counter_of(once).traffic([CacheLevel(64.0, 9)], 9)[0].read == 64
    none = nest_of("for (int i = 3; i < 3; i++) a[i] = 1;", "double *a")
    assert counter_of(none).traffic([CacheLevel(64.0, 9)], 9)[0].read == 0


def test_carriers() -> None:
    """What the cache holds between touches: a row of b, then an iteration of i, or nothing."""
    loops = """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"""
    nest = nest_of(loops, "int n, double a[n][n], double b[n][n], double c[n][n]", n=64)
    counter = counter_of(nest)

    def carrier(size: float, array: str) -> tuple[str | None, float]:
        (level,) = counter.traffic([CacheLevel(size, 1)], 1)
        return next(one.carrier for one in level.arrays if one.array == array)

    # An iteration of k touches three lines; of j a row of a, a column of b, a line of c; of i
    # all of b beside two rows.
    window = 64 * ((1 + 63 / 8) + 64 + 1)
    for array in "abc":
        assert carrier(3 * 64.0 - 1, array) == (None, 0.0)
        assert carrier(3 * 64.0, array) == ("k", 192.0)
        assert carrier(window - 1, array) == ("k", 192.0)
        assert carrier(window, array) == ("j", pytest.approx(window))
    whole = 64 * (1 + (64 * 64 - 1) / 8 + 2 * (1 + 63 / 8))
    assert carrier(whole - 1, "b")[0] == "j"
    assert carrier(whole, "b") == ("i", pytest.approx(whole))


@pytest.mark.parametrize(("size", "expected"), [(1 << 10, 1.0), (1 << 19, 0.5), (1 << 22, None)])
def test_gathers(size: int, expected: float | None) -> None:
    """P = 1 - C/WS of the accesses miss; at least each line that is touched, once."""
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    n, extent = 300_000, 1 << 20
    nest = nest_of(loops, f"int n, int *row, double *s, double x[{extent // 8}]", n=n)
    (level,) = counter_of(nest).traffic([CacheLevel(float(size), 1)], 1)
    (x,) = (one for one in level.arrays if one.array == "x")
    if expected is not None:
        assert x.read == pytest.approx(64 * n * (1 - size / extent))
    else:
        # Of 16384 lines those hit at least once by 300000 throws: all but e^-18.
        assert x.read == pytest.approx(extent, rel=1e-6)
    assert x.written == 0.0
    few = nest_of(loops, f"int n, int *row, double *s, double x[{extent // 8}]", n=16384)
    (level,) = counter_of(few).traffic([CacheLevel(2.0**22, 1)], 1)
    (x,) = (one for one in level.arrays if one.array == "x")
    # As many throws as lines: 1 - (1 - 1/N)^N of them are hit.
    assert x.read == pytest.approx(extent * (1 - (1 - 1 / 16384) ** 16384), rel=1e-3)


def test_scatters_are_written_and_private_tables_are_every_thread_s() -> None:
    loops = "for (int i = 0; i < n; i++) x[row[i]] += 1;"
    nest = nest_of(loops, "int n, int *row, double x[131072]", n=300_000)
    (level,) = counter_of(nest).traffic([CacheLevel(1024.0, 1)], 4)
    (x,) = (one for one in level.arrays if one.array == "x")
    assert x.written == x.read == pytest.approx(64 * 300_000 * (1 - 1024 / 2**20))
    own = """for (int i = 0; i < n; i++) {
      double t[512]; t[row[i]] = 1; }"""
    nest = nest_of(own, "int n, int *row", n=400_000)
    assert group_of(nest, "t").extent == 4096
    for threads in (1, 4):
        (level,) = counter_of(nest).traffic([CacheLevel(2.0**20, threads)], threads)
        (t,) = (one for one in level.arrays if one.array == "t")
        assert t.read == pytest.approx(threads * 4096, rel=1e-6)


def test_threads_gather_from_one_array() -> None:
    """Sharing a cache they find the lines of the others; with their own, each fetches its own."""
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    nest = nest_of(loops, "int n, int *row, double *s, double x[1024]", n=40_000)
    for sharers, copies in ((4, 1), (1, 4), (2, 2)):
        (level,) = counter_of(nest).traffic([CacheLevel(65536.0, sharers)], 4)
        (x,) = (one for one in level.arrays if one.array == "x")
        assert x.read == pytest.approx(copies * 8192, rel=1e-3)


def test_work_of_a_region_and_of_its_serial_bodies() -> None:
    made = workload_in(
        "for (int i = 0; i < n; i++) {\n a[i] = 1;\n#pragma omp critical\n b[i] = 1; }",
        "int n, double *a, double *b", n=80,
    )  # fmt: skip
    assert made.execution is not None
    (serial,) = made.execution.serial
    assert list(made.traffic_of(made.execution.work).touched()) == ["a"]
    assert list(made.traffic_of(serial.work).touched()) == ["b"]
    assert made.traffic_of(serial.work).line_bytes == 64


def test_regions_behind_each_other_have_workloads_of_their_own() -> None:
    text = """void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[2 * i] = 1;
}"""
    assert [facts.region.span.line for facts in facts_of_text(text, n=9)] == [2, 4]


FAR = {
    "line": ("b[i] = a[i] + a[i+1000];", "double *a, double *b"),
    "three": ("b[i] = a[i] + a[i+200] + a[i+1500];", "double *a, double *b"),
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("threads", [1, 4])
def test_references_far_apart_find_what_the_cache_holds_between(name: str, threads: int) -> None:
    """a[i] was a[i + 1000] a thousand iterations ago: 24 KB lie between, of both and of b."""
    body, arrays = FAR[name]
    nest = nest_of(f"for (int i = 0; i < n; i++) {body}", f"int n, {arrays}", n=4000)
    counter = counter_of(nest)
    for size in (1024, 8192, 16384, 65536):
        truth = sum(map(sum, simulated(nest, size, threads).values()))
        (level,) = counter.traffic([CacheLevel(float(size), 1)], threads)
        assert level.total == pytest.approx(truth, rel=0.06)


WALKS = {"a": 1, "b": 2, "c": 3, "d": 5}
"""Arrays by the elements that they move on by in an iteration."""


@pytest.mark.parametrize("order", ["abcd", "dcba", "bdac", "cadb"])
def test_arrays_do_not_change_each_other_s_streams(order: str) -> None:
    """Each array is read at two places 1000 iterations apart; a cache of a few lines finds none of
    the other's again, one of all of them every one.
    """
    read = " + ".join(f"{name}[{WALKS[name]}*i] + {name}[{WALKS[name]}*(i+1000)]" for name in order)
    arrays = ", ".join(f"double *{name}" for name in order)
    nest = nest_of(
        f"for (int i = 0; i < n; i++) s += {read};", f"int n, double s, {arrays}", n=4000
    )
    counter = counter_of(nest)
    apart, together = counter.traffic([CacheLevel(2048.0, 1), CacheLevel(1e7, 1)], 1)
    moved = {array.array: array.read / 64 for array in apart.arrays}
    once = {array.array: array.read / 64 for array in together.arrays}
    for name, step in WALKS.items():
        assert moved[name] == pytest.approx(2 * (1 + 3999 * step / 8))
        assert once[name] == pytest.approx(1 + 4999 * step / 8)


def test_what_is_left_in_the_caches() -> None:
    """Two matrices of 4671 bytes: of what one core left all is in a cache of twice both, whoever
    asks; a thread's own is a quarter of that, and other data in between takes its place.
    """
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    arrays = frozenset("ab")

    def read(size: float, contents: CacheContents, threads: int = 4, sharers: int = 1) -> float:
        (level,) = counter.traffic([CacheLevel(size, sharers)], threads, contents=contents)
        return level.read

    cold = read(data / 2, CacheContents())
    assert read(data / 2, CacheContents(own=arrays)) == pytest.approx(0.0, abs=0.12 * data)
    assert read(data / 2, CacheContents(one_core=arrays)) == cold
    assert read(data * 4 / 3, CacheContents(one_core=arrays)) == pytest.approx(cold / 2, rel=0.01)
    assert read(2 * data, CacheContents(one_core=arrays)) == 0.0
    # Of the two arrays one alone.
    half = read(2 * data, CacheContents(one_core=frozenset("a")))
    assert half == pytest.approx(cold / 2, rel=0.01)
    # As much again between two runs of one thread: a cache of four times the data holds both.
    own = CacheContents(arrays, between=data)
    assert read(2 * data, own, 1) == read(data, CacheContents(), 1)
    assert read(4 * data, own, 1) == 0.0
    # Each of four threads has a quarter of it, and of what comes between.
    assert read(1.2 * data, own) == 0.0
    alone = read(data * 2 / 3, CacheContents())
    assert read(data * 2 / 3, own) == pytest.approx(alone / 2, abs=0.12 * data)
    # Two of them in one cache have half of both, and four all.
    assert read(2.2 * data, own, 4, 2) == 0.0
    assert read(4.1 * data, own, 4, 4) == 0.0
    for sharers, size in ((2, data), (4, 2 * data)):
        assert read(size, own, 4, sharers) == read(size, CacheContents(), 4, sharers)


def test_a_cache_that_adapts_keeps_a_part_of_more() -> None:
    """Twice a cache: h = exp(-2 (1 - h)) of the lines outlive a turn under random replacement,
    0.203; half of that is counted, and of it what the cache reaches.
    """
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    for lasting, share in ((0.0, 0.0), (0.5, 0.0508), (1.0, 0.1016)):
        level = CacheLevel(data / 2, 1, lasting)
        (again,) = counter.traffic([level], 1, contents=left_by_itself(nest))
        (cold,) = counter.traffic([level], 1)
        assert again.read == pytest.approx((1 - share) * cold.read, rel=1e-3)


def test_random_replacement_by_throwing_dice() -> None:
    """A cyclic walk over more lines than a cache has, any of which goes."""
    dice = Random(1)
    for lines, cache in ((260, 200), (400, 200)):
        held, slots, hits = {}, list(range(cache)), 0
        for turn in range(60):
            for line in range(lines):
                if line in held:
                    hits += turn >= 20
                    continue
                slot = dice.randrange(cache) if len(held) >= cache else len(held)
                held.pop(slots[slot], None) if len(held) >= cache else None
                slots[slot] = line
                held[line] = slot
        kept = staying(float(lines), float(cache), lasting=1.0) / 0.5
        assert kept == pytest.approx(hits / (40 * lines), abs=0.05)
