"""The number of cache lines of a reference group, in closed form from its strides.

The addresses of a group are copies of one lattice, one copy per offset. Strides that skip no line
form one dense run. A wider stride repeats the run. Overlapping runs of different offsets are
merged. A run of `s` bytes at an unknown position in a line of `l` bytes touches `1 + (s - e) / l`
lines on average. The element size is `e`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def lattice_lines(
    levels: Iterable[tuple[float, float]], offsets: Sequence[float], element: float,
    line_bytes: float,
) -> float:  # fmt: skip
    """Returns the mean number of lines that a lattice of addresses touches with all its offsets.

    `levels` are (stride in bytes, number of steps) in any order. `offsets`, `element` and
    `line_bytes` are in bytes.

    >>> lattice_lines([(8, 64)], (0,), 8, 64)  # 512 bytes at any alignment
    8.875
    >>> lattice_lines([(8000, 10)], (0,), 8, 64)  # a column: a line each
    10.0
    """
    ordered = sorted([(abs(c), n) for c, n in levels if c and n > 1])
    span = element
    dense = 0
    for stride, steps in ordered:
        if stride > span + line_bytes - element:  # the gap would skip lines
            break
        span += stride * (steps - 1)
        dense += 1
    if len(offsets) == 1:
        return math.prod(n for _, n in ordered[dense:]) * (1 + (span - element) / line_bytes)
    return _lines_of_levels(ordered[dense:], tuple(offsets), span, element, line_bytes)


def separate_close_strides(
    levels: Sequence[tuple[float, float]], element: float, line_bytes: float
) -> list[tuple[float, float]]:
    """Replaces two levels with nearly equal strides by a level of rows and a level of columns. An
    example is `a[d - i][i]`, where a step of both loops moves the address by one element.

    The number of rows is the number that both loops reach together. The elements are distributed
    evenly over the rows.

    >>> separate_close_strides([(8008, 100), (8000, 200)], 8, 64)  # a[i + j][i]
    [(8000, 299), (8, 66.88963210702342)]
    """
    wide = [(c, n) for c, n in levels if abs(c) > line_bytes and n > 1]
    for at, (stride, steps) in enumerate(wide if len(wide) > 1 else ()):
        for other, (row, number) in enumerate(wide):
            turn = round(stride / row)
            left = stride - turn * row
            if other == at or not turn or abs(left) > line_bytes:
                continue
            rows = number + abs(turn) * (steps - 1)
            if rows < number * steps and abs(left) * (steps - 1) + element <= abs(row):
                rest = [level for level in levels if level not in (wide[at], wide[other])]
                columns = [(left, number * steps / rows)] if left else []
                return separate_close_strides([*rest, (row, rows), *columns], element, line_bytes)
    return list(levels)


def rows_overlap(levels: Iterable[tuple[float, float]], element: float, line_bytes: float) -> bool:
    """Whether rows of a lattice of addresses overlap. In `a[2 * i + j][i]`, several values of i
    reach the same row.

    >>> rows_overlap([(8, 100), (800, 100)], 8, 64), rows_overlap([(2400, 20), (2408, 40)], 8, 64)
    (False, True)
    """
    reach, dense = element, True
    for stride, steps in sorted((abs(stride), steps) for stride, steps in levels if stride):
        if steps <= 1:
            continue
        dense = dense and stride <= reach + line_bytes - element
        if not dense and stride < reach + line_bytes - element:
            return True
        reach += stride * (steps - 1)
    return False


def _lines_of_levels(
    wide: Sequence[tuple[float, float]], offsets: tuple[float, ...], span: float, element: float,
    line_bytes: float,
) -> float:  # fmt: skip
    if not wide:
        lengths = _merged_lengths(offsets, span, element, line_bytes)
        return sum(1 + (length - element) / line_bytes for length in lengths)
    stride, steps = wide[-1]
    shifts_by_offset: dict[float, set[float]] = {}
    middle = sorted(offsets)[len(offsets) // 2]
    for offset in offsets:
        turn = math.floor((offset - middle) / stride + 0.5)
        shifts_by_offset.setdefault(round(offset - turn * stride, 3), set()).add(turn)
    shifts = {turn for group in shifts_by_offset.values() for turn in group}
    if len(shifts) == 1 and len(wide) == 1:
        return _lines_of_repeated_intervals(
            tuple(shifts_by_offset), span, wide[0], element, line_bytes
        )
    if len(shifts) == 1:
        return steps * _lines_of_levels(
            wide[:-1], tuple(shifts_by_offset), span, element, line_bytes
        )
    # For a stencil, only the runs at both ends lack some of the offsets.
    count = sum(_merged_lengths(tuple(shifts), steps, line_bytes, line_bytes))
    return count * _lines_of_levels(wide[:-1], tuple(shifts_by_offset), span, element, line_bytes)


def _lines_of_repeated_intervals(
    offsets: tuple[float, ...], span: float, level: tuple[float, float], element: float,
    line_bytes: float,
) -> float:  # fmt: skip
    """Returns the lines of intervals that repeat with a stride. Neighboring repetitions may share
    a line, as in an array of structs that are longer than a line.

    >>> _lines_of_repeated_intervals((0.0, 40.0, 64.0), 8.0, (72.0, 100.0), 8.0, 64.0)
    113.375
    """
    stride, steps = level
    lengths = _merged_lengths(offsets, span, element, line_bytes)
    gap = stride - (max(offsets) - min(offsets) + span)
    if not 0.0 <= gap < line_bytes - element:
        return steps * sum(1 + (length - element) / line_bytes for length in lengths)
    runs = steps * (len(lengths) - 1) + 1
    covered = steps * sum(lengths) + (steps - 1) * gap
    return runs + (covered - runs * element) / line_bytes


def _merged_lengths(
    offsets: tuple[float, ...], span: float, element: float, line_bytes: float
) -> list[float]:
    """Returns the lengths of the intervals [offset, offset + span), after intervals with no whole
    line between them are merged.
    """
    lengths = []
    ordered = sorted(offsets)
    begin, end = ordered[0], ordered[0] + span
    for offset in ordered[1:]:
        if offset - end < line_bytes - element:  # a gap that skips no line
            end = max(end, offset + span)
        else:
            lengths.append(end - begin)
            begin, end = offset, offset + span
    lengths.append(end - begin)
    return lengths
