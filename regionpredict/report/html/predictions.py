"""The page of `predict`: plan, checks, teams, regions with their derivations, source, roofline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.ir import Diagnostic
from regionpredict.machine import Machine
from regionpredict.predict import (
    BAND_SHARE,
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
from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    curve,
    facts,
    folded,
    items,
    line,
    printed,
    table,
    text,
)
from regionpredict.report.html.checks import program_checks
from regionpredict.report.html.page import page
from regionpredict.report.html.roofline import roofline
from regionpredict.report.html.source import source_blocks
from regionpredict.report.names import common_folder
from regionpredict.report.program_summary import beside_the_rows, planned_otherwise
from regionpredict.report.quantities import plural, show_bytes, show_count, show_seconds
from regionpredict.report.recommendation import recommendation_lines
from regionpredict.report.run_settings import RunSettings, settings_sentences
from regionpredict.report.size_hints import needed_lines, open_sentence
from regionpredict.report.thread_rules import row_rule
from regionpredict.report.unsettled import unsettled_sentence
from regionpredict.report.view import gain_of, region_seconds
from regionpredict.sizes.ranking import rank_sizes

TERMS = {
    "compute": "compute", "cache": "caches", "memory-bandwidth": "memory",
    "imbalance": "imbalance", "overhead": "overhead", "serialization": "serial",
}  # fmt: skip
"""The terms of a curve's time, as the page names them."""


class ProgramResult(NamedTuple):
    """What `predict` found: of `predictions` and `teams` only what a view shows. `notes` are of the
    program as a whole, as of loops that are no regions."""

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
    """The page; `sources` are the texts of files by their names, as far as they can be read."""
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
    rule = map(text, row_rule(result.predictions, "Packages and threads"))
    sections = [
        Section("Overview", _overview(result)),
        Section("Teams", _teams(result)),
        Section("Regions", [*rule, _regions(result)]),
        Section("Source", source_blocks(result.predictions, changes, sources, rows)),
        Section("Roofline", roofline(result.predictions, machine)),
        Section("Assumptions", _assumptions(result)),
        Section("Notes", [items([str(note) for note in result.notes])] if result.notes else []),
    ]
    return page(f"Hints for {machine.name}", lead, sections)


def _overview(result: ProgramResult) -> list[Block]:
    blocks: list[Block] = []
    needed = " ".join(line.strip() for line in needed_lines(rank_sizes(result.predictions)))
    if needed:
        blocks.append(text(needed))
    if result.plans:
        rows: list[list[Cell]] = [
            [
                plan.main or "what no main calls", plan.packages, plan.threads,
                (show_seconds(plan.seconds), plan.seconds), plan.team_changes,
                f"{plural(plan.best_constant.threads, 'thread')}, "
                f"{show_seconds(plan.best_constant.seconds)}".replace(" ", "\xa0"),
            ]
            for plan in result.plans
        ]  # fmt: skip
        columns = [Column("Program"), Column("Packages", number=True),
                   Column("Threads", number=True), Column("Time", number=True),
                   Column("Changes of team size", number=True, minor=True),
                   Column("Best constant", minor=True)]  # fmt: skip
        title = "Plan of each program: least time, with changes of team size; run takes it"
        blocks.append(table(title, columns, rows))
        blocks += [text(f"{line}.") for line in beside_the_rows(result.plans, result.teams)]
    checks = program_checks(result.predictions, result.teams, result.machine, result.advice)
    if checks:
        blocks.append({"kind": "checks", "items": checks})
        blocks.append(text(
            "Grades are shares of the predicted time on the hinted threads (on one thread where no "
            "team tells it), in quarters, rounded; the first is packages."
        ))  # fmt: skip
    together = result.recommended.together
    best = program_advice(result.advice, None if together is None else together.seconds)
    if best:
        blocks.append({"kind": "heading", "text": "What would help most, each predicted anew"})
        blocks.append(items([f"{advice.span}: {advice_sentence(advice)}" for advice in best]))
    return blocks


def _gain(gain: float | None, prediction: Prediction) -> Cell:
    return ("" if gain is None else f"{gain:.1f}x", gain)


