"""The page of `tasks show`: the metrics of a task graph, its lines, its critical path."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    as_text,
    curve,
    facts,
    items,
    line,
    table,
    task_graph,
    text,
)
from regionpredict.report.html.page import page
from regionpredict.report.names import common_folder
from regionpredict.report.quantities import plural, show_count, show_seconds
from regionpredict.report.task_contention import PredictedBodies, contention_records
from regionpredict.report.task_graphs import concurrency_text, metrics_table, node_text
from regionpredict.report.task_picture import TaskPicture, task_picture
from regionpredict.tasks.growth import LineGrowth
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import TaskGraph

_MOST_NODES = 2000
"""Nodes of the critical path that a page holds: of more, the longest."""


def task_graph_page(
    name: str,
    graph: TaskGraph,
    metrics: GraphMetrics,
    growth: Sequence[LineGrowth] | None,
    top: int,
    predicted: PredictedBodies | None = None,
) -> str:
    """The page; `name` is the file's, `top` the rows of the table of the terminal, `predicted` what
    memory leaves of the tasks, where their source was given."""
    parallelism = metrics.average_parallelism
    picture = task_picture(graph, metrics)
    overview = [
        ("Work, T1", show_seconds(metrics.work_s)),
        ("Depth, T_inf", show_seconds(metrics.depth_s)),
        ("Average parallelism", "?" if parallelism is None else f"{parallelism:.2f}"),
        ("Concurrency", concurrency_text(metrics)),
        *([("Outside regions", f"{show_seconds(graph.serial_s)}, not in the work")]
          if graph.serial_s else []),
        *((counter, f"{value:.3g} in tasks") for counter, value in metrics.counters.items()),
    ]  # fmt: skip
    lead = [f"{plural(metrics.tasks, 'task')}, {plural(metrics.edges, 'edge')} between "
            f"{plural(metrics.nodes, 'node')}"]  # fmt: skip
    folder = common_folder([place.rpartition(":")[0] for place in graph.places if ":" in place])
    if folder:
        lead.append(f"Files are named as they stand in {folder}")
    sections = [
        Section("Overview", [facts(overview), *_bound(parallelism)]),
        Section("Graph", [task_graph(_graph_title(picture), picture)]),
        Section("Source lines", _lines(graph, metrics, folder)),
        Section("Critical path", _path(graph, metrics)),
        Section("Contention", [] if growth is None else _growth(growth, folder)),
        Section("Memory", [] if predicted is None else _memory(metrics, growth, predicted, folder)),
        Section("Notes", [items(graph.notes)] if graph.notes else []),
        as_text(metrics_table(graph, metrics, growth, top, predicted)),
    ]
    return page(f"Tasks of {name}", lead, sections)


def _graph_title(picture: TaskPicture) -> str:
    what = "The tasks of a source line as one box" if picture.by_line else "Tasks"
    return f"{what}, below what they wait for; the bar in a box is its time"


def _bound(parallelism: float | None) -> list[Block]:
    """What no scheduler exceeds: min(p, pi)."""
    if parallelism is None:
        return []
    points = [(p, min(p, parallelism)) for p in (1.0, parallelism, 2.0 * parallelism)]
    title = "Speedup that no scheduler exceeds: the threads, and at most the average parallelism"
    return [curve(title, "threads", "times faster", [line("at most", points)])]


def _lines(graph: TaskGraph, metrics: GraphMetrics, folder: str) -> list[Block]:
    rows: list[list[Cell]] = [
        [
            line.place.removeprefix(folder), line.kind, (show_count(line.count), line.count),
            (show_seconds(line.work_s), line.work_s), _share(line.work_s, metrics.work_s),
            _share(line.path_s, metrics.depth_s), (show_seconds(line.mean_s), line.mean_s),
            (show_seconds(line.most_s), line.most_s),
            *((f"{line.counters[name]:.3g}", line.counters[name]) for name in graph.counters),
        ]
        for line in metrics.lines
    ]  # fmt: skip
    columns = [
        Column("Line"), Column("Kind", choice=True), Column("Count", number=True, minor=True),
        Column("Work", number=True, bar=True), Column("Share", number=True, minor=True),
        Column("On the path", number=True, bar=1.0), Column("Mean", number=True, minor=True),
        Column("Longest", number=True, minor=True),
        *(Column(name, number=True, minor=True) for name in graph.counters),
    ]  # fmt: skip
    return [table("Source lines, by their work", columns, rows)] if rows else []


def _path(graph: TaskGraph, metrics: GraphMetrics) -> list[Block]:
    nodes = [node for node in metrics.path if graph.seconds[node] > 0]
    longest = sorted(nodes, key=lambda node: -graph.seconds[node])[:_MOST_NODES]
    kept = set(longest)
    rows: list[list[Cell]] = []
    begin = 0.0
    for number, node in enumerate(nodes, 1):
        seconds = float(graph.seconds[node])
        if node in kept:
            rows.append([number, node_text(graph, node), (show_seconds(begin), begin),
                         (show_seconds(seconds), seconds)])  # fmt: skip
        begin += seconds
    if not rows:
        return []
    columns = [Column("Place", number=True), Column("Node"),
               Column("Begins", number=True, minor=True),
               Column("Time", number=True, bar=True)]  # fmt: skip
    blocks = [table("What must run one after the other", columns, rows)]
    if len(nodes) > len(rows):
        blocks.append(text(f"{len(nodes) - len(rows)} shorter nodes are left out."))
    return blocks


def _growth(growth: Sequence[LineGrowth], folder: str) -> list[Block]:
    if not growth:
        return [text("No line is in both recordings.")]
    rows: list[list[Cell]] = [
        [
            line_growth.place.removeprefix(folder),
            line_growth.kind,
            (show_seconds(line_growth.alone_s), line_growth.alone_s),
            (show_seconds(line_growth.together_s), line_growth.together_s),
            (
                "?" if line_growth.factor is None else f"{line_growth.factor:.2f}x",
                line_growth.factor,
            ),
        ]
        for line_growth in growth
    ]
    columns = [
        Column("Line"),
        Column("Kind", choice=True),
        Column("Alone", number=True, minor=True),
        Column("Together", number=True, minor=True),
        Column("Growth", number=True, bar=True),
    ]
    return [
        table(
            "Growth of the times of tasks (above 1x: contention; below: the run alone was "
            "disturbed, or the runs differ)",
            columns,
            rows,
        )
    ]


def _memory(
    metrics: GraphMetrics, growth: Sequence[LineGrowth] | None, predicted: PredictedBodies,
    folder: str,
) -> list[Block]:  # fmt: skip
    """What tasks that run at once ask of memory, beside how their times grew."""
    records = contention_records(metrics, growth, predicted)
    if not records:
        return [text("No line has tasks.")]
    rows: list[list[Cell]] = []
    for row in records:
        asked, share = row["asked_bytes_per_s"], row["share"]
        rows.append([
            row["place"].removeprefix(folder), row["kind"],
            ("-", None) if asked is None else (f"{asked / 1e9:.3g} GB/s", asked),
            ("-", None) if share is None else (f"{share:.0%}", share),
            (row["unread"], None) if row["predicted_growth"] is None
            else _growth_cell(row["predicted_growth"]),
            ("-", None) if row["measured_growth"] is None else _growth_cell(row["measured_growth"]),
        ])  # fmt: skip
    columns = [
        Column("Line"), Column("Kind", choice=True), Column("One task asks", number=True),
        Column("All ask, of what memory gives", number=True, minor=True),
        Column("Predicted growth", number=True), Column("Measured growth", number=True),
    ]  # fmt: skip
    title = f"Contention for memory, {predicted.threads} tasks at once on {predicted.machine}"
    assumed = dict.fromkeys(
        f"assumed: {assumption}" for row in records for assumption in row["assumed"]
    )
    return [table(title, columns, rows), *([items(list(assumed))] if assumed else [])]


def _growth_cell(factor: float) -> Cell:
    return (f"{factor:.2f}x", factor)


def _share(seconds: float, whole: float) -> Cell:
    return (f"{100 * seconds / whole:.0f} %", seconds / whole) if whole else ("", None)
