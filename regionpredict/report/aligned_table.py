"""Columns of text under their heads, each as wide as its widest cell."""

from __future__ import annotations

from collections.abc import Sequence


def aligned_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows, of which the first is the head, as lines of left-aligned columns.

    >>> aligned_lines([("call path", "model"), ("main", "3 + p")])
    ['call path  model', 'main       3 + p']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
