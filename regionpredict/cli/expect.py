"""`regionpredict expect FILE`: expectations of growth as a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.output import result_options, write_notes, write_result
from regionpredict.cli.point_bindings import point_bindings

if TYPE_CHECKING:
    from regionpredict.fit.expectations.expectation_file import Report
    from regionpredict.fit.model.predicted_value import PredictedValue

INCONCLUSIVE = 3
"""The exit code if no expectation fails and some measurements are inconclusive."""

_LEVEL = 0.9  # probability of the intervals


@click.command("expect")
@click.argument("path", type=click.Path())
@click.option(
    "--measurements", type=click.Path(), help="Measurements to use instead of the file's own."
)
@click.option("--run", metavar="1,2,3,4,6", help="Numbers of threads or processes to measure.")
@click.option("--repeat", "repetitions", type=click.IntRange(1), default=50, show_default=True,
              help="Runs per number of threads or processes.")  # fmt: skip
@click.option("--compiler", help="Compile the micro-benchmark with this command.")
@click.option("--launcher", help="Start it with this command; {n} is the number of processes.")
@click.option(
    "--precision",
    type=click.FloatRange(0.001, 1),
    default=0.05,
    show_default=True,
    help="Repeat runs until the 95 % interval of each mean is within this share of it.",
)
@click.option("--bytes", "message_bytes", type=click.IntRange(8), help="Message size, in bytes.")
@click.option("--keep", type=click.Path(), help="Write what --run measures to this CSV file.")
@result_options("table json html junit")
@click.option("--junit", type=click.Path(), help="Also write JUnit XML to this file.")
@click.option("--strict", is_flag=True, help="Fail on an approximate match.")
@click.option("--propose", is_flag=True, help="Write the current models as expectations.")
@click.option("--predict", multiple=True, metavar="p=1e6", help="Point to predict at. Repeatable.")
def command(
    path: str,
    form: str,
    output: str | None,
    junit: str | None,
    *,
    strict: bool,
    propose: bool,
    predict: tuple[str, ...],
    **source: Any,
) -> None:
    """Check the expectations in PATH. Exits with 1 when one fails, or when nothing was checked.

    Exits with 3 when none fails but some measurements are inconclusive. PATH is a YAML file, or
    the name of a shipped one: openmp, mpi-collectives, mpi-memory. With --run, the
    micro-benchmark of a shipped one is compiled and run first. With --propose, PATH may be a file
    of measurements.
    """
    from pathlib import Path

    from regionpredict.errors import InputError
    from regionpredict.fit.expectations.expectation_file import check_file
    from regionpredict.fit.expectations.shipped_files import expectation_path
    from regionpredict.report import expectations as reports
    from regionpredict.report.rendered import rendered

    points = point_bindings(predict)
    if source["run"] is None:
        refuse_options(
            click.get_current_context(),
            ("repetitions", "compiler", "launcher", "keep", "precision", "message_bytes"),
            "needs --run",
        )
    if propose:
        refuse_options(
            click.get_current_context(), ("form", "junit", "strict", "predict"),
            "cannot be combined with --propose",
        )  # fmt: skip
    measurements = source["measurements"]
    if source["run"] is not None:
        measurements = _run_benchmark(path, source)
    if propose:
        _write_proposal(path, measurements, output)
        return
    report = check_file(expectation_path(path), measurements)
    predictions = _predict_at_points(report, points)
    if form == "junit":
        text = reports.report_junit(report)
    else:
        text = rendered(reports.expectations_document(report, predictions), form)
    write_result(text.rstrip("\n") + "\n", output)
    if junit is not None:
        write_file(Path(junit), reports.report_junit(report))
    for problem in report.problems:
        click.echo(f"regionpredict: {problem}", err=True)
    if not report.checked:
        nothing = InputError(
            "nothing was checked", path=path,
            remedy=("give measured call paths with their expected growth; --propose writes their "
                   "current growth"),
        )  # fmt: skip
        click.echo(f"regionpredict: {nothing}", err=True)
    weak = strict and any(c.verdict and c.verdict.match != "match" for c in report.checks)
    if weak or report.failed:
        raise click.exceptions.Exit(1)
    if report.inconclusive:
        raise click.exceptions.Exit(INCONCLUSIVE)


def _write_proposal(path: str, measurements: Any, target: str | None) -> None:
    """Writes a file of expectations, and reports series without a model."""
    from pathlib import Path

    from regionpredict.fit.expectations.expectation_file import check_file
    from regionpredict.fit.expectations.proposals import (
        propose_from_file,
        propose_from_measurements,
    )
    from regionpredict.fit.expectations.shipped_files import expectation_path
    from regionpredict.fit.input import read

    place = expectation_path(path)
    if place.suffix in (".yaml", ".yml"):
        proposal = propose_from_file(place, check_file(place, measurements))
    else:
        proposal = propose_from_measurements(path, read(Path(path)), target)
    write_result(proposal.text, target)
    write_notes(proposal.doubts)
    for problem in proposal.problems:
        click.echo(f"regionpredict: {problem}", err=True)


def _predict_at_points(report: Report, points: list[dict[str, float]]) -> list[PredictedValue]:
    """Returns the predictions at each point by models that meet their expectations. Raises
    UsageError for a point without the parameter of a model.
    """
    from regionpredict.errors import UsageError
    from regionpredict.fit.model.predicted_value import predicted_value

    valid = [c.fitted for c in report.checks if c.fitted is not None and c.verdict and c.passed]
    if points and not valid:
        click.echo("regionpredict: --predict: no model meets its expectation", err=True)
    for point in points:
        for _, model in valid:
            if set(point) != set(model.parameters) or min(point.values()) <= 0:
                raise UsageError(
                    f"--predict: {', '.join(point)} is not {', '.join(model.parameters)}, "
                    "or not above zero",
                    remedy=f"write {model.parameters[0]}=1e6",
                )
    return [
        predicted_value(series, model, point, _LEVEL) for point in points for series, model in valid
    ]


def _run_benchmark(name: str, options: dict[str, Any]) -> Any:
    """Runs the micro-benchmark of a shipped file of expectations."""
    from pathlib import Path

    from regionpredict.errors import UsageError
    from regionpredict.fit.expectations.expectation_file import load_file
    from regionpredict.fit.expectations.run_microbenchmark import BENCHMARKS, run_microbenchmark
    from regionpredict.fit.expectations.shipped_files import expectation_path
    from regionpredict.fit.output.measured_series import measurements_csv
    from regionpredict.fit.search.options import NEEDED_POINTS

    if name not in BENCHMARKS:
        raise UsageError(
            f"there is no micro-benchmark for '{name}'", remedy=f"use {', '.join(BENCHMARKS)}"
        )
    try:
        counts = [int(part) for part in options["run"].split(",")]
        if min(counts) < 1:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--run '{options['run']}' is not a list of numbers", remedy="write 1,2,3,4,6"
        ) from None
    needed = load_file(expectation_path(name)).get("min_points", NEEDED_POINTS)
    if len(set(counts)) < needed:
        raise UsageError(
            f"--run {options['run']}: the expectations need {needed} different numbers",
            remedy="write 1,2,3,4,6",
        )
    series = run_microbenchmark(
        BENCHMARKS[name],
        counts,
        repetitions=options["repetitions"],
        compiler=options["compiler"],
        launcher=options["launcher"],
        precision=options["precision"],
        message_bytes=options["message_bytes"],
    )
    if options["keep"] is not None:
        write_file(Path(options["keep"]), measurements_csv(series))
    return series
