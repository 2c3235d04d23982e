"""Efficiency over threads and size, and the sizes that keep one (Shudler 2018, 5.2, 5.6, 5.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regionpredict.errors import InputError
from regionpredict.report.isoefficiency_lines import REACH, size_lines
from regionpredict.report.plots.canvas import (
    BLUE,
    COLOUR_MAP,
    GREEN,
    VERMILION,
    dress,
    legend_below,
    new_figure,
    scale_axis,
)
from regionpredict.tasks.isoefficiency.models import Isoefficiency

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SAMPLES = 60
_LEVELS = np.linspace(0.0, 1.0, 11)
_NAMED = (0.3, 0.5, 0.7, 0.9)
_STROKES = {"E_ac": (BLUE, "-"), "E_cf": (GREEN, "--"), "E_ub": (VERMILION, "-.")}


def isoefficiency_figure(result: Isoefficiency, efficiency: float, most_threads: int) -> Figure:
    """On the left E_ac by its model over threads and size, with what was measured; on the right the
    sizes that keep `efficiency`, by the program (E_ac), its graph without contention (E_cf) and
    its bound (E_ub). Threads go to `most_threads`, or four times the measured ones.

    Raises `InputError` where E_ac has no model.
    """
    model = result.actual
    if model is None:
        raise InputError("nothing to draw: E_ac has no model", remedy="measure more sizes, threads")
    measured = [(point.threads, point.size) for point in result.points]
    threads = np.geomspace(1, max(most_threads, REACH * max(p for p, _ in measured)), _SAMPLES)
    sizes = np.geomspace(
        min(n for _, n in measured), REACH * max(n for _, n in measured), _SAMPLES
    )  # fmt: skip
    figure = new_figure(8.0, 3.9)
    left, right = figure.subplots(1, 2)
    efficiencies = np.array([[model.value(p, n) for p in threads] for n in sizes])
    filled = left.contourf(
        threads, sizes, np.clip(efficiencies, 0, 1), levels=_LEVELS, cmap=COLOUR_MAP
    )  # fmt: skip
    if efficiencies.min() < _NAMED[-1]:
        lines = left.contour(
            threads, sizes, efficiencies, levels=_NAMED, colors="white", linewidths=1.0
        )  # fmt: skip
        left.clabel(lines, fmt="%.1f", fontsize=7.5)
    bar = figure.colorbar(filled, ax=left, ticks=_LEVELS[::2])
    bar.ax.tick_params(labelsize=8)
    left.plot(
        *zip(*measured, strict=True), "o", color="black", markersize=4, markerfacecolor="white",
        label="measured", clip_on=False,
    )  # fmt: skip
    left.set_title("E_ac, the program's efficiency", fontsize=9, loc="left")
    drawn = _lines(right, result, efficiency, threads)
    right.set_title(f"size that keeps an efficiency of {efficiency:g}", fontsize=9, loc="left")
    right.set_xlim(threads[0], threads[-1])
    reach = np.array([sizes[0], max(sizes[-1], *drawn)]) if drawn else sizes
    for axes, tall in ((left, sizes), (right, reach)):
        scale_axis(axes, "x", threads, sorted({1.0, *(float(p) for p, _ in measured)}))
        scale_axis(axes, "y", tall, sorted({n for _, n in measured}))
        axes.set_xlabel("threads p")
        axes.set_ylabel("size n")
        axes.set_ylim(tall[0], tall[-1])
        dress(axes, grid="both" if axes is right else None)
    if not drawn:
        right.text(
            0.5, 0.5, "no size of this range keeps it", transform=right.transAxes, ha="center",
            fontsize=8,
        )  # fmt: skip
    legend_below(figure, 4)
    return figure


def _lines(
    axes: Axes, result: Isoefficiency, efficiency: float, threads: np.ndarray
) -> list[float]:
    """Draws the line of each function that has a model; the sizes that it reaches."""
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
