"""Arranges a task graph as boxes and edges with positions, as data for pictures and pages.

A task that only creates others is one box. Edges implied by other edges are left out. Large graphs
are drawn by source line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regionpredict.report.quantities import plural, show_count, show_seconds, show_share
from regionpredict.tasks.graph_boxes import box_edges, narrow_end, task_counts, whole_tasks
from regionpredict.tasks.layered_layout import layered_layout
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import (
    JOIN,
    NODE_KINDS,
    IntArray,
    TaskGraph,
)

MOST_BOXES = 2000
"""Graphs with more tasks are drawn by source line."""
GROUPS = 5
"""The number of source lines with a separate color. These are the lines with the most work."""
_ROW = 0.55
_WIDEST = 2.0
"""The distance of rows in box widths, and the largest ratio of width to height. Assumed: fits a
screen.
"""
NARROW = 0.2
"""The minimum share of the time with few concurrent tasks at the end of a run that is mentioned."""
_NAME = re.compile(r"[^\W\d]+")


@dataclass(frozen=True, slots=True)
class PictureBox:
    """A box: its center `x` in box widths, and its `row`. `group` is the index of its line in
    `groups`, or None. `join` marks a synchronization point without work.
    """

    title: str
    below: str
    said: str
    seconds: float
    group: int | None
    join: bool
    on_path: bool
    x: float
    row: int


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """An edge between two boxes of the picture. `points` are (x, row). `count` is the number of
    graph edges that it represents.
    """

    source: int
    target: int
    points: tuple[tuple[float, float], ...]
    count: int
    on_path: bool


@dataclass(frozen=True, slots=True)
class PictureGroup:
    """The boxes of one source line, with their shares of the work and of the critical path."""

    name: str
    tasks: int
    work: float
    path: float

    def text(self) -> str:
        """Returns the text of a source line in the legend."""
        return (
            f"{self.name}: {show_share(self.work)} of the work, {show_share(self.path)} of the "
            "critical path"
        )


@dataclass(frozen=True, slots=True)
class TaskPicture:
    """`by_line`: boxes are source lines, not tasks. `limit` describes the limit by the critical
    path.
    """

    boxes: tuple[PictureBox, ...]
    edges: tuple[PictureEdge, ...]
    groups: tuple[PictureGroup, ...]
    by_line: bool
    limit: str

    @property
    def row_height(self) -> float:
        """Returns the distance of rows in box widths, larger for wide graphs."""
        wide = max((box.x for box in self.boxes), default=0.0) + 1
        rows = max((box.row for box in self.boxes), default=0) + 1
        return max(_ROW, wide / (_WIDEST * rows))


def task_picture(graph: TaskGraph, metrics: GraphMetrics) -> TaskPicture:
    """Returns the picture of a graph with its critical path."""
    line_of, names = _line_names(graph)
    work = np.bincount(line_of, weights=graph.seconds, minlength=len(names))
    on_path = np.zeros(graph.nodes, dtype=bool)
    on_path[list(metrics.path)] = True
    path = np.bincount(line_of, weights=graph.seconds * on_path, minlength=len(names))
    shown = [at for at in np.argsort(-work, kind="stable")[:GROUPS].tolist() if work[at] > 0]
    groups = tuple(
        PictureGroup(
            names[at], int(np.unique(graph.tasks[line_of == at]).size),
            work[at] / metrics.work_s, path[at] / metrics.depth_s if metrics.depth_s else 0.0,
        )
        for at in shown
    )  # fmt: skip
    member = whole_tasks(graph)
    by_line = int(member.max(initial=-1)) + 1 > MOST_BOXES
    if by_line:
        member = np.unique(line_of * len(NODE_KINDS) + graph.node_kinds, return_inverse=True)[1]
    count = int(member.max(initial=-1)) + 1
    edges = box_edges(graph, metrics, member, count)
    layout = layered_layout(count, [edge[:2] for edge in edges])
    first = np.full(count, graph.nodes, dtype=np.int64)
    np.minimum.at(first, member, np.arange(graph.nodes))
    seconds = np.bincount(member, weights=graph.seconds, minlength=count)
    pieces = np.bincount(member, minlength=count)
    many = task_counts(graph, member, count)
    marked = np.zeros(count, dtype=bool)
    marked[member[[v for v in metrics.path if graph.seconds[v] > 0]]] = True
    boxes = []
    for box in range(count):
        node = int(first[box])
        kind = NODE_KINDS[graph.node_kinds[node]]
        join = graph.node_kinds[node] == JOIN
        line = int(line_of[node])
        number = int(many[box]) if by_line else 1
        if by_line:
            title = names[line] or kind
            said = f"{show_count(number)} x {kind}" + (f" of {names[line]}" if names[line] else "")
        else:
            title = _box_title(graph, node, names[line] or kind)
            said = graph.node_text(node)
        below = "" if join else show_seconds(float(seconds[box]))
        if number > 1:
            below = f"{show_count(number)} x {kind}" + (f", {below}" if below else "")
        if not join:
            said += f": {show_seconds(float(seconds[box]))}"
        if not by_line and pieces[box] > 1:
            said += f" in {plural(int(pieces[box]), 'piece')}"
        if marked[box]:
            said += ", on the critical path"
        boxes.append(
            PictureBox(
                title, below, said, float(seconds[box]),
                shown.index(line) if line in shown and not join else None, bool(join),
                bool(marked[box]), float(layout.x[box]), int(layout.row[box]),
            )
        )  # fmt: skip
    drawn = []
    for (upper, lower, number, marked_edge, turned), points in zip(
        edges, layout.routes, strict=True
    ):
        ends = (lower, upper) if turned else (upper, lower)
        drawn.append(
            PictureEdge(*ends, tuple(reversed(points)) if turned else points, number, marked_edge)
        )
    return TaskPicture(
        tuple(boxes), tuple(drawn), groups, by_line, _limit_text(graph, metrics, groups)
    )


def _limit_text(graph: TaskGraph, metrics: GraphMetrics, groups: tuple[PictureGroup, ...]) -> str:
    """Describes the limit of the speedup, in up to three sentences."""
    parallelism = metrics.average_parallelism
    if parallelism is None:
        return ""
    text = (
        f"The critical path has {plural(len(metrics.path), 'node')} and takes "
        f"{show_seconds(metrics.depth_s)}: no speedup exceeds {parallelism:.3g}."
    )
    most = max(groups, key=lambda group: group.path, default=None)
    if most is not None and most.name:
        text += f" {most.name} has {show_share(most.path)} of it."
    few = int(parallelism / 2)
    tail = narrow_end(graph, metrics, few) if few else 0.0
    if tail >= NARROW:
        text += (
            f" In the last {show_share(tail)} of it, at most {plural(few, 'task')} can run at once."
        )
    return text


def _line_names(graph: TaskGraph) -> tuple[IntArray, list[str]]:
    """Returns the index of each node's line in the names. In a file without lines, nodes are
    grouped by the first word of their name.
    """
    if (graph.lines >= 0).any():
        return graph.lines % (len(graph.places) + 1), [*(Path(p).name for p in graph.places), ""]
    words = [_NAME.search(name) for name in graph.names] or [None] * graph.nodes
    known: dict[str, int] = {}
    group = [known.setdefault(word[0] if word else "", len(known)) for word in words]
    return np.array(group, dtype=np.int64), list(known) or [""]


def _box_title(graph: TaskGraph, node: int, line: str) -> str:
    if graph.names and not (line and graph.names[node].isdigit()):
        return graph.names[node]
    known = graph.iterations_of(node)
    return line if known is None else f"{line} {known}"
