"""`regionpredict fit FILE`: empirical models of the measurements in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.output import write_file, write_result
from regionpredict.errors import one_line

if TYPE_CHECKING:
    from regionpredict.errors import InputError
    from regionpredict.fit.experiment import Series
    from regionpredict.fit.model.fitted_model import FittedModel
    from regionpredict.fit.search.experiment_models import ModelSet


_DATA = {
    "extrap-text": "measurements_extrap_text",
    "extrap-json": "measurements_extrap_json",
    "data-csv": "measurements_csv",
}


def _bindings(texts: tuple[str, ...]) -> list[dict[str, float]]:
    """`p=1024` or `p=1024,n=50`, repeatable: one dictionary a point."""
    points = []
    for text in texts:
        point = {}
        for part in text.split(","):
            name, equals, value = part.partition("=")
            try:
                if not equals:
                    raise ValueError
                point[name.strip()] = float(value)
            except ValueError:
                raise click.BadParameter(f"'{part}' is not NAME=NUMBER") from None
        points.append(point)
    return points


@click.command("fit")
@click.argument("path", type=click.Path())
@click.option(
    "--input",
    "input_format",
    help="text, json, jsonl, measurements, talpas, cube or csv; else found.",
)
@click.option(
    "--format",
    "output",
    type=click.Choice(
        ["table", "json", "csv", "python", "latex", "extrap-text", "extrap-json", "data-csv"]
    ),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option("-o", "--output", "target", type=click.Path(), help="Write to a file.")
@click.option("--predict", multiple=True, metavar="p=1024", help="Predict there; repeatable.")
@click.option(
    "--statistic",
    type=click.Choice(["mean", "median", "minimum", "first-quartile"]),
    default="mean",
    show_default=True,
    help="Summary of the repetitions.",
)
@click.option("--max-terms", type=click.IntRange(1, 2), default=2, show_default=True)
@click.option("--min-points", type=click.IntRange(2), default=5, show_default=True)
@click.option("--law", default="auto", help="A law instead of the search: threads, usl, ...")
@click.option("--metric", help="Only this metric.")
@click.option("--parameter", "parameters", multiple=True, help="CSV: a column that is one.")
@click.option("--value", "values", multiple=True, help="CSV: a column of measured values.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 0.999),
    default=0.9,
    show_default=True,
    help="Probability of the intervals.",
)
@click.option("--plot", type=click.Path(), help="Draw points and models as SVG into this file.")
def command(path: str, predict: tuple[str, ...], **options: Any) -> None:
    """Models the measurements in PATH and ranks the models by their growth.

    Reads what regionpredict measure writes, Extra-P's text and JSON, JSON lines, TALPas, Cube4
    folders and CSV.
    """
    from pathlib import Path

    from regionpredict.fit.input import read
    from regionpredict.fit.input.csv_table import read_csv
    from regionpredict.fit.search.experiment_models import model_experiment
    from regionpredict.report.fitted_models import models_csv, models_json

    points = _bindings(predict)
    columns = {name: options[name] or None for name in ("parameters", "values")}
    if any(columns.values()):
        experiment = read_csv(Path(path), **columns)
    else:
        experiment = read(path, options["input_format"])
    if options["metric"] is not None:
        experiment = _only(experiment, options["metric"], path)
    output, target = options["output"], options["target"]
    if output in _DATA:
        from regionpredict.report import measured_series

        text = getattr(measured_series, _DATA[output])(experiment)
        write_result(text.rstrip("\n") + "\n", target)
        _report(experiment.problems)
        return
    found = model_experiment(
        experiment,
        path=path,
        statistic=options["statistic"],
        max_terms=options["max_terms"],
        min_points=options["min_points"],
        law=options["law"],
    )
    predictions = _predictions(found, points, options["level"], path)
    if output == "json":
        text = models_json(found, predictions)
    elif output == "csv":
        text = models_csv(found)
    else:
        text = _table(found, predictions, output)
    if options["plot"] is not None:
        from regionpredict.report.models_plot import models_svg

        write_file(Path(options["plot"]), models_svg(found))
    write_result(text.rstrip("\n") + "\n", target)
    _report(found.problems)


def _report(problems: tuple[InputError, ...]) -> None:
    """One line for each series that has no model; the exit code says that there are some."""
    for problem in problems:
        click.echo(f"regionpredict: {problem}", err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _only(experiment: Any, metric: str, path: str) -> Any:
    from regionpredict.errors import InputError
    from regionpredict.fit.experiment import Experiment

    kept = tuple(series for series in experiment.series if series.metric == metric)
    if not kept:
        known = ", ".join(sorted({series.metric for series in experiment.series}))
        raise InputError(f"there is no metric '{metric}'", remedy=f"there are {known}", path=path)
    return Experiment(kept, experiment.problems)


def _predictions(
    found: ModelSet, points: list[dict[str, float]], level: float, path: str
) -> list[dict[str, Any]]:
    """The value, its interval and what speaks against it, for every model and point."""
    from regionpredict.errors import InputError

    result = []
    for point in points:
        for series, model in found.models:
            unknown = [name for name in point if name not in model.parameters]
            missing = [name for name in model.parameters if name not in point]
            if unknown or missing:
                what = f"no parameter '{unknown[0]}'" if unknown else f"no value for '{missing[0]}'"
                raise InputError(
                    f"--predict: there is {what}",
                    remedy=f"the parameters are {', '.join(model.parameters)}",
                    path=path,
                )
            at = tuple(point[name] for name in model.parameters)
            band = model.interval(at, level)
            result.append(
                {
                    "callpath": series.callpath,
                    "metric": series.metric,
                    "point": point,
                    "value": model.predict(at),
                    "low": band.low,
                    "high": band.high,
                    "level": level,
                    "warning": model.extrapolation_warning(at, level),
                }
            )
    return result


def _table(found: ModelSet, predictions: list[dict[str, Any]], style: str) -> str:
    """The models as lines, fastest growing first."""
    from regionpredict.fit.model.fitted_model import growth_key

    def growth(item: tuple[Series, FittedModel]) -> tuple[float, float, float]:
        model = item[1]
        return growth_key(model.leading_term)

    ranked = sorted(found.models, key=growth, reverse=True)
    style = {"python": "python", "latex": "latex"}.get(style, "text")
    rows = [
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
    head = ("call path", "metric", "model", "SMAPE %", "adj. R2", "left-out %")
    lines = _aligned([head, *rows])
    for series, model in ranked:
        lines.extend(f"note: {series.callpath or '-'}: {text}" for text in model.warnings)
    if predictions:
        lines.append("")
        level = predictions[0]["level"]
        body = [
            (
                one["callpath"] or "-",
                one["metric"] or "-",
                ", ".join(f"{n} = {v:g}" for n, v in one["point"].items()),
                f"{one['value']:.5g}",
                f"{one['low']:.4g} to {one['high']:.4g}",
                one["warning"],
            )
            for one in predictions
        ]
        lines += _aligned(
            [("call path", "metric", "at", "prediction", f"{level:.0%} interval", "doubt"), *body]
        )
    return "\n".join(map(one_line, lines))


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
