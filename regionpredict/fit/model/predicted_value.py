"""Predictions of fitted models at points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel

FORMULA, FORECAST = "formula", "forecast"


class PredictedValue(NamedTuple):
    """A model's prediction at a point: its value, the interval with probability `level`, and
    caveats (empty if there are none). Values are in the metric's unit.

    `by` is `formula`, or `forecast` if forecasters replace the formula. `forecasters` lists them by
    weight. `formula` is the value of the formula alone, or None.
    """

    callpath: str
    metric: str
    point: Mapping[str, float]
    value: float
    low: float
    high: float
    level: float
    warning: str
    by: str = FORMULA
    formula: float | None = None
    forecasters: tuple[str, ...] = ()


def predicted_value(
    series: Series, model: FittedModel, point: Mapping[str, float], level: float
) -> PredictedValue:
    """The prediction of a model at a point with a value for each of its parameters."""
    coordinates = tuple(point[name] for name in model.parameters)
    band = model.interval(coordinates, level)
    formula = float(model.formula_values(np.array([coordinates]))[0])
    forecasters = model.forecasters(coordinates)
    return PredictedValue(
        callpath=series.callpath,
        metric=series.metric,
        point=point,
        value=model.predict(coordinates),
        low=band.low,
        high=band.high,
        level=level,
        warning=model.extrapolation_warning(coordinates, level),
        by=FORECAST if forecasters else FORMULA,
        formula=formula if math.isfinite(formula) else None,
        forecasters=forecasters,
    )
