"""Distinct lines of several references to one array, against sets of lines."""

from __future__ import annotations

from itertools import product

import pytest
from nest_texts import counter_of, nest_of
from simulated_nest import simulated

from regionpredict.workload.line_overlap import (
    GroupLines,
    Level,
    Lines,
    _contains_accesses,
    _cover_same_lines,
    union_of,
)


def lines_of(
    levels: tuple[Level, ...], origin: float = 0.0, *, written: bool = False,
    offsets: tuple[float, ...] = (0.0,), team: tuple[Level, ...] = (), slanted: bool = False,
) -> GroupLines:  # fmt: skip
    """The lines of one thread's lattice of doubles, its touched lines enumerated."""
    touched = float(len(lines(levels, origin, offsets)))
    for _, threads in team:
        touched *= threads
    low = origin + sum(min(0.0, stride * (steps - 1)) for stride, steps in levels)
    high = origin + sum(max(0.0, stride * (steps - 1)) for stride, steps in levels)
    strides = tuple(sorted((abs(s) for s, steps in levels if steps > 1), reverse=True))
    return GroupLines(
        touched, touched if written else 0.0, low + offsets[0], high + offsets[-1] + 8, team,
        levels, offsets, origin, slanted, strides,
    )  # fmt: skip


def lines(
    levels: tuple[Level, ...], origin: float, offsets: tuple[float, ...] = (0.0,)
) -> set[int]:
    steps = product(*(range(int(number)) for _, number in levels))
    return {
        int(origin + offset + sum(s * at for (s, _), at in zip(levels, place, strict=True))) // 64
        for place in steps for offset in offsets
    }  # fmt: skip


COLUMN: tuple[Level, ...] = ((4096, 10),)  # a line in each of 10 rows
ROW: tuple[Level, ...] = ((8, 64),)  # 8 lines
ROWS: tuple[Level, ...] = ((4096, 10), (8, 64))  # 80 lines


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((ROW, 0), (ROW, 100_000)),  # far from each other
        ((ROW, 0), (ROW, 0)),  # the same
        ((ROW, 0), (ROW, 256)),  # half of it
        ((ROW, 256), (ROW, 0)),
        ((ROW, 0), (ROW, 512)),  # one behind the other
        ((ROWS, 0), (ROW, 4096)),  # one row of many
        ((ROWS, 0), (((4096, 10),), 0)),  # the first column of all rows
        ((ROWS, 0), (((4096, 10),), 64)),
        ((ROWS, 0), (ROWS, 4096 * 5)),  # the same rows from the fifth on
        ((ROWS, 0), (ROWS, 4096 * 10)),
        ((ROWS, 0), (((-4096, 10), (8, 64)), 9 * 4096)),  # the same from the other end
        ((COLUMN, 512), (COLUMN, 512 + 3 * 4096)),  # seven rows in common
        ((COLUMN, 512), (COLUMN, 512 + 3 * 4096 + 100)),  # the same rows, lines beside
        ((COLUMN, 512), (COLUMN, 1024 + 3 * 4096)),
    ],
)
def test_two_references(
    first: tuple[tuple[Level, ...], float], second: tuple[tuple[Level, ...], float]
) -> None:
    union = len(lines(*first) | lines(*second))
    parts = [lines_of(*first), lines_of(*second)]
    for order in (parts, parts[::-1]):
        assert union_of(order, 64).touched == pytest.approx(union, rel=0.1)


def test_a_column_by_its_offset_in_the_rows() -> None:
    """256 bytes from the begin of ten rows: in their lines; 600 from it: behind them."""
    rows = lines_of(ROWS, 0)
    for offset, union in ((256.0, 80), (600.0, 90)):
        column = lines_of(COLUMN, 0, offsets=(offset,))
        for order in ([rows, column], [column, rows]):
            assert union_of(order, 64).touched == pytest.approx(union, rel=0.03)


def test_columns_that_walk_over_the_same_lines() -> None:
    """A line of ten rows, and of ten from the fourth on: seven in common, told by their offset."""
    parts = [lines_of(COLUMN, 512, offsets=(64.0,)), lines_of(COLUMN, 576 + 3 * 4096)]
    for order in (parts, parts[::-1]):
        assert union_of(order, 64).touched == pytest.approx(13, rel=0.05)


def test_written_lines_are_counted_once() -> None:
    both = [lines_of(ROW, 0, written=True), lines_of(ROW, 256, written=True)]
    assert union_of(both, 64) == (pytest.approx(12), pytest.approx(12))
    # Reads beside stores: all 8 lines of the second are stored to, though 4 were read before.
    mixed = [lines_of(ROWS, 0), lines_of(ROW, 4096, written=True)]
    assert union_of(mixed, 64) == (pytest.approx(80, rel=0.1), pytest.approx(8))
    assert union_of([lines_of(ROW, written=True)], 64) == (8, 8)


