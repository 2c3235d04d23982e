"""Documents the result of `fit`: models of series with curves, bands and predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel, growth_key
from regionpredict.fit.model.predicted_value import FORECAST, FORMULA, PredictedValue
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.fit.search.next_points import Suggestion
from regionpredict.report.call_tree import growth_text, point_text
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Place,
    Section,
    Table,
    Text,
)
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.model_curves import MOST_CURVES, model_curves
from regionpredict.report.names import several
from regionpredict.report.quantities import show_share

MODELS_SCHEMA = "regionpredict/models/1"
_MOST_DRAWN = 100
"""The maximum number of models with curves, since the interval of each takes hundreds of
evaluations.
"""
_NAMED = 3  # maximum number of listed forecasters


class FitResult(NamedTuple):
    """The result of `fit`.

    `next_points` is None if they were not requested. `trees` are call trees as tables and
    pictures. `level` is the probability of the bands. `style` is the language of the formulas:
    `text`, `python` or `latex`. `calls` are the call trees for JSON.
    """

    models: ModelSet
    predictions: Sequence[PredictedValue] = ()
    next_points: Sequence[Suggestion] | None = None
    trees: Sequence[Block] = ()
    level: float = 0.9
    style: str = "text"
    calls: Sequence[Mapping[str, Any]] = ()


def fit_document(path: str, result: FitResult) -> Document:
    """Returns the models with their predictions and caveats. In text, call trees replace the
    models. `path` is the file's name.
    """
    models = result.models.models
    only: Place = "page" if result.trees else ""
    notes = [
        Text(f"The first {_MOST_DRAWN} of {len(models)} models have their curves here; --filter "
             "and --metric choose.", only="page")
    ] if len(models) > _MOST_DRAWN else []  # fmt: skip
    doubts = [f"{series.callpath or '-'}: {warning}"
              for series, model in models for warning in model.warnings]  # fmt: skip
    left_out = [str(problem) for problem in result.models.problems]
    sections = [
        Section("Result", _fastest_facts(result), "page"),
        Section("Models", [_model_table(result), *notes], only),
        Section("Comparison", lambda: _common_picture(result), "page"),
        Section("Doubts", [Items(doubts, "Doubts")], only),
        Section("Left out", [Items(left_out)], "page"),
        Section("Predictions", prediction_blocks(result.predictions), only),
        Section("Call tree", result.trees),
        Section("Next measurements",
                [_next_points_table(result.next_points)] if result.next_points else []),
    ]  # fmt: skip
    return Document(f"Models of {path}", [], sections, lambda: _json_record(result))


def _fastest_facts(result: FitResult) -> list[Block]:
    models = result.models.models
    if not models:
        return []
    series, model = max(models, key=lambda pair: growth_key(pair[1].leading_term))
    errors = [own.cross_validated_error for _, own in models]
    known = list(filter(math.isfinite, errors))
    growth = growth_text(model.leading_term, model.parameters)
    name = series.callpath or series.metric or "the measured value"
    text = f"Fastest growth: {name}, O({growth})."
    if known:
        text += f" Largest error at points left out of the fit: {round(max(known), 2):g} %."
    return [Text(text)]


def _json_record(result: FitResult) -> dict[str, Any]:
    points = result.next_points
    return {
        "schema": MODELS_SCHEMA,
        "models": [model_record(series, model) for series, model in result.models.models],
        "problems": [str(problem) for problem in result.models.problems],
        **({"predictions": plain(result.predictions)} if result.predictions else {}),
        **({"call_tree": list(result.calls)} if result.calls else {}),
        **({} if points is None else {"next_points": list(map(_next_point_record, points))}),
    }


def model_record(series: Series, model: FittedModel) -> dict[str, Any]:
    """Returns one model in the JSON schema `regionpredict/models/1`."""
    return {
        **fields_of(series, "callpath metric"),
        **fields_of(model, "parameters constant law law_parameters reciprocal ceiling smape "
                 "cross_validated_error warnings"),
        "terms": _term_records(model.terms, model.parameters),
        "pieces": [
            {**fields_of(piece, "first last constant"),
             "terms": _term_records(piece.terms, model.parameters)}
            for piece in model.pieces
        ],
        "text": model.formula(),
        "adjusted_r2": _finite_number(model.adjusted_r2),
        "noise": _finite_number(model.noise),
    }  # fmt: skip


def _term_records(
    terms: Iterable[tuple[float, Monomial]], names: Sequence[str]
) -> list[dict[str, Any]]:
    return [
        {
            "coefficient": coefficient,
            "powers": {names[i]: list(term) for i, term in sorted(monomial.items())},
        }
        for coefficient, monomial in terms
    ]


def _finite_number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _common_picture(result: FitResult) -> list[Block]:
    """Draws all models over one parameter in one picture, if there are a few of them."""
    models = result.models.models
    names = {(series.metric, model.parameters) for series, model in models}
    if not 2 <= len(models) <= MOST_CURVES or len(names) > 1:
        return []
    return [model_curves(models, level=result.level)]


def _model_table(result: FitResult) -> Table:
    rows: list[list[Cell]] = [
        [
            series.callpath or None, series.metric or None, model.formula(result.style),
            f"O({growth_text(model.leading_term, model.parameters)})", model.law,
            model.smape, model.adjusted_r2 if model.terms else math.nan,
            model.cross_validated_error,
        ]
        for series, model in result.models.models
    ]  # fmt: skip
    columns = [
        Column("Call path", key="callpath"),
        Column("Metric", key="metric", choice=True, minor=True), Column("Model", key="model"),
        Column("Growth", choice=True, minor=True, only="page"),
        Column("Law", key="law", choice=True, minor=True, only="page"),
        Column("SMAPE", _percent_text, "smape", minor=True),
        Column("Adj. R2", fitness_text, "adjusted_r2", minor=True),
        Column("Left-out", _percent_text, "cross_validated_error", minor=True),
    ]  # fmt: skip
    legend = ["SMAPE: mean error of the fit. Adj. R2: share of the variation that the model "
              "explains. Left-out: error at points left out of the fit."]  # fmt: skip
    return Table("Models", columns, rows, lambda at: _model_details(result, at), legend=legend)


def _percent_text(value: float) -> str:
    return f"{value:.2f} %" if math.isfinite(value) else "-"


def fitness_text(value: float) -> str:
    """Formats an adjusted R2, or a dash if the measurements do not define it.

    >>> fitness_text(0.51), fitness_text(float("nan"))
    ('0.510', '-')
    """
    return f"{value:.3f}" if math.isfinite(value) else "-"


def _model_details(result: FitResult, at: int) -> list[Block]:
    series, model = result.models.models[at]
    pairs = [("Model", model.formula())]
    pairs += [(name, f"{value:.4g}") for name, value in model.law_parameters.items()]
    pairs += [("Doubt", warning) for warning in model.warnings]
    pairs += [
        (
            "At " + point_text(prediction.point),
            f"{prediction.value:.5g}, {prediction.low:.4g} to {prediction.high:.4g}"
            + (f"; {prediction.warning}" if prediction.warning else ""),
        )
        for prediction in result.predictions
        if (prediction.callpath, prediction.metric) == (series.callpath, series.metric)
    ]
    if at >= _MOST_DRAWN:
        return [Facts(pairs)]
    curves = (model_curves([(series, model)], parameter=name, level=result.level)
              for name in model.parameters)  # fmt: skip
    return [Facts(pairs), *curves]


def prediction_blocks(predictions: Sequence[PredictedValue]) -> list[Block]:
    """Returns the predictions, if there are any, and forecasters that replace the formula."""
    if not predictions:
        return []
    forecasts = [prediction for prediction in predictions if prediction.by == FORECAST]
    rows: list[list[Cell]] = [
        [
            prediction.callpath or None, prediction.metric or None, point_text(prediction.point),
            prediction.value, (f"{prediction.low:.4g} to {prediction.high:.4g}", prediction.low),
            prediction.by if forecasts else None,
            _formula_alone(prediction) if forecasts else None, prediction.warning,
        ]
        for prediction in predictions
    ]  # fmt: skip
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True), Column("At", choice=True),
        Column("Prediction", "{:.5g}".format),
        Column(f"{show_share(predictions[0].level)} interval", str),
        Column("By", choice=True, minor=True, optional=True),
        Column("Formula alone", str, minor=True, optional=True), Column("Doubt", minor=True),
    ]  # fmt: skip
    table = Table("Predicted values", columns, rows)
    if not forecasts:
        return [table]
    who = []
    for prediction in forecasts:
        place = ", ".join(filter(None, (prediction.callpath, point_text(prediction.point))))
        who.append(f"{place}: {several(prediction.forecasters, _NAMED)}")
    return [table, Items(who, "By forecast: the formula misses the measurements by more than their "
                         "noise, or the noise leaves it uncertain. Beyond the last point, several "
                         "forecasts of the last points are averaged")]  # fmt: skip


def _formula_alone(prediction: PredictedValue) -> Cell:
    if prediction.by == FORMULA:
        return "the same", prediction.value
    return None if prediction.formula is None else (f"{prediction.formula:.5g}", prediction.formula)


def _next_points_table(suggestions: Sequence[Suggestion]) -> Table:
    rows: list[list[Cell]] = []
    for one in suggestions:
        point = None if isinstance(one.answer, str) or one.answer.stop else one.answer
        rows.append([
            one.series.callpath or None, one.series.metric or None,
            "nothing" if point is None else
            point_text(dict(zip(one.model.parameters, point.point, strict=True))),
            None if point is None else point.decides,
            None if point is None else point.core_hours, one.why,
        ])  # fmt: skip
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True), Column("Measure next"),
        Column("Decides", show_share, minor=True),
        Column("Core hours", lambda hours: f"{hours:,.0f}" if hours >= 1000 else f"{hours:.3g}"),
        Column("Why", minor=True),
    ]  # fmt: skip
    legend = ["Decides: probability that the point excludes one of the models in the last column."]
    return Table("The points that decide most per core hour", columns, rows, legend=legend)


def _next_point_record(suggestion: Suggestion) -> dict[str, Any]:
    series, model, item = suggestion
    names = fields_of(series, "callpath metric")
    if isinstance(item, str):
        return {**names, "point": None, "stop": item}
    point = dict(zip(model.parameters, item.point, strict=True))
    known = fields_of(item, "decides between repetitions core_hours")
    return {**names, "point": point, **known, "stop": item.stop or None}
