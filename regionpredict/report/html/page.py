"""Renders a document as one HTML file: template, style, scripts and data."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regionpredict import __version__
from regionpredict.report import document as doc

_HOLE = re.compile(r"@([A-Z]+)@")


def document_page(document: doc.Document) -> str:
    """Renders a document as one self-contained HTML page."""
    document = doc.below_folder(document, document.files)
    shown = [
        {"title": section.title, "blocks": blocks}
        for section in document.sections
        if (blocks := _drawn_all(section.at("page")))
    ]
    fillings = {
        "TITLE": html.escape(document.title),
        "STYLE": _read_asset("page.css"),
        "SCRIPT": _read_asset("draw.js") + _read_asset("graph.js") + _read_asset("page.js"),
        "DATA": script_json({"lead": list(document.lead), "sections": shown}),
        "FOOTER": html.escape(f"regionpredict {__version__}; this file loads nothing."),
    }
    return _HOLE.sub(lambda hole: fillings[hole[1]], _read_asset("page.html"))


def _drawn_all(blocks: Sequence[doc.Block]) -> list[doc.Drawing]:
    return [drawn for block in blocks for drawn in _block_json(block)]


def _block_json(block: doc.Block) -> list[doc.Drawing]:
    if isinstance(block, dict):
        return [block]
    if isinstance(block, doc.Text):
        return [] if block.only == "text" else [{"kind": "text", "text": block.content}]
    if isinstance(block, doc.Items):
        shown = {"kind": "list", "title": block.title or None, "items": list(block.entries)}
        return [shown] if block.entries else []
    if isinstance(block, doc.Facts):
        pairs = [list(pair) for pair in block.pairs]
        return [{"kind": "facts", "items": pairs}] if pairs else []
    if isinstance(block, doc.Preformatted):
        return [{"kind": "pre", "title": block.title, "text": block.content}]
    if isinstance(block, doc.Folded):
        return [{"kind": "more", "title": block.title, "blocks": _drawn_all(block.blocks)}]
    if not block.rows:
        return []
    return [_table_json(block)]


def _table_json(table: doc.Table) -> doc.Drawing:
    """Converts a table to JSON. A cell is its text, or its text and the value for sorting."""
    chosen = table.chosen("page")
    columns = [table.columns[at] for at in chosen]
    details = table.details
    return {
        "kind": "table", "title": table.title, "name": table.name, "sort": table.sort,
        "legend": [[line, _only_minor(line, columns)] for line in table.legend],
        "columns": [
            {"title": column.title, **{
                key: value
                for key, value in (
                    ("number", column.show is not None), ("minor", column.minor),
                    ("choice", column.choice), ("bar", column.bar),
                )
                if value is not False
            }}
            for column in columns
        ],
        "rows": [
            [_cell_json(column, row[at], number)
             for at, column in zip(chosen, columns, strict=True)]
            for number, row in enumerate(table.rows)
        ],
        "details": None if details is None else [
            _drawn_all(details(number)) for number in range(len(table.rows))
        ],
    }  # fmt: skip


def _only_minor(line: str, columns: Sequence[doc.Column]) -> bool:
    """Whether a line of the legend is only about columns that narrow screens hide."""
    named = [column.minor for column in columns if column.title in line]
    return bool(named) and all(named)


def _cell_json(column: doc.Column, cell: doc.Cell, row: int) -> Any:
    if column.show is None:
        return cell
    value = cell[1] if isinstance(cell, tuple) else cell
    points = [] if column.spark is None else [list(point) for point in column.spark(row)]
    shown = column.shown(cell)
    return shown if shown == value else [shown, value, *([points] if points else [])]


def script_json(value: Any) -> str:
    """Encodes JSON that can be embedded in HTML, without NaN and infinities.

    >>> script_json(["</script>", float("inf")])
    '["\\\\u003c/script\\\\u003e",null]'
    """
    text = json.dumps(
        _finite_value(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    if text.isprintable():
        return text
    # Unpaired surrogates cannot be encoded, and terminals interpret control characters.
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _finite_value(value: Any) -> Any:
    """Rounds a value to five digits for drawing. None if the number is not finite."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite_value(part) for key, part in value.items() if part is not None}
    if isinstance(value, (list, tuple)):
        return [_finite_value(part) for part in value]
    return value


def _read_asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")
