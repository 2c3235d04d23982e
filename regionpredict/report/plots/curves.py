"""Models over one parameter: points with their spread, curves, bands, segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.terms import FloatArray
from regionpredict.report.model_slices import REACH, ModelSlice, evenly_spaced
from regionpredict.report.plots.canvas import (
    COLOURS,
    DASHES,
    MARKERS,
    MOST_FAR,
    dress,
    legend_below,
    new_figure,
    plain,
    scale_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SAMPLES = 160
_BAND_SAMPLES = 40
_MOST_INSIDE = 3
"""Maximum number of models in a legend inside the axes."""


def curves_figure(
    models: Sequence[tuple[Series, FittedModel]],
    *,
    parameter: str | None = None,
    fixed: Mapping[str, float] | None = None,
    until: float | None = None,
    level: float = 0.9,
) -> Figure:
    """Up to seven models over one parameter, each with its points, curve and interval.

    A point is the modeled summary, and its bar extends from the smallest to the largest repetition.
    A band contains the value with probability `level`. Dotted vertical lines mark the ends of
    segments. If there are several parameters, `parameter` is on the axis. The others have their
    value in `fixed`, or the largest measured one, which the label shows. Curves extend to `until`.
    Raises `InputError` if there is no model, and for an unknown parameter.
    """
    if not models:
        raise InputError("no model to draw", remedy="measure more points")
    name = parameter or models[0][1].parameters[0]
    slices = [
        ModelSlice(series, model, name, fixed or {}) for series, model in models[: len(COLOURS)]
    ]
    many = len(slices) > _MOST_INSIDE
    figure = new_figure(height=4.4) if many else new_figure()
    axes = figure.add_subplot()
    measured = sorted({x for model_slice in slices for x in model_slice.x.tolist()})
    low, high = measured[0], until if until is not None else REACH * measured[-1]
    if not low < high < MOST_FAR:
        raise InputError(
            f"{name} = {high:g} is no end for curves from {low:g} on", remedy="give a larger one"
        )
    grid = evenly_spaced(low, high, _SAMPLES)
    seen = []
    for k, model_slice in enumerate(slices):
        seen.append(_draw(axes, model_slice, k, grid, level))
    scale_axis(axes, "x", np.array([low, high]), measured)
    values = np.concatenate(seen)
    scale_axis(axes, "y", values, [])
    axes.set_ylim(*_limits(values, logarithmic=axes.get_yscale() == "log"))
    axes.axvline(measured[-1], color="0.7", linewidth=0.8, zorder=0)
    axes.set_xlabel(plain(name))
    metrics = {series.metric for series, _ in models}
    units = {series.unit for series, _ in models} - {""}
    unit = f" [{units.pop()}]" if len(units) == 1 else ""
    axes.set_ylabel(plain(f"{metrics.pop()}{unit}") if len(metrics) == 1 else "value")
    dress(axes)
    if many:
        legend_below(figure, 1)
    else:
        axes.legend(fontsize=7, frameon=False, loc="best")
    return figure


def _limits(values: FloatArray, *, logarithmic: bool) -> tuple[float, float]:
    """The limits of the vertical axis, a twentieth beyond the values. A constant is in the middle.

    Wide bands are cut off, so that the points stay visible.
    """
    low, high = float(values.min()), float(values.max())
    if logarithmic:
        room = (high / low) ** 0.05
        return low / room, high * room
    middle = max(abs(low), abs(high))
    room = max(0.05 * (high - low), 1e-3 * middle) or 1.0
    return low - room, high + room


def _draw(
    axes: Axes, model_slice: ModelSlice, k: int, grid: FloatArray, level: float
) -> FloatArray:
    """Draws one model and returns the values that the axis must include."""
    colour = COLOURS[k]
    curve = model_slice.model.predict_many(model_slice.coordinates_at(grid))
    axes.plot(
        grid,
        curve,
        color=colour,
        linestyle=DASHES[k],
        linewidth=1.4,
        label=plain(model_slice.label),
    )
    coarse = evenly_spaced(float(grid[0]), float(grid[-1]), _BAND_SAMPLES)
    bands = [
        model_slice.model.interval(point, level) for point in model_slice.coordinates_at(coarse)
    ]
    low, high = np.array([b.low for b in bands]), np.array([b.high for b in bands])
    if curve.min() > 0:
        low = np.maximum(low, 0.2 * curve.min())
    axes.fill_between(coarse, low, high, color=colour, alpha=0.15, linewidth=0)
    known = np.isfinite(model_slice.y)
    ends = np.array([model_slice.spread(index) for index in range(len(model_slice.y))]).reshape(
        -1, 2
    )
    spread = np.array([model_slice.y - ends[:, 0], ends[:, 1] - model_slice.y])
    axes.errorbar(
        model_slice.x[known],
        model_slice.y[known],
        yerr=spread[:, known],
        fmt=MARKERS[k],
        color=colour,
        markersize=4.5,
        capsize=2,
        elinewidth=0.9,
        linestyle="none",
        zorder=3,
    )
    for change in model_slice.changes:
        axes.axvline(change, color=colour, linestyle=":", linewidth=0.9)
    return np.concatenate([curve, model_slice.y[known]])
