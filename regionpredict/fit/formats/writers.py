"""Measurements and models as text: JSON, CSV, Extra-P's text and JSON, formulas."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

from regionpredict.fit.model import FittedModel
from regionpredict.fit.series import Experiment, ModelSet, Series

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


def measurements_csv(experiment: Experiment) -> str:
    """Measurements as a table, one repetition a row; `read_csv` reads it back."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = experiment.series[0].parameters if experiment.series else ()
    writer.writerow(("callpath", "metric", *names, "value"))
    for series in experiment.series:
        for point, values in zip(series.points, series.values, strict=True):
            writer.writerows(
                (series.callpath, series.metric, *map(repr, point), repr(float(v))) for v in values
            )
    return out.getvalue()


def measurements_extrap_text(experiment: Experiment) -> str:
    """Measurements in Extra-P's text format.

    All series must have the same points there; one with others begins at its own POINTS and is
    left to the JSON form: it is written as NaN where a point is missing.
    """
    names = experiment.series[0].parameters if experiment.series else ("p",)
    points = list(dict.fromkeys(p for series in experiment.series for p in series.points))
    shown = [
        f"{p[0]:.17g}" if len(names) == 1 else "( " + " ".join(f"{v:.17g}" for v in p) + " )"
        for p in points
    ]
    lines = ["PARAMETER " + " ".join(names), "POINTS " + " ".join(shown)]
    for series in experiment.series:
        lines += [f"REGION {series.callpath}", f"METRIC {series.metric}"]
        where = dict(zip(series.points, series.values, strict=True))
        lines.extend(
            "DATA " + " ".join(repr(float(v)) for v in where.get(p, (math.nan,))) for p in points
        )
    return "\n".join(lines) + "\n"


def measurements_extrap_json(experiment: Experiment) -> str:
    """Measurements in Extra-P's short JSON form."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for series in experiment.series:
        rows = found.setdefault(series.callpath, {}).setdefault(series.metric, [])
        rows.extend(
            {"point": list(p), "values": [float(x) for x in v]}
            for p, v in zip(series.points, series.values, strict=True)
        )
    names = list(experiment.series[0].parameters) if experiment.series else []
    return json.dumps({"parameters": names, "measurements": found}, indent=1)
