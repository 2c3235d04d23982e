"""A task graph's times over threads, simulated or replayed, as a table and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.quantities import show_seconds
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.replay import Replayed
from regionpredict.tasks.scheduler import Simulated

SCHEMA = "regionpredict/task-times/1"


def times_table(
    head: str, metrics: GraphMetrics, rows: Sequence[Simulated] | Sequence[Replayed]
) -> str:
    """Time, speedup and efficiency against the work, beside the bound min(p, pi)."""
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
    return "\n".join(lines) + "\n"


def times_json(
    how: str,
    metrics: GraphMetrics,
    rows: Sequence[Simulated] | Sequence[Replayed],
    policy: str | None = None,
) -> str:
    """The same as JSON, times in seconds."""
    document = {
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
    return json.dumps(document, indent=1) + "\n"
