"""Formats tables as text columns, as wide as their widest cell, within the page width."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from regionpredict.report.page_width import PAGE_WIDTH

_INDENT = 2  # indentation of continued rows, in columns


def aligned_lines(
    rows: Sequence[Sequence[str]], right: Collection[int] = (),
    below: Sequence[Sequence[str]] = (),
) -> list[str]:  # fmt: skip
    """Formats rows as lines of aligned columns.

    The first row is the heading, and the columns in `right` are aligned to the right. The lines
    `below` follow each row. Columns that do not fit the page continue on an indented line, in the
    same way in every row. A column wider than the page has its own lines.

    >>> aligned_lines([("call path", "model"), ("main", "3 + p")])
    ['call path  model', 'main       3 + p']
    >>> aligned_lines([("call path", "model"), ("main", "p + " * 18 + "p")])[:3]
    ['call path', '  model', 'main']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    groups = _column_groups(widths)
    lines = []
    for at, row in enumerate(rows):
        for number, group in enumerate(groups):
            cells = "  ".join(
                row[place].rjust(widths[place])
                if place in right
                else row[place].ljust(widths[place])
                for place in group
            ).rstrip()
            if cells or number == 0:
                lines.append(" " * _INDENT * (number > 0) + cells)
        lines += below[at] if below else ()
    return lines


def aligned_blocks(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Formats a table with one column per run like `aligned_lines`. Runs that do not fit the page
    follow in another block, which repeats the first column.

    >>> aligned_blocks([("threads", *["1" * 30] * 3), ("time", "a", "b", "c")])[-1]
    'time     c'
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    blocks: list[list[int]] = [[0]]
    for place in range(1, len(widths)):
        wide = sum(widths[other] + 2 for other in blocks[-1]) + widths[place]
        if wide > PAGE_WIDTH and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(place)
    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines else []
        own = {at for at, place in enumerate(block) if place in right}
        lines += aligned_lines([[row[place] for place in block] for row in rows], own)
    return lines


def _column_groups(widths: Sequence[int]) -> list[list[int]]:
    """Groups the columns, by index, that share a line."""
    groups: list[list[int]] = [[]]
    used = 0
    for place, width in enumerate(widths):
        if groups[-1] and used + 2 + width > PAGE_WIDTH:
            groups.append([])
            used = _INDENT
        used += width + (2 if groups[-1] else 0)
        groups[-1].append(place)
    return groups
