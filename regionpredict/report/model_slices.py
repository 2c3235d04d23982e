"""A model along one of its parameters: what pictures of models draw."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.terms import FloatArray

REACH = 4.0
"""How far beyond the largest measured value the curves go, if nothing else is said."""


class ModelSlice:
    """A model along one of its parameters, the others fixed, and the points that lie there.

    `x` `(k,)` are the measured values of the parameter, `y` `(k,)` what was modelled there (nan
    where only other values of the others were measured). `label` names the model and its formula.
    Raises `InputError` for a parameter that is not there.
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
        """The points `(k, m)` where the drawn parameter has the values `(k,)`."""
        points = np.tile(self.point, (len(grid), 1))
        points[:, self.index] = grid
        return points

    def spread(self, index: int) -> tuple[float, float]:
        """The smallest and the largest repetition at a measured value, about what was modelled."""
        middle = float(self.y[index])
        repetitions = self.repetitions[index] if index < len(self.repetitions) else ()
        finite = [float(value) for value in repetitions if np.isfinite(value)]
        return min([middle, *finite]), max([middle, *finite])

    @property
    def changes(self) -> list[float]:
        """Between which values the behaviour changes: the middles."""
        model = self.model
        ends = [*(piece.first for piece in model.pieces[1:]), model.start]
        return [0.5 * (piece.last + end) for piece, end in zip(model.pieces, ends, strict=False)]


def evenly_spaced(low: float, high: float, count: int) -> FloatArray:
    """Numbers from low to high, evenly on the axis on which they are drawn."""
    if low > 0:
        return np.geomspace(low, high, count)
    return np.linspace(low, high, count)
