"""The document of `predict`: plan, checks, loops with derivations, source, and roofline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath

from regionpredict.predict import DensityDerivation, Prediction, SaturationDerivation
from regionpredict.predict.constants import PACKAGE_PRICE
from regionpredict.predict.teams import region_seconds
from regionpredict.report.document import (
    Block,
    Column,
    Document,
    Drawing,
    Items,
    Section,
    Table,
    Text,
)
from regionpredict.report.explanation import region_document
from regionpredict.report.html.checks import program_checks
from regionpredict.report.html.roofline import roofline
from regionpredict.report.html.source import excerpt, source_blocks
from regionpredict.report.loop_table import hint_rows, loop_table
from regionpredict.report.machine import convergence_sentence
from regionpredict.report.names import common_folder
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.program_summary import (
    best_changes,
    first_change,
    plan_blocks,
    planned_otherwise,
    unknown_size_blocks,
)
from regionpredict.report.program_text import assumption_counts, program_text
from regionpredict.report.quantities import plural
from regionpredict.report.reading_notes import note_lines
from regionpredict.report.recommendation import input_lines, recommendation_lines
from regionpredict.report.run_settings import settings_sentences
from regionpredict.report.speedup_chart import program_speedup, whole_speedup
from regionpredict.report.view import EVERYTHING, View, chosen_predictions, chosen_teams
from regionpredict.sizes.ranking import rank_sizes


def program_document(
    result: ProgramResult, view: View = EVERYTHING,
    sources: Callable[[Iterable[str]], Mapping[str, str]] = lambda _: {},
) -> Document:  # fmt: skip
    """Returns the recommendation, the loops, and their assumptions. `view` selects the loops.
    `sources` maps file names to their texts.
    """
    machine = result.machine
    together, each = result.recommended
    lead = [] if together is None else recommendation_lines(together, each)
    lead += [*first_change(result), *input_lines(result)]
    if result.predictions and all(own.status == "skipped" for own in result.predictions):
        lead.append("No recommendation: no loop has a prediction.")
    lead += [
        f"{machine.name}: {plural(machine.packages, 'package')} (sockets) x "
        f"{plural(machine.cores_per_package, 'core')}, {result.model} model{_form_text(result)}",
        *settings_sentences(result.run),
    ]
    shown = chosen_predictions(result.predictions, result.teams, view)
    chosen = result._replace(predictions=shown, teams=chosen_teams(result.teams, shown))
    sections = [
        Section("Loops", lambda: program_text(result, view), "text"),
        Section("Overview", lambda: _overview_blocks(chosen), "page"),
        Section("Loops", lambda: _loop_blocks(chosen, _current_texts(chosen, sources)), "page"),
        Section("Program", lambda: _plan_blocks_and_checks(chosen), "page"),
        Section("Parallel regions", lambda: [_team_table(chosen)], "page"),
        Section("Source", lambda: _source_section(chosen, _current_texts(chosen, sources)), "page"),
        Section("Roofline", lambda: roofline(shown, machine), "page"),
        Section("Assumptions", lambda: _assumption_blocks(chosen), "page"),
        Section("Notes", lambda: [Items(note_lines(result.notes))], "page"),
        Section("Rows", lambda: [hint_rows(shown)], "csv"),
    ]
    files = [own.facts.region.span.file for own in shown]
    title = f"Hints for {_program_name(files)}{machine.name}"
    return Document(title, lead, sections, files=files)


def _program_name(files: Sequence[str]) -> str:
    """Returns `sum.c on ` or, after the common folder, `LULESH on `. "" without a name."""
    name = PurePath(files[0] if len(set(files)) == 1 else common_folder(files)).name
    return f"{name} on " if name else ""


def _form_text(result: ProgramResult) -> str:
    """Returns the options of the density model that are not the default."""
    derived = (own.derivation for own in result.predictions)
    forms = [str(own.form) for own in derived if isinstance(own, DensityDerivation)]
    return f" ({forms[0]})" if forms and forms[0] else ""


def _current_texts(
    result: ProgramResult, sources: Callable[[Iterable[str]], Mapping[str, str]]
) -> Mapping[str, str]:
    return sources(own.facts.region.span.file for own in result.predictions)


def _source_section(result: ProgramResult, texts: Mapping[str, str]) -> list[Drawing]:
    rows = {own.facts.region.id: at for at, own in enumerate(result.predictions)}
    changes = [advice for team in result.teams for advice in result.advice.get(team.facts.id, ())]
    return source_blocks(result.predictions, changes, texts, rows)


def _overview_blocks(result: ProgramResult) -> list[Block]:
    blocks: list[Block] = [best_changes(result)]
    together = result.recommended.together
    if together is not None and together.seconds and len(together.curve) > 1:
        blocks.append(whole_speedup(together, result.machine))
    blocks += unknown_size_blocks(result.teams, rank_sizes(result.predictions))
    if any(len(team.speedup) > 1 for team in result.teams):
        blocks.append(program_speedup(result.teams, result.machine))
    return blocks


def _plan_blocks_and_checks(result: ProgramResult) -> list[Block]:
    blocks = plan_blocks(result)
    checks = program_checks(
        result.predictions, result.teams, result.machine, result.advice, result.spent
    )
    if checks:
        blocks.append({"kind": "checks", "items": checks})
        blocks.append(Text(
            "4 of 4: none of the predicted time on the hinted threads is lost to this cause. Each "
            "quarter of the time costs a grade. Without a prediction for the hinted threads, the "
            "time on one thread counts. The first grade counts packages."
        ))  # fmt: skip
    return blocks


def _team_table(result: ProgramResult) -> Table:
    times = {team.facts.id: seconds for team in result.teams
             if (seconds := team.total_seconds) is not None}  # fmt: skip
    return loop_table(
        "Parallel regions: all loops that the threads of one parallel run", result.teams,
        "place function packages threads seconds limited confidence", times=times,
        packages=result.machine.packages,
    )  # fmt: skip


def _loop_blocks(result: ProgramResult, sources: Mapping[str, str]) -> list[Block]:
    teams = {member.facts.region.id: team for team in result.teams for member in team.facts.members}

    def details(at: int) -> list[Block]:
        prediction = result.predictions[at]
        team = teams.get(prediction.facts.region.id)
        advice = result.advice.get(team.facts.id, ()) if team is not None else ()
        shared = team if team is not None and len(team.facts.members) > 1 else None
        planned = planned_otherwise(result.plans, team)
        derivation = region_document(prediction, result.machine, shared, advice, planned)
        return [
            *map(Text, (derivation.title, *derivation.lead)),
            *(block for section in derivation.sections for block in section.at("page")),
            {"kind": "roof", "name": prediction.facts.region.id},
            *excerpt(prediction.facts.region.span, sources),
        ]

    table = loop_table(
        "Loops, by time: open one for its curve, roofline, source and derivation",
        result.predictions, "place function iterations data gain packages threads limited "
        "confidence seconds", times=region_seconds(result.predictions, result.teams),
        details=details, name="regions", sort=9,
    )  # fmt: skip
    return [*_row_rule(result.predictions), table]


def _row_rule(predictions: Sequence[Prediction]) -> list[Block]:
    """Explains the packages and threads of a row. Empty if no row has threads."""
    known = [own.derivation for own in predictions if own.threads is not None]
    if not known:
        return []
    within = [own.within for own in known if isinstance(own, SaturationDerivation)]
    if not within:
        return [Text("Packages and threads: for this loop alone, by its score")]
    gain = 100 * PACKAGE_PRICE.value * within[0]
    return [Text("Packages and threads: for this loop alone. Another package must gain "
                 f"{gain:.3g} %.")]  # fmt: skip


def _assumption_blocks(result: ProgramResult) -> list[Block]:
    seen = assumption_counts(result.predictions)
    if not seen:
        return [Text("Nothing was assumed.")]
    columns = [Column("Assumption"), Column("Loops", str)]
    title = "Assumptions with their number of loops"
    table = Table(title, columns, seen.most_common())
    return [table, *map(Text, convergence_sentence(result.machine))]
