"""A trace over time: the activities of each rank or thread, its waits, and the critical path."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from regionpredict.report.plots.canvas import (
    ORANGE,
    SKY,
    VERMILION,
    dress,
    legend_below,
    new_figure,
    plain,
)
from regionpredict.report.timeline_rows import (
    NAMES,
    Doing,
    Row,
    TimelineRows,
    time_unit,
    timeline_rows,
)
from regionpredict.trace.analysis import Analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINS = 2000
"""The number of parts of the run. Each has the color of its longest activity."""
_FILLINGS = {
    Doing.COMPUTES: (SKY, ""),
    Doing.COMMUNICATES: (ORANGE, ""),
    Doing.SYNCHRONISES: ("0.75", ""),
    Doing.WAITS: (VERMILION, "////"),
}


def timeline_figure(analysis: Analysis) -> Figure:
    """Rows are locations, and time runs to the right, as in figures 3.2, 3.3 and 4.8 of Boehme
    2014.

    The black line is the critical path, which changes rows where one location waits for another.
    Messages are thin lines if there are few. Raises `InputError` for a trace without duration.
    """
    trace = analysis.trace
    shown = timeline_rows(analysis, _BINS)
    scale, unit = time_unit(shown.end / trace.ticks_per_second)
    per_tick = 1.0 / (trace.ticks_per_second * scale)
    figure = new_figure(7.2, 1.6 + 0.24 * max(len(shown.rows), 3))
    axes = figure.add_subplot()
    for number, row in enumerate(shown.rows):
        _draw_row(axes, row, number, per_tick)
    seen = {bar.doing for row in shown.rows for bar in row.bars}
    for doing, (colour, hatch) in _FILLINGS.items():
        if doing in seen:
            axes.bar([0], [0], color=colour, hatch=hatch, edgecolor="white", linewidth=0,
                     label=NAMES[doing])  # fmt: skip
    for sender, sent, receiver, received in shown.messages:
        axes.plot(
            [sent * per_tick, received * per_tick], [sender, receiver],
            color="0.25", linewidth=0.5, alpha=0.7, zorder=3,
        )  # fmt: skip
    _draw_path(axes, shown, per_tick)
    axes.set_xlim(0, shown.end * per_tick)
    axes.set_ylim(len(shown.rows) - 0.5, -0.5)
    locations = [trace.locations[row.location] for row in shown.rows]
    axes.set_yticks(range(len(locations)), [str(place) for place in locations])
    axes.set_xlabel(f"time ({unit})")
    axes.set_ylabel("rank.thread" if any(place.thread for place in locations) else "rank")
    title = plain(trace.name or "trace")
    if len(locations) < len(trace.locations):
        title += f"; {len(locations)} of {len(trace.locations)}, with most of the critical path"
    axes.set_title(title, fontsize=9, loc="left")
    dress(axes, grid="x")
    legend_below(figure, 3)
    return figure


def _draw_row(axes: Axes, row: Row, number: int, per_tick: float) -> None:
    for doing, (colour, hatch) in _FILLINGS.items():
        own = [
            (begin * per_tick, (end - begin) * per_tick)
            for kind, begin, end in row.bars
            if kind == doing
        ]
        axes.broken_barh(
            own, (number - 0.36, 0.72), facecolor=colour, hatch=hatch, edgecolor="white",
            linewidth=0, zorder=2,
        )  # fmt: skip


def _draw_path(axes: Axes, shown: TimelineRows, per_tick: float) -> None:
    pieces = [(row, begin * per_tick, end * per_tick) for row, begin, end in shown.path]
    axes.hlines(
        [row for row, _, _ in pieces], [begin for _, begin, _ in pieces],
        [end for _, _, end in pieces], color="black", linewidth=2.2, zorder=5,
        label="critical path", gid="critical-path",
    )  # fmt: skip
    for (above, _, end), (below, begin, _) in pairwise(pieces):
        axes.plot([end, begin], [above, below], color="black", linewidth=0.8, zorder=4)
