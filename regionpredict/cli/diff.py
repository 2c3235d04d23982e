"""`regionpredict diff`: shows which hints changed, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.curve_options import CurveOptions, curve_options
from regionpredict.cli.fail_if import end_by, fail_if_option, outline_of_predictions, parsed
from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.source_options import processes_of, reading_options, run_analysis
from regionpredict.cli.source_trees import Side, checked_out, side_of

if TYPE_CHECKING:
    from regionpredict.compare.hint_outline import HintOutline
    from regionpredict.machine import Machine


@click.command("diff")
@click.argument("old")
@click.argument("new")
@reading_options
@machine_option
@curve_options
@fail_if_option
@result_options(
    "table json markdown html", "markdown: a comment on a change. html: one self-contained page."
)
def command(
    old: str, new: str, machine_name: str | None, curve: CurveOptions,
    conditions: tuple[str, ...], form: str, output: str | None, **options: Any,
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
    curve.check()
    machine = None
    if any(side.hints is None for side in sides):
        machine = curve.on(machine_for(machine_name)[0])
    options = _with_absolute_paths(options)
    before, after = (_read_or_predict(side, machine, curve, options) for side in sides)
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
    side: Side, machine: Machine | None, curve: CurveOptions, options: dict[str, Any]
) -> HintOutline:
    """Returns the hints of OLD or NEW, which are predicted if they are not in a hints file."""
    from regionpredict.compare.hint_outline import read_outline

    if side.hints is not None:
        return read_outline(side.hints)
    assert machine is not None
    with checked_out(side):
        analysis = run_analysis((side.path,), **options, timings=False, flows=curve.flows)
        processes = processes_of(options["processes"])
        result = curve.predict(analysis, machine, processes=processes, advised=False)
    return outline_of_predictions(result)._replace(name=side.name)


def _with_absolute_paths(options: dict[str, Any]) -> dict[str, Any]:
    """Makes the paths of the options absolute, since a commit may lack these files."""
    names = [name for name in ("sizes", "sizes_from") if options[name] is not None]
    return {**options, **{name: str(Path(options[name]).absolute()) for name in names}}
