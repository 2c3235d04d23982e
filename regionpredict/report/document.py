"""A result as blocks: each result has one function that makes its `Document`, and `rendered` shows
it as text, CSV or a page. JSON has schemas of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Place = Literal["", "text", "page", "csv"]
"""Where something is shown; empty: everywhere."""
Cell = str | int | float | None | tuple[str, float | int | str | None]
"""What a cell holds, None where it is not known. A pair is what it shows and what it is sorted by,
where the column's `show` is not enough."""
Drawing = dict[str, Any]
"""A picture that pages alone have (`html/drawings.py`): its `kind` and its data."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    content: str
    only: Place = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, under a title if it has one."""

    entries: Sequence[str]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Printed:
    """Lines whose columns are aligned already."""

    title: str
    content: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a page shows when a reader opens them; text leaves them out."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Column:
    """`show` makes text of a number, which stands to the right; a column without it has texts.

    `key` is the heading in CSV (empty: not there). `cut`: long texts lose their middle so that a
    row fits the terminal. On pages: `minor` columns are hidden on narrow screens, rows can be
    chosen by a `choice` column, and a `bar` is drawn against the largest value or the one given.
    """

    title: str
    show: Callable[[Any], str] | None = None
    key: str = ""
    minor: bool = False
    choice: bool = False
    bar: bool | float = False
    cut: bool = False
    only: Place = ""
    unknown: str = "-"

    def shown(self, cell: Cell) -> str:
        """The cell as a reader sees it."""
        if isinstance(cell, tuple):
            return cell[0]
        if cell is None:
            return self.unknown
        return str(cell) if self.show is None else self.show(cell)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns.

    `details` makes the blocks that row number n opens to on a page; `name`: what a source excerpt
    calls it by; `top`: rows that text shows; `legend` are sentences below. `repeat`: a table too
    wide for a terminal goes on in a block below, with the first column again.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    details: Callable[[int], Sequence[Block]] | None = None
    name: str | None = None
    top: int | None = None
    legend: Sequence[str] = ()
    repeat: bool = False


Block = Text | Items | Facts | Printed | Folded | Table | Drawing


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with blocks; a function makes them where they cost more than a terminal needs."""

    title: str
    blocks: Sequence[Block] | Callable[[], Sequence[Block]]
    only: Place = ""

    def at(self, place: Place) -> Sequence[Block]:
        """The blocks that are shown there."""
        if self.only not in ("", place):
            return ()
        return self.blocks() if callable(self.blocks) else self.blocks


@dataclass(frozen=True, slots=True)
class Document:
    """A result: `lead` are the sentences that a reader sees first."""

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]


def rendered(document: Document, form: str) -> str:
    """The document as `html` or `csv`, else as text."""
    if form == "html":
        from regionpredict.report.html.page import document_page  # noqa: PLC0415

        return document_page(document)
    from regionpredict.report.document_text import document_csv, document_text  # noqa: PLC0415

    return document_csv(document) if form == "csv" else document_text(document)
