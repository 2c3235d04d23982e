"""Reads comma- or tab-separated tables with one repetition per row.

The columns `callpath` (or `region`, `function`) and `metric` contain text. Measured values are in
`value` (or `time`, `seconds`, `efficiency` and similar names), or in the named columns. Every other
column of numbers is a parameter. Every other column of text that varies identifies series and
becomes a part of their names. Columns named `repetition`, `run` or `unit` are ignored. The column
`disturbed_by` has the reason why all values are unreliable.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from regionpredict.documents import input_errors_while_reading, read_text
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, SeriesBuilder

_CALLPATH = ("callpath", "region", "region_id", "function", "kernel", "name")
_VALUES = (
    "value", "time", "time_s", "seconds", "runtime", "runtime_s", "wall_s", "efficiency",
)  # fmt: skip
_SHOWN = 60  # characters of an invalid header that a message shows
DISTURBED_BY = "disturbed_by"  # the column with the reason why all values are unreliable
_IGNORED = ("repetition", "rep", "run", "unit", DISTURBED_BY)


def read_csv(
    path: Path,
    *,
    parameters: Sequence[str] | None = None,
    values: Sequence[str] | None = None,
) -> Experiment:
    """Reads a table. `parameters` and `values` select columns explicitly.

    An invalid row becomes a problem, and other rows are read. Raises `InputError` for an empty
    table, and if there is no column of values or parameters.
    """
    name = str(path)
    remedy = "give measurements, not a program"
    text = read_text(path, remedy)
    first = text.split("\n", 1)[0]
    delimiter = "\t" if "\t" in first else ";" if ";" in first else ","
    with input_errors_while_reading(path, "a table", remedy):
        rows = [
            (number, row)
            for number, row in enumerate(
                csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1
            )
            if row and not row[0].startswith("#")
        ]
    if len(rows) < 2:
        raise InputError("the table has no rows", remedy="add measurements", path=name)
    header = [cell.strip() for cell in rows[0][1]]
    body = rows[1:]
    where = {column: index for index, column in enumerate(header)}
    wanted = list(values) if values else [c for c in header if c.lower() in _VALUES]
    callpath = next((c for c in header if c.lower() in _CALLPATH and c not in wanted), None)
    metric = next((c for c in header if c.lower() == "metric"), None)
    free = [
        c for c in header
        if c not in (*wanted, callpath, metric) and c.lower() not in _IGNORED
    ]  # fmt: skip
    numeric = {c for c in free if _is_numeric(body, where[c])}
    chosen = list(parameters) if parameters else [c for c in free if c in numeric]
    missing = [c for c in (*wanted, *chosen) if c not in where]
    if missing:
        raise InputError(
            f"there is no column '{missing[0]}'",
            remedy=f"the columns are {', '.join(header)}",
            path=name,
            line=rows[0][0],
        )
    if not wanted or not chosen:
        what = "values (value, time_s, ...)" if not wanted else "a parameter"
        option = "--value" if not wanted else "--parameter"
        raise InputError(
            f"there is no column of {what}",
            remedy=f"name one with {option}, of {', '.join(header)[:_SHOWN]}",
            path=name,
            line=rows[0][0],
        )
    builder = SeriesBuilder(chosen)
    texts = [c for c in free if c not in numeric and c not in chosen]
    labels = _identifying_columns(body, [where[c] for c in chosen], [where[c] for c in texts])
    problems = []
    for number, row in body:
        try:
            point = tuple(float(row[where[c]]) for c in chosen)
            measured = [(c, _parse_number(row[where[c]])) for c in wanted]
            name_of_metric = _without_apostrophe(row[where[metric]]) if metric is not None else None
            first_part = _without_apostrophe(row[where[callpath]]) if callpath is not None else ""
            named = [f"{header[index]}={row[index]}" for index in labels]
        except (ValueError, IndexError) as error:
            problems.append(
                InputError(
                    f"the row cannot be used: {error}",
                    remedy="fill in numbers",
                    path=name,
                    line=number,
                )
            )
            continue
        for column, value in measured:
            what = column if name_of_metric is None else name_of_metric
            builder.add(" ".join(filter(None, (first_part, *named))), what, point, (value,), number)
    doubt = where.get(DISTURBED_BY)
    reasons = (row[doubt] for _, row in body if doubt is not None and doubt < len(row))
    return Experiment(builder.series(), tuple(problems), next(filter(None, reasons), ""))


def _parse_number(cell: str) -> float:
    return float(cell) if cell.strip() else math.nan


def _identifying_columns(
    rows: list[tuple[int, list[str]]], parameters: list[int], texts: list[int]
) -> list[int]:
    """Returns the text columns that identify series. They vary and do not merely name the point,
    like a command with its arguments.
    """
    identifying = []
    for column in texts:
        points: dict[str, set[tuple[str, ...]]] = {}
        for _, row in rows:
            if column < len(row) and all(index < len(row) for index in parameters):
                points.setdefault(row[column], set()).add(tuple(row[i] for i in parameters))
        if len(points) > 1 and any(len(seen) > 1 for seen in points.values()):
            identifying.append(column)
    return identifying


def _is_numeric(rows: list[tuple[int, list[str]]], column: int) -> bool:
    for _, row in rows:
        try:
            float(row[column])
        except (ValueError, IndexError):
            continue
        return True
    return False


def _without_apostrophe(text: str) -> str:
    """Returns a name without the apostrophe that prevents its evaluation by spreadsheets.

    >>> _without_apostrophe("'=main"), _without_apostrophe("'main'")
    ('=main', "'main'")
    """
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@") else text
