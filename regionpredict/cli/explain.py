"""`regionpredict explain`: shows the derivation of one region's hint, or the page of a rule."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from regionpredict.cli.curve_options import CurveOptions, curve_options
from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.source_options import (
    keep_answer,
    processes_of,
    reading_options,
    run_analysis,
)
from regionpredict.errors import InputError, UsageError

if TYPE_CHECKING:
    from regionpredict.pipeline import Predictions
    from regionpredict.predict import Advice, Prediction, TeamPrediction
    from regionpredict.report.document import Document

_NEAR = 3


def _complete_rule(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Completes rule ids in the shell, or files if no id matches."""
    from regionpredict.report.rules import rule_ids

    ids = [rule for rule in rule_ids() if incomplete and rule.startswith(incomplete)]
    return [CompletionItem(rule) for rule in ids] or [CompletionItem(incomplete, type="file")]


@click.command("explain")
@click.argument("what", metavar="FILE:LINE|RULE", shell_complete=_complete_rule)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@machine_option
@curve_options
@reading_options
@result_options("table html", "html: one self-contained page.")
def command(
    what: str, paths: tuple[str, ...], machine_name: str | None, curve: CurveOptions,
    form: str, output: str | None, **options: Any,
) -> None:  # fmt: skip
    """Explain the hint of the region at FILE:LINE, or show the page of a rule (RP101).

    A line of a parallel directive with several loops explains that parallel region. PATH is the
    input of predict: files, folders or a compile_commands.json. The hint is then that of the
    whole program. Without PATH, the file is read alone.
    """
    if re.fullmatch(r"RP\d{3}", what):
        from regionpredict.report.rules import rule_page

        _refuse_options_with_rule(paths)
        write_result(rule_page(what), output)
        return
    curve.check()
    file, line = _parse_place(what)
    machine, machine_file = machine_for(machine_name)
    machine = curve.on(machine)
    analysis = run_analysis(paths or (file,), **options, timings=False, flows=curve.flows)
    result = curve.predict(analysis, machine, processes=processes_of(options["processes"]))
    from regionpredict.report.rendered import rendered

    whole = _team_at(result, file, line)
    document = (
        _explained_team(result, whole)
        if whole
        else _explained_region(result, _region_at(result, file, line))
    )
    write_result(rendered(document, form), output)
    keep_answer(output, machine_file)


def _explained_region(result: Predictions, prediction: Prediction) -> Document:
    from regionpredict.report.explanation import region_document
    from regionpredict.report.program_summary import planned_otherwise

    team = _parallel_region_of(result, prediction)
    planned = planned_otherwise(result.plans, team)
    shared = team if team is not None and len(team.facts.members) > 1 else None
    return region_document(
        prediction, result.machine, shared, _advice_texts(result, prediction), planned
    )


def _explained_team(result: Predictions, team: TeamPrediction) -> Document:
    from regionpredict.report.explanation import team_document
    from regionpredict.report.program_summary import planned_otherwise

    by_id = {prediction.facts.region.id: prediction for prediction in result.predictions}
    loops = [by_id[member.facts.region.id] for member in team.facts.members]
    planned = planned_otherwise(result.plans, team)
    advice = result.advice.get(team.facts.id, ())
    return team_document(team, loops, result.machine, advice, planned)


def _refuse_options_with_rule(paths: tuple[str, ...]) -> None:
    """Raises UsageError for other options with a rule, since they have no effect."""
    why = "has no effect on a rule's page"
    if paths:
        raise UsageError(f"'{paths[0]}' {why}", remedy="leave it out")
    context = click.get_current_context()
    names = {parameter.name or "" for parameter in context.command.params}
    refuse_options(context, names - {"what", "paths", "output"}, why)


def _parse_place(place_text: str) -> tuple[str, int]:
    file, _, line = place_text.rpartition(":")
    if not file or not re.fullmatch("[0-9]{1,9}", line):
        raise UsageError(
            f"'{place_text}' is neither FILE:LINE nor a rule", remedy="write gemm.c:41 or RP101"
        )
    return file, int(line)


def _advice_texts(result: Predictions, prediction: Prediction) -> tuple[Advice, ...]:
    """Returns the source changes for the parallel regions that contain the region."""
    name = prediction.facts.region.id
    advised = [
        advice for team in result.teams for advice in result.advice.get(team.facts.id, ())
        if any(member.facts.region.id == name for member in team.facts.members)
    ]  # fmt: skip
    return tuple(advised)


def _parallel_region_of(result: Predictions, prediction: Prediction) -> TeamPrediction | None:
    """Returns the parallel region of a loop."""
    region = prediction.facts.region.id
    for team in result.teams:
        loops = [member.facts.region.id for member in team.facts.members]
        if region in loops:
            return team
    return None


def _team_at(result: Predictions, file: str, line: int) -> TeamPrediction | None:
    """Returns the parallel region whose `parallel` directive is at the line, unless it is a
    combined loop directive.
    """
    here = Path(file).resolve()
    for team in result.teams:
        span = team.facts.span
        if span.line != line or Path(span.file).resolve() != here:
            continue
        if all(member.facts.region.span != span for member in team.facts.members):
            return team
    return None


def _region_at(result: Predictions, file: str, line: int) -> Prediction:
    """Returns the innermost region at the line of its directive or of one of its loops."""
    from regionpredict.measure.loop_extent import loop_extent
    from regionpredict.measure.loop_text import lines_of

    here = Path(file).resolve()
    regions = [p for p in result.predictions if Path(p.facts.region.span.file).resolve() == here]
    text = "\n".join(lines_of(file))
    extents = {}
    for prediction in regions:
        region = prediction.facts.region
        loop = region.nest.span if region.nest is not None else region.span
        extents[region.id] = loop_extent(text, region.span.line, loop.line, loop.column)
    inside = [p for p in regions if not extents[p.facts.region.id].away(line)]
    if inside:
        return max(inside, key=lambda prediction: extents[prediction.facts.region.id].first)
    near = sorted(extents.values(), key=lambda extent: extent.away(line))[:_NEAR]
    if not near:
        raise InputError(
            "no region in this file",
            remedy="check its path and its -D and -I; regionpredict predict lists all regions",
            path=file, line=line,
        )  # fmt: skip
    lines = ", ".join(f"{extent.first}-{extent.last}" for extent in sorted(set(near)))
    raise InputError(
        "no region at this line",
        remedy=f"the nearest {'is' if len(set(near)) == 1 else 'are'} at lines {lines}",
        path=file, line=line,
    )  # fmt: skip
