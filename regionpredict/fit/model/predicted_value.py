"""Collects the predictions of fitted models at points, with their intervals and warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel

FORMULA, FORECAST = "formula", "forecast"


class PredictedValue(NamedTuple):
    """A model's prediction at a point, in the unit of the metric. The interval from `low` to `high`
    has the probability `level`. `warning` is empty for a reliable prediction.

    `by` is `formula`, or `forecast` if forecasters replace the formula. `forecasters` are sorted by
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
    """Returns the prediction of a model at a point, which maps each parameter to a value."""
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
