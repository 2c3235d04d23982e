"""`regionpredict study`: predicts with both models, measures, and scores the predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli import measure as measure_command
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import format_option, write_result
from regionpredict.cli.plot_option import can_draw, write_drawing
from regionpredict.cli.prediction_request import PredictionRequest, given_sizes, repeated
from regionpredict.cli.progress import StageLine
from regionpredict.cli.source_options import reading_options, run_analysis
from regionpredict.errors import UsageError, with_extra

if TYPE_CHECKING:
    from regionpredict.compare.verdicts import Comparison
    from regionpredict.machine import Machine
    from regionpredict.measure.records import Campaign
    from regionpredict.model_sweeps import Sweep
    from regionpredict.pipeline import Analysis
    from regionpredict.report.study_page import Figure, JudgedModel

_MODELS = (
    # title on the page, names of the files, model, and weights of the density model
    ("density", "density", "density", ("equal", "reference")),
    ("density, weighted", "density-weighted", "density",
     ("executions", "element-size")),
    ("saturation", "saturation", "saturation", ("equal", "reference")),
)  # fmt: skip
_PAGES = {"html": "study.html", "markdown": "study.md", "csv": "study.csv"}
_MEASUREMENTS, _SWEEPS = "measurements.jsonl", "sweeps.c"


@click.command("study")
@click.option(
    "--source", "paths", multiple=True, required=True, metavar="PATH",
    help="Sources of PROGRAM: a file, a folder or a compile_commands.json. Repeatable.",
)  # fmt: skip
@reading_options
@machine_option
@click.option("--threads", default=None, metavar="LIST", help="Thread counts: 1,2,4 or 1-24.")
@click.option("--time-budget", default="10m", show_default=True, metavar="TIME",
              help="Maximum measuring time.")  # fmt: skip
@click.option("--repeat", default="auto", show_default=True, metavar="N|auto",
              help="Runs per thread count. auto: until the times converge.")  # fmt: skip
@click.option("--quiet-wait", default="30s", show_default=True, metavar="TIME|none",
              help="As in regionpredict measure.")  # fmt: skip
@click.option("--with-disturbed", is_flag=True,
              help="Also use runs during which other processes kept the host busy.")  # fmt: skip
@click.option("-o", "folder", required=True, metavar="FOLDER",
              type=click.Path(path_type=Path, file_okay=False),
              help="Where hints, measurements, plots and results (HTML, Markdown, CSV) "
              "go.")  # fmt: skip
@format_option("table csv", "Output. The folder has both.")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM ARGS...")
def command(
    paths: tuple[str, ...], machine_name: str | None, threads: str | None,
    time_budget: str, repeat: str, quiet_wait: str, with_disturbed: bool, folder: Path,
    form: str, argv: tuple[str, ...], **source: Any,
) -> None:  # fmt: skip
    """Predict PROGRAM's loops by both models, measure them, and score each model.

    Build PROGRAM with CC="regionpredict cc -- gcc". An interrupted study continues where it
    ended.
    """
    from regionpredict.cli.campaign import runs_for_a_page
    from regionpredict.measure.store import read_campaign
    from regionpredict.report.rendered import rendered
    from regionpredict.report.study_page import study_document

    if not argv:
        raise UsageError("no program", remedy="write regionpredict study ... -- ./program ARGS")
    if not can_draw():
        click.echo(f"note: no plots, they need matplotlib; {with_extra('plot')}", err=True)
    machine, machine_file = machine_for(machine_name)
    folder.mkdir(parents=True, exist_ok=True)
    analysis = run_analysis(paths, **source, timings=False, flows=True)
    file = folder / _MEASUREMENTS
    click.get_current_context().invoke(
        measure_command.command, argv=argv, threads=threads, output=file, resume=file.exists(),
        form=None if form == "csv" else form, repeat=repeat, time_budget=time_budget,
        quiet_wait=quiet_wait,
    )  # fmt: skip
    campaign = read_campaign(file)
    judged_runs, refused = (campaign, None) if with_disturbed else runs_for_a_page(campaign, file)
    asked = PredictionRequest(
        paths=paths, defines=source["defines"], includes=source["includes"],
        standard=source["standard"], given=given_sizes(source["given"], source["sizes"]),
        frontend=source["frontend"], machine_file=str(machine_file), model="",
        sizes_from=source["sizes_from"], arguments=source["arguments"],
        excludes=source["excludes"],
    )  # fmt: skip
    judged = []
    for label, stem, model, (statements, misses) in _MODELS:
        own = replace(asked, model=model, statement_weight=statements, miss_weight=misses)
        judged += _judge_model(label, stem, own, analysis, machine, judged_runs, folder)
    document = study_document(campaign, judged, _draw_sweeps(machine, folder))
    for kind, name in _PAGES.items():
        write_file(folder / name, rendered(document, kind))
    write_result(rendered(document, form), None, verbatim=form == "csv")
    if refused is not None:
        raise refused


def _judge_model(
    label: str, stem: str, request: PredictionRequest, analysis: Analysis, machine: Machine,
    campaign: Campaign, folder: Path,
) -> list[JudgedModel]:  # fmt: skip
    """Compares one model's hints with the runs, by both criteria, and writes the result."""
    from regionpredict.compare.calibration_samples import hints_of
    from regionpredict.compare.verdicts import CRITERIA, compare
    from regionpredict.measure.summary import summarise, summarise_teams
    from regionpredict.report.hints import hints_document
    from regionpredict.report.json_text import as_json
    from regionpredict.report.study_page import JudgedModel

    result = repeated(request, machine, analysis=analysis, advised=True)
    notes = analysis.program.diagnostics
    document = hints_document(
        result.predictions, result.teams, result.plans, machine, request.model, notes,
        result.advice, request.document(), recommended=result.recommended,
    )  # fmt: skip
    write_file(folder / f"hints-{stem}.json", as_json(document))
    hints = hints_of(result.predictions, machine, result.teams)
    summaries, teams = summarise(campaign), summarise_teams(campaign)
    judged = []
    with StageLine() as line:
        for number, criterion in enumerate(CRITERIA):
            line("judging", number, len(CRITERIA))
            comparison = compare(
                hints, summaries, criterion=criterion, host=campaign.host, teams=teams
            )
            judged.append(
                JudgedModel(
                    comparison, label, _write_comparison(comparison, f"{stem}-{criterion}", folder)
                )
            )
    return judged


