"""Draws a task graph in rows of tasks. Large graphs have one box per source line."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from regionpredict.report.plots.canvas import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    legend_below,
    new_figure,
    plain,
)
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.report.task_picture import PictureBox, TaskPicture, task_picture
from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import TaskGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_WITH_TEXT = 200
"""The maximum number of boxes with text. Boxes of larger pictures are too small for text. Assumed:
what is legible on a page.
"""
_WIDTH, _HEIGHT = 1.32, 0.40
"""The size of a box, in inches."""
_JOIN = 0.25  # size of a synchronization point
_STEP = 1.5  # distance between boxes, in inches
_SMALL = 0.35
"""The scale of pictures without text."""
_LARGEST_IN = 40.0
"""The maximum width and height of a picture in inches. A larger picture is scaled down."""
_LEAST_IN = 4.2
_FONT = 6.5
_LETTER = 0.065  # width of a letter in the legend, in inches
_LINES = (BLUE, GREEN, ORANGE, PURPLE, SKY)


def graph_figure(graph: TaskGraph, metrics: GraphMetrics) -> Figure:
    """Draws each task below the tasks that it waits for.

    The critical path is red and thick, colors are source lines, and a wide edge represents several
    edges.
    """
    picture = task_picture(graph, metrics)
    words = len(picture.boxes) <= MOST_WITH_TEXT
    width = _STEP * (max((box.x for box in picture.boxes), default=0.0) + 1)
    row = _STEP * picture.row_height
    height = row * (max((box.row for box in picture.boxes), default=0) + 1)
    scale = min(1.0 if words else _SMALL, _LARGEST_IN / max(width, height))
    figure = new_figure(
        max(width * scale, _LEAST_IN), max(height * scale, 1.0) + 0.9 + 0.15 * len(picture.groups)
    )
    axes = figure.add_subplot()
    longest = max((box.seconds for box in picture.boxes), default=0.0)
    _draw_edges(axes, picture, row, scale)
    for box in picture.boxes:
        _draw_box(axes, box, (_STEP * (box.x + 0.5), row * (box.row + 0.5)), scale,
               share=box.seconds / longest if longest else 0.0, words=words)  # fmt: skip
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    head = (
        f"{plural(metrics.tasks, 'task')}, work {show_seconds(metrics.work_s)}, "
        f"depth {show_seconds(metrics.depth_s)}"
    )
    if picture.by_line:
        head += f"\n{graph.nodes} nodes, those of one line together"
    axes.set_title(head, fontsize=9)
    limit = textwrap.fill(plain(picture.limit, 300), int(figure.get_size_inches()[0] / _LETTER))
    axes.plot([], [], color=VERMILION, linewidth=2, label=limit or "critical path")
    for group, colour in zip(picture.groups, _LINES, strict=False):
        axes.fill([], [], facecolor=colour, alpha=0.35, edgecolor=colour,
                  label=plain(group.text(), 120))  # fmt: skip
    legend_below(figure, 1)
    return figure


def _draw_edges(axes: Axes, picture: TaskPicture, row: float, scale: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    for edge in picture.edges:
        points = [(_STEP * (x + 0.5), row * (y + 0.5)) for x, y in edge.points]
        down = 1 if points[-1][1] > points[0][1] else -1
        upper, lower = (
            _JOIN / 2 if picture.boxes[end].join else _HEIGHT / 2
            for end in (edge.source, edge.target)
        )
        points[0] = (points[0][0], points[0][1] + down * upper)
        points[-1] = (points[-1][0], points[-1][1] - down * lower)
        vertices, codes = [points[0]], [Curve.MOVETO]
        for (x1, y1), (x2, y2) in pairwise(points):
            bend = (y2 - y1) / 2
            vertices += [(x1, y1 + bend), (x2, y2 - bend), (x2, y2)]
            codes += [Curve.CURVE4] * 3
        axes.add_patch(
            PathPatch(
                Curve(vertices, codes), facecolor="none", gid="edge",
                edgecolor=VERMILION if edge.on_path else "0.55", zorder=2 if edge.on_path else 1,
                linewidth=max(scale * (0.8 + min(edge.count, 10) / 10), 0.25) + 1.4 * edge.on_path,
            )
        )  # fmt: skip


def _draw_box(
    axes: Axes, box: PictureBox, at: tuple[float, float], scale: float, *, share: float, words: bool
) -> None:
    """Draws a box with its text, and a bar that shows its time as a `share` of the longest time."""
    from matplotlib.patches import Ellipse, FancyBboxPatch, Patch, Rectangle

    x, y = at
    colour = "0.6" if box.group is None else _LINES[box.group]
    line: dict[str, Any] = {"edgecolor": VERMILION if box.on_path else "0.35",
            "linewidth": scale * (2.4 if box.on_path else 0.8)}  # fmt: skip
    shape: Patch
    if box.join:
        shape = Ellipse((x, y), _JOIN, _JOIN, facecolor="white", zorder=3, gid="node", **line)
    else:
        shape = FancyBboxPatch(
            (x - _WIDTH / 2 + 0.04, y - _HEIGHT / 2 + 0.04), _WIDTH - 0.08, _HEIGHT - 0.08,
            zorder=3, gid="node", boxstyle="round,pad=0.04", facecolor=_light_color(colour), **line,
        )  # fmt: skip
    axes.add_patch(shape)
    if box.join:
        return
    axes.add_patch(
        Rectangle((x - _WIDTH / 2 + 0.06, y + _HEIGHT / 2 - 0.08), (_WIDTH - 0.12) * share, 0.05,
                  facecolor=colour, zorder=4)
    )  # fmt: skip
    if not words:
        return
    title = box.title if len(box.title) <= 22 else box.title[:21] + "…"
    for text, shift in ((title, -0.25), (box.below, 0.1)):
        axes.text(
            x, y + shift * _HEIGHT, plain(text), ha="center", va="center",
            fontsize=_FONT * scale, zorder=4,
        )  # fmt: skip


def _light_color(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    red, green, blue = (0.65 + 0.35 * part for part in to_rgb(colour))
    return red, green, blue
