"""A task graph as SVG: every node where there are few, else the nodes of a source line as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np

from regionpredict.report.quantities import show_count, show_seconds
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import NODE_KINDS, TaskGraph

MOST_NODES = 120
"""A picture of more is not read."""
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 132, 40, 18, 46, 20
_ASIDE = 110  # beside a picture of lines, where edges pass boxes
_FILLS = {
    "task": "#dceaf7", "implicit": "#f6ecc8", "chunk": "#f3dcc6", "join": "#eeeeee",
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


def graph_svg(graph: TaskGraph, metrics: GraphMetrics) -> str:
    """The picture: time runs downwards, the critical path is red, wider lines are more edges."""
    whole = graph.nodes <= MOST_NODES
    if whole:
        group = np.arange(graph.nodes)
    else:
        group = (graph.lines + 1) * len(NODE_KINDS) + graph.node_kinds
    keys, member = np.unique(group, return_inverse=True)
    boxes = _boxes(graph, metrics, member, len(keys), whole=whole)
    width, height = _place(boxes, 0 if whole else _ASIDE)
    lines = _edges(graph, metrics, member, boxes, whole=whole)
    shapes = [_shape(box) for box in boxes]
    head = (
        f"{metrics.tasks} tasks, work {show_seconds(metrics.work_s)}, "
        f"depth {show_seconds(metrics.depth_s)}"
    )
    if not whole:
        head += f"; {graph.nodes} nodes, those of one line together"
    return (
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 30}">',
                "<style>text{font:11px sans-serif;fill:#222}</style>",
                f'<text x="{_MARGIN}" y="18">{escape(head)}</text>',
                '<g transform="translate(0 30)">',
                *lines,
                *shapes,
                "</g>",
                "</svg>",
            ]
        )
        + "\n"
    )


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
        boxes.append(
            _Box(
                title, kind, int(number[at]), float(seconds[at]), int(ranks[at]), bool(on_path[at])
            )
        )
    return boxes


def _place(boxes: Sequence[_Box], aside: int) -> tuple[int, int]:
    """Rows by rank, boxes of a row side by side; gives width and height of the picture."""
    ranks = sorted({box.rank for box in boxes})
    rows: dict[int, list[_Box]] = {}
    for box in boxes:
        rows.setdefault(ranks.index(box.rank), []).append(box)
    widest = max(len(row) for row in rows.values())
    width = 2 * (_MARGIN + aside) + widest * (_WIDTH + _GAP_X) - _GAP_X
    for number, row in rows.items():
        left = (width - len(row) * (_WIDTH + _GAP_X) + _GAP_X) / 2
        for place, box in enumerate(row):
            box.at = (left + place * (_WIDTH + _GAP_X), _MARGIN + number * (_HEIGHT + _GAP_Y))
    return width, 2 * _MARGIN + len(rows) * (_HEIGHT + _GAP_Y) - _GAP_Y


def _edges(
    graph: TaskGraph, metrics: GraphMetrics, member: np.ndarray, boxes: Sequence[_Box], *,
    whole: bool,
) -> list[str]:  # fmt: skip
    pairs = np.stack([member[graph.sources], member[graph.targets]], axis=1)
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    path = {
        (int(member[a]), int(member[b]))
        for a, b in zip(metrics.path, metrics.path[1:], strict=False)
    }
    lines = []
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
            shift = min(40 + abs(y2 - y1) / 6, 1.3 * _ASIDE) * (1 if side else -1)
        colour = "#c0392b" if (source, target) in path else "#999"
        width = 1 + min(np.log10(count), 5)
        lines.append(
            f'<path d="M{x1:.0f} {y1:.0f}C{x1 + shift:.0f} {y1 + bend:.0f} '
            f"{x2 + shift:.0f} {y2 - bend:.0f} "
            f'{x2:.0f} {y2:.0f}" fill="none" stroke="{colour}" stroke-width="{width:.1f}"/>'
        )
    return lines


def _shape(box: _Box) -> str:
    x, y = box.at
    middle = x + _WIDTH / 2
    stroke = "#c0392b" if box.on_path else "#555"
    title = box.title if len(box.title) <= 20 else box.title[:19] + "…"
    below = show_seconds(box.seconds) if box.kind not in ("join", "serial") else box.kind
    if box.count > 1:
        below = f"{show_count(box.count)} x {box.kind}, {below}"
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
        f'fill="{_FILLS[box.kind]}" stroke="{stroke}"/>'
        f'<text x="{middle:.0f}" y="{y + 16:.0f}" text-anchor="middle">{escape(title)}</text>'
        f'<text x="{middle:.0f}" y="{y + 31:.0f}" text-anchor="middle">{escape(below)}</text>'
    )
