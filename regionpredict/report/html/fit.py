"""The page of `fit`: models of measured series, with their curves and bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.fit.search.next_point import NextPoint
from regionpredict.report.call_tree import growth_text
from regionpredict.report.fitted_models import PredictedValue, figure_text, models_table
from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    as_text,
    curve,
    facts,
    line,
    marks,
    printed,
    table,
    text,
)
from regionpredict.report.html.page import page
from regionpredict.report.model_slices import REACH, ModelSlice, evenly_spaced
from regionpredict.report.next_points import hours_text, place_text, why_text
from regionpredict.report.quantities import plural

_SAMPLES = 32  # of each curve
_MOST_DRAWN = 100
"""Models with curves: each asks its band some hundred times. Of more, the first have them."""
_WIDE = 8.0
"""Axes whose positive values span such a factor are logarithmic, as those of plots."""


class FitResult(NamedTuple):
    """What `fit` found: `next_points` is None where nobody asked, `trees` are call trees as the
    terminal shows them, `level` is the probability of the bands."""

    models: ModelSet
    predictions: Sequence[PredictedValue]
    next_points: Sequence[tuple[Series, FittedModel, NextPoint | str]] | None
    trees: Sequence[str]
    level: float


def fit_page(path: str, result: FitResult) -> str:
    """The page; `path` is the file's name."""
    models = result.models
    overview = [plural(len(models.models), "model")]
    overview += [f"Left out: {problem}" for problem in models.problems]
    drawn = min(len(models.models), _MOST_DRAWN)
    notes = [] if drawn == len(models.models) else [
        text(f"The first {drawn} of {len(models.models)} models have their curves here; --filter "
             "and --metric choose.")]  # fmt: skip
    sections = [
        Section("Models", [*_models(result), *notes]),
        Section("Predictions", prediction_rows(result.predictions)),
        Section("What to measure next", _next(result)),
        Section("Call tree", [printed("Call tree", tree) for tree in result.trees]),
        as_text(models_table(models, result.predictions, "table")),
    ]
    return page(f"Models of {path}", overview, sections)


def _models(result: FitResult) -> list[Block]:
    rows: list[list[Cell]] = []
    details = []
    for at, (series, model) in enumerate(result.models.models):
        leading = growth_text(model.leading_term, model.parameters)
        fitness = model.adjusted_r2 if model.terms else None
        rows.append([
            series.callpath or "all", series.metric, model.formula(), f"O({leading})", model.law,
            (f"{model.smape:.2f} %", model.smape),
            (figure_text(fitness, 3), fitness),
            (f"{figure_text(model.cross_validated_error, 2)} %", model.cross_validated_error),
        ])  # fmt: skip
        details.append(_details(series, model, result, at))
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True), Column("Model"),
        Column("Growth", choice=True, minor=True), Column("Law", choice=True, minor=True),
        Column("SMAPE", number=True, minor=True), Column("Adjusted R2", number=True, minor=True),
        Column("Left-out error", number=True, minor=True),
    ]  # fmt: skip
    title = "Models: open one for its curve and what speaks against it"
    return [table(title, columns, rows, details=details)] if rows else []


def _details(series: Series, model: FittedModel, result: FitResult, at: int) -> list[Block]:
    pairs = [("Model", model.formula())]
    pairs += [(name, f"{value:.4g}") for name, value in model.law_parameters.items()]
    pairs += [("Doubt", warning) for warning in model.warnings]
    pairs += [
        (
            "At " + _point(prediction),
            f"{prediction.value:.5g}, {prediction.low:.4g} to {prediction.high:.4g}"
            + (f"; {prediction.warning}" if prediction.warning else ""),
        )
        for prediction in result.predictions
        if (prediction.callpath, prediction.metric) == (series.callpath, series.metric)
    ]
    if at >= _MOST_DRAWN:
        return [facts(pairs)]
    return [facts(pairs), *(_curve(series, model, name, result.level) for name in model.parameters)]


