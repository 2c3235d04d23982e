"""`regionpredict trace factors RUN...`: LB x Ser x Trf of runs, and on more processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.number_range import NumberRange
from regionpredict.cli.output import result_options, write_notes, write_result
from regionpredict.cli.plot_option import plot_option, write_plot
from regionpredict.cli.source_options import (
    OF_SOURCES,
    processes_of,
    reading_options,
    run_analysis,
)
from regionpredict.cli.trace_request import read_trace, trace_kernels
from regionpredict.cli.trace_selection import Reading, part_options

if TYPE_CHECKING:
    from regionpredict.measure.hints_file import Hints
    from regionpredict.trace.scaling import Study

_OF_TRACES = (
    "ranks", "time", "call_path", "application", "mark", "definition", "eager_limit", "latency",
    "bandwidth", "overhead", "frequency",
)  # fmt: skip
"""The options without an effect on runs whose factors come from a table."""


@click.command("factors")
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option(
    "--extrapolate",
    type=NumberRange(1, 1e9),
    metavar="PROCESSES",
    help="Extrapolate to this number of processes, for example 1e6.",
)
@click.option(
    "--law",
    "laws",
    multiple=True,
    metavar="FACTOR=LAW",
    help="The law of a factor, if known, for example serialisation=pipeline.",
)
@result_options("table json html")
@plot_option("the factors with their bands")
@part_options
@click.option(
    "--phase",
    metavar="PHASE",
    default="whole",
    show_default=True,
    help="Part of each run: whole, initialized (between MPI_Init and MPI_Finalize), iterations, "
    "clean (the half of the iterations with the least noise), or all instances of a region.",
)
@click.option(
    "--mark", metavar="REGION", help="The region that starts an iteration.  [default: detected]"
)
@click.option("--serialisation", "definition", default="reference", show_default=True,
              help="The definition of Ser: reference, useful or ideal-run.")  # fmt: skip
@click.option(
    "--eager-limit",
    type=NumberRange(0, infinite=True),
    metavar="BYTES",
    help="Largest message sent without waiting for its receiver.  [default: 32768]",
)
@click.option("--latency", type=NumberRange(0, 1e6), metavar="SECONDS",
              help="Replay on a nominal network instead of the recorded one: "
                   "its latency,")  # fmt: skip
@click.option("--bandwidth", type=NumberRange(0, min_open=True, infinite=True), metavar="BYTES/S",
              help="its bandwidth,")  # fmt: skip
@click.option("--overhead", type=NumberRange(0, 1e6), metavar="SECONDS",
              help="and the processor time per call.")  # fmt: skip
@click.option("--frequency", type=NumberRange(0, min_open=True), metavar="HERTZ",
              help="Replace computation times by cycles at this frequency.")  # fmt: skip
@click.option("--hints", "hints_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Hints (predict --format json) to show next to measured regions.")  # fmt: skip
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="PATH",
    help="The program's sources, to predict its regions at the measured threads.",
)
@machine_option
@reading_options
def command(
    runs: tuple[str, ...],
    extrapolate: float | None,
    laws: tuple[str, ...],
    form: str,
    output: str | None,
    plot: Path | None,
    ranks: str | None,
    time: str | None,
    call_path: str | None,
    application: int | None,
    phase: str,
    mark: str | None,
    definition: str,
    eager_limit: float | None,
    latency: float | None,
    bandwidth: float | None,
    overhead: float | None,
    frequency: float | None,
    hints_file: Path | None,
    sources: tuple[str, ...],
    machine_name: str | None,
    **reading: Any,
) -> None:
    """Split the parallel efficiency of RUNS, traces of one program, into factors.

    A run is a Paraver trace (.prv, .prv.gz) or an OTF2 archive. Factors are also read from tables:
    POP metrics (.csv) or reports of TALP (.json). --latency, --bandwidth or --overhead replay each
    run on such a network, without noise. --frequency replays its computation without noise.
    --hints, or --source and -m, show predicted next to measured parallel regions.
    """
    if not sources:
        refuse_options(click.get_current_context(), OF_SOURCES, "has no effect without --source")
    elif hints_file is not None:
        raise click.UsageError("--hints cannot be used with --source; leave one out")
    from regionpredict.measure.hints_file import read_hints
    from regionpredict.report.rendered import rendered
    from regionpredict.report.run_factors import factors_document
    from regionpredict.trace.extrapolation import extrapolate_factors as extrapolated
    from regionpredict.trace.factor_tables import SUFFIXES as TABLES
    from regionpredict.trace.factor_tables import read_factor_table
    from regionpredict.trace.run_options import RunOptions, factors_with
    from regionpredict.trace.scaling import study_of

    options = RunOptions.of(
        definition=definition,
        eager_limit=eager_limit,
        latency_s=latency,
        bandwidth=bandwidth,
        overhead_s=overhead,
        frequency_hz=frequency,
        phase=phase,
        mark=mark,
        selection=Reading("", ranks=ranks, time=time, call_path=call_path).selection(),
    )
    by_factor = _parse_laws(laws)
    hints = None if hints_file is None else read_hints(hints_file)
    tables = [path for path in runs if path.endswith(TABLES)]
    if tables:
        refuse_options(click.get_current_context(), _OF_TRACES, f"changes nothing of {tables[0]}")
    kernels = trace_kernels()
    factors = [
        factors_with(read_trace(path, kernels, application), kernels, options)
        for path in runs
        if path not in tables
    ]
    for path in tables:
        factors += read_factor_table(Path(path), None if phase == "whole" else phase)
    study = study_of(factors)
    if sources:
        hints = _predict_regions(sources, machine_name, study, reading)
    extrapolation = None
    drawn = plot is not None or (form == "html" and len(study.widths) > 1)
    if extrapolate is not None or drawn:
        widths = _process_counts(study.widths[-1], extrapolate)
        extrapolation = extrapolated(study, widths, by_factor)
    elif by_factor:
        raise click.UsageError("--law needs --extrapolate")
    if plot is not None and extrapolation is not None:
        from regionpredict.report.plots.drawn import figure_of
        from regionpredict.report.run_factors import factors_curve

        write_plot(plot, figure_of(factors_curve(study, extrapolation)))
    write_result(rendered(factors_document(study, extrapolation, hints), form), output)
    write_notes(study.notes)


def _predict_regions(
    sources: tuple[str, ...], machine_name: str | None, study: Study, reading: dict[str, Any]
) -> Hints:
    """Predicts the program's regions, for the numbers of threads of the runs."""
    from regionpredict.compare.calibration_samples import hints_of
    from regionpredict.pipeline import predict

    machine, _ = machine_for(machine_name)
    teams = {split.threads for run in study.runs for split in run.factors.parallel_regions}
    threads = sorted(count for count in teams if count <= machine.hardware_threads)
    processes = processes_of(reading["processes"])
    analysis = run_analysis(sources, **reading, timings=False, flows=True)
    result = predict(
        analysis, machine, "saturation", threads=threads, processes=processes, advised=False
    )
    return hints_of(result.predictions, machine, result.teams)


def _parse_laws(texts: tuple[str, ...]) -> dict[str, str]:
    laws = {}
    for text in texts:
        factor, equals, law = text.partition("=")
        if not equals:
            raise click.UsageError(f"--law: '{text}' is not FACTOR=LAW")
        laws[factor.strip()] = law.strip()
    return laws


def _process_counts(measured: int, last: float | None) -> list[int]:
    """Returns the numbers of processes for the extrapolation: twice, four times, ... the largest
    run, up to `last`, and `last` itself.
    """
    if last is None:
        return []
    widths = []
    width = 2 * measured
    while width < last:
        widths.append(width)
        width *= 2
    return [*widths, round(last)]
