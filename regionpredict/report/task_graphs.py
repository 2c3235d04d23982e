"""A task graph's metrics as a table and as JSON, schema `regionpredict/tasks/1`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regionpredict.errors import one_line
from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.quantities import plural, show_count, show_seconds
from regionpredict.report.task_contention import (
    PredictedBodies,
    contention_lines,
    contention_records,
)
from regionpredict.tasks.growth import LineGrowth
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import TaskGraph

SCHEMA = "regionpredict/tasks/1"
_PATH_NODES = 12


def metrics_document(
    graph: TaskGraph, metrics: GraphMetrics, growth: Sequence[LineGrowth] | None = None,
    predicted: PredictedBodies | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The metrics for `json.dumps`; times in seconds, null where not known."""
    known = metrics.concurrency
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "tasks": metrics.tasks,
        "edges": metrics.edges,
        "work_s": metrics.work_s,
        "depth_s": metrics.depth_s,
        "average_parallelism": metrics.average_parallelism,
        "max_concurrency": known.low if known is not None and known.exact else None,
        "max_concurrency_range": None if known is None else [known.low, known.high],
        "nodes": metrics.nodes,
        "edge_kinds": metrics.edge_kinds,
        "tasks_s": metrics.tasks_s,
        "serial_s": graph.serial_s,
        "counters": metrics.counters,
        "critical_path": [
            {"node": graph.name(node), "seconds": float(graph.seconds[node])}
            for node in metrics.path
            if graph.seconds[node] > 0 or graph.names
        ],
        "lines": [asdict(line) for line in metrics.lines],
        "notes": list(graph.notes),
    }
    if growth is not None:
        document["growth"] = [{**asdict(row), "factor": row.factor} for row in growth]
    if predicted is not None:
        document["contention"] = contention_records(metrics, growth, predicted)
    return document


def metrics_json(
    graph: TaskGraph, metrics: GraphMetrics, growth: Sequence[LineGrowth] | None = None,
    predicted: PredictedBodies | None = None,
) -> str:  # fmt: skip
    """The metrics as JSON."""
    return json.dumps(metrics_document(graph, metrics, growth, predicted), indent=1) + "\n"


def metrics_table(
    graph: TaskGraph, metrics: GraphMetrics, growth: Sequence[LineGrowth] | None, top: int,
    predicted: PredictedBodies | None = None,
) -> str:  # fmt: skip
    """The metrics in words, the `top` source lines with the most work, the critical path, and
    what was `predicted` of contention."""
    parallelism = metrics.average_parallelism
    lines = [
        f"{plural(metrics.tasks, 'task')}, {plural(metrics.edges, 'edge')} between "
        f"{plural(metrics.nodes, 'node')}",
        f"work (T1)            {show_seconds(metrics.work_s)}",
        f"depth (T_inf)        {show_seconds(metrics.depth_s)}",
        f"average parallelism  {'?' if parallelism is None else f'{parallelism:.2f}'}",
        f"concurrency          {concurrency_text(metrics)}",
    ]
    if graph.serial_s:
        lines.append(f"outside regions      {show_seconds(graph.serial_s)}, not in the work")
    lines += [f"{name:<20} {value:.3g} in tasks" for name, value in metrics.counters.items()]
    if metrics.lines:
        rows: list[tuple[str, ...]] = [
            ("line", "kind", "count", "work", "share", "on path", "mean", "longest",
             *graph.counters)
        ]  # fmt: skip
        rows += [
            (
                _short(line.place),
                line.kind,
                show_count(line.count),
                show_seconds(line.work_s),
                f"{line.work_s / metrics.work_s:.0%}" if metrics.work_s else "-",
                f"{line.path_s / metrics.depth_s:.0%}" if metrics.depth_s else "-",
                show_seconds(line.mean_s),
                show_seconds(line.most_s),
                *(f"{line.counters[name]:.3g}" for name in graph.counters),
            )
            for line in metrics.lines[:top]
        ]
        lines += ["", *aligned_lines(rows)]
        if len(metrics.lines) > top:
            lines.append(f"and {plural(len(metrics.lines) - top, 'line')} more")
    lines += ["", *_path_lines(graph, metrics)]
    if growth is not None:
        lines += ["", *growth_lines(growth, top)]
    if predicted is not None:
        lines += ["", *contention_lines(metrics, growth, predicted, top)]
    return "\n".join(map(one_line, lines)) + "\n"


def concurrency_text(metrics: GraphMetrics) -> str:
    """How many tasks can run at once, in words."""
    known = metrics.concurrency
    if known is None:
        return "?"
    if known.exact:
        return str(known.low)
    return f"between {known.low} and {known.high} (too large a graph for the exact figure)"


def _path_lines(graph: TaskGraph, metrics: GraphMetrics) -> list[str]:
    """The critical path; a long one by its longest nodes, in their order."""
    nodes = [node for node in metrics.path if graph.seconds[node] > 0]
    if len(nodes) <= _PATH_NODES:
        shown, head = nodes, f"critical path ({plural(len(nodes), 'node')})"
    else:
        longest = set(sorted(nodes, key=lambda node: -graph.seconds[node])[:_PATH_NODES])
        shown = [node for node in nodes if node in longest]
        head = f"critical path ({plural(len(nodes), 'node')}; its {_PATH_NODES} longest)"
    return [
        head,
        *(
            f"  {show_seconds(float(graph.seconds[node])):>8}  {node_text(graph, node)}"
            for node in shown
        ),
    ]


def node_text(graph: TaskGraph, node: int) -> str:
    """A node by its own name, or by its task and line."""
    if graph.names:
        return graph.names[node]
    place = graph.places[graph.lines[node]] if graph.lines[node] >= 0 else "?"
    return f"{graph.label(node)} of {_short(place)}"


SHRANK = "Below 1x is no contention: the run alone was disturbed, or the runs differ."


def growth_lines(growth: Sequence[LineGrowth], top: int) -> list[str]:
    """The table of growth; where a time shrank, what that says instead of contention."""
    if not growth:
        return ["growth: no line is in both recordings"]
    rows = [("line", "kind", "alone", "together", "growth")]
    rows += [
        (
            _short(row.place),
            row.kind,
            show_seconds(row.alone_s),
            show_seconds(row.together_s),
            "?" if row.factor is None else f"{row.factor:.2f}x",
        )
        for row in growth[:top]
    ]
    shrank = any(row.factor is not None and round(row.factor, 2) < 1 for row in growth[:top])
    return [
        "growth of the times of tasks (above 1x: contention):",
        *aligned_lines(rows),
        *([SHRANK] if shrank else []),
    ]


def _short(place: str) -> str:
    """`file:line` without folders."""
    return Path(place).name
