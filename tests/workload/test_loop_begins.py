"""Loops that begin where the loops around them say: what a team touches is what its rows hold."""

from __future__ import annotations

import pytest
from further_cases import further_slow
from nest_texts import counter_of, loop_named, nest_of

from regionpredict.analysis.schedule import Schedule
from regionpredict.ir import Expr
from regionpredict.workload.cache_traffic import CacheLevel
from regionpredict.workload.loop_begins import _has_constant_length
from regionpredict.workload.loop_nest import Affine, Curved

ROWS, LENGTH = 6000, 100  # rows of 800 bytes, which are no whole lines
BYTES = ROWS * LENGTH * 8
ROW_BY_ROW = "for (int i = 0; i < 6000; i++) for (int k = 0; k < 100; k++) s += a[100 * i + k];"
MOVED = {
    "a row": """for (int i = 0; i < 6000; i++)
      for (int k = 100 * i; k < 100 * i + 100; k++) s += a[k];""",
    "a block": "for (int i = 0; i < 600000; i += 100) for (int k = i; k < i + 100; k++) s += a[k];",
    "blocks of a block": """for (int i = 0; i < 600000; i += 100)
      for (int j = i; j < i + 100; j += 10) for (int k = j; k < j + 10; k++) s += a[k];""",
    "the last one first": """for (int i = 0; i < 6000; i++)
      for (int k = 100 * i + 99; k >= 100 * i; k--) s += a[k];""",
}


@pytest.mark.parametrize("schedule", [Schedule("static", None), Schedule("static", 4.0)])
@pytest.mark.parametrize("sharers", further_slow(2, [1, 6, 2]))
@pytest.mark.parametrize("threads", [1, 6, 24])
@pytest.mark.parametrize("name", MOVED)
def test_rows_are_brought_once_whoever_shares_a_cache(
    name: str, threads: int, sharers: int, schedule: Schedule
) -> None:
    """Each byte is used once: whatever the caches, all of it comes once, and the ends of the rows
    of other threads, of which there are at most two lines a row."""
    nest = nest_of(MOVED[name], "double s, double *a")
    counter = counter_of(nest, schedule)
    levels = counter.traffic([CacheLevel(1 << 15, 1), CacheLevel(1 << 20, sharers)], threads)
    for level in levels:
        assert 1.001 * level.read >= BYTES
        assert level.read <= BYTES * 1.01 + 2 * 64 * ROWS / 4 * (schedule.chunk is not None)
    same = counter_of(nest_of(ROW_BY_ROW, "double s, double *a"), schedule)
    twin = same.traffic([CacheLevel(1 << 15, 1), CacheLevel(1 << 20, sharers)], threads)
    assert [level.read for level in levels] == pytest.approx(
        [level.read for level in twin], rel=0.02
    )


@pytest.mark.parametrize("sharers", [2, 6])
def test_blocks_that_end_with_the_data(sharers: int) -> None:
    """The last block may be shorter."""
    text = """for (int i = 0; i < 600000; i += 64)
      for (int k = i; k < (i + 64 < 599990 ? i + 64 : 599990); k++) s += a[k];"""
    (level,) = counter_of(nest_of(text, "double s, double *a")).traffic(
        [CacheLevel(1 << 20, sharers)], 24
    )
    assert level.read == pytest.approx(599990 * 8, rel=0.01)


