"""Draws models over one parameter as curves with their points, intervals and segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.terms import FloatArray
from regionpredict.report.document import Drawing
from regionpredict.report.html.blocks import curve, line, marks

MOST_CURVES = 6
"""Maximum number of models in one picture, since each has its own color."""
_REACH = 4.0  # how far curves extend beyond the largest measured value
_SAMPLES = 40  # points of each curve
_WIDE = 8.0
"""An axis is logarithmic if its positive values span this factor."""


def model_curves(
    models: Sequence[tuple[Series, FittedModel]], *, parameter: str | None = None,
    fixed: Mapping[str, float] | None = None, until: float | None = None, level: float = 0.9,
) -> Drawing:  # fmt: skip
    """Up to six models over one parameter, each with its points, curve and interval.

    A point is the modeled summary, and its bar extends from the smallest to the largest repetition.
    A band contains the value with probability `level`. Dotted vertical lines mark the ends of
    segments. If there are several parameters, `parameter` is on the axis. The others have their
    value in `fixed`, or the largest measured one, which the label shows. Curves extend to `until`.
    Raises `InputError` if there is no model, and for an unknown parameter.
    """
    if not models:
        raise InputError("no model to draw", remedy="measure more points")
    name = parameter or models[0][1].parameters[0]
    slices = [ModelSlice(series, model, name, fixed or {}) for series, model in models]
    least = min(float(own.x.min()) for own in slices)
    most = max(float(own.x.max()) for own in slices)
    high = until if until is not None else max(_REACH * most, most + (most == least))
    if not least < high:
        raise InputError(
            f"curves from {name} = {least:g} to {high:g} are empty", remedy="give a larger end"
        )
    grid = evenly_spaced(least, high, _SAMPLES)
    drawn = [own.series(grid, level, at) for at, own in enumerate(slices[:MOST_CURVES])]
    for own, (_, points) in zip(slices, drawn, strict=False) if len(drawn) > 1 else ():
        points["name"] = f"{own.name or own.label}, measured"
    ends = {"x": most, "label": "measured up to here"}
    values = [y for pair in drawn for one in pair for _, y in one["points"]]
    metrics = {series.metric for series, _ in models} - {""}
    units = {series.unit for series, _ in models} - {""}
    unit = f" ({units.pop()})" if len(units) == 1 else ""
    what = metrics.pop() if len(metrics) == 1 else "value"
    title = f"{what} over {name}, {100 * level:.0f} % band"
    block = curve(title, name, what + unit, [pair[0] for pair in drawn] + [
        pair[1] for pair in drawn if pair[1]["points"]
    ], mark=ends, logx=_spans_wide_range([least, high]), logy=_spans_wide_range(values),
        band=f"{100 * level:.0f} % band of the model")  # fmt: skip
    rules = [{"x": x, "colour": at} for at, own in enumerate(slices[:MOST_CURVES])
             for x in own.changes]  # fmt: skip
    return {**block, "rules": rules}


def parameter_index(parameters: Sequence[str], name: str) -> int:
    """Returns the position of a parameter. Raises `InputError` if it is unknown."""
    if name not in parameters:
        raise InputError(
            f"there is no parameter '{name}'", remedy=f"the parameters are {', '.join(parameters)}"
        )
    return parameters.index(name)


class ModelSlice:
    """A model over one parameter with the others fixed, and the measured points at these values.

    `x` `(k,)` are the measured values of the parameter. `y` `(k,)` are the modeled values, or nan
    if the others were measured at other values only. `label` is the `name` with the formula.
    Raises `InputError` for an unknown parameter.
    """

    def __init__(
        self, series: Series, model: FittedModel, parameter: str, fixed: Mapping[str, float]
    ) -> None:
        self.model = model
        self.index = parameter_index(model.parameters, parameter)
        self.point = model.points.max(0)
        others = []
        for k, name in enumerate(model.parameters):
            if k != self.index:
                self.point[k] = fixed.get(name, self.point[k])
                others.append(f"{name} = {self.point[k]:g}")
        self.others = ", ".join(others)
        rest = np.delete(model.points, self.index, axis=1)
        here = (rest == np.delete(self.point, self.index)).all(1)
        self.x = model.points[here, self.index]
        self.y = model.observations.y[here]
        if not len(self.x):
            self.x = np.unique(model.points[:, self.index])
            self.y = np.full(len(self.x), np.nan)
        by_place = dict(zip(series.points, series.values, strict=True))
        self.repetitions = [by_place.get(tuple(point), ()) for point in model.points[here].tolist()]
        self.name = " ".join(filter(None, (series.callpath, self.others))) or series.metric
        self.label = f"{self.name}: {model.formula()}" if self.name else model.formula()

    def coordinates_at(self, grid: FloatArray) -> FloatArray:
        """Returns the points `(k, m)` at which the drawn parameter has the values `(k,)`."""
        points = np.tile(self.point, (len(grid), 1))
        points[:, self.index] = grid
        return points

    def series(self, grid: FloatArray, level: float, colour: int) -> tuple[Drawing, Drawing]:
        """Returns the curve with its band over the values `grid` `(k,)`, and the measured
        points.
        """
        coordinates = self.coordinates_at(grid)
        values = self.model.predict_many(coordinates)
        bands = [self.model.interval(place, level) for place in coordinates]
        band = [(x, b.low, b.high) for x, b in zip(grid.tolist(), bands, strict=True)]
        known = [k for k in range(len(self.x)) if np.isfinite(self.y[k])]
        points = [(float(self.x[k]), float(self.y[k])) for k in known]
        bars = [(float(self.x[k]), *self._repetition_range(k)) for k in known]
        curve_points = list(zip(grid.tolist(), values.tolist(), strict=True))
        return (
            line(self.label, curve_points, _limit_interval(band, values), colour=colour),
            marks("measured, from the least to the most", points, colour=colour, bars=bars),
        )

    def _repetition_range(self, index: int) -> tuple[float, float]:
        middle = float(self.y[index])
        repetitions = self.repetitions[index] if index < len(self.repetitions) else ()
        finite = [float(value) for value in repetitions if np.isfinite(value)]
        return min([middle, *finite]), max([middle, *finite])

    @property
    def changes(self) -> list[float]:
        """Returns the middles of the intervals in which the behavior changes."""
        model = self.model
        ends = [*(piece.first for piece in model.pieces[1:]), model.start]
        return [0.5 * (piece.last + end) for piece, end in zip(model.pieces, ends, strict=False)]


def _limit_interval(
    band: Sequence[tuple[float, float, float]], predictions: FloatArray
) -> list[tuple[float, float, float]]:
    """Limits a wide interval above and below the curve, so that the points stay visible."""
    least, most = float(predictions.min()), float(predictions.max())
    if least <= 0:
        return list(band)
    floor, roof = 0.2 * least, 5.0 * most
    return [(x, min(max(low, floor), roof), min(max(high, floor), roof)) for x, low, high in band]


def _spans_wide_range(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) >= _WIDE * min(values)


def evenly_spaced(low: float, high: float, count: int) -> FloatArray:
    """Returns evenly spaced numbers from low to high, on a linear or logarithmic axis."""
    if low > 0:
        return np.geomspace(low, high, count)
    return np.linspace(low, high, count)
