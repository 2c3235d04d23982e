"""The share of each call in the total, stacked over a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.call_tree import CallTree
from regionpredict.report.plots.canvas import (
    COLOURS,
    MOST_FAR,
    dress,
    legend_below,
    new_figure,
    plain,
    scale_axis,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES = 80
_REACH = 64.0
_SHADES = ("", "//", "..", "xx")


def shares_figure(
    tree: CallTree,
    *,
    parameter: str | None = None,
    fixed: Mapping[str, float] | None = None,
    until: float | None = None,
) -> Figure:
    """The shares of the largest calls and of all others together. They add up to 100 %.

    `parameter` (by default the first) is on the axis, up to `until` (by default 64 times the
    largest measured value). The others have their value in `fixed`, or the largest measured one.
    Calls differ in color and in hatching. Raises `InputError` for an unknown parameter.
    """
    name = parameter or tree.parameters[0]
    unknown = [asked for asked in (name, *(fixed or {})) if asked not in tree.parameters]
    if unknown:
        raise InputError(
            f"there is no parameter '{unknown[0]}'",
            remedy=f"the parameters are {', '.join(tree.parameters)}",
        )
    index = tree.parameters.index(name)
    points = np.concatenate([call.model.points for call in tree.calls if call.model is not None])
    low = float(points[:, index].min())
    high = until if until is not None else _REACH * float(points[:, index].max())
    if not low < high < MOST_FAR:
        raise InputError(f"{name} = {high:g} is no end for shares from {low:g} on", remedy="more")
    grid = np.geomspace(low, high, _SAMPLES) if low > 0 else np.linspace(low, high, _SAMPLES)
    coordinates = np.tile(points.max(0), (_SAMPLES, 1))
    for asked, value in (fixed or {}).items():
        coordinates[:, tree.parameters.index(asked)] = value
    coordinates[:, index] = grid
    shares = 100 * tree.shares(coordinates)
    drawn = np.argsort(-shares.max(1), kind="stable")[: len(COLOURS) - 1]
    rest = shares.sum(0) - shares[drawn].sum(0)
    labels = [plain(tree.calls[k].callpath) for k in drawn]
    figure = new_figure(height=3.6)
    axes = figure.add_subplot()
    layers = [*shares[drawn], *([rest] if rest.max() > 0.05 else [])]
    if len(layers) > len(labels):
        labels.append("the others")
    bands = axes.stackplot(
        grid, layers, labels=labels,
        colors=[*COLOURS[: len(drawn)], "0.8"], alpha=0.85, edgecolor="white", linewidth=0.4,
    )  # fmt: skip
    for k, band in enumerate(bands):
        band.set_hatch(_SHADES[k % len(_SHADES)])
    scale_axis(axes, "x", grid, sorted(set(points[:, index].tolist())))
    axes.axvline(float(points[:, index].max()), color="black", linewidth=0.8, linestyle="--")
    axes.set_xlim(low, high)
    axes.set_ylim(0, 100)
    axes.set_xlabel(plain(name))
    axes.set_ylabel(plain(f"share of {tree.metric or 'all'} [%]"))
    dress(axes, grid=None)
    legend_below(figure, 2)
    return figure