def test_teams_that_stand_alike_overlap_thread_by_thread() -> None:
    """Four threads 100 kB apart: each reads its own row twice, 8 lines for each of four."""
    team: tuple[Level, ...] = ((100_000.0, 4),)
    alike = [lines_of(ROW, 0, team=team), lines_of(ROW, 0, team=team)]
    assert union_of(alike, 64).touched == pytest.approx(32)
    shifted = [lines_of(ROW, 0, team=team), lines_of(ROW, 256, team=team)]
    assert union_of(shifted, 64).touched == pytest.approx(48)


def test_one_thread_s_place_in_what_all_read() -> None:
    """b[i] of four threads, side by side, is a part of b[j] that all of them read."""
    every = lines_of(((8, 256),), 0)  # 32 lines, the same for all
    own = lines_of(((8, 64),), 768, team=((512.0, 4),))  # 8 lines each; the mean stands at 768
    assert union_of([every, own], 64).touched == pytest.approx(32, rel=0.25)
    away = lines_of(((8, 64),), 102_400, team=((512.0, 4),))
    assert union_of([every, away], 64).touched == pytest.approx(64)


def test_lines_times_and_plus() -> None:
    assert Lines(3, 2).times(2.5) == (7.5, 5.0)
    assert Lines(3, 2).plus(Lines(1, 4)) == (4, 6)


@pytest.mark.parametrize(
    ("reads", "tolerance"),
    [
        ("a[i][j] + a[j][i]", 0.06),  # all of it, once
        ("a[i][j] + a[i][0]", 0.03),  # the first column is in the rows
        ("a[i][j] + a[i][39]", 0.03),
        ("a[i][j] + a[i + 40][j]", 0.03),  # another half
        ("a[i][j] + a[i + 20][j]", 0.03),  # half of each in the other
        ("a[2 * i][j] + a[2 * i + 1][j]", 0.1),  # two rows at a time, joined
        ("a[i][j] + a[i + 13][j] + a[i + 26][j]", 0.03),  # thirds that reach into each other
        ("a[i][j] + a[3][j]", 0.03),
        ("a[i][j] + a[77][j]", 0.03),
        ("a[39 - i][j] + a[i][39 - j]", 0.03),
    ],
)
def test_references_of_a_nest(reads: str, tolerance: float) -> None:
    loops = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i] += {reads};"
    nest = nest_of(loops, "int n, double a[80][40], double *b", n=40)
    counted = counter_of(nest).touched()
    truth = simulated(nest, 1e9)
    assert counted["a"] == pytest.approx(truth["a"][0], rel=tolerance)
    assert counted["b"] == pytest.approx(truth["b"][0], rel=tolerance)


# -- the rules themselves, at their bounds ---------------------------------------------------------


def at(levels: tuple[Level, ...], origin: float, offset: float = 0.0) -> GroupLines:
    return lines_of(levels, origin, offsets=(offset,))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ((0, 0), (3 * 4096, 0), True),  # whole rows apart
        ((0, 32), (3 * 4096, 0), True),  # half a line of 64 beside them, either way
        ((2 * 4096 - 32, 0), (0, 0), True),
        ((0, 33), (3 * 4096, 0), False),
        ((2 * 4096 - 33, 0), (0, 0), False),
        ((0, 100), (100, 0), True),  # the address is origin and offset together
        ((100, 0), (0, 100), True),
        ((100, 32), (0, 100), True),
        ((100, 33), (0, 100), False),
    ],
)
def test_columns_in_step(
    first: tuple[float, float], second: tuple[float, float], same: bool
) -> None:
    assert _cover_same_lines(at(COLUMN, *first), at(COLUMN, *second), 64) == same
    assert _cover_same_lines(at(COLUMN, *second), at(COLUMN, *first), 64) == same


def test_other_strides_and_triangles_are_not_in_step() -> None:
    column = at(COLUMN, 0)
    assert not _cover_same_lines(column, at(((2048, 10),), 0), 64)
    slanted = column._replace(slanted=True)
    assert not _cover_same_lines(slanted, column, 64)
    assert not _cover_same_lines(column, slanted, 64)
    # Two strides: what the wider leaves over is measured by the narrower.
    both: tuple[Level, ...] = ((4096, 10), (512, 3))
    assert _cover_same_lines(at(both, 4096 + 512), at(both, 0), 64)
    assert not _cover_same_lines(at(both, 4096 + 256), at(both, 0), 64)


