"""Draws one model over two parameters, as contours or as a surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.terms import FloatArray
from regionpredict.report.model_curves import parameter_index
from regionpredict.report.plots.canvas import (
    COLOUR_MAP,
    new_figure,
    plain,
    scale_axis,
    style_axes,
    tick_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES = 48
_LEVELS = 12
_REACH = 2.0


_ROOM_FOR_LABELS = 0.8
"""The relative size of a surface plot. Its labels need room, since they are outside the layout."""


def contour_figure(
    series: Series, model: FittedModel, fixed: Mapping[str, float] | None = None
) -> Figure:
    """Draws values over the first two parameters that are not `fixed`, and the measured points.

    Parameters must be positive. Raises `InputError` unless exactly two parameters are free.
    """
    from matplotlib.colors import LogNorm, Normalize

    figure = new_figure()
    axes = figure.add_subplot()
    names, x, y, z = _sample_model(model, fixed or {})
    rises = bool((z > 0).all()) and z.max() > 8 * z.min()
    if rises:
        levels = np.geomspace(z.min(), z.max(), _LEVELS)
    else:
        levels = np.linspace(z.min(), z.max() + (z.max() == z.min()), _LEVELS)
    norm = LogNorm(levels[0], levels[-1]) if rises else Normalize(levels[0], levels[-1])
    filled = axes.contourf(x, y, z, levels=levels, cmap=COLOUR_MAP, norm=norm, extend="neither")
    axes.contour(x, y, z, levels=levels, colors="white", linewidths=0.4)
    bar = figure.colorbar(filled, ax=axes, ticks=levels[:: max(1, _LEVELS // 6)])
    bar.ax.set_yticks(bar.get_ticks(), [tick_text(float(f"{t:.2g}")) for t in bar.get_ticks()])
    bar.ax.minorticks_off()
    bar.set_label(plain(series.metric or "value"))
    columns = [model.points[:, model.parameters.index(name)] for name in names]
    axes.plot(*columns, "o", color="black", markersize=3.5, markerfacecolor="white", clip_on=False)
    for which, values, column in zip("xy", (x, y), columns, strict=True):
        scale_axis(axes, which, values, sorted(set(column.tolist())))
    axes.set_xlabel(plain(names[0]))
    axes.set_ylabel(plain(names[1]))
    axes.set_title(_map_title(series, model), fontsize=8)
    style_axes(axes, grid=None)
    return figure


def surface_figure(
    series: Series, model: FittedModel, fixed: Mapping[str, float] | None = None
) -> Figure:
    """Draws the data of `contour_figure` as a surface. Points are on vertical lines."""
    figure = new_figure(height=4.2)
    axes: Any = figure.add_subplot(projection="3d")
    names, x, y, z = _sample_model(model, fixed or {})
    across, along = np.meshgrid(np.log2(x), np.log2(y))
    axes.plot_surface(across, along, z, cmap=COLOUR_MAP, alpha=0.85, linewidth=0)
    indices = [model.parameters.index(name) for name in names]
    measured = model.points[:, indices]
    axes.scatter(
        np.log2(measured[:, 0]), np.log2(measured[:, 1]), model.observations.y,
        color="black", s=9, depthshade=False,
    )  # fmt: skip
    for set_ticks, column in ((axes.set_xticks, 0), (axes.set_yticks, 1)):
        values = sorted(set(measured[:, column].tolist()))
        set_ticks([float(np.log2(v)) for v in values], [tick_text(v) for v in values])
    axes.set_xlabel(plain(names[0]))
    axes.set_ylabel(plain(names[1]))
    axes.set_zlabel(plain(series.metric or "value"), labelpad=12)
    axes.set_box_aspect(None, zoom=_ROOM_FOR_LABELS)
    axes.tick_params(labelsize=7)
    axes.set_title(_map_title(series, model), fontsize=8)
    return figure


def _map_title(series: Series, model: FittedModel) -> str:
    return plain(" ".join(filter(None, (series.callpath, model.formula()))), 80)


def _sample_model(
    model: FittedModel, fixed: Mapping[str, float]
) -> tuple[tuple[str, str], FloatArray, FloatArray, FloatArray]:
    """Returns the two free parameters, their values with shape `(s,)`, and the model's values with
    shape `(s, s)`.
    """
    free = [name for name in model.parameters if name not in fixed]
    if len(free) != 2:
        raise InputError(
            f"a map needs two free parameters, there are {', '.join(free) or 'none'}",
            remedy="fix the others, or draw curves",
        )
    columns = [model.parameters.index(name) for name in free]
    ranges = []
    for name, column in zip(free, columns, strict=True):
        column_values = model.points[:, column]
        if column_values.min() <= 0:
            raise InputError(
                f"{name} = {column_values.min():g} has no place on a logarithmic axis",
                remedy="draw curves over the other parameter",
            )
        ranges.append(np.geomspace(column_values.min(), _REACH * column_values.max(), _SAMPLES))
    across, along = np.meshgrid(*ranges)
    points = np.tile(model.points.max(0), (across.size, 1))
    for name, value in fixed.items():
        points[:, parameter_index(model.parameters, name)] = value
    points[:, columns[0]], points[:, columns[1]] = across.ravel(), along.ravel()
    column_values = model.predict_many(points).reshape(across.shape)
    return (free[0], free[1]), ranges[0], ranges[1], column_values
