"""Distinct lines of several references to one array, against sets of lines."""

from __future__ import annotations

from itertools import product

import pytest
from nest_texts import counter_of, nest_of
from simulated_nest import simulated

from regionpredict.workload.line_overlap import GroupLines, Level, Lines, union_of


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
