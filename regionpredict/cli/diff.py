"""`regionpredict diff`: shows which hints changed, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.curve_options import (
    RunOptions,
    check_model_options,
    curve_options,
    density_form,
    parse_threads,
)
from regionpredict.cli.fail_if import end_by, fail_if_option, outline_of_predictions, parsed
from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import write_result
from regionpredict.cli.progress import StageLine
from regionpredict.cli.source_options import processes_of, reading_options, run_analysis
from regionpredict.cli.source_trees import Side, checked_out, side_of

if TYPE_CHECKING:
    from regionpredict.compare.hint_outline import HintOutline
    from regionpredict.machine import Machine
    from regionpredict.predict import DensityForm


@click.command("diff")
@click.argument("old")
@click.argument("new")
@reading_options
@machine_option
@curve_options
@fail_if_option
@click.option("--format", "form", type=click.Choice(["table", "json", "markdown", "html"]),
              default="table", show_default=True,
              help="markdown: a comment on a change. html: one self-contained page.")  # fmt: skip
@click.option("-o", "output", default=None, metavar="FILE", help="Write the result to FILE.")
def command(
    old: str, new: str, machine_name: str | None, model: str, combination: str,
    statement_weight: str, miss_weight: str, threads: str | None, first_touch: str | None,
    pages: str | None, binding: str, runtime: str | None,
    within: float, conditions: tuple[str, ...], form: str, output: str | None, **options: Any,
) -> None:  # fmt: skip
    """Show which hints changed from OLD to NEW, and why.

    OLD and NEW are hints files (predict --format json), files or folders of sources, or commits
    of this repository: `regionpredict diff HEAD~1 src -m MACHINE`.
    """
    from regionpredict.compare.hint_changes import hint_changes
    from regionpredict.report.hint_changes import changes_document
    from regionpredict.report.rendered import rendered

    asked = parsed(conditions, baseline=True)
    sides = side_of(old, new), side_of(new, old)
    if all(side.hints is not None for side in sides):
        _refuse_prediction_options()
    run = RunOptions(first_touch, pages, binding, runtime)
    check_model_options(model, run)
    density = density_form(model, combination, statement_weight, miss_weight)
    machine = None
    if any(side.hints is None for side in sides):
        machine = run.on(machine_for(machine_name)[0])
    before, after = (
        _read_or_predict(
            side, machine, run, (model, density), threads, within, _with_absolute_paths(options)
        )
        for side in sides
    )
    changes = hint_changes(before, after)
    write_result(rendered(changes_document(changes), form), output)
    pairs = [(change.old, change.new) for change in changes.changes if change.new is not None]
    end_by(asked, pairs, (before.program, after.program))


def _refuse_prediction_options() -> None:
    """Raises UsageError for prediction options with two hints files, since they have no effect."""
    context = click.get_current_context()
    of_changes = {"old", "new", "conditions", "form", "output"}
    names = {parameter.name or "" for parameter in context.command.params} - of_changes
    refuse_options(context, names, "has no effect on two hints files, which are already predicted")


def _read_or_predict(
    side: Side, machine: Machine | None, run: RunOptions, model_options: tuple[str, DensityForm],
    threads: str | None, within: float, options: dict[str, Any],
) -> HintOutline:  # fmt: skip
    """Returns the hints of OLD or NEW, which are predicted if they are not in a hints file."""
    from regionpredict.compare.hint_outline import read_outline

    if side.hints is not None:
        return read_outline(side.hints)
    assert machine is not None
    from regionpredict.pipeline import predict

    model, density = model_options
    with checked_out(side):
        flows = model == "saturation" and run.flows
        analysis = run_analysis((side.path,), **options, timings=False, flows=flows)
        with StageLine() as line:
            result = predict(
                analysis, machine, model, density, threads=parse_threads(threads),
                pages=run.placement(machine), within=within / 100,
                processes=processes_of(options["processes"]), advised=False, tell=line,
            )  # fmt: skip
    return outline_of_predictions(result)._replace(name=side.name)


def _with_absolute_paths(options: dict[str, Any]) -> dict[str, Any]:
    """Makes the paths of the options absolute, since a commit may lack these files."""
    names = [name for name in ("sizes", "sizes_from") if options[name] is not None]
    return {**options, **{name: str(Path(options[name]).absolute()) for name in names}}
