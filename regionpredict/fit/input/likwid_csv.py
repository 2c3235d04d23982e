"""Reads likwid-perfctr's CSV (`-O`, or `-o FILE.csv`): a file with one or more runs, or a folder.

A run is a list of tables. `TABLE,Group 1 Raw,...` has event counts by hardware thread, and `Group 1
Metric` the derived metrics. `Region NAME,Group 1 ...` are the tables of a marked region. The
parameter `p` is the number of hardware threads. Runs may be concatenated with `cat`. In a folder,
file names may contain more parameters: `triad.n1000.csv`.

Over all hardware threads, events, rates and amounts (`/s`, `GBytes`, `J`, `W`) are added, since a
socket's counters are shown for one thread. Times are the maximum, and other metrics (clock, CPI,
ratios) the mean.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.variables import Measurement, experiment_of

_REMEDY = "write it with likwid-perfctr -O"
_NAME = re.compile(r"\.([A-Za-z_]+)([0-9]+)(?=\.)")


def read_likwid(path: Path, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads the tables of all runs. Metrics without a numeric value are omitted.

    Raises `InputError` if there is no table of hardware threads, and the same errors as
    `experiment_of`.
    """
    files = sorted(path.rglob("*.csv")) if path.is_dir() else [path]
    rows = [
        row
        for file in files
        for row in _read_tables(file, _name_parameters(file) if path.is_dir() else {})
    ]
    if not rows:
        raise InputError("no table of hardware threads in it", remedy=_REMEDY, path=str(path))
    return experiment_of(rows, str(path), parameters=parameters)


def is_likwid(first: str) -> bool:
    """Returns whether the first line of a file is from likwid.

    >>> is_likwid("STRUCT,Info,3,,"), is_likwid("region,p,time")
    (True, False)
    """
    return first.startswith(("STRUCT,Info", "TABLE,Group", "TABLE,Region"))


def _name_parameters(file: Path) -> dict[str, float]:
    """Returns the parameters in a file's name, without the repetition (such as `.r1`)."""
    return {name: float(value) for name, value in _NAME.findall(file.name) if name != "r"}


def _read_tables(file: Path, parameters: Mapping[str, float]) -> Iterator[Measurement]:
    region, kind = "", ""
    threads: list[int] = []
    text = read_text(file, _REMEDY)
    for number, row in enumerate(csv.reader(io.StringIO(text, newline="")), start=1):
        if not row:
            continue
        if row[0] in ("STRUCT", "TABLE"):
            region = row[1].removeprefix("Region ") if row[1].startswith("Region ") else ""
            title = row[2] if region else row[1]
            kind = title.split()[-1] if row[0] == "TABLE" else ""
            threads = []
        elif row[0] in ("Event", "Metric", "Region Info"):
            threads = [
                index for index, cell in enumerate(row)
                if cell.startswith(("HWThread ", "Core ")) and kind in ("Raw", "Metric")
            ]  # fmt: skip
        elif threads:
            if len(row) <= threads[-1]:
                raise InputError(
                    f"{len(row)} cells, the table has {threads[-1] + 1}", remedy=_REMEDY,
                    path=str(file), line=number,
                )  # fmt: skip
            readings = [_parse_number(row[index]) for index in threads]
            known = [value for value in readings if value is not None]
            if known:
                variables = {"p": float(len(threads)), **parameters}
                value = _combined_over_threads(row[0], kind, known)
                yield Measurement(region, row[0], variables, (value,), number)


def _parse_number(cell: str) -> float | None:
    """Returns the number in a cell, or None for a missing value, which likwid writes as `nan` or
    `-`.
    """
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _combined_over_threads(name: str, kind: str, readings: Sequence[float]) -> float:
    if "[s]" in name:
        return max(readings)
    if kind == "Raw" or re.search(r"/s\]|Bytes\]|\[J\]|\[W\]", name):
        return sum(readings)
    return sum(readings) / len(readings)
