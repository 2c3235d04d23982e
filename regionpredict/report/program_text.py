"""The text of `predict`: loops with their marks, assumptions, conflicts, and sizes to set.

The first screen of many loops has the most expensive ones, recommended changes, and sizes to set.

  time  gain  pk  thr  limited by  conf  where
61.2 %  9.2x   1   10  imbalance   57 %  bt/solve.c:12 x_solve
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from regionpredict.analysis import INCOMPLETE
from regionpredict.machine import Machine
from regionpredict.measure.planned_sizes import planned_threads
from regionpredict.predict import Prediction, TeamPrediction
from regionpredict.predict.constants import MOST_OF_THE_TIME
from regionpredict.predict.teams import region_seconds
from regionpredict.report.document import Block, Items, Text
from regionpredict.report.fact_document import first_message
from regionpredict.report.loop_table import (
    CONFLICTS,
    GUESSED,
    HARDWARE_THREADS,
    WRONG,
    Loop,
    loop_table,
)
from regionpredict.report.machine import convergence_sentence
from regionpredict.report.names import common_folder, file_titles, first_of
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.program_summary import (
    CAUTIONS,
    is_summarized,
    program_summary,
)
from regionpredict.report.quantities import plural
from regionpredict.report.reading_notes import note_lines
from regionpredict.report.size_hints import (
    cut_sentence,
    dependence_sentence,
    needed_sentence,
    other_names,
)
from regionpredict.report.view import View, chosen_predictions, chosen_teams
from regionpredict.sizes.ranking import rank_sizes
from regionpredict.workload import TYPICAL

MANY_LOOPS = 10
"""The number of loops that one screen shows in full. With more loops, it shows the most expensive
ones.
"""
_MOST_ROWS = 6  # maximum number of rows on the first screen
_NOTES = 6
_ORIGINS = {
    "large": "assumed large", "typical": f"unknown ones assumed ({TYPICAL})",
    "defaults": "computed by main",
    "run": "from a recorded run", "given": "as given", "source": "from the source",
}  # fmt: skip
"""The origins of sizes in words, in the order of `SIZE_ORIGINS`."""
_AND_MORE = re.compile(r"(.*), and (\d+) more")  # several figures, the first with its name
_BELOW_ROW = (
    "RP118",
    "RP121",
    "RP122",
)  # notes on the place of execution


def program_text(result: ProgramResult, view: View) -> list[Block]:
    """Returns the blocks below the recommendation.

    For several files or many loops, a short `view` shows one screen. Otherwise, a parallel region
    with several loops has a separate row above the rows of its loops. For several files, the plan
    of each program comes first. `view` selects the rows. Raises UsageError if it selects none.
    """
    predictions, teams, machine = result.predictions, result.teams, result.machine
    summed_up = is_summarized(teams)
    if view.short and (len(predictions) > MANY_LOOPS or summed_up):
        return _first_screen(result)
    ranking = rank_sizes(predictions)
    blocks: list[Block] = []
    blocks += program_summary(result, ranking)
    shown = chosen_predictions(predictions, teams, view)
    if view.sort == "line":
        blocks += _by_file(result, shown, chosen_teams(teams, shown))
    else:
        first = "data" if view.sort == "data" else "share"
        blocks.append(_ranked_table(result, shown, first, "Loops{}"))
    planned = [] if summed_up else _plan_rule(result)
    lines = _full_legend(shown, machine, planned)
    lines += other_names(shown, "\n".join(lines))
    lines += convergence_sentence(machine)
    if len(shown) < len(predictions):
        lines.append(f"{len(shown)} of {plural(len(predictions), 'loop')} shown")
    return [*blocks, Items(lines)]


def _plan_rule(result: ProgramResult) -> list[str]:
    """Explains that `run` and the clauses use other threads than the rows, if they do."""
    own = {team.facts.id: team.threads for team in result.teams}
    planned = planned_threads(result.teams, result.plans, result.recommended.together)
    if all(own.get(team) == size for team, size in planned.items()):
        return []
    threads = plural(max(planned.values()), "thread")
    return [f"run and --format openmp limit each loop to the program's {threads}"]


def _ranked_table(
    result: ProgramResult, shown: Sequence[Prediction], first: str, title: str,
    legend: Sequence[str] = (),
) -> Block:  # fmt: skip
    """Returns loops of all files in one table. `title` has a place for their common folder."""
    folder = common_folder([own.facts.region.span.file for own in shown])
    times = region_seconds(result.predictions, result.teams)
    return loop_table(
        title.format(f" below {folder}" if len(folder) > 1 else ""), shown,
        f"{first} {_hint_columns(result.model)} where", folder=folder if len(folder) > 1 else "",
        times=times, whole=sum(times.values()), marked=True, legend=legend,
    )  # fmt: skip


def _hint_columns(model: str) -> str:
    hint = "gain packages threads" if model == "saturation" else "score packages"
    return f"{hint} limited confidence"


def _by_file(
    result: ProgramResult, shown: Sequence[Prediction], teams: Sequence[TeamPrediction]
) -> list[Block]:
    advice = {
        team.facts.members[0].facts.region.id if len(team.facts.members) == 1 else team.facts.id:
        list(map(str, result.advice.get(team.facts.id, ())))
        for team in teams
    }  # fmt: skip
    rows: list[tuple[Loop, str]] = [(own, own.facts.region.id) for own in shown]
    rows += [(team, team.facts.id) for team in teams if len(team.facts.members) > 1]

    def span(row: tuple[Loop, str]) -> tuple[str, int, int]:
        own = row[0]
        return own.facts.region.span if isinstance(own, Prediction) else own.facts.span

    rows.sort(key=span)
    lead, titles = file_titles([span(row)[0] for row in rows])
    blocks: list[Block] = [Text(line) for line in lead]
    for file, group in groupby(rows, key=lambda row: span(row)[0]):
        known = list(group)

        def below(at: int, known: list[tuple[Loop, str]] = known) -> list[str]:
            loop, name = known[at]
            return [*map(loop.in_words, _remarks(loop)), *advice.get(name, ())]

        columns = f"line function iterations data {_hint_columns(result.model)}"
        loops = [loop for loop, _ in known]
        blocks.append(loop_table(titles[file], loops, columns, marked=True, below=below))
    return blocks


def _remarks(loop: Loop) -> list[str]:
    """Returns the sentences below a row: why it is skipped, how it depends on sizes, and notes."""
    remarks = [sentence] if (sentence := dependence_sentence(loop)) else []
    if isinstance(loop, TeamPrediction):
        return remarks
    if loop.status == "skipped":
        return [f"skipped: {first_message(loop.facts)}"]
    shown = {note.id: note for note in reversed(loop.diagnostics) if note.id in _BELOW_ROW}
    remarks += [f"{note.message} ({note.id})" for note in shown.values()]
    if loop.idle:
        remarks.append("apparently does not run; excluded from the plan")
    return remarks


def _first_screen(result: ProgramResult) -> list[Block]:
    predictions = result.predictions
    times = region_seconds(predictions, result.teams)
    whole = sum(times.values())
    ranked = sorted(predictions, key=lambda own: -times.get(own.facts.region.id, 0.0))
    shown: list[Prediction] = []
    taken = 0.0
    for own in ranked[:_MOST_ROWS]:
        if not whole or taken < MOST_OF_THE_TIME.value * whole:
            taken += times.get(own.facts.region.id, 0.0)
            shown.append(own)
    lines = []
    if rest := ranked[len(shown) :]:
        share = 100 * (whole - taken) / whole if whole else 0.0
        percent = f"{share:.0f}" if share >= 0.5 else "less than 1"
        verb = "takes" if len(rest) == 1 else "take"
        took = f" {verb} {percent} % of this time" if whole else ""
        lines.append(f"{plural(len(rest), 'more loop')}{took}: --all shows every loop")
    lines += _mark_legend(shown, "--all shows the thresholds")
    lines += _unshown_lines(shown, ranked)
    lines += needed_sentence(rank_sizes(predictions))
    title = "Time of parallel loops on 1 thread,{}"
    return [_ranked_table(result, shown, "share", title, lines)]


def _mark_legend(shown: Sequence[Prediction], thresholds: str) -> list[str]:
    if not any(own.packages for own in shown):
        return []
    guessed = any(own.range is not None for own in shown)
    mark = f"; {GUESSED} depends on assumed sizes ({thresholds})" if guessed else ""
    curves = any(own.speedup for own in shown)
    columns = "gain is the speedup. pk, thr: best packages, threads for this loop alone"
    lines = [columns if curves else "pk: best packages for this loop alone"]
    lines.append(f"conf: confidence{mark}")
    if any(own.borderline for own in shown):
        near = ("another number of packages is about as good" if curves
                else "the score is within 0.05 of the next number of packages")  # fmt: skip
        lines.append(f"~ borderline: {near}")
    each = max((own.threads_per_core for own in shown), default=1)
    return lines + [f"{HARDWARE_THREADS} hardware threads: {each} on each core"] * (each > 1)


def _unshown_lines(shown: Sequence[Prediction], predictions: Sequence[Prediction]) -> Iterator[str]:
    if any(own.status == "partial" for own in shown):
        yield "? part of the loop is unknown"
    notes = [[n for n in own.diagnostics if n.id in CONFLICTS] for own in predictions]
    if notes := [own for own in notes if own]:
        rules = ", ".join(sorted({note.id for own in notes for note in own}))
        first = notes[0][0]
        yield (f"{WRONG} conflicts between threads in {plural(len(notes), 'loop')} ({rules}): "
               f"see --all. One is {first.span.short}: {first.message}")  # fmt: skip
    if skipped := sum(own.status == "skipped" for own in predictions):
        yield f"{plural(skipped, 'loop')} without a prediction: see --all"


def _full_legend(
    predictions: Sequence[Prediction], machine: Machine, planned: Sequence[str]
) -> list[str]:
    def listed(title: str, lines: Iterator[str] | list[str]) -> list[str]:
        parts = [f"    {line}" for line in lines]
        return [title, *parts] if parts else []

    lines = [f"{plural(len(predictions), 'loop')}{_status_counts(predictions)}"]
    lines += _sizes_from(predictions)
    lines += [*_mark_legend(predictions, "thresholds are below the row"), *planned]
    lines += needed_sentence(rank_sizes(predictions)) + cut_sentence(predictions)
    lines += listed("* assumed:", _assumption_lines(predictions))
    lines += listed(f"{WRONG} conflicts between threads (wrong results or contention):",
                    _notes_of(predictions, CONFLICTS))  # fmt: skip
    lines += listed("Possible conflicts, depending on values in memory:",
                    _limited_lines(_notes_of(predictions, CAUTIONS)))  # fmt: skip
    return lines + listed(
        "? partial: part of the loop is unknown:", _unsupported_lines(predictions)
    )


def _status_counts(predictions: Sequence[Prediction]) -> str:
    """Counts the loops by status, as in `: 3 predicted, 1 skipped`. Empty without loops."""
    kinds = Counter(p.status for p in predictions)
    order = ("predicted", "partial", "skipped")
    return ": " * bool(kinds) + ", ".join(f"{kinds[kind]} {kind}" for kind in order if kinds[kind])


def _sizes_from(predictions: Sequence[Prediction]) -> list[str]:
    """Returns the origins of the sizes, counted if they differ. Empty if all are in the source."""
    origins = Counter(p.sizes_from for p in predictions if p.status != "skipped")
    if not origins.keys() - {"source"}:
        return []
    named = [
        words + (f" ({plural(origins[origin], 'loop')})" if len(origins) > 1 else "")
        for origin, words in _ORIGINS.items() if origins[origin]
    ]  # fmt: skip
    return [f"Origin of sizes: {', '.join(named)}"]


def assumption_counts(predictions: Sequence[Prediction]) -> Counter[str]:
    """Counts the loops of each assumption, whose numbers of unnamed figures are merged."""
    seen: Counter[str] = Counter()
    more: dict[str, int] = {}
    for prediction in predictions:
        for line in dict.fromkeys(prediction.assumed):
            match = _AND_MORE.fullmatch(line)
            named = match[1] if match else line
            seen[named] += 1
            more[named] = max(more.get(named, 0), int(match[2]) if match else 0)
    return Counter({
        line + (f", and {more[line]} more" if more[line] else ""): n for line, n in seen.items()
    })  # fmt: skip


def _assumption_lines(predictions: Sequence[Prediction]) -> list[str]:
    return _limited_lines([
        line + (f"  ({n} loops)" if n > 1 else "")
        for line, n in assumption_counts(predictions).items()
    ])  # fmt: skip


def _notes_of(predictions: Sequence[Prediction], rules: frozenset[str]) -> list[str]:
    return [str(note) for p in predictions for note in p.diagnostics if note.id in rules]


def _unsupported_lines(predictions: Sequence[Prediction]) -> Iterator[str]:
    """Returns the first unsupported construct of each region. Identical ones share one line."""
    first = []
    for prediction in predictions:
        if prediction.status == "partial":
            told = CONFLICTS | CAUTIONS
            notes = [note for note in prediction.diagnostics if note.id not in told]
            causes = [note for note in notes if note.id in INCOMPLETE]
            first += (causes or notes)[:1]
    yield from _limited_lines(note_lines(first))


def _limited_lines(lines: list[str]) -> list[str]:
    where = "more: see --format json, or regionpredict explain FILE:LINE"
    return first_of(lines, _NOTES, where)
