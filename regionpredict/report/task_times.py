"""Documents simulated or replayed times of a task graph over threads, also as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regionpredict.report.document import Block, Cell, Column, Document, Section, Table, Text
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import show_factor, show_seconds, show_share
from regionpredict.tasks.metrics import GraphMetrics, measure_graph
from regionpredict.tasks.replay import Replayed
from regionpredict.tasks.scheduler import Simulated
from regionpredict.tasks.task_graph import TaskGraph
from regionpredict.tasks.what_if import FASTER, PARTS, Change

SCHEMA = "regionpredict/task-times/1"


@dataclass(frozen=True, slots=True)
class ChangeTimes:
    """A change of the graph: its description `text` and its times `rows`."""

    change: Change
    text: str
    metrics: GraphMetrics
    rows: Sequence[Simulated | Replayed]


def timed_changes(
    graph: TaskGraph, wanted: Sequence[Change],
    times: Callable[[TaskGraph, GraphMetrics], Sequence[Simulated | Replayed]],
) -> list[ChangeTimes]:  # fmt: skip
    """Returns the times of each change of the graph."""
    changed = []
    for change in wanted:
        metrics = measure_graph(change.graph, concurrency=False)
        rows = times(change.graph, metrics)
        changed.append(ChangeTimes(change, _change_text(graph, change), metrics, rows))
    return changed


def _change_text(graph: TaskGraph, change: Change) -> str:
    if change.node is not None:
        return f"{graph.node_text(change.node)} in {PARTS} parts"
    if change.place is not None:
        return f"{Path(change.place).name} in {show_share(FASTER)} of its time"
    return f"tasks down to level {change.depth} alone"


def change_gain(before: Simulated | Replayed, after: Simulated | Replayed) -> float | None:
    """Returns the speedup of the changed graph. None if other processes disturbed a replay."""
    if not (getattr(before, "undisturbed", True) and getattr(after, "undisturbed", True)):
        return None
    return before.seconds / after.seconds if after.seconds > 0 else None


def times_document(
    name: str, how: str, metrics: GraphMetrics, rows: Sequence[Simulated | Replayed],
    changed: Sequence[ChangeTimes] | None = None, policy: str | None = None, cost: str = "",
) -> Document:  # fmt: skip
    """Returns time, speedup and efficiency, next to the bound min(p, pi), and the changes in
    `changed`.

    `name` is the file's name. `how` says how the times were obtained: by a `policy` with the `cost`
    of a task.
    """
    kind, how = how, " ".join([how, *filter(None, (policy,))]) + cost
    parallelism = metrics.average_parallelism
    cells: list[list[Cell]] = [
        [
            row["threads"], row["seconds"], row["speedup"],
            row["threads"] if parallelism is None else min(row["threads"], parallelism),
            row["efficiency"], *map(row.get, ("overhead_s", "runs", "interval")),
        ]
        for row in _time_records(metrics, rows)
    ]  # fmt: skip
    columns = [
        Column("Threads", str), Column("Time", show_seconds), Column("Speedup", show_factor),
        Column("At most", show_factor, minor=True), Column("Efficiency", show_share, bar=1.0),
        Column("Overhead per task", show_seconds, minor=True, optional=True),
        Column("Runs", str, minor=True, optional=True),
        Column("95 % interval, half", show_share, minor=True, optional=True),
    ]  # fmt: skip
    lead = [f"{how}: work {show_seconds(metrics.work_s)}, depth {show_seconds(metrics.depth_s)}"]
    sections = [
        Section("Speedup", lambda: [_speedup_curve(how, cells)], "page"),
        Section("Times", [Table("Times over threads", columns, cells)]),
        Section("What if", [] if changed is None else [_change_table(rows, changed)]),
    ]
    return Document(f"Tasks of {name}, {how}", lead, sections,
                    lambda: _json_record(kind, metrics, rows, policy, changed))  # fmt: skip


def _speedup_curve(how: str, rows: Sequence[Sequence[Any]]) -> Block:
    """Draws the rows of the table, with the interval of the runs as a band."""
    known = [row for row in rows if row[2] is not None]
    wide = [(row[0], row[2], row[7]) for row in known if row[7] is not None]
    band = [(n, speedup / (1 + half), speedup / max(1 - half, 0.01)) for n, speedup, half in wide]
    return curve("Speedup without contention", "threads", "times faster", [
        line(how, [(row[0], row[2]) for row in known], band),
        line("no scheduler exceeds", [(row[0], row[3]) for row in rows]),
    ], band="95 % interval of the runs")  # fmt: skip


def _change_table(rows: Sequence[Simulated | Replayed], changed: Sequence[ChangeTimes]) -> Block:
    if not changed:
        return Text("What if: the graph has no tasks and no source lines to change.")
    cells: list[list[Cell]] = [
        [one.text, one.metrics.depth_s, *map(change_gain, rows, one.rows)] for one in changed
    ]
    columns = [
        Column("What if"), Column("Depth", show_seconds, minor=True),
        *(Column(f"p = {row.threads}", show_factor) for row in rows),
    ]  # fmt: skip
    legend = ["p: speedup on p threads over the graph as it is. Level 1: no task created them."]
    if any(change_gain(before, after) is None for one in changed
           for before, after in zip(rows, one.rows, strict=True)):  # fmt: skip
        legend.append("-: unknown, since other processes disturbed the replay.")
    return Table("Changes of the graph", columns, cells, legend=legend)


def _json_record(
    how: str, metrics: GraphMetrics, rows: Sequence[Simulated | Replayed], policy: str | None,
    changed: Sequence[ChangeTimes] | None,
) -> dict[str, Any]:  # fmt: skip
    document: dict[str, Any] = {
        "schema": SCHEMA, "how": how, "policy": policy, **fields_of(metrics, "work_s depth_s"),
        "times": _time_records(metrics, rows),
    }  # fmt: skip
    if changed is not None:
        document["what_if"] = [
            {
                **fields_of(one.change, "place depth", change="kind"), "text": one.text,
                **fields_of(one.metrics, "work_s depth_s"),
                "times": [
                    {**fields_of(after, "threads seconds"), "gain": change_gain(before, after)}
                    for before, after in zip(rows, one.rows, strict=True)
                ],
            }
            for one in changed
        ]  # fmt: skip
    return document


def _time_records(
    metrics: GraphMetrics, rows: Sequence[Simulated | Replayed]
) -> list[dict[str, Any]]:
    """Returns the times with speedup and efficiency. An infinite interval is None."""
    records = []
    for row in rows:
        unknown = {} if math.isfinite(getattr(row, "interval", 0.0)) else {"interval": None}
        speedup = metrics.work_s / row.seconds if row.seconds > 0 else None
        efficiency = speedup and speedup / row.threads
        records.append({**plain(row), **unknown, "speedup": speedup, "efficiency": efficiency})
    return records
