"""Fitted models as JSON (schema `regionpredict/models/1`) and as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.search.experiment_models import ModelSet

MODELS_SCHEMA = "regionpredict/models/1"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def model_record(series: Series, model: FittedModel) -> dict[str, Any]:
    """One model as the JSON schema `regionpredict/models/1` has it."""
    return {
        "callpath": series.callpath,
        "metric": series.metric,
        "parameters": list(model.parameters),
        "constant": model.constant,
        "terms": [
            {
                "coefficient": coefficient,
                "powers": {model.parameters[i]: list(t) for i, t in sorted(monomial.items())},
            }
            for coefficient, monomial in model.terms
        ],
        "law": model.law,
        "law_parameters": model.law_parameters,
        "reciprocal": model.reciprocal,
        "ceiling": model.ceiling,
        "text": model.formula(),
        "smape": model.smape,
        "adjusted_r2": _finite(model.adjusted_r2),
        "cross_validated_error": model.cross_validated_error,
        "noise": _finite(model.noise),
        "warnings": list(model.warnings),
    }


def models_json(found: ModelSet, predictions: list[dict[str, Any]] | None = None) -> str:
    """The models of an experiment as JSON; `predictions` are put beside them."""
    data: dict[str, Any] = {
        "schema": MODELS_SCHEMA,
        "models": [model_record(series, model) for series, model in found.models],
        "problems": [str(problem) for problem in found.problems],
    }
    if predictions:
        data["predictions"] = predictions
    return json.dumps(data, indent=1)


def models_csv(found: ModelSet) -> str:
    """The models of an experiment as a table, one a row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ("callpath", "metric", "model", "law", "smape", "adjusted_r2", "cross_validated_error")
    )
    for series, model in found.models:
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
