"""Draws efficiencies and discrepancies over threads and size, and lines of constant efficiency
(Shudler 2018, 5.2, 5.6, 5.7; Shudler 2017, 8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regionpredict.errors import InputError
from regionpredict.report.plots.canvas import (
    BLUE,
    COLOUR_MAP,
    GREEN,
    VERMILION,
    legend_below,
    new_figure,
    scale_axis,
    style_axes,
)
from regionpredict.tasks.isoefficiency.constant_efficiency import (
    CONTOURS,
    REACH,
    efficiency_surfaces,
    size_lines,
)
from regionpredict.tasks.isoefficiency.models import MUCH, Isoefficiency

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SAMPLES = 60
_LEVELS = np.linspace(0.0, 1.0, 11)
_STROKES = {"E_ac": (BLUE, "-"), "E_cf": (GREEN, "--"), "E_ub": (VERMILION, "-.")}
_TITLES = {
    "E_ac": "E_ac, the program's efficiency", "E_cf": "E_cf, without contention",
    "E_ub": "E_ub, bound for any scheduler", "delta_con": "delta_con, loss by contention",
    "delta_str": "delta_str, loss by the graph",
}  # fmt: skip


def isoefficiency_figure(result: Isoefficiency, efficiency: float, most_threads: int) -> Figure:
    """The three efficiencies and the two discrepancies over threads and size, as contour maps of
    their models with the measured points. Contours are at 0.9, 0.7, 0.5 and 0.3, and for
    discrepancies at each tenth. Another map shows the sizes that keep `efficiency`. The number of
    threads extends to `most_threads`, by default four times the measured ones.

    Raises `InputError` if E_ac has no model.
    """
    if result.actual is None:
        raise InputError("nothing to draw: E_ac has no model", remedy="measure more sizes, threads")
    measured = [(point.threads, point.size) for point in result.points]
    threads = np.geomspace(1, max(most_threads, REACH * max(p for p, _ in measured)), _SAMPLES)
    sizes = np.geomspace(
        min(n for _, n in measured), REACH * max(n for _, n in measured), _SAMPLES
    )  # fmt: skip
    figure = new_figure(11.0, 7.0)
    panels = figure.subplots(2, 3).flatten().tolist()
    surfaces = efficiency_surfaces(result, threads, sizes)
    for axes, (name, values) in zip(panels, surfaces.items(), strict=False):
        axes.set_title(_TITLES[name], fontsize=9, loc="left")
        if values is None:
            axes.text(0.5, 0.5, "no model", transform=axes.transAxes, ha="center", fontsize=8)
        else:
            _draw_surface(
                figure, axes, threads, sizes, values, discrepancy=name.startswith("delta")
            )
        axes.plot(
            *zip(*measured, strict=True), "o", color="black", markersize=3.5,
            markerfacecolor="white", clip_on=False,
            label="measured" if axes is panels[0] else None,
        )  # fmt: skip
    last = panels[-1]
    drawn = _draw_size_lines(last, result, efficiency, threads)
    last.set_title(f"size that keeps an efficiency of {efficiency:g}", fontsize=9, loc="left")
    last.set_xlim(threads[0], threads[-1])
    reach = np.array([sizes[0], max(sizes[-1], *drawn)]) if drawn else sizes
    for axes in panels:
        tall = reach if axes is last else sizes
        scale_axis(axes, "x", threads, sorted({1.0, *(float(p) for p, _ in measured)}))
        scale_axis(axes, "y", tall, sorted({n for _, n in measured}))
        axes.set_xlabel("threads p")
        axes.set_ylabel("size n")
        axes.set_ylim(tall[0], tall[-1])
        style_axes(axes, grid="both" if axes is last else None)
    if not drawn:
        last.text(
            0.5, 0.5, "no size in this range has this efficiency", transform=last.transAxes,
            ha="center", fontsize=8,
        )  # fmt: skip
    legend_below(figure, 4)
    return figure


def _draw_surface(
    figure: Figure, axes: Axes, threads: np.ndarray, sizes: np.ndarray, values: np.ndarray, *,
    discrepancy: bool,
) -> None:  # fmt: skip
    """Draws a map with contours. Low efficiencies and high discrepancies are dark."""
    clipped = np.clip(values, 0, 1)
    filled = axes.contourf(
        threads, sizes, clipped, levels=_LEVELS, cmap=COLOUR_MAP + "_r" * discrepancy
    )  # fmt: skip
    named = _LEVELS[1:-1] if discrepancy else sorted(CONTOURS)
    inside = [level for level in named if clipped.min() < level < clipped.max()]
    if inside:
        strong = [2.0 if discrepancy and abs(level - MUCH) < 1e-9 else 1.0 for level in inside]
        lines = axes.contour(
            threads, sizes, clipped, levels=inside, colors="white", linewidths=strong
        )  # fmt: skip
        axes.clabel(lines, fmt="%.1f", fontsize=7.5)
    bar = figure.colorbar(filled, ax=axes, ticks=_LEVELS[::2])
    bar.ax.tick_params(labelsize=8)


def _draw_size_lines(
    axes: Axes, result: Isoefficiency, efficiency: float, threads: np.ndarray
) -> list[float]:
    """Draws the line of each function that has a model, and returns its sizes."""
    reached: list[float] = []
    for size_line in size_lines(result, efficiency, threads.tolist()):
        if size_line.points:
            colour, dashes = _STROKES[size_line.key]
            axes.plot(
                [p for p, _ in size_line.points], [n for _, n in size_line.points], color=colour,
                linestyle=dashes, linewidth=1.6, label=size_line.label,
            )  # fmt: skip
            reached += [n for _, n in size_line.points]
    return reached