def test_a_matrix_by_diagonals_stays_one() -> None:
    """`b[k][i]` moves with both: a line of eight columns is used by eight rows around."""
    text = "for (int i = 0; i < 400; i++) for (int k = i; k < i + 40; k++) s += b[k][i];"
    (level,) = counter_of(nest_of(text, "double s, double b[500][512]"), traced=False).traffic(
        [CacheLevel(1 << 20, 1)], 1
    )
    touched = {(row, column // 8) for column in range(400) for row in range(column, column + 40)}
    assert level.read / 64 == pytest.approx(len(touched), rel=0.05)


MATRICES = "double s, double a[301][301], double b[301][301]"
CUT = {
    "rows": """for (int ii = 0; ii < 301; ii += 8)
      for (int i = ii; i < (ii + 8 < 301 ? ii + 8 : 301); i++)
        for (int j = 0; j < 301; j++) b[i][j] = a[i][j];""",
    "rows up to the last": """for (int ii = 0; ii < 301; ii += 8)
      for (int i = ii; i <= (ii + 7 < 300 ? ii + 7 : 300); i++)
        for (int j = 0; j < 301; j++) b[i][j] = a[i][j];""",
    "tiles": """for (int ii = 0; ii < 301; ii += 8) for (int jj = 0; jj < 301; jj += 8)
      for (int i = ii; i < (ii + 8 < 301 ? ii + 8 : 301); i++)
        for (int j = jj; j < (jj + 8 < 301 ? jj + 8 : 301); j++) b[j][i] = a[i][j];""",
}
IN_TURN = [Schedule("static", 1.0), Schedule("dynamic", 1.0), Schedule("static", 2.0)]


@pytest.mark.parametrize("schedule", IN_TURN)
@pytest.mark.parametrize("sharers", [1, 4])
@pytest.mark.parametrize(
    ("name", "clauses"),
    [("rows", ""), ("rows up to the last", ""), ("tiles", ""), ("tiles", "collapse(2)")],
)
def test_blocks_cut_at_the_end_against_every_reference(
    name: str, clauses: str, sharers: int, schedule: Schedule
) -> None:
    """38 blocks, the last one of 5: four threads do not share them, nor a row of tiles, evenly."""
    nest = nest_of(CUT[name], MATRICES, clauses)
    closed, enumerated = (counter_of(nest, schedule, traced=traced) for traced in (False, True))
    for size in (1 << 15, 1 << 18):
        levels = [CacheLevel(float(size), sharers)]
        (told,), (true,) = closed.traffic(levels, 4), enumerated.traffic(levels, 4)
        assert told.total == pytest.approx(true.total, rel=0.1)


@pytest.mark.parametrize("schedule", IN_TURN)
def test_a_cut_that_cuts_nothing_off(schedule: Schedule) -> None:
    """Where blocks divide the rows, the twin without `min`."""
    text = """for (int ii = 0; ii < 304; ii += 8)
      for (int i = ii; i < {}; i++) for (int j = 0; j < 304; j++) b[i][j] = a[i][j];"""
    levels = [CacheLevel(1 << 12, 1), CacheLevel(1 << 18, 4)]
    cut, plain = (
        counter_of(
            nest_of(text.format(end), "double a[304][304], double b[304][304]"), schedule
        ).traffic(levels, 4)
        for end in ("(ii + 8 < 304 ? ii + 8 : 304)", "ii + 8")
    )
    assert [level.total for level in cut] == pytest.approx(
        [level.total for level in plain], rel=0.02
    )


def test_bounds_that_are_no_block_stay_as_they_are() -> None:
    """The shorter of two that both move, a least of three, a block of another slope."""
    for end in (
        "(i + 8 < 2 * i ? i + 8 : 2 * i)",
        "(2 * i + 8 < n ? 2 * i + 8 : n)",
        "n / (i + 1)",
    ):
        text = f"for (int i = 0; i < n; i++) for (int k = i; k < {end}; k++) s += a[k];"
        inner = nest_of(text, "int n, double s, double *a", n=100).loops[1]
        assert inner.begin({"i": 7.0}) == 7.0


OUTER, ASIDE, N, M = (Expr.name(name) for name in "ijnm")
CUT_AT_N = Expr.atom("min", OUTER + 8, N)


@pytest.mark.parametrize(
    ("limit", "block"),
    [
        (CUT_AT_N, True),
        (Expr.atom("min", N, OUTER + 8), True),
        (Expr.atom("min", OUTER - 8, N * M), True),
        (CUT_AT_N + N + 3, False),  # more than a least of two, and not by a number alone
        (CUT_AT_N + 3, True),
        (CUT_AT_N * 2, False),
        (CUT_AT_N * N, False),
        (CUT_AT_N**2, False),
        (CUT_AT_N + Expr.atom("min", OUTER + 8, M), False),
        (Expr.atom("max", OUTER + 8, N), False),
        (OUTER * ASIDE, False),
        (OUTER**2, False),
        (OUTER, False),
        (Expr.atom("min", OUTER * 2 + 8, N), False),
        (Expr.atom("min", OUTER * N + 8, M), False),
        (Expr.atom("min", OUTER**2 + 8, M), False),
        (Expr.atom("min", OUTER + ASIDE + 8, N), False),
        (Expr.atom("min", OUTER + 8, OUTER * 2), False),
        (Expr.atom("min", N, M), False),
        (Expr.atom("min", OUTER + Expr.atom("floordiv", OUTER, Expr.const(2)), N), False),
    ],
    ids=str,
)
def test_a_block_goes_on_with_its_begin_up_to_where_the_data_end(limit: Expr, block: bool) -> None:
    """A least of an end that moves as `i` does and of one that stands still, or next to it."""
    curved = Curved(limit, {"n": 100, "m": 50}, frozenset(limit.names & {"i", "j"}))
    assert _has_constant_length(Affine(3.0, {"i": 1.0}), curved) is block


def test_a_block_moves_with_all_that_moves_its_begin() -> None:
    limit = Curved(Expr.atom("min", OUTER * 2 + ASIDE + 8, N), {"n": 100}, frozenset("ij"))
    for slopes, block in (
        ({"i": 2.0, "j": 1.0}, True), ({"i": 2.0}, False), ({"j": 1.0}, False),
        ({"i": 1.0, "j": 2.0}, False), ({"i": 2.0, "j": 1.0, "k": 1.0}, False),
    ):  # fmt: skip
        assert _has_constant_length(Affine(0.0, slopes), limit) is block
    assert not _has_constant_length(Affine(0.0, {"i": 1.0}), Affine(8.0, {"i": 1.0}))


def begins_of(text: str, declared: str, variable: str = "k") -> set[float]:
    """Where the loop is counted from in the 8th and the 9th iteration of the one around it."""
    loop = loop_named(nest_of(text, declared, n=100), variable)
    return {loop.begin({"i": place}) for place in (7.0, 8.0)}


@pytest.mark.parametrize(
    ("inside", "moved"),
    [
        ("s += a[k];", False),
        ("s += a[k] + c[i];", False),  # each moves with one of both
        ("s += b[k][i];", True),
        ("s += a[k + i];", True),
        ("s += a[k] + b[k][i];", True),
        ("s += a[k / 2];", True),  # no affine function of the variable
        ("s += a[i / 2];", False),  # which is not its own
        ("for (int l = k; l < k + 4; l++) s += a[l];", False),
        ("for (int l = k; l < (k + 4 < n ? k + 4 : n); l++) s += a[l];", True),
        ("for (int l = 0; l < n / (k + 1); l++) s += a[l];", True),
        ("for (int l = 0; l < n / (i + 1); l++) s += a[l];", False),
    ],
)
def test_what_is_counted_from_its_begin(inside: str, moved: bool) -> None:
    """All in it has to be an affine function of its variable, and nothing may move with both."""
    text = f"for (int i = 0; i < n; i++) for (int k = 2 * i; k < 2 * i + 9; k++) {{ {inside} }}"
    begins = begins_of(text, "int n, double s, double *a, double *c, double b[900][900]")
    assert begins == ({14.0, 16.0} if moved else {0.0})
