"""The page of `predict`: plan, checks, parallel regions, loops with their derivations, source code,
and roofline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.ir import Diagnostic
from regionpredict.machine import Machine
from regionpredict.predict import (
    NOTHING_RECOMMENDED,
    Advice,
    Plan,
    Point,
    Prediction,
    Recommended,
    SaturationDerivation,
    TeamPrediction,
)
from regionpredict.report.advice import ByTeam, advice_sentence, program_advice
from regionpredict.report.derivation import explain_prediction
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Drawing,
    Facts,
    Folded,
    Items,
    Printed,
    Section,
    Table,
    Text,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.html.checks import program_checks
from regionpredict.report.html.page import document_page
from regionpredict.report.html.roofline import roofline
from regionpredict.report.html.source import excerpt, source_blocks
from regionpredict.report.names import common_folder
from regionpredict.report.program_summary import plan_difference, planned_otherwise
from regionpredict.report.quantities import plural, show_bytes, show_count, show_seconds, show_share
from regionpredict.report.recommendation import recommendation_lines
from regionpredict.report.run_settings import RunSettings, settings_sentences
from regionpredict.report.size_hints import needed_lines, open_sentence
from regionpredict.report.speedup_chart import program_speedup, region_speedup
from regionpredict.report.thread_rules import row_rule
from regionpredict.report.unconverged import convergence_sentence
from regionpredict.report.view import gain_of, region_seconds
from regionpredict.sizes.ranking import rank_sizes

TERMS = {
    "compute": "compute", "cache": "caches", "memory-bandwidth": "memory",
    "imbalance": "imbalance", "overhead": "overhead", "serialization": "serial",
}  # fmt: skip
"""The names of the time terms on the page."""


class ProgramResult(NamedTuple):
    """The result of `predict`. `predictions` and `teams` contain only those that the view shows.
    `notes` concern the whole program, for example loops that are not regions.
    """

    predictions: Sequence[Prediction]
    teams: Sequence[TeamPrediction]
    plans: Sequence[Plan]
    machine: Machine
    model: str
    advice: ByTeam
    run: RunSettings
    notes: Sequence[Diagnostic] = ()
    recommended: Recommended = NOTHING_RECOMMENDED


def prediction_page(result: ProgramResult, sources: Mapping[str, str]) -> str:
    """The page. `sources` are the texts of readable files by name."""
    machine = result.machine
    together, number = result.recommended.together, len(result.recommended.each)
    lead = [
        *(recommendation_lines(together, number) if together is not None else ()),
        f"{result.model} model for {machine.name}: {plural(machine.packages, 'package')} of "
        f"{plural(machine.cores_per_package, 'core')}; {plural(len(result.predictions), 'region')}",
        *settings_sentences(result.run),
    ]
    rows = {prediction.facts.region.id: at for at, prediction in enumerate(result.predictions)}
    changes = [advice for team in result.teams for advice in result.advice.get(team.facts.id, ())]
    sections = [
        Section("Overview", _overview(result)),
        Section("Regions", _regions(result, sources)),
        Section("Program", _program(result)),
        Section("Parallel regions", [_teams(result)]),
        Section("Source", source_blocks(result.predictions, changes, sources, rows)),
        Section("Roofline", roofline(result.predictions, machine)),
        Section("Assumptions", _assumptions(result)),
        Section("Notes", [Items([str(note) for note in result.notes])]),
    ]
    return document_page(Document(f"Hints for {machine.name}", lead, sections))


def _folder(result: ProgramResult) -> str:
    """The common folder of all regions. Places are shown relative to it."""
    return common_folder([prediction.facts.region.span.file for prediction in result.predictions])


def _overview(result: ProgramResult) -> list[Block]:
    """The sizes to give, the changes that help most, and the speedup of the parallel regions."""
    needed = " ".join(line.strip() for line in needed_lines(rank_sizes(result.predictions)))
    together = result.recommended.together
    best = program_advice(result.advice, None if together is None else together.seconds)
    folder = _folder(result)
    helps = [f"{str(advice.span).removeprefix(folder)}: {advice_sentence(advice)}"
             for advice in best]  # fmt: skip
    chart = []
    if any(len(team.speedup) > 1 for team in result.teams):
        chart = [program_speedup(result.teams, result.machine)]
    return [
        *([Text(needed)] if needed else []), Items(helps, "Changes that would help most"), *chart,
    ]  # fmt: skip


def _program(result: ProgramResult) -> list[Block]:
    """The plan and the checks of each program."""
    blocks: list[Block] = []
    if result.plans:
        rows: list[list[Cell]] = [
            [
                plan.main or "what no main calls", plan.packages, plan.threads, plan.seconds,
                plan.team_changes,
                f"{plural(plan.best_constant.threads, 'thread')}, "
                f"{show_seconds(plan.best_constant.seconds)}".replace(" ", "\xa0"),
            ]
            for plan in result.plans
        ]  # fmt: skip
        columns = [Column("Program"), Column("Packages", str), Column("Threads", str),
                   Column("Time", show_seconds), Column("Changes of threads", str, minor=True),
                   Column("Best constant", minor=True)]  # fmt: skip
        title = "Plan of each program, which regionpredict run uses: threads that minimize its time"
        blocks.append(Table(title, columns, rows))
        blocks += [Text(line) for line in plan_difference(result.plans, result.teams)]
    checks = program_checks(result.predictions, result.teams, result.machine, result.advice)
    if checks:
        blocks.append({"kind": "checks", "items": checks})
        blocks.append(Text(
            "Grades are shares of the predicted time on the hinted threads, in quarters, rounded. "
            "Without a prediction for the hinted threads, the time on one thread counts. The first "
            "grade is packages."
        ))  # fmt: skip
    return blocks


def _teams(result: ProgramResult) -> Table:
    folder = common_folder([team.facts.span.file for team in result.teams])
    rows: list[list[Cell]] = [
        [
            team.facts.id.removeprefix(folder), team.facts.function, team.packages, team.threads,
            None if team.seconds is None else team.seconds * team.facts.executions.weight,
            team.bottleneck, None if team.packages is None else team.confidence,
        ]
        for team in result.teams
    ]  # fmt: skip
    columns = [
        Column("Parallel region"), Column("Function", minor=True),
        Column("Packages", str, bar=float(result.machine.packages), minor=True),
        Column("Threads", str), Column("Time on one thread", show_seconds, bar=True),
        Column("Limited by", choice=True, minor=True), Column("Confidence", show_share, bar=1.0),
    ]  # fmt: skip
    title = "Parallel regions: all loops that the threads of one parallel run"
    return Table(title, columns, rows)


def _regions(result: ProgramResult, sources: Mapping[str, str]) -> list[Block]:
    """The loops, sorted by time."""
    times = region_seconds(result.predictions, result.teams)
    teams = {member.facts.region.id: team for team in result.teams for member in team.facts.members}
    folder = _folder(result)
    rows: list[list[Cell]] = []
    for prediction in result.predictions:
        region = prediction.facts.region
        known = prediction.packages is not None
        rows.append([
            region.id.removeprefix(folder), region.function, prediction.facts.iterations.value,
            prediction.working_set_bytes, gain_of(prediction), prediction.packages,
            prediction.threads, prediction.bottleneck or prediction.status,
            prediction.confidence if known else None, times.get(region.id),
        ])  # fmt: skip

    def details(at: int) -> list[Block]:
        prediction = result.predictions[at]
        team = teams.get(prediction.facts.region.id)
        advice = result.advice.get(team.facts.id, ()) if team is not None else ()
        shared = team if team is not None and len(team.facts.members) > 1 else None
        planned = planned_otherwise(result.plans, team)
        blocks = _details(prediction, result.machine, shared, advice, planned, folder)
        return [*blocks, *excerpt(prediction.facts.region.span, folder, sources)]

    columns = [
        Column("Region"), Column("Function", minor=True),
        Column("Iterations", show_count, minor=True, unknown="?"),
        Column("Data", show_bytes, minor=True, unknown="?"),
        Column("Gain", "{:.1f}x".format, spark=lambda at: result.predictions[at].speedup),
        Column("Packages", str, minor=True, unknown="?"), Column("Threads", str, unknown="?"),
        Column("Limited by", choice=True, minor=True), Column("Confidence", show_share, minor=True),
        Column("Time on one thread", show_seconds, minor=True, bar=True),
    ]  # fmt: skip
    title = "Regions, by time: open one for its curve, roofline, source and derivation"
    below = [Text(f"Files are below {folder}")] if folder else []
    rule = map(Text, row_rule(result.predictions, "Packages and threads"))
    return [Table(title, columns, rows, details, name="regions", sort=9), *rule, *below]


def _details(
    prediction: Prediction, machine: Machine, team: TeamPrediction | None,
    advice: Sequence[Advice], planned: Sequence[str], folder: str,
) -> list[Block]:  # fmt: skip
    """The details of a region's row."""
    region, derived = prediction.facts.region, prediction.derivation
    pairs = [
        ("Place", str(region.span).removeprefix(folder)),
        ("Directive", f"omp {region.directive} in {region.function}"),
        ("Hint", _hint(prediction)),
    ]
    if prediction.by_size:
        pairs.append(("By size", open_sentence(prediction, whole=True)))
    if isinstance(derived, SaturationDerivation):
        pairs.append(("Page placement", f"{derived.first_touch}: {derived.placement_reason}"))
    pairs += [
        ("Would help", f"{str(change.span).removeprefix(folder)}: {advice_sentence(change)}")
        for change in advice
    ]
    pairs += [("Assumed", line) for line in prediction.assumed]
    pairs += [("Note", str(note)) for note in prediction.diagnostics]
    blocks: list[Block] = [Facts(pairs)]
    if prediction.speedup:
        blocks.append(region_speedup(prediction, machine))
    if isinstance(derived, SaturationDerivation):
        blocks += [_terms(derived.points), _volumes(derived, machine)]
    if len(prediction.by_size) > 1:
        blocks.append(_by_size(prediction))
    blocks.append({"kind": "roof", "name": region.id})
    derivation = explain_prediction(prediction, machine, team, advice, planned)
    return [*blocks, Folded("Derivation", [Printed(f"Derivation of {region.id}", derivation)])]