def _teams(result: ProgramResult) -> list[Block]:
    if not result.teams:
        return []
    rows: list[list[Cell]] = []
    folder = common_folder([team.facts.span.file for team in result.teams])
    for team in result.teams:
        seconds = None if team.seconds is None else team.seconds * team.facts.executions.weight
        rows.append([
            team.facts.id.removeprefix(folder), team.facts.function,
            (_known(team.packages), team.packages),
            (_known(team.threads), team.threads), (show_seconds(seconds), seconds),
            team.bottleneck or "", _percent(team.confidence, team.packages),
        ])  # fmt: skip
    columns = [
        Column("Team"), Column("Function", minor=True),
        Column("Packages", number=True, bar=float(result.machine.packages)),
        Column("Threads", number=True, minor=True), Column("Time on one thread", number=True,
               bar=True), Column("Limited by", choice=True, minor=True),
        Column("Sure", number=True, bar=1.0),
    ]  # fmt: skip
    title = "Teams: all that the threads of one parallel do; packages of those the machine has"
    return [table(title, columns, rows)]


def _regions(result: ProgramResult) -> Block:
    times = region_seconds(result.predictions, result.teams)
    teams = {member.facts.region.id: team for team in result.teams for member in team.facts.members}
    rows: list[list[Cell]] = []
    details = []
    folder = common_folder([prediction.facts.region.span.file for prediction in result.predictions])
    for prediction in result.predictions:
        region = prediction.facts.region
        gain, seconds = gain_of(prediction), times.get(region.id)
        size = prediction.working_set_bytes
        rows.append(
            [
                region.id.removeprefix(folder),
                region.function,
                (show_count(prediction.facts.iterations.value), prediction.facts.iterations.value),
                (show_bytes(size), size),
                _gain(gain, prediction),
                (_known(prediction.packages), prediction.packages),
                (_known(prediction.threads), prediction.threads),
                prediction.bottleneck or prediction.status,
                _percent(prediction.confidence, prediction.packages),
                ("" if seconds is None else show_seconds(seconds), seconds),
            ]
        )
        team = teams.get(region.id)
        advice = result.advice.get(team.facts.id, ()) if team is not None else ()
        shared = team if team is not None and len(team.facts.members) > 1 else None
        planned = planned_otherwise(result.plans, team)
        details.append(_details(prediction, result.machine, shared, advice, planned))
    columns = [
        Column("Region"), Column("Function", minor=True), Column("Iterations", number=True,
        minor=True), Column("Data", number=True, minor=True), Column("Gain", number=True),
        Column("Packages", number=True), Column("Threads", number=True, minor=True),
        Column("Limited by", choice=True), Column("Sure", number=True, minor=True),
        Column("Time on one thread", number=True, minor=True, bar=True),
    ]  # fmt: skip
    title = "Regions: open one for its curve, its data volumes and its derivation"
    return table(title, columns, rows, details=details, name="regions")


def _details(
    prediction: Prediction, machine: Machine, team: TeamPrediction | None,
    advice: Sequence[Advice], planned: Sequence[str],
) -> list[Block]:  # fmt: skip
    """What a region's row opens to."""
    region, derived = prediction.facts.region, prediction.derivation
    pairs = [
        ("Place", str(region.span)),
        ("Directive", f"omp {region.directive} in {region.function}"),
        ("Hint", _hint(prediction)),
    ]
    if prediction.by_size:
        pairs.append(("By size", open_sentence(prediction, whole=True)))
    if isinstance(derived, SaturationDerivation):
        pairs.append(("Page placement", f"{derived.first_touch}: {derived.placement_reason}"))
    pairs += [("Would help", f"{change.span}: {advice_sentence(change)}") for change in advice]
    pairs += [("Assumed", line) for line in prediction.assumed]
    pairs += [("Note", str(note)) for note in prediction.diagnostics]
    blocks: list[Block] = [facts(pairs)]
    if prediction.speedup:
        blocks.append(speedup_curve(prediction, machine))
    if isinstance(derived, SaturationDerivation):
        blocks += [_terms(derived.points), *_volumes(derived, machine)]
    if len(prediction.by_size) > 1:
        blocks.append(_by_size(prediction))
    derivation = explain_prediction(prediction, machine, team, advice, planned)
    return [*blocks, folded("Derivation", [printed(f"Derivation of {region.id}", derivation)])]


