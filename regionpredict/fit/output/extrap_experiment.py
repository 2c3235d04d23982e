"""Writes measurements and their models as an experiment file of Extra-P 4, which its GUI opens.

The file is a ZIP archive with `experiment.json`. It contains the summary of each point's
repetitions, and each model as a function with its errors. Extra-P has only sums of powers and
logarithms. Reciprocals, exponentials and piecewise models are omitted, but their measurements are
kept.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from fractions import Fraction
from typing import Any

import numpy as np

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import NO_MODEL, FittedModel
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.search.experiment_models import ModelSet

_VERSION = "4.2.5"  # the version of Extra-P with this format
_NAME = "regionpredict"
_OLDEST = (1980, 1, 1, 0, 0, 0)  # a fixed time for reproducible archives
_LARGEST_DENOMINATOR = 64
_MODELER = {
    "allow_log_terms": True, "use_crossvalidation": True, "compare_with_RSS": False,
    "minimum_term_contribution": 0.0005, "poly_exponents": "", "log_exponents": "",
    "retain_default_exponents": False, "force_combination_exponents": False,
    "allow_negative_exponents": True, "$type": "SingleParameterModeler",
}  # fmt: skip
_MULTI_PARAMETER_MODELER = {
    "single_parameter_point_selection": "auto", "allow_combinations_of_sums_and_products": True,
    "compare_with_RSS": False, "$type": "MultiParameterModeler",
}  # fmt: skip


def extrap_experiment(models: ModelSet) -> tuple[bytes, tuple[str, ...]]:
    """Returns the archive, and the series (`callpath: metric`) whose models Extra-P cannot
    express.
    """
    measured: dict[str, dict[str, Any]] = {}
    fitted: dict[str, dict[str, Any]] = {}
    left_out = []
    names: tuple[str, ...] = ()
    for series, model in models.models:
        names = series.parameters
        measured.setdefault(series.callpath, {})[series.metric] = _points_as_json(series)
        if not _is_expressible(model):
            left_out.append(f"{series.callpath}: {series.metric}")
            continue
        fitted.setdefault(series.callpath, {})[series.metric] = {
            "hypothesis": _hypothesis_as_json(model),
            "annotations": [],
        }
    modeler = _MODELER if len(names) == 1 else _MULTI_PARAMETER_MODELER
    content = {
        "Extra-P": _VERSION,
        "parameters": list(names),
        "measurements": measured,
        "modelers": [
            {
                "name": _NAME,
                "modeler": {"use_median": False, "use_measure": "MEAN", **modeler},
                "models": fitted,
            }
        ],
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("experiment.json", _OLDEST), json.dumps(content))
    return buffer.getvalue(), tuple(left_out)


def _points_as_json(series: Series) -> list[dict[str, Any]]:
    points = []
    for point, repetitions in zip(series.points, series.values, strict=True):
        values = np.array([value for value in repetitions if math.isfinite(value)])
        if len(values):
            points.append(
                {
                    "coordinate": list(point),
                    "median": float(np.median(values)),
                    "mean": float(values.mean()),
                    "minimum": float(values.min()),
                    "maximum": float(values.max()),
                    "std": float(values.std()),
                    "repetitions": len(values),
                    "values": None,
                }
            )
    return points


def _is_expressible(model: FittedModel) -> bool:
    """Returns whether Extra-P can express the model, as a sum of products of powers and
    logarithms.
    """
    plain = all(
        len(term) == 2 for _, monomial in model.terms for term in monomial.values()
    )  # a third number is an exponential
    whole = not model.pieces and not model.reciprocal and model.ceiling is None
    return plain and whole and model.law != NO_MODEL


def _hypothesis_as_json(model: FittedModel) -> dict[str, Any]:
    """Returns a model's function and its errors, as Extra-P defines them."""
    single = len(model.parameters) == 1
    function: dict[str, Any] = {"constant_coefficient": model.constant}
    if not model.terms:
        kind = "Constant"
    elif single:
        kind = "SingleParameter"
        function["compound_terms"] = [
            {"coefficient": coefficient, "simple_terms": _factors_as_json(monomial, 0)}
            for coefficient, monomial in model.terms
        ]
    else:
        kind = "MultiParameter"
        function["compound_terms"] = [
            {
                "coefficient": coefficient,
                "parameter_term_pairs": {
                    str(at): {"coefficient": 1.0, "simple_terms": _factors_as_json(monomial, at)}
                    for at in sorted(monomial)
                },
            }
            for coefficient, monomial in model.terms
        ]
    function["$type"] = f"{kind}Function"
    y = model.observations.y
    wrong = model.formula_values(model.points) - y
    relative = wrong / np.where(y == 0, np.inf, y)
    squares, mean = float(wrong @ wrong), float(y.mean())
    adjusted = model.adjusted_r2
    return {
        "function": function,
        "RSS": squares,
        "rRSS": float(relative @ relative),
        "nRSS": math.sqrt(squares) / mean if mean else 0.0,
        "SMAPE": model.smape,
        "AR2": adjusted if math.isfinite(adjusted) else 1.0,
        "RE": float(np.abs(relative).mean()),
        "_use_median": False,
        "_use_measure": "MEAN",
        "_costs_are_calculated": True,
        "$type": f"{kind}Hypothesis",
    }


def _factors_as_json(monomial: Monomial, parameter: int) -> list[dict[str, str]]:
    """Returns the exponents of one parameter and of its logarithm in a monomial."""
    power, logarithm = monomial[parameter][:2]
    return [
        {
            "term_type": kind,
            "exponent": str(Fraction(exponent).limit_denominator(_LARGEST_DENOMINATOR)),
        }
        for kind, exponent in (("polynomial", power), ("logarithm", logarithm))
        if exponent
    ]
