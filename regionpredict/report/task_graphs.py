"""Documents a task graph's metrics, also as JSON, schema `regionpredict/tasks/1`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Section,
    Table,
    Text,
    below_folder,
)
from regionpredict.report.html.blocks import curve, line, task_graph
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import (
    plural,
    show_count,
    show_factor,
    show_seconds,
    show_share,
)
from regionpredict.report.task_contention import (
    PredictedBodies,
    contention_blocks,
    contention_records,
)
from regionpredict.tasks.growth import LineGrowth
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import TaskGraph

SCHEMA = "regionpredict/tasks/1"
_MOST_NODES = 2000
"""The maximum number of nodes of the critical path on a page."""
SHRANK = "Below 1x: the run alone was disturbed, or the runs differ."


def _json_record(
    graph: TaskGraph, metrics: GraphMetrics, growth: Sequence[LineGrowth] | None,
    predicted: PredictedBodies | None,
) -> dict[str, Any]:  # fmt: skip
    """Times are in seconds. Unknown values are null."""
    known = metrics.concurrency
    document: dict[str, Any] = {
        "schema": SCHEMA,
        **fields_of(metrics, "tasks edges work_s depth_s average_parallelism"),
        "max_concurrency": known.low if known is not None and known.exact else None,
        "max_concurrency_range": None if known is None else [known.low, known.high],
        **fields_of(metrics, "nodes edge_kinds tasks_s counters lines"),
        **fields_of(graph, "serial_s notes"),
        "critical_path": [
            {"node": graph.name(node), "seconds": float(graph.seconds[node])}
            for node in metrics.path if graph.seconds[node] > 0 or graph.names
        ],
    }  # fmt: skip
    if growth is not None:
        document["growth"] = [{**plain(row), "factor": row.factor} for row in growth]
    if predicted is not None:
        document["contention"] = contention_records(metrics, growth, predicted)
    return document


def tasks_document(
    name: str, graph: TaskGraph, metrics: GraphMetrics, growth: Sequence[LineGrowth] | None,
    top: int, predicted: PredictedBodies | None = None,
) -> Document:  # fmt: skip
    """The metrics, the source lines, the critical path, and the measured and `predicted`
    contention. `name` is the file's name. Text shows `top` rows of each table.
    """
    parallelism = metrics.average_parallelism
    lead = [] if parallelism is None else [
        f"At most {parallelism:.3g} times faster on any number of threads: the critical path takes "
        f"{show_seconds(metrics.depth_s)} of {show_seconds(metrics.work_s)} of work."
    ]  # fmt: skip
    lead.append(f"{plural(metrics.tasks, 'task')}, {plural(metrics.edges, 'edge')} between "
                f"{plural(metrics.nodes, 'node')}")  # fmt: skip
    facts = [
        ("Work (T1)", show_seconds(metrics.work_s)),
        ("Depth (T_inf)", show_seconds(metrics.depth_s)),
        ("Average parallelism", "?" if parallelism is None else f"{parallelism:.2f}"),
        ("Concurrency", _concurrency_text(metrics)),
        *([("Outside regions", f"{show_seconds(graph.serial_s)}, not in the work")]
          if graph.serial_s else []),
        *((counter, f"{value:.3g} in tasks") for counter, value in metrics.counters.items()),
    ]  # fmt: skip
    measured: list[Block] = []
    if growth is not None:
        measured = [growth_table(growth, top)] if growth else [
            Text("Growth: no line is in both recordings.")
        ]  # fmt: skip
    sections = [
        Section("Overview", [Facts(facts)]),
        Section("Graph", lambda: _graph_block(graph, metrics), "page"),
        Section("Bound", lambda: _bound_curve(parallelism), "page"),
        Section("Source lines", [_line_table(graph, metrics, top)]),
        Section("Critical path", [_path_table(graph, metrics, top)]),
        Section("Contention", measured),
        Section("Memory", [] if predicted is None else contention_blocks(
            metrics, growth, predicted, top
        )),
        Section("Notes", [Items(graph.notes)], "page"),
    ]  # fmt: skip
    document = Document(f"Tasks of {name}", lead, sections,
                        lambda: _json_record(graph, metrics, growth, predicted))  # fmt: skip
    places = [place.rpartition(":")[0] for place in graph.places if ":" in place]
    return below_folder(document, places)


def _graph_block(graph: TaskGraph, metrics: GraphMetrics) -> list[Block]:
    from regionpredict.report.task_picture import task_picture  # noqa: PLC0415

    picture = task_picture(graph, metrics)
    what = "The tasks of a source line as one box" if picture.by_line else "Tasks"
    return [task_graph(f"{what}, below what they wait for; the bar in a box is its time", picture)]


def _bound_curve(parallelism: float | None) -> list[Block]:
    """Draws the upper bound of the speedup with any scheduler, min(p, pi)."""
    if parallelism is None:
        return []
    least, most = math.floor(parallelism), math.ceil(parallelism)
    points = [(p, min(p, parallelism)) for p in sorted({1, least, most, 2 * most})]
    title = "Speedup that no scheduler exceeds: the threads, and at most the average parallelism"
    return [curve(title, "threads", "times faster", [line("at most", points)])]


def _line_table(graph: TaskGraph, metrics: GraphMetrics, top: int) -> Table:
    rows: list[list[Cell]] = [
        [
            own.place, own.kind, own.count, own.work_s,
            own.work_s / metrics.work_s if metrics.work_s else None,
            own.path_s / metrics.depth_s if metrics.depth_s else None, own.mean_s, own.most_s,
            *(own.counters[name] for name in graph.counters),
        ]
        for own in metrics.lines
    ]  # fmt: skip
    columns = [
        Column("Line"), Column("Kind", choice=True), Column("Count", show_count, minor=True),
        Column("Work", show_seconds, bar=True), Column("Share", show_share, minor=True),
        Column("On path", show_share, bar=1.0), Column("Mean", show_seconds, minor=True),
        Column("Longest", show_seconds, minor=True),
        *(Column(name, "{:.3g}".format, minor=True) for name in graph.counters),
    ]  # fmt: skip
    return Table("Source lines, by their work", columns, rows, top=top)


def _path_table(graph: TaskGraph, metrics: GraphMetrics, top: int) -> Table:
    nodes = [node for node in metrics.path if graph.seconds[node] > 0]
    begin = 0.0
    rows: list[list[Cell]] = []
    for number, node in enumerate(nodes, 1):
        seconds = float(graph.seconds[node])
        rows.append([number, graph.node_text(node), begin, seconds, seconds])
        begin += seconds
    longest = sorted(rows, key=lambda row: -row.pop())[:_MOST_NODES]  # type: ignore[operator]
    columns = [Column("Order", str), Column("Node"), Column("Begins", show_seconds, minor=True),
               Column("Time", show_seconds, bar=True)]  # fmt: skip
    title = f"Critical path: {plural(len(nodes), 'node')} that must run one after the other"
    title += f"; the {_MOST_NODES} longest" if len(nodes) > _MOST_NODES else ""
    return Table(title, columns, longest, top=top)


def growth_table(growth: Sequence[LineGrowth], top: int) -> Table:
    """Returns the growth of task times from one recording to another, by source line."""
    rows: list[list[Cell]] = [
        [row.place, row.kind, row.alone_s, row.together_s, row.factor] for row in growth
    ]
    columns = [
        Column("Line"), Column("Kind", choice=True), Column("Alone", show_seconds, minor=True),
        Column("Together", show_seconds, minor=True), Column("Growth", show_factor, bar=True),
    ]  # fmt: skip
    shrank = any(row.factor is not None and round(row.factor, 2) < 1 for row in growth)
    title = "Growth of the times of tasks (above 1x: contention)"
    return Table(title, columns, rows, top=top, legend=[SHRANK] if shrank else ())


def _concurrency_text(metrics: GraphMetrics) -> str:
    known = metrics.concurrency
    if known is None:
        return "?"
    if known.exact:
        return str(known.low)
    return f"between {known.low} and {known.high} (too large a graph for the exact figure)"
