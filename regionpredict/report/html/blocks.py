"""What a page shows, piece by piece: each block has a `kind`, by which the page draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Block = dict[str, Any]
Cell = str | int | float | None | tuple[str, float | int | str | None]
"""What a cell shows; a pair: what it shows, and what it is sorted by (None: last)."""


class Section(NamedTuple):
    """A heading with the blocks below it."""

    title: str
    blocks: Sequence[Block]


class Column(NamedTuple):
    """`number`: set to the right; `minor`: not on narrow screens; `choice`: rows can be chosen by
    its values; `bar`: drawn as a bar too, against the largest value, or against the one given.
    """

    title: str
    number: bool = False
    minor: bool = False
    choice: bool = False
    bar: bool | float = False

    def document(self) -> dict[str, Any]:
        """What of it is not the usual."""
        return {key: value for key, value in self._asdict().items() if value is not False}


def text(words: str) -> Block:
    """A paragraph."""
    return {"kind": "text", "text": words}


def items(words: Sequence[str]) -> Block:
    """A list."""
    return {"kind": "list", "items": list(words)}


def facts(pairs: Sequence[tuple[str, str]]) -> Block:
    """Names with values."""
    return {"kind": "facts", "items": [list(pair) for pair in pairs]}


def printed(title: str, words: str) -> Block:
    """Text in columns, as a terminal shows it."""
    return {"kind": "pre", "title": title, "text": words}


def folded(title: str, blocks: Sequence[Block]) -> Block:
    """Blocks that are drawn when a reader opens them."""
    return {"kind": "more", "title": title, "blocks": list(blocks)}


def table(
    title: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *,
    details: Sequence[Sequence[Block]] | None = None, name: str | None = None,
) -> Block:  # fmt: skip
    """A table that can be sorted and filtered; `details` are what each row opens to. `name`: what
    other blocks call it by.
    """
    return {
        "kind": "table", "title": title, "name": name,
        "columns": [one.document() for one in columns],
        "rows": [list(row) for row in rows],
        "details": None if details is None else [list(one) for one in details],
    }  # fmt: skip


def curve(
    title: str, x: str, y: str, series: Sequence[Block], *,
    zones: Sequence[Block] = (), mark: Block | None = None, step: bool | None = None,
    logx: bool | None = None,
) -> Block:  # fmt: skip
    """Lines over a number: each of `series` has `name`, `points` and `band` (x, low, high)."""
    return {"kind": "curve", "title": title, "x": x, "y": y, "series": list(series),
            "zones": list(zones), "mark": mark, "step": step, "logx": logx}  # fmt: skip