def _write_comparison(comparison: Comparison, stem: str, folder: Path) -> str:
    """Writes a comparison and its plot. Returns the plot's name, or an empty text."""
    from regionpredict.report.comparison import comparison_document
    from regionpredict.report.plots.drawn import figure_of
    from regionpredict.report.rendered import rendered
    from regionpredict.report.verdict_scatter import scored, utilisation_scatter

    text = rendered(comparison_document(comparison), "json")
    write_file(folder / f"comparison-{stem}.json", text)
    if not scored(comparison) or not can_draw():
        return ""
    write_drawing(folder / f"{stem}.svg", figure_of(utilisation_scatter(comparison)))
    return f"{stem}.svg"


def _draw_sweeps(machine: Machine, folder: Path) -> list[Figure]:
    """Draws the models' predictions for synthetic loops into files. Empty without matplotlib."""
    from regionpredict.model_sweeps import model_sweeps, sweep_source

    if not can_draw():
        return []
    source = folder / _SWEEPS
    write_file(source, sweep_source(machine))
    sweeps, figures = model_sweeps(machine, source), []
    with StageLine() as line:
        for number, sweep in enumerate(sweeps):
            line("drawing", number, len(sweeps))
            figures.append(_draw_sweep(sweep, machine, folder))
    return figures


def _draw_sweep(sweep: Sweep, machine: Machine, folder: Path) -> Figure:
    """Draws the predictions of one sweep into a file."""
    from regionpredict.report.plots.drawn import figure_of
    from regionpredict.report.quantities import plural
    from regionpredict.report.study_page import Figure, sweep_curve

    lines = {
        "density: score": [(p.x, p.score) for p in sweep.points if p.score is not None],
        f"saturation: efficiency on {plural(machine.cores, 'core')}": [
            (p.x, p.efficiency) for p in sweep.points if p.efficiency is not None
        ],
    }
    name = f"sweep-{sweep.name}.svg"
    figure = Figure(name, f"Score and efficiency by {sweep.axis}", sweep.axis, lines)
    write_drawing(folder / name, figure_of(sweep_curve(figure)))
    return figure
