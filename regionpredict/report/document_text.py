"""Renders a document as text of 80 columns, as Markdown, and its main table as CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from regionpredict.errors import one_line
from regionpredict.quoting import csv_text, markdown_text
from regionpredict.report.aligned_table import aligned_blocks, aligned_lines
from regionpredict.report.document import (
    Block,
    Column,
    Document,
    Drawing,
    Facts,
    Items,
    Preformatted,
    Table,
    Text,
)
from regionpredict.report.names import cut
from regionpredict.report.page_width import PAGE_WIDTH, page_lines
from regionpredict.report.quantities import show_bytes, show_seconds

_LEAST_CUT = 16  # minimum width of a recognizable call path
_LEAST_NAME = 8  # minimum width of a function name after a source position
_LINE = re.compile(r":\d+$")
_SETTING = re.compile("(--(?:set|args)) ")
_ABBREVIATIONS = frozenset(("Ser", "Trf"))  # written as in the literature
_WIDEST_NAME = 26  # the maximum width of names; values follow longer names directly


def document_text(document: Document) -> str:
    """Renders the lead and all blocks that have a text form, with blank lines between them."""
    parts = [[one_line(document.title)] if document.titled else []]
    parts += [[part for line in document.lead for part in _hanging_lines(line)]]
    parts += [block_lines(block) for section in document.sections for block in section.at("text")]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def document_csv(document: Document) -> str:
    """Renders the first table whose columns have keys, with unformatted numbers."""
    tables = (
        block for section in document.sections for block in section.at("csv")
        if isinstance(block, Table) and any(column.key for column in block.columns)
    )  # fmt: skip
    table = next(tables)
    chosen = [at for at, column in enumerate(table.columns) if column.key]
    rows = [
        [cell[1] if isinstance(cell := row[at], tuple) else cell for at in chosen]
        for row in table.rows
    ]
    return csv_text([table.columns[at].key for at in chosen], rows)


def document_markdown(document: Document) -> str:
    """Renders the document in Markdown. Paragraphs are Markdown already."""
    parts = [f"# {document.title}", *map(markdown_text, document.lead)]
    for section in document.sections:
        shown = [
            part for block in section.at("markdown") if (part := "\n".join(_markdown_lines(block)))
        ]
        parts += [f"## {section.title}", *shown] if shown else []
    return "\n\n".join(parts) + "\n"


def _markdown_lines(block: Block) -> list[str]:
    if isinstance(block, Text):
        return [block.content]
    if isinstance(block, Items):
        return [f"- {markdown_text(entry)}" for entry in block.entries]
    if not isinstance(block, Table):
        return []
    chosen = block.chosen("markdown")
    columns = [block.columns[at] for at in chosen]
    rows = [[column.title for column in columns], ["---"] * len(columns)]
    rows += [
        [
            markdown_text(column.shown(row[at])) if column.show is None else column.shown(row[at])
            for at, column in zip(chosen, columns, strict=True)
        ]
        for row in block.rows
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    for at, row in enumerate(rows[2:] if block.listed else ()):
        parts = block.details(at) if block.details is not None else ()
        details = [line for part in parts for line in _markdown_lines(part)]
        if details:
            lines += ["", f"<details><summary>{row[0]}</summary>", "", *details, "", "</details>"]
    return lines


def block_lines(block: Block) -> list[str]:
    """Renders a block as lines. Its heading is in lower case, except for abbreviations."""
    if isinstance(block, Text):
        return page_lines(one_line(block.content), then="  ") if block.only != "page" else []
    if isinstance(block, Items):
        first = "  " if block.title else ""
        lines = [f"{block.title}:"] if block.title and block.entries else []
        return lines + [line for entry in block.entries for line in _hanging_lines(entry, first)]
    if isinstance(block, Facts):
        return _fact_lines(block)
    if isinstance(block, Preformatted):
        return [one_line(line) for line in block.content.rstrip("\n").split("\n")]
    if isinstance(block, dict):
        return _heat_lines(block) if block["kind"] == "heat" else []
    if not isinstance(block, Table) or not block.rows:
        return []
    return _list_lines(block) if block.listed else _table_lines(block)


def _hanging_lines(text: str, first: str = "") -> list[str]:
    """Wraps the text with the indentation of `first`. An option stays next to its value."""
    line = one_line(text)
    indent = first + " " * (len(line) - len(line.lstrip()))
    held = _SETTING.sub("\\1\xa0", line.lstrip())
    lines = page_lines(held, first=indent, then=indent + "  ")
    return [part.replace("\xa0", " ") for part in lines]


def _list_lines(table: Table) -> list[str]:
    lines = []
    for at, row in enumerate(table.rows):
        shown = [
            column.shown(cell)
            for column, cell in zip(table.columns, row, strict=True) if column.only == "text"
        ]  # fmt: skip
        for block in table.details(at) if table.details is not None else ():
            shown += block.entries if isinstance(block, Items) else ()
        lines += ["", *page_lines(one_line(table.columns[0].shown(row[0])), then="  ")]
        lines += [
            part
            for entry in shown
            for part in page_lines(one_line(entry), first="    ", then="      ")
        ]
    return lines[1:]


def _fact_lines(block: Facts) -> list[str]:
    wide = max((len(one_line(name)) for name, _ in block.pairs), default=0) + 2
    wide = wide if wide <= _WIDEST_NAME else 0
    return [
        line
        for name, value in block.pairs
        for line in page_lines(
            one_line(value), first=f"{one_line(name)}  ".ljust(wide), then=" " * (wide or 2)
        )
    ]


def _table_lines(table: Table) -> list[str]:
    chosen = table.chosen("text")
    columns = [table.columns[at] for at in chosen]
    rows = [tuple(_column_title(column.short or column.title) for column in columns)]
    rows += [
        tuple(one_line(column.shown(row[at])) for at, column in zip(chosen, columns, strict=True))
        for row in table.rows[: table.top]
    ]
    right = {at for at, column in enumerate(columns) if column.show is not None}
    lines = page_lines(one_line(table.title), then="  ") if table.title else []
    fitting = _fit_rows(columns, rows)
    if table.repeat:
        lines += aligned_blocks(fitting, right)
    else:
        below = [[], *map(table.below, range(len(rows) - 1))] if table.below is not None else ()
        lines += aligned_lines(fitting, right, list(map(_indent_lines, below)))
    left = len(table.rows) - (len(rows) - 1)
    if left:
        lines.append(f"... and {left} more; --top {len(table.rows)} shows all")
    return lines + [part for line in table.legend for part in _hanging_lines(line)]


def _heat_lines(block: Drawing) -> list[str]:
    """Renders a heat map as a table. Other pictures have no text form."""
    rows = block["rows"]
    wide = max(map(len, rows), default=0)
    names = block["names"] or [str(number) for number in range(max(wide, len(rows)))]
    cells = [[name, *(None if value == "" else value for value in row)]
             for name, row in zip(names, rows, strict=False)]  # fmt: skip
    formats: dict[str, Callable[[Any], str]] = {"s": show_seconds, "B": show_bytes}
    show = formats.get(block["unit"], "{:.4g}".format)
    columns = [Column("", str), *(Column(name, show) for name in names[:wide])]
    return _table_lines(Table(block["title"], columns, cells))


def _indent_lines(sentences: Sequence[str]) -> list[str]:
    return [
        part for sentence in sentences
        for part in page_lines(one_line(sentence), first=" " * 7, then=" " * 9)
    ]  # fmt: skip


def _column_title(title: str) -> str:
    """Returns the title of a column in text, with a small initial unless it is an abbreviation.

    >>> _column_title("Call path"), _column_title("SMAPE"), _column_title("E_ac")
    ('call path', 'SMAPE', 'E_ac')
    """
    short = title in _ABBREVIATIONS or not title[1:2].islower()
    return title if short else title[0].lower() + title[1:]


def _least_width(column: Column) -> int:
    return _LEAST_CUT if column.cut is True else int(column.cut)


def _shorten_text(text: str, room: int) -> str:
    """Cuts a text in the middle. A line number in front of a name is kept.

    >>> _shorten_text("lulesh.cc:1049 CalcHourglassControlForElems", 32)
    'lulesh.cc:1049 CalcHour…ForElems'
    """
    place, _, name = text.rpartition(" ")
    if not _LINE.search(place):
        return cut(text, room, room // 3)
    left = min(len(name), max(room - len(place) - 1, _LEAST_NAME))
    kept = room - left - 1
    return f"{cut(place, kept, kept // 3)} {cut(name, left, left // 2)}"


def _fit_rows(columns: list[Column], rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Shortens the texts of `cut` columns where a line is wider than the page.

    Last columns that do not fit at the least width of the others continue on the next line. They
    need no room.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    least = [
        min(width, _least_width(column)) if column.cut else width
        for width, column in zip(widths, columns, strict=True)
    ]
    count = len(widths)
    while count > 1 and sum(least[:count]) + 2 * (count - 1) > PAGE_WIDTH:
        count -= 1
    free = PAGE_WIDTH - sum(widths[:count]) - 2 * (count - 1)
    for at, column in enumerate(columns):
        if column.cut and free < 0:
            room = max(widths[at] + free, min(widths[at], _least_width(column)))
            rows = [(*row[:at], _shorten_text(row[at], room), *row[at + 1 :]) for row in rows]
            free += widths[at] - room
    return rows
