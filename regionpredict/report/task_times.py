"""A task graph's times over threads, simulated or replayed, as a table and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.quantities import show_seconds
from regionpredict.report.task_graphs import node_text
from regionpredict.tasks.metrics import GraphMetrics, measure_graph
from regionpredict.tasks.replay import Replayed
from regionpredict.tasks.scheduler import Simulated
from regionpredict.tasks.task_graph import TaskGraph
from regionpredict.tasks.what_if import FASTER, PARTS, Change

SCHEMA = "regionpredict/task-times/1"
_MOST_COUNTS = 5
"""Thread counts in the table of changes, so that it fits a page."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change makes of the graph: `text` says which, `rows` are its times."""

    change: Change
    text: str
    metrics: GraphMetrics
    rows: Sequence[Simulated | Replayed]


def timed_changes(
    graph: TaskGraph, wanted: Sequence[Change],
    times: Callable[[TaskGraph, GraphMetrics], Sequence[Simulated | Replayed]],
) -> list[Changed]:  # fmt: skip
    """The times of each change of the graph."""
    changed = []
    for change in wanted:
        metrics = measure_graph(change.graph, concurrency=False)
        rows = times(change.graph, metrics)
        changed.append(Changed(change, change_text(graph, change), metrics, rows))
    return changed


def change_text(graph: TaskGraph, change: Change) -> str:
    """A change in words."""
    if change.node is not None:
        return f"{node_text(graph, change.node)} in {PARTS} parts"
    if change.place is not None:
        return f"{Path(change.place).name} in {FASTER:.0%} of its time"
    return f"tasks down to level {change.depth} alone"


def change_lines(rows: Sequence[Simulated | Replayed], changed: Sequence[Changed]) -> list[str]:
    """A table of the speedups over the graph as it is."""
    if not changed:
        return ["what if: the graph has no tasks and no source lines to change"]
    at = list(range(len(rows)))
    if len(at) > _MOST_COUNTS:
        step = (len(rows) - 1) / (_MOST_COUNTS - 1)
        at = sorted({round(k * step) for k in range(_MOST_COUNTS)})
    table = [("what if", "depth", *(f"p = {rows[k].threads}" for k in at))]
    table += [
        (
            one.text, show_seconds(one.metrics.depth_s),
            *("?" if (gain := change_gain(rows[k], one.rows[k])) is None else f"{gain:.2f}x"
              for k in at),
        )
        for one in changed
    ]  # fmt: skip
    return [
        *aligned_lines(table),
        "p: speedup on p threads over the graph as it is; level 1: no task created them",
    ]


def change_gain(before: Simulated | Replayed, after: Simulated | Replayed) -> float | None:
    """How many times as fast the changed graph is."""
    return before.seconds / after.seconds if after.seconds > 0 else None


def times_table(
    head: str, metrics: GraphMetrics, rows: Sequence[Simulated | Replayed],
    changed: Sequence[Changed] | None = None,
) -> str:  # fmt: skip
    """Time, speedup and efficiency against the work, beside the bound min(p, pi), and what was
    `changed`."""
    parallelism = metrics.average_parallelism
    table = [("threads", "time", "speedup", "at most", "efficiency", "overhead a task", "runs")]
    for row in rows:
        speedup = metrics.work_s / row.seconds if row.seconds > 0 else 0.0
        bound = row.threads if parallelism is None else min(row.threads, parallelism)
        replayed = isinstance(row, Replayed)
        table.append(
            (
                str(row.threads),
                show_seconds(row.seconds),
                f"{speedup:.2f}x",
                f"{bound:.2f}x",
                f"{speedup / row.threads:.0%}",
                show_seconds(row.overhead_s) if replayed else "-",
                str(row.runs) if isinstance(row, Replayed) else "-",
            )
        )
    lines = [
        f"{head}: work {show_seconds(metrics.work_s)}, depth {show_seconds(metrics.depth_s)}",
        "",
        *aligned_lines(table),
    ]
    if changed is not None:
        lines += ["", *change_lines(rows, changed)]
    return "\n".join(lines) + "\n"


def times_json(
    how: str,
    metrics: GraphMetrics,
    rows: Sequence[Simulated | Replayed],
    policy: str | None = None,
    changed: Sequence[Changed] | None = None,
) -> str:
    """The same as JSON, times in seconds."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "how": how,
        "policy": policy,
        "work_s": metrics.work_s,
        "depth_s": metrics.depth_s,
        "times": [
            {
                **asdict(row),
                **({"interval": None} if not math.isfinite(getattr(row, "interval", 0.0)) else {}),
                "speedup": metrics.work_s / row.seconds if row.seconds > 0 else None,
                "efficiency": (
                    metrics.work_s / row.seconds / row.threads if row.seconds > 0 else None
                ),
            }
            for row in rows
        ],
    }
    if changed is not None:
        document["what_if"] = [
            {
                "change": one.change.kind, "text": one.text, "place": one.change.place,
                "depth": one.change.depth, "work_s": one.metrics.work_s,
                "depth_s": one.metrics.depth_s,
                "times": [
                    {"threads": after.threads, "seconds": after.seconds,
                     "gain": change_gain(before, after)}
                    for before, after in zip(rows, one.rows, strict=True)
                ],
            }
            for one in changed
        ]  # fmt: skip
    return json.dumps(document, indent=1) + "\n"
