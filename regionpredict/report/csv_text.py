"""Rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from regionpredict.errors import one_line

_FORMULA = ("=", "+", "-", "@")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows under a header row; a cell is empty where a value is None.

    A spreadsheet takes a text that begins with one of `= + - @` for a formula and runs it; such
    a text gets an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return value if isinstance(value, (int, float)) else one_line(_guarded(str(value)))


def _guarded(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