def _terms(points: Sequence[Point]) -> Drawing:
    step = max(1, -(-len(points) // 12))
    chosen = [*points[:-1:step], points[-1]]
    return {
        "kind": "stack", "title": "Where the time goes, by threads", "x": "threads",
        "y": "seconds of one execution", "names": list(TERMS.values()),
        "rows": [{"label": point.threads, "values": [point.terms.get(key, 0.0) for key in TERMS]}
                 for point in chosen],
    }  # fmt: skip


def _volumes(derivation: SaturationDerivation, machine: Machine) -> Table:
    """Bytes between the memory levels, on one thread and on all cores."""
    names = [*(f"L{cache.level}" for cache in machine.caches), "memory"]
    levels = zip(derivation.levels, derivation.full_levels, strict=True)
    rows: list[list[Cell]] = [
        [f"{names[at]} to {names[at + 1]}", level.read, level.written, full.total]
        for at, (level, full) in enumerate(levels)
    ]
    columns = [
        Column("Between"), Column("In", show_bytes, minor=True),
        Column("Back", show_bytes, minor=True),
        Column(f"All, {plural(machine.cores, 'thread')}", show_bytes, bar=True),
    ]  # fmt: skip
    return Table("Data volumes: one thread in and back, then all threads", columns, rows)


def _by_size(prediction: Prediction) -> Drawing:
    """Threads over the unknown size, as steps. The open end is drawn to ten times the last
    threshold.
    """
    points: list[list[float]] = []
    begin = 1.0
    for part in prediction.by_size:
        points.append([begin, part.threads])
        begin = float(part.below) if part.below is not None else begin * 10
    points.append([begin, prediction.by_size[-1].threads])
    name = prediction.by_size[0].name
    return curve(f"The hint as a function of {name}", name, "threads",
                 [line("threads", points)], step=True, logx=True)  # fmt: skip


def _assumptions(result: ProgramResult) -> list[Block]:
    seen = Counter(line for prediction in result.predictions for line in prediction.assumed)
    if not seen:
        return [Text("Nothing was assumed.")]
    columns = [Column("Assumption"), Column("Regions", str)]
    title = "What was assumed, and for how many regions"
    unconverged = " ".join(convergence_sentence(result.machine))
    return [
        Table(title, columns, seen.most_common()),
        *([Text(unconverged)] if unconverged else []),
    ]


def _hint(prediction: Prediction) -> str:
    if prediction.packages is None or prediction.threads is None:
        return f"none: {prediction.status}"
    border = ", borderline" if prediction.borderline else ""
    guessed = ", at assumed sizes" if prediction.range is not None else ""
    limit = prediction.bottleneck or "nothing limits it"
    packages, threads = prediction.packages, prediction.threads
    return (
        f"{plural(packages, 'package')}, {plural(threads, 'thread')} ({limit}), "
        f"{show_share(prediction.confidence)} confidence{border}{guessed}"
    )
