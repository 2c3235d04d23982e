"""Measured parallel regions of a run next to their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from regionpredict.measure.hints_file import Hint, Hints, Place, TeamHint, hints_at
from regionpredict.report.document import Block, Cell, Column, Table, Text
from regionpredict.report.json_text import plain
from regionpredict.report.quantities import show_points
from regionpredict.trace.factors import RunFactors
from regionpredict.trace.region_split import RegionSplit


def predicted_efficiency(hints: Hints, split: RegionSplit) -> float | None:
    """The predicted speedup divided by the threads of a parallel region. None if the hints do not
    include it.

    Several loops are weighted by their times on one thread.
    """
    loops = _loops_of(hints, split)
    if not loops or any(split.threads not in loop.speedup for loop in loops):
        return None
    if len(loops) == 1:
        return loops[0].speedup[split.threads] / split.threads
    return _together(loops, split.threads)


def predicted_balance(hints: Hints, split: RegionSplit) -> float | None:
    """The predicted mean busy time of its threads divided by the largest. None if the hints do not
    include it.
    """
    loops = _loops_of(hints, split)
    if not loops or any(split.threads not in loop.busy for loop in loops):
        return None
    mean, most = (sum(loop.busy[split.threads][part] for loop in loops) for part in (0, 1))
    return mean / most if most > 0 else None


def _loops_of(hints: Hints, split: RegionSplit) -> list[Hint]:
    """The loops of the parallel region."""
    if split.line is None or not split.file:
        return []
    place = Place(split.file, split.line, None)
    teams: list[TeamHint] = hints_at(hints.teams, place)
    if teams:
        wanted = set(teams[0].regions)
        return [region for region in hints.regions if region.id in wanted]
    return hints_at(hints.regions, place)


def _together(loops: Sequence[Hint], threads: int) -> float | None:
    alone = [loop.seconds for loop in loops]
    if any(not seconds for seconds in alone):
        return None
    known = [float(seconds or 0.0) for seconds in alone]
    shared = sum(s / loop.speedup[threads] for s, loop in zip(known, loops, strict=True))
    return sum(known) / shared / threads


def region_records(run: RunFactors, hints: Hints | None) -> list[dict[str, Any]]:
    """The records for JSON. `predicted` is null without a prediction."""
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
    """A table per run with parallel regions, the longest first: the measured factors, and what the
    hints expect."""
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
    """A column of shares as percentages of two decimals, without the sign."""
    return Column(title, show_points, minor=minor, bar=bar)
