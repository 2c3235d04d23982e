"""Predictions of fitted models, and the models as JSON (schema `regionpredict/models/1`)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.report.next_points import Suggestion, next_point_record

MODELS_SCHEMA = "regionpredict/models/1"
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
        "callpath": series.callpath,
        "metric": series.metric,
        "parameters": list(model.parameters),
        "constant": model.constant,
        "terms": _terms(model.terms, model.parameters),
        "law": model.law,
        "law_parameters": model.law_parameters,
        "reciprocal": model.reciprocal,
        "ceiling": model.ceiling,
        "pieces": [
            {
                "first": piece.first,
                "last": piece.last,
                "constant": piece.constant,
                "terms": _terms(piece.terms, model.parameters),
            }
            for piece in model.pieces
        ],
        "text": model.formula(),
        "smape": model.smape,
        "adjusted_r2": _finite(model.adjusted_r2),
        "cross_validated_error": model.cross_validated_error,
        "noise": _finite(model.noise),
        "warnings": list(model.warnings),
    }


def models_json(
    models: ModelSet,
    predictions: Sequence[PredictedValue] = (),
    calls: Sequence[Mapping[str, Any]] = (),
    next_points: Sequence[Suggestion] | None = None,
) -> str:
    """The models of an experiment as JSON. `predictions`, the call tree's `calls` and the
    `next_points` are included if requested.
    """
    data: dict[str, Any] = {
        "schema": MODELS_SCHEMA,
        "models": [model_record(series, model) for series, model in models.models],
        "problems": [str(problem) for problem in models.problems],
    }
    if predictions:
        data["predictions"] = [prediction._asdict() for prediction in predictions]
    if calls:
        data["call_tree"] = list(calls)
    if next_points is not None:
        data["next_points"] = [next_point_record(asked) for asked in next_points]
    return json.dumps(data, indent=1)
