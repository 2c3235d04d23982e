"""The page of `tasks replay` and `tasks simulate`: a task graph's times over threads."""

from __future__ import annotations

import math
from collections.abc import Sequence

from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    as_text,
    curve,
    facts,
    line,
    table,
)
from regionpredict.report.html.page import page
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.report.task_times import Changed, change_gain, times_table
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.replay import Replayed
from regionpredict.tasks.scheduler import Simulated


def task_times_page(
    name: str, how: str, metrics: GraphMetrics, rows: Sequence[Simulated | Replayed],
    changed: Sequence[Changed] | None = None,
) -> str:  # fmt: skip
    """The page; `name` is the file's, `how` says what made the times."""
    parallelism = metrics.average_parallelism
    overview = [
        ("Work, T1", show_seconds(metrics.work_s)),
        ("Depth, T_inf", show_seconds(metrics.depth_s)),
        ("Average parallelism", "?" if parallelism is None else f"{parallelism:.2f}"),
    ]
    cells: list[list[Cell]] = []
    speedups, bounds, band = [], [], []
    for row in rows:
        speedup = metrics.work_s / row.seconds if row.seconds > 0 else None
        bound = row.threads if parallelism is None else min(row.threads, parallelism)
        bounds.append((row.threads, bound))
        replayed = row if isinstance(row, Replayed) else None
        if speedup is not None:
            speedups.append((row.threads, speedup))
            if replayed is not None and math.isfinite(replayed.interval):
                wide = replayed.interval
                low, high = speedup / (1 + wide), speedup / max(1 - wide, 0.01)
                band.append((row.threads, low, high))
        efficiency = None if speedup is None else speedup / row.threads
        shown: list[Cell] = [
            row.threads, (show_seconds(row.seconds), row.seconds),
            ("?" if speedup is None else f"{speedup:.2f}x", speedup), (f"{bound:.2f}x", bound),
            ("?" if efficiency is None else f"{100 * efficiency:.0f} %", efficiency),
        ]  # fmt: skip
        if replayed is not None:
            known = math.isfinite(replayed.interval)
            interval = f"{100 * replayed.interval:.1f} %" if known else "?"
            shown += [(show_seconds(replayed.overhead_s), replayed.overhead_s), replayed.runs,
                      (interval, replayed.interval if known else None)]  # fmt: skip
        cells.append(shown)
    columns = [
        Column("Threads", number=True), Column("Time", number=True), Column("Speedup", number=True),
        Column("At most", number=True, minor=True), Column("Efficiency", number=True, bar=1.0),
    ]  # fmt: skip
    if any(isinstance(row, Replayed) for row in rows):
        columns += [Column("Overhead a task", number=True, minor=True),
                    Column("Runs", number=True, minor=True),
                    Column("95 % interval, half", number=True, minor=True)]  # fmt: skip
    drawn: list[Block] = [curve("Speedup without contention", "threads", "times faster", [
        line(how, speedups, band), line("no scheduler exceeds", bounds),
    ], band="95 % interval of the runs")]  # fmt: skip
    sections = [
        Section("Overview", [facts(overview), *drawn]),
        Section("Times", [table("Times over threads", columns, cells)]),
        Section("What if", [] if changed is None else _changes(rows, changed)),
        as_text(times_table(how, metrics, rows, changed)),
    ]
    return page(f"Tasks of {name}, {how}", [], sections)


def _changes(rows: Sequence[Simulated | Replayed], changed: Sequence[Changed]) -> list[Block]:
    """The speedup of each change over the graph as it is, by threads."""
    cells: list[list[Cell]] = [
        [
            one.text, (show_seconds(one.metrics.depth_s), one.metrics.depth_s),
            *((f"{gain:.2f}x" if (gain := change_gain(before, after)) is not None else "?", gain)
              for before, after in zip(rows, one.rows, strict=True)),
        ]
        for one in changed
    ]  # fmt: skip
    columns = [
        Column("Change"), Column("Depth", number=True, minor=True),
        *(Column(plural(row.threads, "thread"), number=True) for row in rows),
    ]  # fmt: skip
    return [table("Speedup over the graph as it is", columns, cells)]
