"""A result as blocks: each result has one function that makes its `Document`, and
`rendered.py` shows it as text, CSV, Markdown or a page. JSON has schemas of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Place = Literal["", "text", "page", "csv", "markdown"]
"""Where something is shown. The empty text is everywhere."""
Cell = str | int | float | None | tuple[str, float | int | str | None]
"""The value of a cell, None if it is unknown. A pair has the text of the cell and the value that it
is sorted by, where the column's `show` is not enough."""
Drawing = dict[str, Any]
"""A picture that only pages have (`html/blocks.py`): its `kind` and its data."""


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
    """`show` makes text of a number. Numbers are aligned to the right, texts to the left.

    `key` is the heading in CSV, empty for a column that CSV leaves out. The texts of a `cut` column
    lose their middle where a row is wider than the terminal. Narrow screens hide `minor` columns.
    Readers of a page choose rows by a `choice` column. A `bar` is drawn against the largest value,
    or against the given one. `spark` gives the points of a small curve in a row's cell.
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
    spark: Callable[[int], Sequence[tuple[float, float]]] | None = None

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

    `details` makes the blocks that a row, given by its number, opens to on a page. Source excerpts
    refer to the table by `name`. Text shows the first `top` rows. The sentences of `legend` follow
    the table. Pages sort the rows by the column `sort`, largest first. With `repeat`, columns
    beyond the width of a terminal follow in a block that repeats the first column.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    details: Callable[[int], Sequence[Block]] | None = None
    name: str | None = None
    top: int | None = None
    legend: Sequence[str] = ()
    repeat: bool = False
    sort: int | None = None


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