def _curve(series: Series, model: FittedModel, parameter: str, level: float) -> Block:
    """The model over one parameter, the others at their largest measured values."""
    model_slice = ModelSlice(series, model, parameter, {})
    low, most = float(model_slice.x.min()), float(model_slice.x.max())
    high = REACH * most if most > low else max(REACH * most, most + 1.0)
    grid = evenly_spaced(low, high, _SAMPLES)
    coordinates = model_slice.coordinates_at(grid)
    predictions = model.predict_many(coordinates)
    bands = [model.interval(place, level) for place in coordinates]
    points = list(zip(grid.tolist(), predictions.tolist(), strict=True))
    band = [(x, b.low, b.high) for x, b in zip(grid.tolist(), bands, strict=True)]
    known = [k for k in range(len(model_slice.x)) if np.isfinite(model_slice.y[k])]
    shown = [(float(model_slice.x[k]), float(model_slice.y[k])) for k in known]
    bars = [(float(model_slice.x[k]), *model_slice.spread(k)) for k in known]
    drawn = [line("model", points, _clipped(band, predictions)),
             marks("measured, from the least to the most", shown, colour=0, bars=bars)]  # fmt: skip
    title = f"{series.metric or 'value'} over {parameter}"
    title += f" at {model_slice.others}" if model_slice.others else ""
    title += f", {100 * level:.0f} % band"
    spans = [*predictions.tolist(), *(y for _, y in shown)]
    unit = f" ({series.unit})" if series.unit else ""
    last = {"x": most, "label": "measured up to here"}
    return curve(title, parameter, f"{series.metric or 'value'}{unit}", drawn, mark=last,
                 logx=_wide([low, high]), logy=_wide(spans),
                 band=f"{100 * level:.0f} % band of the model")  # fmt: skip


def _clipped(
    band: Sequence[tuple[float, float, float]], predictions: np.ndarray
) -> list[tuple[float, float, float]]:
    """Far out a band would leave nothing to see of the points, as in plots: it ends a way below the
    curve, and above."""
    least, most = float(predictions.min()), float(predictions.max())
    if least <= 0:
        return list(band)
    floor, roof = 0.2 * least, 5.0 * most
    return [(x, min(max(low, floor), roof), min(max(high, floor), roof)) for x, low, high in band]


def _wide(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) >= _WIDE * min(values)


def prediction_rows(predictions: Sequence[PredictedValue]) -> list[Block]:
    """The predictions as a table, if there are any."""
    rows: list[list[Cell]] = [
        [
            prediction.callpath or "all",
            prediction.metric,
            _point(prediction),
            (f"{prediction.value:.5g}", prediction.value),
            (f"{prediction.low:.4g} to {prediction.high:.4g}", prediction.low),
            prediction.warning,
        ]
        for prediction in predictions
    ]
    if not rows:
        return []
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True), Column("At", choice=True),
        Column("Value", number=True), Column(f"{predictions[0].level:.0%} interval", number=True),
        Column("Doubt", minor=True),
    ]  # fmt: skip
    return [table("Predicted values", columns, rows)]


def _next(result: FitResult) -> list[Block]:
    if not result.next_points:
        return []
    rows: list[list[Cell]] = []
    for series, model, item in result.next_points:
        open_ = None if isinstance(item, str) or item.stop else item
        rows.append([
            series.callpath or "all", series.metric,
            "nothing" if open_ is None else place_text(model, open_),
            ("", None) if open_ is None else (f"{open_.decides:.0%}", open_.decides),
            ("", None) if open_ is None else (hours_text(open_), open_.core_hours),
            why_text(item),
        ])  # fmt: skip
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True), Column("Measure next"),
        Column("Decides", number=True, minor=True), Column("Core hours", number=True),
        Column("Why", minor=True),
    ]  # fmt: skip
    return [table("The point that decides most for its price", columns, rows)]


def _point(predicted: PredictedValue) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in predicted.point.items())
