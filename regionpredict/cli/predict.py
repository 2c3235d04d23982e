"""`regionpredict predict`: packages and threads for every region on one machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.curve_options import CurveOptions, curve_options
from regionpredict.cli.durations import parse_duration
from regionpredict.cli.fail_if import (
    end_by,
    fail_if_option,
    outline_of_predictions,
    parsed,
)
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import format_option, write_result
from regionpredict.cli.plot_option import plot_option, write_plot
from regionpredict.cli.prediction_request import PredictionRequest, given_sizes
from regionpredict.cli.source_options import (
    keep_answer,
    processes_of,
    run_analysis,
    source_options,
)
from regionpredict.cli.source_texts import source_texts
from regionpredict.cli.stage_seconds import show_regions, show_seconds
from regionpredict.cli.view_options import refuse_view, view_of, view_options
from regionpredict.errors import UsageError, one_line, plural
from regionpredict.time_limit import NO_LIMIT, NOTHING_LEFT_OUT, LeftOut, TimeLimit

if TYPE_CHECKING:
    from regionpredict.ir import Span
    from regionpredict.measure.records import Campaign
    from regionpredict.pipeline import Predictions
    from regionpredict.report.view import View
    from regionpredict.sizes.trials import Effort

_WITHOUT_ADVICE = ("csv", "slurm", "openmp")


@click.command("predict")
@source_options
@machine_option
@curve_options
@view_options()
@format_option(
    "table json csv html sarif slurm openmp",
    "html is one self-contained page, sarif gives findings for code scanning, slurm gives job "
    "options, and openmp gives clauses.",
)
@click.option(
    "--reuse", is_flag=True,
    help="With --format json, also count the reuse distances.",
)  # fmt: skip
@click.option(
    "--effort", type=click.Choice(["quick", "normal", "full"]), default="normal", show_default=True,
    help="How many values to try for unknown sizes. `cut` in JSON lists omissions.",
)  # fmt: skip
@click.option(
    "--time-limit", metavar="TIME",
    help="After this time (10s, 2m), try no more sizes and search no more changes. A note says "
    "what was left out.",
)  # fmt: skip
@fail_if_option
@plot_option("speedup curves over threads, with the machine's packages,")
@click.option(
    "--weights",
    default=None,
    metavar="MEASUREMENTS",
    type=click.Path(path_type=Path),
    help="With --format slurm, weight loops by measured time instead of predicted.",
)
def command(
    paths: tuple[str, ...], machine_name: str | None, curve: CurveOptions, stage: str | None,
    output: str | None, form: str, weights: Path | None, only: tuple[str, ...], sort: str | None,
    top: int | None, every: bool, reuse: bool, effort: Effort, time_limit: str | None,
    conditions: tuple[str, ...], plot: Path | None, **options: Any,
) -> None:  # fmt: skip
    """Predict how many packages (sockets) and threads of MACHINE each parallel loop in PATH can
    use.

    PATH is a file, a folder, or a compile_commands.json.
    """
    from regionpredict.cli.stages import check_stage
    from regionpredict.stage_dumps import dump_stage

    check_stage(stage)
    limit = _work_deadline(time_limit)
    curve.check()
    asked = parsed(conditions, baseline=False)
    if asked and stage is not None:
        raise UsageError(f"--fail-if with --dump {stage}", remedy="leave one of them out")
    if plot is not None and (stage is not None or curve.model == "density"):
        other = f"--dump {stage}" if stage is not None else "--model density, which has no curve"
        raise UsageError(f"--plot cannot be used with {other}", remedy="leave one of them out")
    if reuse and form != "json":
        raise UsageError("--reuse is for --format json", remedy="add --format json")
    campaign = _read_weights(weights, form, stage)
    view = view_of(only, sort, top, every=every)
    if stage is not None or form in ("slurm", "openmp"):
        refuse_view(view, f"--dump {stage}" if stage is not None else f"--format {form}")
    machine, machine_file = machine_for(machine_name)
    machine = curve.on(machine)
    analysis = run_analysis(paths, **options, flows=curve.flows)
    processes = processes_of(options["processes"])
    result = curve.predict(
        analysis, machine, processes=processes, effort=effort, limit=limit,
        advised=stage is None and form not in _WITHOUT_ADVICE, clock=time.perf_counter,
    )  # fmt: skip
    _report_excluded(result.left_out, time_limit)
    begin = time.perf_counter()
    if stage is not None:
        text = dump_stage(stage, analysis, result) + "\n"
    else:
        request = PredictionRequest(
            paths=paths, defines=options["defines"], includes=options["includes"],
            standard=options["standard"],
            given=given_sizes(options["given"], options["sizes"]), frontend=options["frontend"],
            machine_file=str(machine_file), sizes_from=options["sizes_from"],
            arguments=options["arguments"], excludes=options["excludes"], **curve._asdict(),
        )  # fmt: skip
        text = _formatted(
            form, result, view, campaign, str(weights), request, processes, reuse=reuse
        )
        if plot is not None:
            _write_figure(plot, result, view)
    if options["timings"]:
        show_seconds({**result.seconds, "report": time.perf_counter() - begin})
        show_regions(result.region_seconds)
    write_result(text, output)
    if asked:
        outline = outline_of_predictions(result)
        end_by(asked, [(None, region) for region in outline.regions], (None, outline.program))
    if weights is None and plot is None and result.left_out == NOTHING_LEFT_OUT:
        keep_answer(output, machine_file)


def _work_deadline(given: str | None) -> TimeLimit:
    """Returns the time at which optional work ends."""
    if given is None:
        return NO_LIMIT
    return TimeLimit(time.perf_counter() + parse_duration(given, "--time-limit"), time.perf_counter)


def _report_excluded(omitted_work: LeftOut, given: str | None) -> None:
    """Reports the work that the time limit left out."""
    parts = []
    if omitted_work.sizes:
        parts.append(f"fewer sizes were tried for {plural(omitted_work.sizes, 'loop')}")
    if omitted_work.advice:
        regions = plural(omitted_work.advice, "parallel region")
        parts.append(f"no changes to the source were searched for {regions}")
    if parts:
        click.echo(f"note: --time-limit {given}: {', and '.join(parts)}", err=True)


def _formatted(
    form: str, result: Predictions, view: View, campaign: Campaign | None, weights: str,
    request: PredictionRequest, processes: int, *, reuse: bool,
) -> str:  # fmt: skip
    """Formats the predictions. Only the module for the requested format is imported."""
    from regionpredict.report.run_settings import run_settings

    predictions, machine, model = result.predictions, result.machine, result.model
    run = run_settings(machine, result.pages)
    if form == "json":
        from regionpredict.report.hints import hints_document
        from regionpredict.report.json_text import as_json
        from regionpredict.report.view import chosen_predictions, chosen_teams

        notes = result.analysis.program.diagnostics
        predictions = chosen_predictions(predictions, result.teams, view)
        teams = chosen_teams(result.teams, predictions)
        return as_json(
            hints_document(
                predictions,
                teams,
                result.plans,
                machine,
                model,
                notes,
                result.advice,
                request.document(),
                run,
                processes,
                result.recommended,
                reuse=reuse,
            )
        )
    if form == "sarif":
        from regionpredict.report.json_text import as_json
        from regionpredict.report.sarif import sarif_document
        from regionpredict.report.view import chosen_predictions

        shown = chosen_predictions(predictions, result.teams, view)
        notes = result.analysis.program.diagnostics
        return as_json(
            sarif_document(shown, result.advice, machine, notes, _line_at, result.recommended)
        )
    if form == "slurm":
        from regionpredict.report.slurm import slurm_script

        seconds, hint = None, result.recommended.together
        unreached = result.unreached
        if campaign is not None:
            from regionpredict.compare.measured_weights import measured_seconds
            from regionpredict.whole_programs import measured_ids, together_of

            seconds = measured_seconds(predictions, campaign, weights)
            hint = together_of(result.teams, machine, result.serial, seconds)
            unreached -= measured_ids(result.teams, seconds)
        return slurm_script(
            hint, result.teams, machine, model, seconds, run, unreached=unreached,
            arguments=one_line(request.arguments or ""),
            notes=result.analysis.program.diagnostics,
        )  # fmt: skip
    if form == "openmp":
        from regionpredict.report.openmp_clauses import openmp_clauses

        return openmp_clauses(
            predictions, result.teams, result.plans, run.proc_bind, result.recommended.together
        )
    from regionpredict.report.program_document import program_document
    from regionpredict.report.program_result import ProgramResult
    from regionpredict.report.rendered import rendered

    program = ProgramResult(
        predictions, result.teams, result.plans, machine, model, result.advice, run,
        result.analysis.program.diagnostics, result.recommended, request.arguments or "",
    )  # fmt: skip
    return rendered(program_document(program, view, source_texts), form)


def _write_figure(plot: Path, result: Predictions, view: View) -> None:
    """Draws the speedup curves of the parallel regions in the view."""
    from regionpredict.report.plots.drawn import figure_of
    from regionpredict.report.speedup_chart import program_speedup
    from regionpredict.report.view import chosen_predictions, chosen_teams

    shown = chosen_predictions(result.predictions, result.teams, view)
    teams = chosen_teams(result.teams, shown)
    write_plot(plot, figure_of(program_speedup(teams, result.machine)))


def _line_at(span: Span) -> str | None:
    """Returns the current source line of a place. None if it does not exist."""
    try:
        lines = Path(span.file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return lines[span.line - 1] if 0 < span.line <= len(lines) else None


def _read_weights(path: Path | None, form: str, stage: str | None) -> Campaign | None:
    """Reads the measurements of --weights, before the prediction."""
    if path is None:
        return None
    if form != "slurm" or stage is not None:
        raise UsageError("--weights is for --format slurm", remedy="add --format slurm")
    from regionpredict.measure.store import read_campaign

    return read_campaign(path)
