"""`regionpredict expect FILE`: expectations of growth as a test."""

from __future__ import annotations

from typing import Any

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.output import write_result


@click.command("expect")
@click.argument("path", type=click.Path())
@click.option("--measurements", type=click.Path(), help="Measurements instead of the file's own.")
@click.option("--run", metavar="1,2,4", help="Measure on these numbers of threads or processes.")
@click.option("--repetitions", type=click.IntRange(1), default=50, show_default=True)
@click.option("--compiler", help="Compile the micro-benchmark with this command.")
@click.option("--launcher", help="Start it with this command; {n} is the number of processes.")
@click.option("--keep", type=click.Path(), help="Write what --run measures to this CSV file.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "html", "junit"]),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option("-o", "--output", "target", type=click.Path(), help="Write to a file.")
@click.option("--junit", type=click.Path(), help="Write JUnit XML into this file as well.")
@click.option("--strict", is_flag=True, help="An approximate match fails too.")
def command(
    path: str,
    output: str,
    target: str | None,
    junit: str | None,
    *,
    strict: bool,
    **source: Any,
) -> None:
    """Checks the expectations in PATH; exits with 1 when one fails, or nothing was checked.

    PATH is a YAML file, or the name of a shipped one: openmp, mpi-collectives, mpi-memory.
    With --run, the micro-benchmark of a shipped one is compiled and run first.
    """
    from pathlib import Path

    from regionpredict.errors import InputError
    from regionpredict.fit.expectations.expectation_file import check_file
    from regionpredict.fit.expectations.shipped_files import expectation_path
    from regionpredict.report import expectations as reports

    measurements = source["measurements"]
    if source["run"] is not None:
        measurements = _measured(path, source)
    report = check_file(expectation_path(path), measurements)
    if output == "json":
        text = reports.report_json(report)
    elif output == "html":
        from regionpredict.report.html.expectations import expectations_page

        text = expectations_page(report)
    elif output == "junit":
        text = reports.report_junit(report)
    else:
        text = reports.report_table(report)
    write_result(text.rstrip("\n") + "\n", target)
    if junit is not None:
        write_file(Path(junit), reports.report_junit(report))
    for problem in report.problems:
        click.echo(f"regionpredict: {problem}", err=True)
    if not report.checked:
        nothing = InputError(
            "nothing was checked", path=path,
            remedy="give call paths that were measured, each with what it is expected to grow like",
        )  # fmt: skip
        click.echo(f"regionpredict: {nothing}", err=True)
    weak = strict and any(c.verdict and c.verdict.match != "match" for c in report.checks)
    if weak or not report.passed:
        raise click.exceptions.Exit(1)


def _measured(name: str, options: dict[str, Any]) -> Any:
    """Runs the micro-benchmark behind a shipped file of expectations."""
    from pathlib import Path

    from regionpredict.errors import UsageError
    from regionpredict.fit.expectations.run_microbenchmark import BENCHMARKS, run_microbenchmark
    from regionpredict.report.measured_series import measurements_csv

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
            f"--run '{options['run']}' is no list of numbers", remedy="write 1,2,4,8"
        ) from None
    series = run_microbenchmark(
        BENCHMARKS[name],
        counts,
        repetitions=options["repetitions"],
        compiler=options["compiler"],
        launcher=options["launcher"],
    )
    if options["keep"] is not None:
        write_file(Path(options["keep"]), measurements_csv(series))
    return series
