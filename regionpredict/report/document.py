"""Represents a result as blocks. Each result has one function that makes its `Document`.

`rendered.py` renders the document as text, CSV, Markdown or a page. JSON has its own schemas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

from regionpredict.report.names import common_folder

Place = Literal["", "text", "page", "csv", "markdown"]
"""The output in which something is shown. The empty text means all outputs."""
Cell = str | int | float | None | tuple[str, float | int | str | None]
"""The value of a cell, None if it is unknown. A pair has the displayed text and the value for
sorting, if the column's `show` is not enough.
"""
Drawing = dict[str, Any]
"""A picture on pages (`html/blocks.py`): its `kind` and its data."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph of text."""

    content: str
    only: Place = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list with an optional title."""

    entries: Sequence[str]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Preformatted:
    """Preformatted lines."""

    title: str
    content: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a page shows when the reader opens them. They are not in text output."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `show` formats a number. Numbers are aligned to the right and texts to
    the left.

    `short` is the heading in text. `key` is the heading in CSV. A column without a key is not in
    CSV. Texts of a `cut` column are shortened in the middle if a row is wider than the terminal, to
    16 columns or the given number. Narrow screens hide `minor` columns. Readers of a page can
    filter rows by a `choice` column. A `bar` shows the value relative to the largest value of the
    column, or to the given value. `spark` gives the points of a sparkline in the cell of a row. An
    `optional` column is left out if it has no value.
    """

    title: str
    show: Callable[[Any], str] | None = None
    key: str = ""
    short: str = ""
    minor: bool = False
    choice: bool = False
    bar: bool | float = False
    cut: bool | int = False
    only: Place = ""
    unknown: str = "-"
    spark: Callable[[int], Sequence[tuple[float, float]]] | None = None
    optional: bool = False

    def shown(self, cell: Cell) -> str:
        """Returns the cell as text."""
        if isinstance(cell, tuple):
            return cell[0]
        if cell is None:
            return self.unknown
        return str(cell) if self.show is None else self.show(cell)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns.

    On a page, a row opens to the blocks that `details` makes for its index. Source excerpts refer
    to the table by its `name`. Text shows the first `top` rows. The sentences of `legend` follow
    the table. Pages sort the rows by the column `sort`, largest first. With `repeat`, columns
    beyond the width of a terminal follow in a block that repeats the first column. Text shows a
    row of a `listed` table as its first cell, its cells only for text, and its details. In text,
    the sentences of `below` follow a row.
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
    listed: bool = False
    below: Callable[[int], Sequence[str]] | None = None

    def chosen(self, place: Place) -> list[int]:
        """Returns the indices of the columns that an output shows."""
        return [
            at for at, column in enumerate(self.columns)
            if column.only in ("", place)
            and not (column.optional and all(row[at] in (None, "") for row in self.rows))
        ]  # fmt: skip


def csv_rows(keys: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """Returns a table that only CSV output shows."""
    return Table("Rows", [Column(key, key=key) for key in keys], rows)


def csv_records(kind: type[Any], records: Sequence[Any]) -> Table:
    """Returns a table of dataclasses of a kind that only CSV output shows, with their fields."""
    names = [field.name for field in fields(kind)]
    return csv_rows(names, [[getattr(record, name) for name in names] for record in records])


Quantity = tuple[str, Callable[[Any], str], Sequence[Any]]
"""A row of a transposed table: its name, the format of its values, and a value per column."""


def transposed(
    title: str, heads: Sequence[str], rows: Sequence[Quantity], legend: Sequence[str] = ()
) -> Table:
    """Returns a table with one format per row. Rows without a value are left out."""
    cells: list[list[Cell]] = [
        [name, *(None if value is None else (show(value), value) for value in values)]
        for name, show, values in rows if any(value is not None for value in values)
    ]  # fmt: skip
    columns = [Column(heads[0]), *(Column(head, str) for head in heads[1:])]
    return Table(title, columns, cells, legend=legend, repeat=True)


Block = Text | Items | Facts | Preformatted | Folded | Table | Drawing


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with blocks. If the blocks are expensive and not needed for text, a function makes
    them.
    """

    title: str
    blocks: Sequence[Block] | Callable[[], Sequence[Block]]
    only: Place = ""

    def at(self, place: Place) -> Sequence[Block]:
        """Returns the blocks for an output."""
        if self.only not in ("", place):
            return ()
        return self.blocks() if callable(self.blocks) else self.blocks


@dataclass(frozen=True, slots=True)
class Document:
    """A result as blocks. `lead` are the first sentences, and `record` makes its JSON. Text begins
    with the title if it is `titled`. Pages show paths relative to the common folder of `files`.
    """

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
    record: Callable[[], Mapping[str, Any]] = dict
    titled: bool = False
    files: Sequence[str] = ()


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Returns a document, or a part of one, with all texts changed, but not JSON and CSV."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Section) and value.only == "csv":
        return value
    if isinstance(value, Document):
        return replace(
            value, title=change(value.title), lead=map_texts(value.lead, change),
            sections=map_texts(value.sections, change),
        )  # fmt: skip
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(*(map_texts(getattr(value, own.name), change) for own in fields(value)))
    if isinstance(value, Mapping):
        return {key: map_texts(own, change) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(map_texts(own, change) for own in value)
    if callable(value) and not isinstance(value, type):
        return lambda *given: map_texts(value(*given), change)
    return value


def below_folder(document: Document, files: Sequence[str]) -> Document:
    """Returns the document with paths relative to a common folder, which its lead names."""
    folder = common_folder(files)
    if not folder:
        return document
    absent = re.compile(rf"(?<![\w./-])(?<!-I ){re.escape(folder)}(?=\w)")
    shown: Document = map_texts(document, lambda text: absent.sub("", text))
    return replace(shown, lead=[*shown.lead, f"Files are below {folder}"])
