"""Fitted models as a table, as JSON (schema `regionpredict/models/1`) and as CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from regionpredict.errors import one_line
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.csv_text import csv_text

MODELS_SCHEMA = "regionpredict/models/1"
FORMULA, FORECAST = "formula", "forecast"
_NAMED = 3  # forecasters that are told in a table


class PredictedValue(NamedTuple):
    """What a model says of a point: its value, the interval at a probability of `level`, and what
    speaks against it (empty where nothing does). Values are in the metric's unit.

    `by` is `formula`, or `forecast` where views of the last points answer in its place, the
    `forecasters` that count most first; `formula` is what the formula alone would give, None where
    it has no value.
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
    """What the model says of a point that has a value for each of its parameters."""
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


def models_table(models: ModelSet, predictions: Sequence[PredictedValue], output: str) -> str:
    """The models, what speaks against them, and their predictions.

    `output` is the language of the formulas: `python`, `latex`, else plain text.
    """
    style = output if output in ("python", "latex") else "text"
    rows = [("call path", "metric", "model", "SMAPE %", "adj. R2", "left-out %")]
    rows += [
        (
            series.callpath or "-",
            series.metric or "-",
            model.formula(style),
            figure_text(model.smape, 2),
            figure_text(model.adjusted_r2 if model.terms else None, 3),
            figure_text(model.cross_validated_error, 2),
        )
        for series, model in models.models
    ]
    lines = aligned_lines(rows)
    for series, model in models.models:
        lines.extend(f"note: {series.callpath or '-'}: {text}" for text in model.warnings)
    if predictions:
        lines += ["", *predictions_table(predictions)]
    return "\n".join(map(one_line, lines))


def predictions_table(predictions: Sequence[PredictedValue]) -> list[str]:
    """The predictions as lines of a table, and who answers where the formula does not."""
    interval = f"{predictions[0].level:.0%} interval"
    forecasts = [prediction for prediction in predictions if prediction.by == FORECAST]
    heads = ("call path", "metric", "at", "prediction", interval)
    rows: list[tuple[str, ...]] = []
    for prediction in predictions:
        row = (
            prediction.callpath or "-",
            prediction.metric or "-",
            ", ".join(f"{name} = {value:g}" for name, value in prediction.point.items()),
            f"{prediction.value:.5g}",
            f"{prediction.low:.4g} to {prediction.high:.4g}",
        )
        who = (prediction.by, _formula_alone(prediction)) if forecasts else ()
        rows.append((*row, *who, prediction.warning))
    who = ("by", "formula alone") if forecasts else ()  # else what the formula alone gives is shown
    return [*aligned_lines([(*heads, *who, "doubt"), *rows]), *_of_forecasts(forecasts)]


def _formula_alone(prediction: PredictedValue) -> str:
    if prediction.by == FORMULA:
        return "the same"
    return "-" if prediction.formula is None else f"{prediction.formula:.5g}"


def _of_forecasts(forecasts: Sequence[PredictedValue]) -> list[str]:
    """Who answers where the formula does not."""
    if not forecasts:
        return []
    lines = ["by forecast: the formula shown misses the measurements by more than their noise, so "
             "that beyond the last point views of the last points answer together:"]  # fmt: skip
    for prediction in forecasts:
        named = ", ".join(prediction.forecasters[:_NAMED])
        more = f" and {len(prediction.forecasters) - _NAMED} more"
        at = ", ".join(f"{name} = {value:g}" for name, value in prediction.point.items())
        place = f"{prediction.callpath}, {at}" if prediction.callpath else at
        lines.append(f"  {place}: {named}{more if len(prediction.forecasters) > _NAMED else ''}")
    return lines


def figure_text(value: float | None, digits: int) -> str:
    """A figure of a model's quality; a dash where the measurements leave it undefined.

    >>> figure_text(0.51, 1), figure_text(float("nan"), 3)
    ('0.5', '-')
    """
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


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
    """One model as the JSON schema `regionpredict/models/1` has it."""
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
) -> str:
    """The models of an experiment as JSON; `predictions` and the call tree's `calls` are put
    beside them."""
    data: dict[str, Any] = {
        "schema": MODELS_SCHEMA,
        "models": [model_record(series, model) for series, model in models.models],
        "problems": [str(problem) for problem in models.problems],
    }
    if predictions:
        data["predictions"] = [prediction._asdict() for prediction in predictions]
    if calls:
        data["call_tree"] = list(calls)
    return json.dumps(data, indent=1)


def models_csv(models: ModelSet) -> str:
    """The models of an experiment as a table, one a row."""
    return csv_text(
        ("callpath", "metric", "model", "law", "smape", "adjusted_r2", "cross_validated_error"),
        (
            (
                series.callpath,
                series.metric,
                model.formula(),
                model.law,
                *(
                    f"{figure:.6g}"
                    for figure in (model.smape, model.adjusted_r2, model.cross_validated_error)
                ),
            )
            for series, model in models.models
        ),
    )
