"""`regionpredict fit FILE`: empirical models of the measurements in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.output import write_result

if TYPE_CHECKING:
    from regionpredict.errors import InputError
    from regionpredict.fit.experiment import Experiment
    from regionpredict.fit.search.experiment_models import ModelSet
    from regionpredict.report.fitted_models import PredictedValue


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
@click.option(
    "--segments", type=click.IntRange(1), default=3, help="Most pieces of a range; 1: one."
)
@click.option("--suggest", is_flag=True, help="Which point to measure next, and at what cost.")
@click.option("--processors", metavar="NAME", help="The parameter that counts them, for the cost.")
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
    from regionpredict.report.fitted_models import models_csv, models_json, models_table

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
    models = model_experiment(
        experiment,
        path=path,
        statistic=options["statistic"],
        max_terms=options["max_terms"],
        min_points=options["min_points"],
        segments=options["segments"],
        law=options["law"],
    )
    predictions = _predictions(models, points, options["level"], path)
    if output == "json":
        text = models_json(models, predictions)
    elif output == "csv":
        text = models_csv(models)
    else:
        text = models_table(models, predictions, output)
    if options["suggest"]:
        from regionpredict.report.next_points import with_next_points

        text = with_next_points(text, models, points, options["processors"], output)
    if options["plot"] is not None:
        from regionpredict.report.models_plot import models_svg

        write_file(Path(options["plot"]), models_svg(models))
    write_result(text.rstrip("\n") + "\n", target)
    _report(models.problems)


def _report(problems: tuple[InputError, ...]) -> None:
    """One line for each series that has no model; the exit code says that there are some."""
    for problem in problems:
        click.echo(f"regionpredict: {problem}", err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _only(experiment: Experiment, metric: str, path: str) -> Experiment:
    from regionpredict.errors import InputError
    from regionpredict.fit.experiment import Experiment

    kept = tuple(series for series in experiment.series if series.metric == metric)
    if not kept:
        known = ", ".join(sorted({series.metric for series in experiment.series}))
        raise InputError(f"there is no metric '{metric}'", remedy=f"there are {known}", path=path)
    return Experiment(kept, experiment.problems)


def _predictions(
    models: ModelSet, points: list[dict[str, float]], level: float, path: str
) -> list[PredictedValue]:
    """The value, its interval and what speaks against it, for every model and point."""
    from regionpredict.errors import InputError
    from regionpredict.report.fitted_models import PredictedValue

    predictions = []
    for point in points:
        for series, model in models.models:
            unknown = [name for name in point if name not in model.parameters]
            missing = [name for name in model.parameters if name not in point]
            if unknown or missing:
                lack = f"no parameter '{unknown[0]}'" if unknown else f"no value for '{missing[0]}'"
                raise InputError(
                    f"--predict: there is {lack}",
                    remedy=f"the parameters are {', '.join(model.parameters)}",
                    path=path,
                )
            coordinates = tuple(point[name] for name in model.parameters)
            band = model.interval(coordinates, level)
            predictions.append(
                PredictedValue(
                    callpath=series.callpath,
                    metric=series.metric,
                    point=point,
                    value=model.predict(coordinates),
                    low=band.low,
                    high=band.high,
                    level=level,
                    warning=model.extrapolation_warning(coordinates, level),
                )
            )
    return predictions
