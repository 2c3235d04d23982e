"""Defines common parts of the commands on one trace: options, reading, and writing the result."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from regionpredict.cli.output import result_options, write_notes, write_result
from regionpredict.cli.plot_option import plot_option, write_plot
from regionpredict.cli.trace_selection import Reading, reading_options
from regionpredict.errors import one_line

if TYPE_CHECKING:
    from regionpredict.trace import EventTrace
    from regionpredict.trace.analysis import Analysis
    from regionpredict.trace.kernels import Kernels
    from regionpredict.trace.matching import Matches
    from regionpredict.trace.profile import TraceResult
    from regionpredict.trace.selection import Selection

UNRELIABLE = 3
"""The exit code if the results contradict each other."""

PARAVER = (".prv", ".prv.gz")
_PLOT_BINS = 2000  # number of parts of the run in a figure
F = TypeVar("F", bound=Callable[..., Any])


def top_option(explained: str = "Rows of the table.") -> Callable[[F], F]:
    """Adds `--top`."""
    return click.option(
        "--top", type=click.IntRange(1), default=20, show_default=True, help=explained
    )


def trace_result(result_of: Callable[[Analysis], TraceResult]) -> Callable[..., None]:
    """Makes a command that shows a result of the analysis of ARCHIVE, with all options."""

    @result_options("table json csv html")
    @top_option()
    @click.option("--metric", help="Only this metric: 'late sender' or late_sender.")
    @plot_option("the timeline, with waits and the critical path,")
    @reading_options
    @functools.wraps(result_of)
    def command(reading: Reading, **options: Any) -> None:
        analysis = analysed(reading)
        _write_trace_result(analysis, result_of(analysis), **options)

    return command


def trace_kernels() -> Kernels:
    """Returns the C kernels, built by the user's compiler and kept in the user's cache."""
    from regionpredict.cli.run import compiler
    from regionpredict.trace.kernels import Kernels
    from regionpredict.user_cache import private_folder, user_cache_folder

    folder = private_folder(user_cache_folder(os.environ) / "kernels")
    return Kernels((compiler(),), folder)


def analysed(reading: Reading) -> Analysis:
    """Returns the analysis of the archive or of the selected part."""
    from regionpredict.trace.analysis import analyse

    trace, matches = chosen_part(reading)
    return analyse(trace, trace_kernels(), matches, reading.correct_clocks, reading.processes or 1)


def chosen_part(reading: Reading) -> tuple[EventTrace, Matches]:
    """Returns the archive or its selected part, with matched operations."""
    from regionpredict.trace.selection import select_part

    kernels, selection = trace_kernels(), reading.selection()
    trace, matches = matched(reading, selection, kernels)
    return select_part(trace, matches, selection, kernels) if selection else (trace, matches)


def matched(reading: Reading, selection: Selection, kernels: Kernels) -> tuple[EventTrace, Matches]:
    """Returns the trace with matched operations, read at once, rank by rank, or from a store.

    From a store, only the data that the selection may need are read.
    """
    from regionpredict.trace.matching import match_operations
    from regionpredict.trace.parquet_store import Store, is_store

    by_rank = reading.processes is not None or reading.scheduler is not None
    _check_application(reading.archive, reading.application)
    if is_store(Path(reading.archive)) and not by_rank:
        return Store(Path(reading.archive)).read(selection)
    if not by_rank:
        trace = read_trace(reading.archive, kernels, reading.application)
        return trace, match_operations(trace, kernels)
    from regionpredict.errors import UsageError
    from regionpredict.trace.dask_workers import cluster_spread
    from regionpredict.trace.per_rank_reading import read_in_pieces, read_in_processes

    if reading.processes is not None and reading.scheduler is not None:
        raise UsageError("-j and --scheduler cannot be combined", remedy="give one of them")
    if reading.archive.endswith(PARAVER) or is_store(Path(reading.archive)):
        raise UsageError(
            "only OTF2 archives are read rank by rank", remedy="leave -j and --scheduler out"
        )
    archive = Path(reading.archive).absolute()
    if reading.scheduler is not None:
        return read_in_pieces(archive, kernels, cluster_spread(reading.scheduler))
    return read_in_processes(archive, kernels, reading.processes or 1)


def read_trace(path: str, kernels: Kernels, application: int | None = None) -> EventTrace:
    """Reads a Paraver trace by its suffix, a store by its folder, and otherwise an OTF2 archive.

    `application` selects one application of a Paraver trace. Raises UsageError for other traces.
    """
    from regionpredict.trace.otf2_reader import read_otf2
    from regionpredict.trace.paraver import read_paraver
    from regionpredict.trace.parquet_store import Store, is_store
    from regionpredict.trace.selection import Selection

    _check_application(path, application)
    if path.endswith(PARAVER):
        return read_paraver(path, kernels, application)
    if is_store(Path(path)):
        return Store(Path(path)).read(Selection())[0]
    return read_otf2(Path(path), kernels)


def _check_application(path: str, application: int | None) -> None:
    from regionpredict.errors import UsageError

    if application is not None and not path.endswith(PARAVER):
        raise UsageError("--application is for Paraver traces", remedy=f"leave it out for {path}")


def _write_trace_result(
    analysis: Analysis, result: TraceResult, *, form: str, output: str | None, top: int,
    metric: str | None, plot: Path | None,
) -> None:  # fmt: skip
    """Writes the result and its figure, with findings as notes, and checks its sums."""
    from regionpredict.errors import UsageError
    from regionpredict.report.metric_names import metric_name
    from regionpredict.report.rendered import rendered
    from regionpredict.report.trace_results import result_document

    named = {metric_name(name): name for name in result.totals}
    metric = None if metric is None else named.get(metric, metric)
    if metric is not None and metric not in result.totals:
        known = ", ".join(result.totals) or "none"
        raise UsageError(f"there is no metric '{metric}' here", remedy=f"there are: {known}")
    text = rendered(result_document(result, analysis, top, metric), form)
    if plot is not None:
        from regionpredict.report.html.timeline import timeline_block
        from regionpredict.report.plots.drawn import figure_of

        write_plot(plot, figure_of(timeline_block(analysis, _PLOT_BINS)))
    write_result(text, output)
    write_notes(analysis.findings)
    check_sums([result], analysis.trace.name)


def check_sums(results: Iterable[TraceResult], name: str) -> None:
    """Ends the command with `UNRELIABLE` if the two sides of a sum differ in the results of the
    trace `name`.
    """
    violated = [balance for result in results for balance in result.balances if not balance.holds]
    for balance in violated:
        click.echo(
            f"regionpredict: {one_line(name)}: the sides of a sum differ, so do not rely on these "
            f"results: {balance.name}: {balance.left:.9g} s and {balance.right:.9g} s",
            err=True,
        )
    if violated:
        raise click.exceptions.Exit(UNRELIABLE)
