"""What the commands on one trace share: its options, reading it, and writing the result."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from regionpredict.cli.output import write_result

if TYPE_CHECKING:
    from regionpredict.trace import EventTrace
    from regionpredict.trace.analysis import Analysis
    from regionpredict.trace.kernels import Kernels
    from regionpredict.trace.profile import TraceResult

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("archive", type=click.Path()),
    click.option(
        "--format",
        "output",
        type=click.Choice(["table", "json", "csv", "html"]),
        default="table",
        show_default=True,
        help="What to print.",
    ),
    click.option("-o", "--output", "target", type=click.Path(), help="Write to a file."),
    click.option(
        "--top",
        type=click.IntRange(1),
        default=20,
        show_default=True,
        help="Rows of the table.",
    ),
    click.option("--metric", help="Only this metric."),
)


def trace_options(function: F) -> F:
    """The argument ARCHIVE and the options that say what is printed."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def trace_kernels() -> Kernels:
    """The kernels, built by the user's compiler and kept in the user's cache."""
    from regionpredict.cli.run import compiler
    from regionpredict.trace.kernels import Kernels
    from regionpredict.user_cache import private_folder, user_cache_folder

    folder = private_folder(user_cache_folder(os.environ) / "kernels")
    return Kernels((compiler(),), folder)


def analysed(archive: str) -> Analysis:
    """The analysed archive."""
    from regionpredict.trace.analysis import analyse

    kernels = trace_kernels()
    return analyse(read_trace(archive, kernels), kernels)


def read_trace(path: str, kernels: Kernels) -> EventTrace:
    """A Paraver trace by its suffix, else an OTF2 archive."""
    from regionpredict.trace.otf2_reader import read_otf2
    from regionpredict.trace.paraver import read_paraver

    if path.endswith((".prv", ".prv.gz")):
        return read_paraver(path)
    return read_otf2(Path(path), kernels)


def tell(
    analysis: Analysis,
    result: TraceResult,
    output: str,
    target: str | None,
    top: int,
    metric: str | None,
) -> None:
    """Writes the result; findings and sums that do not hold go to standard error."""
    from regionpredict.errors import UsageError
    from regionpredict.report import trace_results

    if metric is not None and metric not in result.totals:
        known = ", ".join(result.totals) or "none"
        raise UsageError(f"there is no metric '{metric}' here", remedy=f"there are: {known}")
    if output == "json":
        text = trace_results.result_json(result, analysis.findings, metric)
    elif output == "csv":
        text = trace_results.result_csv(result, metric)
    elif output == "html":
        from regionpredict.report.html import trace_page

        text = trace_page(result, analysis.trace, analysis.findings, metric)
    else:
        text = trace_results.result_table(result, analysis.trace, top, metric)
    write_result(text, target)
    for finding in analysis.findings:
        click.echo(f"regionpredict: note: {finding}", err=True)
    for balance in result.balances:
        if not balance.holds:
            click.echo(
                f"regionpredict: note: does not hold: {balance.name}: "
                f"{balance.left:.9g} s and {balance.right:.9g} s",
                err=True,
            )