def speedup_curve(prediction: Prediction, machine: Machine) -> Block:
    """Speedup over threads with its band, before the machine's packages."""
    most = prediction.speedup[-1][0]
    each = machine.cores_per_package
    zones = []
    if machine.binding != "spread":
        zones = [
            {"from": max(1, at * each + 0.5), "to": min((at + 1) * each + 0.5, most),
             "label": f"package {at + 1}", "short": str(at + 1)}
            for at in range(machine.packages) if at * each + 0.5 < most
        ]  # fmt: skip
    band = (
        [
            (threads, low, high)
            for (threads, _), (low, high) in zip(prediction.speedup, prediction.band, strict=True)
        ]
        if prediction.band
        else []
    )
    series = [line("speedup", prediction.speedup, band)]
    share = f"{100 * BAND_SHARE.value:.0f} %"
    mark = (
        None
        if prediction.threads is None
        else {"x": prediction.threads, "label": f"hint: {prediction.threads}"}
    )
    title = f"Speedup, and between what {share} of measured ones lie"
    return curve(title, "threads", "times faster", series, zones=zones, mark=mark,
                 band=f"{share} of measured speedups lie in it")  # fmt: skip


def _terms(points: Sequence[Point]) -> Block:
    step = max(1, -(-len(points) // 12))
    chosen = [*points[:-1:step], points[-1]]
    return {
        "kind": "stack", "title": "Where the time goes, by threads", "x": "threads",
        "y": "seconds of one execution", "names": list(TERMS.values()),
        "rows": [{"label": point.threads, "values": [point.terms.get(key, 0.0) for key in TERMS]}
                 for point in chosen],
    }  # fmt: skip


def _volumes(derivation: SaturationDerivation, machine: Machine) -> list[Block]:
    """Bytes between the levels, on one thread and on all cores."""
    names = [*(f"L{cache.level}" for cache in machine.caches), "memory"]
    rows: list[list[Cell]] = []
    for at, (level, full) in enumerate(zip(derivation.levels, derivation.full_levels, strict=True)):
        rows.append([
            f"{names[at]} to {names[at + 1]}", (show_bytes(level.read), level.read),
            (show_bytes(level.written), level.written), (show_bytes(full.total), full.total),
        ])  # fmt: skip
    everyone = f"All, {plural(machine.cores, 'thread')}"
    columns = [
        Column("Between"),
        Column("In", number=True, minor=True),
        Column("Back", number=True, minor=True),
        Column(everyone, number=True, bar=True),
    ]
    return [table("Data volumes: one thread in and back, then all threads", columns, rows)]


def _by_size(prediction: Prediction) -> Block:
    """Threads over the open size, in steps; the open end is drawn ten times as far."""
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
        return [text("Nothing was assumed.")]
    rows: list[list[Cell]] = [[line, number] for line, number in seen.most_common()]
    blocks = [table("What was assumed, and for how many regions",
                    [Column("Assumption"), Column("Regions", number=True)], rows)]  # fmt: skip
    unsettled = unsettled_sentence(result.machine)
    return [*blocks, *([text(" ".join(unsettled))] if unsettled else [])]


def _hint(prediction: Prediction) -> str:
    if prediction.packages is None or prediction.threads is None:
        return f"none: {prediction.status}"
    border = ", borderline" if prediction.borderline else ""
    guessed = ", at assumed sizes" if prediction.range is not None else ""
    limit = prediction.bottleneck or "nothing limits it"
    packages, threads = prediction.packages, prediction.threads
    return (
        f"{plural(packages, 'package')}, {plural(threads, 'thread')} ({limit}), "
        f"{100 * prediction.confidence:.0f} % confidence{border}{guessed}"
    )


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)


def _percent(share: float, known: int | None) -> Cell:
    return ("", None) if known is None else (f"{100 * share:.0f} %", share)
