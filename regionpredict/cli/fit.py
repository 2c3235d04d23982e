"""`regionpredict fit FILE`: empirical models of the measurements in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.fit_drawing import drawing
from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.output import result_options, write_notes, write_result
from regionpredict.cli.plot_option import plot_option, write_plot
from regionpredict.cli.point_bindings import point_bindings

if TYPE_CHECKING:
    from regionpredict.errors import InputError
    from regionpredict.fit.call_tree import CallTree
    from regionpredict.fit.experiment import Experiment
    from regionpredict.fit.model.fitted_model import FittedModel
    from regionpredict.fit.model.predicted_value import PredictedValue
    from regionpredict.fit.search.experiment_models import ModelSet


_TABLES = ("table", "python", "latex")  # formats with a header
_DATA = {
    "extrap-text": "measurements_extrap_text",
    "extrap-json": "measurements_extrap_json",
    "data-csv": "measurements_csv",
}


def _check_combination(options: Mapping[str, Any], points: Sequence[Any]) -> None:
    """Raises UsageError for options that cannot be combined."""
    from regionpredict.errors import UsageError

    if options["tree"] and options["form"] not in ("table", "json", "html"):
        raise UsageError(
            f"--tree with --format {options['output']}", remedy="it is a table, JSON or HTML"
        )
    if options["suggest"] and options["form"] == "csv":
        raise UsageError("--suggest has no CSV form", remedy="use --format table or json")
    if options["order"] == "value" and not points:
        raise UsageError("--sort value needs a point", remedy="give one: --predict p=1024")
    context = click.get_current_context()
    if options["form"] == "extra-p":
        if options["output"] is None:
            raise UsageError("an experiment of Extra-P is not text", remedy="give -o FILE.extra-p")
        refuse_options(
            context,
            ("predict", "suggest", "tree", "plot"),
            "cannot be combined with --format extra-p",
        )
    if options["plot"] is None:
        refuse_options(context, ("drawing", "fix", "until"), "needs --plot FILE")
    if options["form"] in _DATA:
        refuse_options(context, ("plot",), f"cannot be used with --format {options['output']}")


@click.command("fit")
@click.argument("path", type=click.Path())
@click.option(
    "--input",
    "input_format",
    help=(
        "text, json, jsonl, measurements, talpas, cube, caliper, tau, likwid, reframe or csv. "
        "Detected by default."
    ),
)
@result_options(
    "table json csv html python latex extrap-text extrap-json data-csv extra-p",
    "table, json, csv, html, python, latex, extrap-text, extrap-json, data-csv or extra-p, "
    "the experiment that Extra-P's GUI opens (also -o FILE.extra-p).",
    metavar="FORMAT",
)
@click.option("--predict", multiple=True, metavar="p=1024", help="Point to predict at. Repeatable.")
@click.option(
    "--statistic",
    type=click.Choice(["mean", "median", "minimum", "first-quartile"]),
    default="mean",
    show_default=True,
    help="Summary of the repetitions.",
)
@click.option(
    "--max-terms",
    type=click.IntRange(1, 8),
    default=2,
    show_default=True,
    help="Maximum number of growth terms.",
)
@click.option(
    "--exponents",
    metavar="I:J",
    help="Exponents of the parameter and of its logarithm to try: 0,1/2,1:0,1 or 0..3..1/4:0..2.",
)
@click.option(
    "--terms",
    multiple=True,
    metavar="TERM",
    help="A term to try, for example p^3*log2(p)^2. Repeatable.",
)
@click.option(
    "--search",
    metavar="GROWTH",
    help="Also search near this growth, for example p log p or k^3*2^k.",
)
@click.option("--refine", is_flag=True, help="Fit one term with exponents in sixteenths.")
@click.option(
    "--segments", type=click.IntRange(1), default=3, help="Maximum number of pieces per range."
)
@click.option("--suggest", is_flag=True, help="Suggest the next point to measure, with its cost.")
@click.option(
    "--processors", metavar="NAME", help="Parameter that counts processors, for the cost."
)
@click.option("--min-points", type=click.IntRange(2), default=5, show_default=True)
@click.option("--law", default="auto", help="Fit a law instead of searching: threads, usl, ...")
@click.option("--metric", help="Only this metric.")
@click.option("--parameter", "parameters", multiple=True, help="A CSV column that is a parameter.")
@click.option("--value", "values", multiple=True, help="A CSV column of measured values.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 0.999),
    default=0.9,
    show_default=True,
    help="Probability of the intervals.",
)
@click.option(
    "--filter", "pattern", metavar="PATTERN", help="Only matching call paths, for example 'MPI_*'."
)
@click.option(
    "--sort",
    "order",
    type=click.Choice(["growth", "value", "name", "file"]),
    default="growth",
    show_default=True,
    help="Order of the call paths. value: by the value at the last --predict.",
)
@click.option("--tree", is_flag=True, help="Show the call tree and what dominates at --predict.")
@click.option("--inclusive", is_flag=True, help="Values include the callees of a call path.")
@plot_option("the models")
@click.option(
    "--drawing",
    type=click.Choice(["curves", "contour", "surface", "shares"]),
    help="Kind of plot. By default, a contour for two parameters, else curves.",
)
@click.option("--fix", multiple=True, metavar="n=100", help="A parameter's value in the drawing.")
@click.option("--until", type=float, help="Largest value of the parameter to draw.")
def command(path: str, predict: tuple[str, ...], **options: Any) -> None:
    """Fit models to the measurements in PATH and rank them by growth.

    Reads what regionpredict measure writes, all that Extra-P reads and writes, Cube4, Caliper,
    Thicket, Benchpark, Google Benchmark, pytest-benchmark, hyperfine, likwid and tables.
    """
    from pathlib import PurePath

    from regionpredict.errors import InputError
    from regionpredict.fit.search.experiment_models import model_experiment
    from regionpredict.fit.search.next_points import next_points
    from regionpredict.report.call_tree import call_shares, call_tree_records, call_tree_table
    from regionpredict.report.fit_document import FitResult, fit_document
    from regionpredict.report.rendered import rendered

    if options["form"] == "table" and (options["output"] or "").endswith(".extra-p"):
        options["form"] = "extra-p"
    points = point_bindings(predict)
    fixed = {name: value for part in point_bindings(options["fix"]) for name, value in part.items()}
    _check_combination(options, points)
    experiment = _read_measurements(path, options)
    form, output = options["form"], options["output"]
    if form in _DATA:
        _write_measurements(_matching_series(experiment, options["pattern"]), form, output)
        return
    models = model_experiment(
        experiment,
        path=path,
        statistic=options["statistic"],
        min_points=options["min_points"],
        law=options["law"],
        **_search_space(options),
    )
    everything = models
    models = _select_models(models, options["pattern"], options["order"], points, path)
    if form == "extra-p":
        _write_experiment(models, output)
        return
    predictions = _predict_points(models, points, options["level"], path)
    trees: list[CallTree] = []
    if options["tree"] or options["drawing"] == "shares":
        from regionpredict.fit.call_tree import call_trees

        trees = list(call_trees(everything, "inclusive" if options["inclusive"] else "exclusive"))
    choice = {"pattern": options["pattern"], "order": options["order"]}
    asked = None
    if options["suggest"]:
        asked = next_points(models, points, options["processors"])
    calls = [record for tree in trees for record in call_tree_records(tree, points, **choice)]
    tables = [
        block for tree in trees if options["tree"] and form != "json"
        for block in (call_tree_table(tree, points, **choice), call_shares(tree))
    ]  # fmt: skip
    style = form if form in ("python", "latex") else "text"
    result = FitResult(models, predictions, asked, tables, options["level"], style, calls)
    text = rendered(fit_document(PurePath(path).name, result), form)
    if options["plot"] is not None:
        figure = drawing(
            options["drawing"], models, trees, fixed=fixed, until=options["until"],
            level=options["level"],
        )  # fmt: skip
        write_plot(options["plot"], figure)
    if models.models or form not in _TABLES:  # a table without rows has no header
        write_result(text.rstrip("\n") + "\n", output)
    problems = models.problems
    if not models.models and not problems:
        problems = (InputError("it contains no series", remedy="add measurements", path=path),)
    _report_problems(problems)


def _write_measurements(experiment: Experiment, form: str, output: str | None) -> None:
    from regionpredict.fit.output import measured_series

    text = getattr(measured_series, _DATA[form])(experiment)
    write_result(text.rstrip("\n") + "\n", output)
    _report_problems(experiment.problems)


def _write_experiment(models: ModelSet, output: str) -> None:
    """Writes an experiment for Extra-P. A note lists the models that Extra-P cannot represent."""
    from pathlib import Path

    from regionpredict.atomic_file import write_file
    from regionpredict.errors import one_line
    from regionpredict.fit.output.extrap_experiment import extrap_experiment

    archive, left_out = extrap_experiment(models)
    write_file(Path(output), archive)
    click.echo(f"written: {one_line(output)}", err=True)
    if left_out:
        write_notes([f"Extra-P has no form for these models: {', '.join(left_out)}"])
    _report_problems(models.problems)


def _search_space(options: Mapping[str, Any]) -> dict[str, Any]:
    """The search space of the options."""
    from regionpredict.fit.expectations.search_spaces import space_of
    from regionpredict.fit.search.refined_space import REFINED_SPACE, REFINING

    if options["refine"]:
        refuse_options(
            click.get_current_context(), ("exponents", "terms", "search", "max_terms"),
            "cannot be combined with --refine",
        )  # fmt: skip
        return {
            "space": REFINED_SPACE, "criterion": REFINING, "max_terms": 1,
            "segments": options["segments"],
        }  # fmt: skip
    space = space_of(options["exponents"], options["terms"], options["search"])
    return {
        "space": space, "max_terms": options["max_terms"], "segments": options["segments"]
    }  # fmt: skip


def _report_problems(problems: tuple[InputError, ...]) -> None:
    """Reports each series without a model. Returns exit code 1 if there are any, otherwise 0."""
    for problem in problems:
        click.echo(f"regionpredict: {problem}", err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _select_models(
    models: ModelSet, pattern: str | None, order: str, points: list[dict[str, float]], path: str
) -> ModelSet:
    """Returns the models with matching call paths, in the requested order."""
    from regionpredict.errors import InputError
    from regionpredict.fit.model.fitted_model import growth_key
    from regionpredict.fit.search.experiment_models import ModelSet
    from regionpredict.report.call_tree import matches

    kept = [item for item in models.models if pattern is None or matches(item[0].callpath, pattern)]
    if models.models and not kept:
        raise InputError(
            f"no call path matches '{pattern}'", remedy="* matches any text", path=path
        )
    if order == "growth":
        kept.sort(key=lambda item: growth_key(item[1].leading_term), reverse=True)
    elif order == "name":
        kept.sort(key=lambda item: (item[0].callpath, item[0].metric))
    elif order == "value":
        kept.sort(key=lambda item: -_value_at(item[1], points[-1], path))
    return ModelSet(tuple(kept), models.problems)


def _value_at(model: FittedModel, point: dict[str, float], path: str) -> float:
    return model.predict(_point_coordinates(model, point, path))


def _point_coordinates(model: FittedModel, point: dict[str, float], path: str) -> tuple[float, ...]:
    """Returns a point's values in the model's order of parameters. Raises InputError if names do
    not match.
    """
    from regionpredict.errors import InputError

    unknown = [name for name in point if name not in model.parameters]
    missing = [name for name in model.parameters if name not in point]
    if unknown or missing:
        lack = f"no parameter '{unknown[0]}'" if unknown else f"no value for '{missing[0]}'"
        raise InputError(
            f"--predict: there is {lack}",
            remedy=f"the parameters are {', '.join(model.parameters)}", path=path,
        )  # fmt: skip
    below = [name for name, value in point.items() if value < 0]
    if below:
        raise InputError(
            f"--predict: {below[0]} = {point[below[0]]:g} is below zero",
            remedy="predict at a positive value", path=path,
        )  # fmt: skip
    return tuple(point[name] for name in model.parameters)


def _read_measurements(path: str, options: dict[str, Any]) -> Experiment:
    """Reads the measurements of the requested metric."""
    from regionpredict.fit.input import read

    columns = {name: options[name] or None for name in ("parameters", "values")}
    experiment = read(path, options["input_format"], **columns)
    if options["metric"] is None:
        return experiment
    return _with_metric(experiment, options["metric"], path)


def _matching_series(experiment: Experiment, pattern: str | None) -> Experiment:
    from regionpredict.fit.experiment import Experiment
    from regionpredict.report.call_tree import matches

    kept = [
        series
        for series in experiment.series
        if pattern is None or matches(series.callpath, pattern)
    ]
    return Experiment(tuple(kept), experiment.problems)


def _with_metric(experiment: Experiment, metric: str, path: str) -> Experiment:
    from regionpredict.errors import InputError
    from regionpredict.fit.experiment import Experiment

    kept = tuple(series for series in experiment.series if series.metric == metric)
    if not kept:
        known = ", ".join(sorted({series.metric for series in experiment.series}))
        raise InputError(f"there is no metric '{metric}'", remedy=f"there are {known}", path=path)
    return Experiment(kept, experiment.problems)


def _predict_points(
    models: ModelSet, points: list[dict[str, float]], level: float, path: str
) -> list[PredictedValue]:
    """Returns the value, its interval and its caveats, for every model and point."""
    from regionpredict.fit.model.predicted_value import predicted_value

    for point in points:
        for _, model in models.models:
            _point_coordinates(model, point, path)
    return [
        predicted_value(series, model, point, level)
        for point in points for series, model in models.models
    ]  # fmt: skip
