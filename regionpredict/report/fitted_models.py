"""Predictions of fitted models, and a model as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.quality import Monomial
from regionpredict.report.json_text import fields_of

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
        formula=_finite(formula),
        forecasters=forecasters,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _terms(terms: Iterable[tuple[float, Monomial]], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "coefficient": coefficient,
            "powers": {names[i]: list(term) for i, term in sorted(monomial.items())},
        }
        for coefficient, monomial in terms
    ]


def model_record(series: Series, model: FittedModel) -> dict[str, Any]:
    """One model in the JSON schema `regionpredict/models/1`."""
    return {
        **fields_of(series, "callpath metric"),
        **fields_of(model, "parameters constant law law_parameters reciprocal ceiling smape "
                 "cross_validated_error warnings"),
        "terms": _terms(model.terms, model.parameters),
        "pieces": [
            {**fields_of(piece, "first last constant"),
             "terms": _terms(piece.terms, model.parameters)}
            for piece in model.pieces
        ],
        "text": model.formula(),
        "adjusted_r2": _finite(model.adjusted_r2),
        "noise": _finite(model.noise),
    }  # fmt: skip
