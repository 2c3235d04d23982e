"""Rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from regionpredict.errors import one_line

_FORMULA = ("=", "+", "-", "@")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows under a header row. None is an empty cell.

    Spreadsheets execute text that begins with `=`, `+`, `-` or `@` as a formula, so such text is
    prefixed with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in (header, *rows))
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return value if isinstance(value, (int, float)) else one_line(_guard_formula(str(value)))


def _guard_formula(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
