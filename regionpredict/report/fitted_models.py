"""Fitted models as a table, as JSON (schema `regionpredict/models/1`) and as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from regionpredict.errors import one_line
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel, growth_key
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.report.aligned_table import aligned_lines

MODELS_SCHEMA = "regionpredict/models/1"


class PredictedValue(NamedTuple):
    """What a model says of a point: its value, the interval at a probability of `level`, and what
    speaks against it (empty where nothing does). Values are in the metric's unit."""

    callpath: str
    metric: str
    point: Mapping[str, float]
    value: float
    low: float
    high: float
    level: float
    warning: str


def models_table(models: ModelSet, predictions: Sequence[PredictedValue], output: str) -> str:
    """The models, fastest growing first, what speaks against them, and their predictions.

    `output` is the language of the formulas: `python`, `latex`, else plain text.
    """
    style = output if output in ("python", "latex") else "text"
    ranked = sorted(models.models, key=lambda item: growth_key(item[1].leading_term), reverse=True)
    rows = [("call path", "metric", "model", "SMAPE %", "adj. R2", "left-out %")]
    rows += [
        (
            series.callpath or "-",
            series.metric or "-",
            model.formula(style),
            f"{model.smape:.2f}",
            f"{model.adjusted_r2:.3f}" if model.terms else "-",
            f"{model.cross_validated_error:.2f}",
        )
        for series, model in ranked
    ]
    lines = aligned_lines(rows)
    for series, model in ranked:
        lines.extend(f"note: {series.callpath or '-'}: {text}" for text in model.warnings)
    if predictions:
        lines += ["", *_predictions_table(predictions)]
    return "\n".join(map(one_line, lines))


def _predictions_table(predictions: Sequence[PredictedValue]) -> list[str]:
    interval = f"{predictions[0].level:.0%} interval"
    rows = [("call path", "metric", "at", "prediction", interval, "doubt")]
    rows += [
        (
            prediction.callpath or "-",
            prediction.metric or "-",
            ", ".join(f"{name} = {value:g}" for name, value in prediction.point.items()),
            f"{prediction.value:.5g}",
            f"{prediction.low:.4g} to {prediction.high:.4g}",
            prediction.warning,
        )
        for prediction in predictions
    ]
    return aligned_lines(rows)


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


def models_json(models: ModelSet, predictions: Sequence[PredictedValue] = ()) -> str:
    """The models of an experiment as JSON; `predictions` are put beside them."""
    data: dict[str, Any] = {
        "schema": MODELS_SCHEMA,
        "models": [model_record(series, model) for series, model in models.models],
        "problems": [str(problem) for problem in models.problems],
    }
    if predictions:
        data["predictions"] = [prediction._asdict() for prediction in predictions]
    return json.dumps(data, indent=1)


def models_csv(models: ModelSet) -> str:
    """The models of an experiment as a table, one a row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ("callpath", "metric", "model", "law", "smape", "adjusted_r2", "cross_validated_error")
    )
    for series, model in models.models:
        writer.writerow(
            (
                series.callpath,
                series.metric,
                model.formula(),
                model.law,
                f"{model.smape:.6g}",
                f"{model.adjusted_r2:.6g}",
                f"{model.cross_validated_error:.6g}",
            )
        )
    return out.getvalue()
