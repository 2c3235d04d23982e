"""LB, Ser, Trf and their product over processes, with their bands (Rosas 2014, fig. 19 to 25)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regionpredict.report.plots.canvas import (
    BLUE,
    GREEN,
    ORANGE,
    dress,
    legend_below,
    new_figure,
    plain,
    scale_axis,
)
from regionpredict.trace.extrapolation import Extrapolation, measured, parts_of
from regionpredict.trace.scaling import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES = 80
_LINES = {
    "load_balance": ("load balance (LB)", BLUE, "--", "o"),
    "serialisation": ("serialisation (Ser)", GREEN, "-.", "s"),
    "transfer": ("transfer (Trf)", ORANGE, ":", "^"),
    "communication": ("communication", ORANGE, ":", "^"),
    "parallel": ("parallel efficiency, their product", "black", "-", "D"),
}


def factors_figure(study: Study, extrapolation: Extrapolation, title: str) -> Figure:
    """Marks are measured, lines are the laws, and bands contain the values that the runs do not
    exclude, from 0 to 100 %.

    A dotted vertical line marks the largest measured run if the lines extend beyond it.
    """
    first = study.widths[0]
    last = max([study.widths[-1], *(point.width for point in extrapolation.points)])
    grid = np.geomspace(first, max(last, 2 * first), _SAMPLES)
    figure = new_figure(height=3.8)
    axes = figure.add_subplot()
    tables = _curves(extrapolation, parts_of(study), grid)
    for key in (*parts_of(study), "parallel"):
        name, colour, dashes, marker = _LINES[key]
        middle, low, high = (100 * tables[k][key] for k in range(3))
        axes.fill_between(grid, low, high, color=colour, alpha=0.13, linewidth=0, gid="band")
        axes.plot(grid, middle, color=colour, linestyle=dashes, linewidth=1.5)
        own = measured(study, key)
        axes.plot(
            [width for width, _ in own], [100 * min(value, 1.0) for _, value in own], marker,
            color=colour, markersize=5, zorder=3, clip_on=False,
        )  # fmt: skip
        axes.plot([], [], color=colour, linestyle=dashes, marker=marker, label=name)
    if grid[-1] > study.widths[-1]:
        axes.axvline(study.widths[-1], color="0.4", linewidth=0.9, linestyle=":")
    scale_axis(axes, "x", grid, sorted(set(study.widths)))
    axes.set_xlim(grid[0], grid[-1])
    axes.set_ylim(0, 103)
    axes.set_xlabel("processes")
    axes.set_ylabel("efficiency (%)")
    axes.set_title(plain(title), fontsize=9, loc="left")
    dress(axes)
    legend_below(figure, 2)
    return figure


def _curves(
    extrapolation: Extrapolation, parts: tuple[str, ...], grid: np.ndarray
) -> tuple[dict[str, np.ndarray], ...]:
    """Value, lower and upper bound of each line on the grid, as shares."""
    tables: tuple[dict[str, np.ndarray], ...] = ({}, {}, {})
    for factor in parts:
        model = extrapolation.models[factor]
        rows = np.array([(model.value(w), *model.band(w)) for w in grid.tolist()])
        for k, table in enumerate(tables):
            table[factor] = np.minimum(rows[:, k], 1.0)
    for table in tables:
        table["parallel"] = np.prod([table[factor] for factor in parts], axis=0)
    return tables
