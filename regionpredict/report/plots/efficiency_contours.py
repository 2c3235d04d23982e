"""Efficiency over threads and size, and the sizes that keep one (Shudler 2018, 5.2, 5.6, 5.7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.laws.efficiency_surface import LARGEST, smallest_size
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
_REACH = 4.0
_LEVELS = np.linspace(0.0, 1.0, 11)
_NAMED = (0.3, 0.5, 0.7, 0.9)


def isoefficiency_figure(result: Isoefficiency, efficiency: float, most_threads: int) -> Figure:
    """On the left E_ac by its model over threads and size, with what was measured; on the right the
    sizes that keep `efficiency`, by the program (E_ac), its graph without contention (E_cf) and
    its bound (E_ub). Threads go to `most_threads`, or four times the measured ones.

    Raises `InputError` where E_ac has no model.
    """
    model = result.actual
    if model is None:
        raise InputError("nothing to draw: E_ac has no model", remedy="measure more sizes, threads")
    places = [(point.threads, point.size) for point in result.points]
    threads = np.geomspace(1, max(most_threads, _REACH * max(p for p, _ in places)), _SAMPLES)
    sizes = np.geomspace(
        min(n for _, n in places), _REACH * max(n for _, n in places), _SAMPLES
    )  # fmt: skip
    figure = new_figure(8.0, 3.9)
    left, right = figure.subplots(1, 2)
    values = np.array([[model.value(p, n) for p in threads] for n in sizes])
    filled = left.contourf(
        threads, sizes, np.clip(values, 0, 1), levels=_LEVELS, cmap=COLOUR_MAP
    )  # fmt: skip
    if values.min() < _NAMED[-1]:
        lines = left.contour(
            threads, sizes, values, levels=_NAMED, colors="white", linewidths=1.0
        )  # fmt: skip
        left.clabel(lines, fmt="%.1f", fontsize=7.5)
    bar = figure.colorbar(filled, ax=left, ticks=_LEVELS[::2])
    bar.ax.tick_params(labelsize=8)
    left.plot(
        *zip(*places, strict=True), "o", color="black", markersize=4, markerfacecolor="white",
        label="measured", clip_on=False,
    )  # fmt: skip
    left.set_title("E_ac, the program's efficiency", fontsize=9, loc="left")
    drawn = _lines(right, result, efficiency, threads)
    right.set_title(f"size that keeps an efficiency of {efficiency:g}", fontsize=9, loc="left")
    right.set_xlim(threads[0], threads[-1])
    reach = np.array([sizes[0], max(sizes[-1], *drawn)]) if drawn else sizes
    for axes, tall in ((left, sizes), (right, reach)):
        scale_axis(axes, "x", threads, sorted({1.0, *(float(p) for p, _ in places)}))
        scale_axis(axes, "y", tall, sorted({n for _, n in places}))
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
    functions: list[tuple[str, Callable[[float, float], float | None], str, str]] = []
    if result.actual is not None:
        functions.append(("E_ac, the program", result.actual.value, BLUE, "-"))
    if result.free is not None:
        functions.append(("E_cf, without contention", result.free.value, GREEN, "--"))
    if result.parallelism is not None:
        functions.append(("E_ub, no scheduler exceeds", result.bound, VERMILION, "-."))
    reached: list[float] = []
    for label, value, colour, dashes in functions:
        line = _line(value, efficiency, threads)
        if line:
            axes.plot(
                [p for p, _ in line], [n for _, n in line], color=colour, linestyle=dashes,
                linewidth=1.6, label=label,
            )  # fmt: skip
            reached += [n for _, n in line]
    return reached


def _line(
    value: Callable[[float, float], float | None], efficiency: float, threads: np.ndarray
) -> list[tuple[float, float]]:
    """(p, n): the smallest n that keeps the efficiency; without those p that no size suits."""
    found: list[tuple[float, float]] = []
    for p in threads.tolist():
        size = smallest_size(partial(_known, value, p), efficiency)
        if size is not None and size < LARGEST:
            found.append((p, size))
    return found


def _known(value: Callable[[float, float], float | None], threads: float, size: float) -> float:
    """An efficiency, 0 where there is none."""
    return value(threads, size) or 0.0
