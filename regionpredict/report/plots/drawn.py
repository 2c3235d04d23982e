"""Draws the pictures of documents with matplotlib, for files and notebooks."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from regionpredict.errors import InputError
from regionpredict.report.document import Drawing
from regionpredict.report.plots.canvas import (
    BLUE,
    COLOURS,
    DASHES,
    MARKERS,
    MAX_DRAWN,
    ORANGE,
    SKY,
    VERMILION,
    legend_below,
    new_figure,
    plain,
    scale_axis,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_INSIDE = 3  # maximum lines of a legend inside the axes
_MOST_MARKED = 12  # maximum points of a line with marks
_SHADES = ("", "//", "..", "xx")
_SIDE_IN = 4.6  # side of a square figure
_ROW_IN = 0.17  # row height of a legend below the axes


def figure_of(block: Drawing) -> Figure:
    """Draws a curve, scatter, stack or timeline of `html/blocks.py`. Raises `UsageError` if
    matplotlib is missing, and `InputError` for numbers near the largest doubles.
    """
    draw = {
        "curve": _draw_curve,
        "scatter": _draw_scatter,
        "stack": _draw_stack,
        "timeline": _draw_timeline,
    }
    return draw[block["kind"]](block)


def _draw_curve(block: Drawing) -> Figure:
    series = block["series"]
    x, y = (np.array([point[k] for one in series for point in one["points"]]) for k in (0, 1))
    if max(abs(x).max(), abs(y).max()) > MAX_DRAWN:
        raise InputError(f"numbers above {MAX_DRAWN:g} cannot be drawn", remedy="give smaller ones")
    lines = [one for one in series if not one.get("alone")]
    below = len(lines) > _MOST_INSIDE or bool(block["zones"])
    figure = new_figure(5.6, 3.3 + _ROW_IN * len(lines)) if below else new_figure()
    axes = figure.add_subplot()
    axes.set_xlim(x.min(), x.max() if x.max() > x.min() else x.min() + 1)
    for number, zone in enumerate(block["zones"]):
        _draw_zone(axes, zone, number, short=len(block["zones"]) > 4)
    for at, one in enumerate(series):
        _draw_series(
            axes, one, at if one["colour"] is None else one["colour"], len(lines), block["step"]
        )
    for rule in block.get("rules", ()):
        axes.axvline(rule["x"], color=COLOURS[rule["colour"]], linestyle=":", linewidth=0.9)
    marked = [one for one in series if one.get("alone") or len(one["points"]) <= _MOST_MARKED]
    if block["logx"]:
        scale_axis(axes, "x", x, sorted({point[0] for one in marked for point in one["points"]}))
    if block["logy"]:
        scale_axis(axes, "y", y, [])
        axes.set_ylim(0.8 * y.min(), 1.25 * y.max())
    else:
        axes.set_ylim(1.05 * min(y.min(), 0.0), 1.05 * y.max() or 1.0)
    if (mark := block["mark"]) is not None:
        axes.axvline(mark["x"], color="0.4", linewidth=0.9, linestyle="--", label=mark["label"])
    _label_axes(axes, block)
    if below:
        legend_below(figure, 1)
    elif len(lines) > 1 or block["band"]:
        axes.legend(fontsize=7, frameon=False, loc="best")
    return figure


def _draw_series(axes: Axes, one: Drawing, colour: int, lines: int, step: bool | None) -> None:
    """Draws a line with its band, or marks with their bars. Marks in the color of one of the
    `lines` have no own entry in the legend.
    """
    if not one["points"]:
        return
    x, y = np.array(one["points"]).T
    look: dict[str, Any] = {"color": COLOURS[colour % len(COLOURS)], "clip_on": False}
    if one.get("alone"):
        bars = np.array([bar[1:] for bar in one["bars"]]).reshape(-1, 2).T
        spread = [y - bars[0], bars[1] - y] if len(bars.T) else None
        axes.errorbar(x, y, yerr=spread, fmt=MARKERS[colour], markersize=5, capsize=2,
                      elinewidth=0.9, linestyle="none", gid=one["name"], zorder=4,
                      label="_" * (colour < lines) + one["name"], **look)  # fmt: skip
        return
    if one["band"]:
        at, low, high = np.array(one["band"]).T
        axes.fill_between(at, low, high, color=look["color"], alpha=0.15, linewidth=0, gid="band")
    many = len(x) > _MOST_MARKED
    look["clip_on"] = many
    axes.plot(x, y, linestyle=DASHES[colour], linewidth=1.4, label=plain(one["name"], 80),
              marker=None if many else MARKERS[colour], markersize=4.5, zorder=3,
              drawstyle="steps-post" if step else None, **look)  # fmt: skip


def _draw_zone(axes: Axes, zone: Drawing, number: int, *, short: bool) -> None:
    """Draws a shaded part of the horizontal axis with its label above."""
    axes.axvspan(zone["from"], zone["to"], color="0.5", alpha=0.10 if number % 2 else 0.03,
                 linewidth=0, zorder=0, gid="zone")  # fmt: skip
    axes.annotate(
        zone["short" if short else "label"], ((zone["from"] + zone["to"]) / 2, 1.0),
        xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
        ha="center", va="bottom", fontsize=7.5, color="0.35",
    )  # fmt: skip


def _label_axes(axes: Axes, block: Drawing) -> None:
    axes.set_xlabel(plain(block["x"]))
    axes.set_ylabel(plain(block["y"]) if block["y"] else "")
    axes.set_title(plain(block["title"], 110), fontsize=9, loc="left", wrap=True,
                   pad=16 if block.get("zones") else None)  # fmt: skip
    style_axes(axes)


def _draw_scatter(block: Drawing) -> Figure:
    """Draws points by kind, with their intervals, and lines such as a diagonal."""
    figure = new_figure(_SIDE_IN, _SIDE_IN)
    axes = figure.add_subplot()
    for number, (low, high) in enumerate(block.get("areas", ())):
        axes.fill_between([low, high], low, high, color="0.93", linewidth=0, gid="area",
                          label="_" if number else "area of decision")  # fmt: skip
    for one in block["lines"]:
        axes.plot(*np.array(one["points"]).T, color="0.5", linewidth=1.0, linestyle="--",
                  label=one["name"])  # fmt: skip
    points = block["points"]
    kinds = block.get("order") or list(dict.fromkeys(point["kind"] for point in points))
    for colour, kind in zip((BLUE, VERMILION, *COLOURS[2:]), kinds, strict=False):
        own = [point for point in points if point["kind"] == kind]
        if not own:
            continue
        x, y = ([point[axis] for point in own] for axis in "xy")
        axes.plot(x, y, MARKERS[kinds.index(kind)], color=colour, markersize=5.5, alpha=0.85,
                  markeredgecolor="white", markeredgewidth=0.5, clip_on=False, zorder=3,
                  label=kind)  # fmt: skip
        for point in own:
            if "band" in point:
                axes.vlines(point["x"], *point["band"], color=colour, linewidth=0.8, alpha=0.5,
                            gid="band")  # fmt: skip
    for point in points:
        if point.get("named"):
            axes.annotate(plain(point["named"], 30), (point["x"], point["y"]), xytext=(4, 5),
                          fontsize=6.5, textcoords="offset points")  # fmt: skip
    axes.set_aspect("equal")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    _label_axes(axes, block)
    legend_below(figure, 4)
    return figure


def _draw_stack(block: Drawing) -> Figure:
    """Draws bars of several parts, which differ in color and in hatching."""
    figure = new_figure(height=3.4 + _ROW_IN * len(block["names"]) / 2)
    axes = figure.add_subplot()
    places = np.arange(len(block["rows"]))
    bottom = np.zeros(len(places))
    for at, name in enumerate(block["names"]):
        values = np.array([row["values"][at] for row in block["rows"]])
        axes.bar(places, values, bottom=bottom, color=COLOURS[at % len(COLOURS)], alpha=0.85,
                 hatch=_SHADES[at % len(_SHADES)], edgecolor="white", linewidth=0.4,
                 label=plain(name))  # fmt: skip
        bottom += values
    axes.set_xticks(places, [str(row["label"]) for row in block["rows"]])
    _label_axes(axes, block)
    axes.grid(visible=False)
    legend_below(figure, 2)
    return figure


def _draw_timeline(block: Drawing) -> Figure:
    """Draws locations as rows, as in figures 3.2, 3.3 and 4.8 of Boehme 2014. The black line is the
    critical path, and thin lines are messages.
    """
    rows = block["rows"]
    figure = new_figure(7.2, 1.6 + 0.24 * max(len(rows), 3))
    axes = figure.add_subplot()
    colours = iter((SKY, ORANGE, *COLOURS[2:]))
    for number, kind in enumerate(block["kinds"]):
        colour = VERMILION if kind["hatched"] else "0.75" if kind["plain"] else next(colours)
        hatch = "////" if kind["hatched"] else ""
        name: str | None = kind["name"]
        for at, row in enumerate(rows):
            own = [(begin, end - begin) for of, begin, end in row["bars"] if of == number]
            if own:
                axes.broken_barh(own, (at - 0.36, 0.72), edgecolor="white", linewidth=0,
                                 zorder=2, label=name, facecolor=colour, hatch=hatch)  # fmt: skip
                name = None
    for sender, sent, receiver, received in block["messages"]:
        axes.plot([sent, received], [sender, receiver], color="0.25", linewidth=0.5, alpha=0.7,
                  zorder=3)  # fmt: skip
    path = block["path"]
    axes.hlines(*(zip(*path, strict=True) if path else ((), (), ())), color="black",
                linewidth=2.2, zorder=5, label="critical path", gid="critical-path")  # fmt: skip
    for (above, _, end), (below, begin, _) in pairwise(path):
        axes.plot([end, begin], [above, below], color="black", linewidth=0.8, zorder=4)
    axes.set_xlim(0, block["end"])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    _label_axes(axes, {**block, "y": block["rows_are"]})
    axes.grid(visible=False, axis="y")
    legend_below(figure, 3)
    return figure
