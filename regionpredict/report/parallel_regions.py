"""Shows measured parallel regions of a run next to their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from regionpredict.measure.hints_file import Hints
from regionpredict.report.document import Block, Cell, Column, Table, Text
from regionpredict.report.json_text import plain
from regionpredict.report.quantities import show_points
from regionpredict.trace.factors import RunFactors
from regionpredict.trace.predicted_regions import predicted_balance, predicted_efficiency


def region_records(run: RunFactors, hints: Hints | None) -> list[dict[str, Any]]:
    """Returns the records for JSON. `predicted` is null without a prediction."""
    return [
        {
            **plain(split),
            "efficiency": split.efficiency,
            "predicted_load_balance": None if hints is None else predicted_balance(hints, split),
            "predicted_efficiency": None if hints is None else predicted_efficiency(hints, split),
        }
        for split in run.parallel_regions
    ]


def region_tables(runs: Sequence[RunFactors], hints: Hints | None) -> list[Block]:
    """Returns a table per run with parallel regions, the longest first: the measured factors, and
    the predicted ones.
    """
    columns = [
        Column("Region", cut=True), Column("Threads", str),
        Column("Seconds", "{:.4g}".format, bar=True),
        percent_column("Scheduling", minor=True), percent_column("LB", minor=True),
        percent_column("predicted LB", minor=True), percent_column("Measured"),
        percent_column("Predicted"),
    ]  # fmt: skip
    beside = "" if hints is None else f", and {hints.path} for {hints.machine}"
    tables: list[Block] = []
    for run in runs:
        rows: list[list[Cell]] = [
            [
                f"{PurePath(row['file']).name}:{row['line']}" if row["line"] else row["name"],
                row["threads"], row["seconds"], row["scheduling"], row["load_balance"],
                row["predicted_load_balance"], row["efficiency"], row["predicted_efficiency"],
            ]
            for row in region_records(run, hints)
        ]  # fmt: skip
        title = f"Parallel regions of {run.name}{beside}, in percent"
        tables += [Table(title, columns, rows)] if rows else []
    if tables:
        tables.append(Text(
            "Measured: the used share of the threads' time. Predicted: speedup over threads, "
            "which also counts that threads slow each other down."
        ))  # fmt: skip
    return tables


def percent_column(title: str, *, minor: bool = False, bar: bool | float = False) -> Column:
    """Returns a column of shares as percentages of two decimals, without the sign."""
    return Column(title, show_points, minor=minor, bar=bar)
