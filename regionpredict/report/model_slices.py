"""A model over one of its parameters, as data for pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.terms import FloatArray

REACH = 4.0
"""The default extent of curves beyond the largest measured value."""


class ModelSlice:
    """A model over one parameter with the others fixed, and the measured points at these values.

    `x` `(k,)` are the measured values of the parameter. `y` `(k,)` are the modeled values, or nan
    if the others were measured at other values only. `label` has the model's name and formula.
    Raises `InputError` for an unknown parameter.
    """

    def __init__(
        self, series: Series, model: FittedModel, parameter: str, fixed: Mapping[str, float]
    ) -> None:
        if parameter not in model.parameters:
            raise InputError(
                f"there is no parameter '{parameter}'",
                remedy=f"the parameters are {', '.join(model.parameters)}",
            )
        self.model = model
        self.index = model.parameters.index(parameter)
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
        name = " ".join(filter(None, (series.callpath, self.others))) or series.metric
        self.label = f"{name}: {model.formula()}" if name else model.formula()

    def coordinates_at(self, grid: FloatArray) -> FloatArray:
        """The points `(k, m)` at which the drawn parameter has the values `(k,)`."""
        points = np.tile(self.point, (len(grid), 1))
        points[:, self.index] = grid
        return points

    def spread(self, index: int) -> tuple[float, float]:
        """The smallest and the largest repetition at a measured value."""
        middle = float(self.y[index])
        repetitions = self.repetitions[index] if index < len(self.repetitions) else ()
        finite = [float(value) for value in repetitions if np.isfinite(value)]
        return min([middle, *finite]), max([middle, *finite])

    @property
    def changes(self) -> list[float]:
        """The middles of the intervals in which the behavior changes."""
        model = self.model
        ends = [*(piece.first for piece in model.pieces[1:]), model.start]
        return [0.5 * (piece.last + end) for piece, end in zip(model.pieces, ends, strict=False)]


def evenly_spaced(low: float, high: float, count: int) -> FloatArray:
    """Evenly spaced numbers from low to high, on a linear or logarithmic axis."""
    if low > 0:
        return np.geomspace(low, high, count)
    return np.linspace(low, high, count)
