"""A task graph: every node where there are few, else the nodes of a source line as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regionpredict.report.plots.canvas import VERMILION, legend_below, new_figure, plain
from regionpredict.report.quantities import plural, show_count, show_seconds
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import NODE_KINDS, TaskGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NODES = 120
"""A picture of more is not read."""
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 1.32, 0.40, 0.18, 0.40, 0.15
"""Of a box and around it, in inches."""
_ASIDE = 1.1  # beside a picture of lines, where edges pass boxes
_LARGEST_IN = 40.0
"""A wider or taller picture is drawn smaller."""
_LEAST_IN = 4.2
_FONT = 6.5
_FILLS = {
    "task": "#d3e6f5", "implicit": "#f6e3b4", "chunk": "#cfeadf", "join": "#ececec",
    "serial": "#ffffff",
}  # fmt: skip


@dataclass(slots=True)
class _Box:
    title: str
    kind: str
    count: int
    seconds: float
    rank: int
    on_path: bool
    at: tuple[float, float] = field(default=(0.0, 0.0))


def graph_figure(graph: TaskGraph, metrics: GraphMetrics) -> Figure:
    """Time runs downwards, the critical path is red and thick, wider lines are more edges."""
    whole = graph.nodes <= MOST_NODES
    if whole:
        group = np.arange(graph.nodes)
    else:
        group = (graph.lines + 1) * len(NODE_KINDS) + graph.node_kinds
    keys, member = np.unique(group, return_inverse=True)
    boxes = _boxes(graph, metrics, member, len(keys), whole=whole)
    width, height = _place(boxes, 0 if whole else _ASIDE)
    scale = min(1.0, _LARGEST_IN / max(width, height))
    figure = new_figure(max(width * scale, _LEAST_IN), max(height * scale, 1.0) + 0.8)
    axes = figure.add_subplot()
    _edges(axes, graph, metrics, member, boxes, scale, whole=whole)
    for box in boxes:
        _shape(axes, box, scale)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    head = (
        f"{plural(metrics.tasks, 'task')}, work {show_seconds(metrics.work_s)}, "
        f"depth {show_seconds(metrics.depth_s)}"
    )
    if not whole:
        head += f"\n{graph.nodes} nodes, those of one line together"
    axes.set_title(head, fontsize=9)
    kinds = [kind for kind in NODE_KINDS if any(box.kind == kind for box in boxes)]
    for kind in kinds:
        axes.fill([], [], facecolor=_FILLS[kind], edgecolor="0.35", linewidth=0.8, label=kind)
    axes.plot([], [], color=VERMILION, linewidth=2, label="critical path")
    legend_below(figure, len(kinds) + 1)
    return figure


def _boxes(
    graph: TaskGraph, metrics: GraphMetrics, member: np.ndarray, count: int, *, whole: bool
) -> list[_Box]:
    level = graph.schedule.level
    number = np.bincount(member, minlength=count)
    seconds = np.bincount(member, weights=graph.seconds, minlength=count)
    ranks = np.full(count, level.max(initial=0), dtype=np.int64)
    np.minimum.at(ranks, member, level)
    first = np.full(count, graph.nodes, dtype=np.int64)
    np.minimum.at(first, member, np.arange(graph.nodes))
    on_path = np.zeros(count, dtype=bool)
    path = np.array(metrics.path, dtype=np.int64)
    on_path[member[path[graph.seconds[path] > 0]]] = True
    boxes = []
    for at in range(count):
        node = int(first[at])
        place = graph.places[graph.lines[node]] if graph.lines[node] >= 0 else ""
        kind = NODE_KINDS[graph.node_kinds[node]]
        title = graph.names[node] if whole and graph.names else Path(place).name or kind
        known = graph.iterations_of(node) if whole else None
        if known is not None:
            title = f"{title} {known}"
        boxes.append(
            _Box(
                title, kind, int(number[at]), float(seconds[at]), int(ranks[at]), bool(on_path[at])
            )
        )
    return boxes


def _place(boxes: Sequence[_Box], aside: float) -> tuple[float, float]:
    """Rows by rank, boxes of a row side by side; gives width and height of the picture."""
    ranks = sorted({box.rank for box in boxes})
    rows: dict[int, list[_Box]] = {}
    for box in boxes:
        rows.setdefault(ranks.index(box.rank), []).append(box)
    widest = max((len(row) for row in rows.values()), default=1)
    width = 2 * (_MARGIN + aside) + widest * (_WIDTH + _GAP_X) - _GAP_X
    for number, row in rows.items():
        left = (width - len(row) * (_WIDTH + _GAP_X) + _GAP_X) / 2
        for place, box in enumerate(row):
            box.at = (left + place * (_WIDTH + _GAP_X), _MARGIN + number * (_HEIGHT + _GAP_Y))
    return width, 2 * _MARGIN + max(len(rows), 1) * (_HEIGHT + _GAP_Y) - _GAP_Y


def _edges(
    axes: Axes, graph: TaskGraph, metrics: GraphMetrics, member: np.ndarray,
    boxes: Sequence[_Box], scale: float, *, whole: bool,
) -> None:  # fmt: skip
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    pairs = np.stack([member[graph.sources], member[graph.targets]], axis=1)
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    path = {
        (int(member[a]), int(member[b]))
        for a, b in zip(metrics.path, metrics.path[1:], strict=False)
    }
    for (source, target), count in zip(unique.tolist(), counts.tolist(), strict=True):
        if source == target:
            continue
        (x1, y1), (x2, y2) = boxes[source].at, boxes[target].at
        far = not whole and abs(y2 - y1) > _HEIGHT + _GAP_Y
        if y2 > y1 and not far:  # from the lower side to the upper one
            x1, y1, x2 = x1 + _WIDTH / 2, y1 + _HEIGHT, x2 + _WIDTH / 2
            bend, shift = (y2 - y1) / 2, 0.0
        else:  # around the boxes between: downwards on the right, upwards on the left
            side = _WIDTH if y2 > y1 else 0
            x1, x2, y1, y2 = x1 + side, x2 + side, y1 + _HEIGHT / 2, y2 + _HEIGHT / 2
            bend = (y2 - y1) / 4
            shift = min(0.4 + abs(y2 - y1) / 6, 1.3 * _ASIDE) * (1 if side else -1)
        on_path = (source, target) in path
        vertices = [(x1, y1), (x1 + shift, y1 + bend), (x2 + shift, y2 - bend), (x2, y2)]
        axes.add_patch(
            PathPatch(
                Curve(vertices, [Curve.MOVETO, *[Curve.CURVE4] * 3]), facecolor="none",
                edgecolor=VERMILION if on_path else "0.6", zorder=2 if on_path else 1,
                linewidth=scale * (0.8 + min(np.log10(count), 5) + 0.8 * on_path), gid="edge",
            )
        )  # fmt: skip


def _shape(axes: Axes, box: _Box, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y = box.at
    title = box.title if len(box.title) <= 22 else box.title[:21] + "…"
    said = [] if title == box.kind and box.count == 1 else [box.kind]
    if box.count > 1:
        said = [f"{show_count(box.count)} x {box.kind}"]
    if box.kind not in ("join", "serial"):  # these take no time
        said = [*(said if box.count > 1 else []), show_seconds(box.seconds)]
    below = ", ".join(said)
    axes.add_patch(
        FancyBboxPatch(
            (x + 0.04, y + 0.04), _WIDTH - 0.08, _HEIGHT - 0.08, zorder=3, gid="node",
            boxstyle="round,pad=0.04", facecolor=_FILLS[box.kind],
            edgecolor=VERMILION if box.on_path else "0.35",
            linewidth=scale * (1.8 if box.on_path else 0.8),
        )
    )  # fmt: skip
    for text, at in ((title, 0.29), (below, 0.72)):
        axes.text(
            x + _WIDTH / 2, y + at * _HEIGHT, plain(text), ha="center", va="center",
            fontsize=_FONT * scale, zorder=4,
        )  # fmt: skip
