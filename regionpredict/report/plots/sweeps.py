"""Predictions for loops that differ in one property, as lines from 0 up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from regionpredict.report.plots.canvas import (
    COLOURS,
    DASHES,
    MARKERS,
    dress,
    legend_below,
    new_figure,
    plain,
    scale_axis,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]


def sweep_figure(title: str, axis: str, lines: Mapping[str, Points]) -> Figure:
    """Named lines over x > 0, as in figures 4.2 to 4.4 of Chatzopoulos 2012."""
    figure = new_figure()
    axes = figure.add_subplot()
    for k, (name, points) in enumerate(lines.items()):
        x, y = [p[0] for p in points], [p[1] for p in points]
        axes.plot(
            x, y, color=COLOURS[k], linestyle=DASHES[k], marker=MARKERS[k], markersize=4.5,
            linewidth=1.4, label=plain(name), clip_on=False,
        )  # fmt: skip
    positions = sorted({x for points in lines.values() for x, _ in points})
    scale_axis(axes, "x", np.array(positions), positions)
    axes.set_xlim(positions[0], positions[-1])
    axes.set_ylim(0, max(1.05, *(1.05 * y for points in lines.values() for _, y in points)))
    axes.set_xlabel(plain(axis))
    axes.set_title(plain(title), fontsize=9, loc="left")
    dress(axes)
    legend_below(figure, 2)
    return figure
