"""`regionpredict expect FILE`: expectations of growth as a test."""

from __future__ import annotations

import click


@click.command("expect")
@click.argument("path", type=click.Path())
@click.option("--measurements", type=click.Path(), help="Measurements instead of the file's own.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "junit"]),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option("-o", "--output", "target", type=click.Path(), help="Write to a file.")
@click.option("--junit", type=click.Path(), help="Write JUnit XML into this file as well.")
@click.option("--strict", is_flag=True, help="An approximate match fails too.")
def command(
    path: str,
    measurements: str | None,
    output: str,
    target: str | None,
    junit: str | None,
    *,
    strict: bool,
) -> None:
    """Checks the expectations in PATH; exits with 1 when one fails.

    PATH is a YAML file, or the name of a shipped one: mpi-collectives, mpi-memory, openmp.
    """
    from pathlib import Path

    from regionpredict.fit import expectation_report as reports
    from regionpredict.fit.expectation_file import check_file
    from regionpredict.fit.shipped import expectation_path

    report = check_file(expectation_path(path), measurements)
    if output == "json":
        text = reports.report_json(report)
    elif output == "junit":
        text = reports.report_junit(report)
    else:
        text = reports.report_table(report)
    if target is None:
        click.echo(text.rstrip("\n"))
    else:
        Path(target).write_text(text, encoding="utf-8")
    if junit is not None:
        Path(junit).write_text(reports.report_junit(report), encoding="utf-8")
    for problem in report.problems:
        click.echo(f"regionpredict: {problem}", err=True)
    weak = strict and any(c.verdict and c.verdict.match != "match" for c in report.checks)
    if weak or not report.passed:
        raise click.exceptions.Exit(1)