@pytest.mark.parametrize(
    ("inner", "begin", "end"),
    [
        # steps of 8 reach 504 bytes up, or down, from the first; half a line beyond is near enough
        ((8, 64), -32, 504 + 32),
        ((-8, 64), -504 - 32, 32),
        ((64, 8), -32, 448 + 32),  # a step of a line leaves none out
    ],
)
def test_a_step_lies_in_a_run(inner: Level, begin: float, end: float) -> None:
    """`a[j][x]` beside `a[j][i]`, by the bytes from the first of the row to x."""
    rows = at((*COLUMN, inner), 5000)
    for place, inside in ((begin, True), (begin - 1, False), (end, True), (end + 1, False)):
        assert _contains_accesses(rows, at(COLUMN, 5000 + place), 64) == inside
        assert _contains_accesses(rows, at(COLUMN, 5000, place), 64) == inside
        # The row's own first offset counts as its begin.
        assert (
            _contains_accesses(at((*COLUMN, inner), 4900, 100), at(COLUMN, 5000 + place), 64)
            == inside
        )


def test_several_offsets_all_lie_in_the_run() -> None:
    """Of offsets 100 apart the second must be inside too, and a row of such reaches as far."""
    rows, two = at((*COLUMN, (8, 64)), 0), (0.0, 100.0)
    for place, inside in ((436, True), (437, False), (-32, True), (-33, False)):
        assert _contains_accesses(rows, lines_of(COLUMN, place, offsets=two), 64) == inside
    wide = lines_of((*COLUMN, (8, 64)), 0, offsets=two)
    for place, inside in ((636, True), (637, False)):
        assert _contains_accesses(wide, at(COLUMN, place), 64) == inside


def test_runs_with_gaps_hold_no_step() -> None:
    def holds(*rest: Level) -> bool:
        return _contains_accesses(at((*COLUMN, *rest), 0), at(COLUMN, 0), 64)

    assert holds((64, 8))
    assert not holds((65, 8))
    # eight steps of 8 make a run of 64 + 56 bytes, in whichever order they stand
    assert holds((8, 8), (120, 4))
    assert holds((-120, 4), (8, 8))
    assert not holds((8, 8), (121, 4))
    # each level of the part is one of the other's, as often as it stands there
    assert not _contains_accesses(at(((4096, 9), (8, 64)), 0), at(COLUMN, 0), 64)
    assert not _contains_accesses(at((*COLUMN, (8, 64)), 0), at(COLUMN * 2, 0), 64)


def test_what_only_touches_does_not_overlap() -> None:
    """The double behind a row of eight lines is in the ninth, either way."""
    parts = [at(ROW, 0), at((), 512)]
    for order in (parts, parts[::-1]):
        assert union_of(order, 64).touched == pytest.approx(9)


@pytest.mark.parametrize(("shift", "union"), [(0, 32), (512, 40), (1024, 48), (2048, 64)])
def test_four_threads_side_by_side_in_what_all_read(shift: int, union: int) -> None:
    """Rows of 512 bytes next to each other from `shift` on, in 2048 bytes that all read: by lines.

    The mean thread stands a row and a half behind the first.
    """
    every = lines_of(((8, 256),), 0)
    own = lines_of(ROW, shift + 768, team=((512.0, 4),))
    truth = {byte // 64 for byte in (*range(2048), *range(shift, shift + 2048))}
    assert len(truth) == union
    for order in ([every, own], [own, every]):
        assert union_of(order, 64).touched == pytest.approx(union)


def test_a_part_overlaps_by_density() -> None:
    """One line in every 512 bytes: of a row across four of them a quarter of 32 lines is there."""
    sparse = lines_of(((512, 4),), 0)  # 4 lines in 1544 bytes
    dense = lines_of(((8, 193),), 0)  # 25 lines in as many bytes
    covered = 4 * min(1.0, 25 * 64 / 1544)
    assert union_of([sparse, dense], 64).touched == pytest.approx(25 + 4 - covered)
    # From a half on: 776 of 1544 bytes in common.
    later = lines_of(((512, 4),), 768)
    assert union_of([later, dense], 64).touched == pytest.approx(25 + 4 - 4 * 776 / 1544)


@pytest.mark.parametrize("order", [1, -1])
def test_references_in_the_same_place_count_once(order: int) -> None:
    """Whichever comes first, and written if one of them writes."""
    parts = [lines_of(ROWS), lines_of(ROWS, written=True), lines_of(ROWS)][::order]
    assert union_of(parts, 64) == Lines(80, 80)
    assert union_of([*parts, lines_of(COLUMN)], 64) == Lines(80, 80)
