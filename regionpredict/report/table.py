"""Predictions and facts as a table of 80 columns.

dunnington: 4 packages (sockets) x 6 cores, density model
gemm.c
  line  function      iterations  working set  score  packages  limited by
    39  kernel_gemm         1024       24 MiB   0.62     3      compute
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from regionpredict.analysis import INCOMPLETE, Count, RegionFacts
from regionpredict.errors import one_line
from regionpredict.machine import Machine
from regionpredict.predict import (
    NOTHING_RECOMMENDED,
    Advice,
    DensityDerivation,
    Plan,
    Prediction,
    Recommended,
    TeamPrediction,
    size_target,
)
from regionpredict.report.advice import ByTeam, advice_sentence
from regionpredict.report.first_screen import MANY_LOOPS, first_screen
from regionpredict.report.names import common_folder, short_names
from regionpredict.report.other_names import other_names
from regionpredict.report.page_width import PAGE_WIDTH, page_lines
from regionpredict.report.program_summary import (
    CAUTIONS,
    CONFLICTS,
    WRONG,
    is_summed_up,
    program_summary,
    wrong_mark,
)
from regionpredict.report.quantities import plural, show_bytes, show_count, show_times
from regionpredict.report.ranked_table import ranked_rows
from regionpredict.report.reading_notes import note_lines
from regionpredict.report.recommendation import answer_lines
from regionpredict.report.run_settings import AS_USUAL, RunSettings, settings_sentences
from regionpredict.report.size_hints import cut_lines, needed_lines
from regionpredict.report.teams_table import (
    GUESSED,
    HARDWARE_THREADS,
    NAME_WIDTH,
    guess_mark,
    limit_cell,
    open_lines,
    seats_mark,
    shared_teams,
    team_rows,
)
from regionpredict.report.thread_rules import plan_rule, row_rule
from regionpredict.report.unconverged import convergence_sentence
from regionpredict.report.view import (
    EVERYTHING,
    View,
    chosen_facts,
    chosen_predictions,
    chosen_teams,
    gain_of,
    region_seconds,
)
from regionpredict.sizes.ranking import rank_sizes
from regionpredict.workload import TYPICAL

_NOTES = 6
_ORIGINS = {
    "large": "assumed large", "typical": "assumed from the known ones",
    "defaults": "computed by main without arguments",
    "run": "from a recorded run", "given": "as given", "source": "from the source",
}  # fmt: skip
"""The origins of sizes in words, in the order of `SIZE_ORIGINS`."""
_AND_MORE = re.compile(r"(.*), and (\d+) more")  # several figures, the first with its name
_ON_HOST = "RP118"  # a loop under target, with its note below the row


def prediction_table(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], plans: Sequence[Plan],
    machine: Machine, model: str, view: View = EVERYTHING, advice: ByTeam | None = None,
    run: RunSettings = AS_USUAL, recommended: Recommended = NOTHING_RECOMMENDED,
) -> str:  # fmt: skip
    """The recommendation, the table of hints, their assumptions, and what was left out.

    For several files or many loops, a short `view` shows one screen. Otherwise, a parallel region
    with several loops has its own row above theirs. For several files, the plan of each program
    comes first. `view` selects the rows. Raises UsageError if it selects none.
    """
    lines = answer_lines(recommended)
    if predictions and all(own.status == "skipped" for own in predictions):
        lines.append("No recommendation: no region has a prediction.")
    lines += [
        f"{machine.name}: {plural(machine.packages, 'package')} (sockets) x "
        f"{plural(machine.cores_per_package, 'core')}, {model} model{_form(predictions)}"
    ]
    advice = advice or {}
    spent = None if recommended.together is None else recommended.together.seconds
    if view.short and (len(predictions) > MANY_LOOPS or is_summed_up(teams)):
        lines += first_screen(predictions, teams, advice, model, spent)
        return "\n".join(map(one_line, lines)) + "\n"
    lines += program_summary(teams, plans, advice, rank_sizes(predictions), spent)
    shown = chosen_predictions(predictions, teams, view)
    if view.sort == "line":
        lines += _by_file(shown, chosen_teams(teams, shown), model, advice)
    else:
        times = region_seconds(predictions, teams)
        whole = sum(times.values())
        lines += ["", *ranked_rows(shown, times, whole, model, data=view.sort == "data")]
    lines += _legend(
        shown, machine, [] if is_summed_up(teams) else plan_rule(teams, plans, recommended.together)
    )
    lines += other_names(shown, "\n".join(lines))
    lines += convergence_sentence(machine)
    lines += settings_sentences(run)
    if len(shown) < len(predictions):
        lines.append(f"{len(shown)} of {plural(len(predictions), 'region')} shown")
    return "\n".join(map(one_line, lines)) + "\n"


def _form(predictions: Sequence[Prediction]) -> str:
    """The options of the density model that are not the default."""
    forms = [
        str(prediction.derivation.form)
        for prediction in predictions if isinstance(prediction.derivation, DensityDerivation)
    ]  # fmt: skip
    return f" ({forms[0]})" if forms and forms[0] else ""


def _by_file(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], model: str, advice: ByTeam
) -> list[str]:
    """The rows in the order of file and line, under the names of the files."""
    shared = shared_teams(teams)
    names = short_names(
        [
            *(prediction.facts.region.function for prediction in predictions),
            *(t.facts.function for t in shared),
        ],
        NAME_WIDTH,
    )
    advice_lines = {team.facts.id: _advised(advice.get(team.facts.id, ())) for team in teams}
    alone = {
        team.facts.members[0].facts.region.id: advice_lines[team.facts.id]
        for team in teams if len(team.facts.members) == 1
    }  # fmt: skip
    rows = [
        (prediction.facts.region.span,
         [*_prediction_row(prediction, names), *alone.get(prediction.facts.region.id, ())])
        for prediction in predictions
    ]  # fmt: skip
    rows += [
        (team.facts.span, [*team_rows(team, model, names), *advice_lines[team.facts.id]])
        for team in shared
    ]
    rows.sort(key=lambda row: row[0])
    lines, titles = _titles([span.file for span, _ in rows])
    for file, group in groupby(rows, key=lambda row: row[0].file):
        lines += ["", titles[file]]
        choice = "  gain  pk thr " if model == "saturation" else "  score  pkgs "
        lines.append(
            f"  line {'function':<{NAME_WIDTH}} {'iterates':>8} {'data':>8}{choice}"
            f"{'limited by':<16}  conf"
        )
        for _, row in group:
            lines += row
    return lines


def _advised(advice: Sequence[Advice]) -> list[str]:
    """The recommended changes below a row."""
    indent = " " * 7
    return [
        line
        for change in advice
        for line in page_lines(indent + advice_sentence(change), then=indent + "  ")
    ]


def _titles(files: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The common folder of all long paths, and each file's title."""
    if all(len(file) <= PAGE_WIDTH for file in files):
        return [], {file: file for file in files}
    folder = common_folder(files)
    shorter = short_names([file[len(folder) :] for file in files], PAGE_WIDTH)
    # A path has no blanks, so it is broken at the end of the line.
    title = textwrap.wrap(f"Files in {folder}", PAGE_WIDTH, subsequent_indent="    ")
    return (title if folder else []), {file: shorter[file[len(folder) :]] for file in files}


def _prediction_row(prediction: Prediction, names: Mapping[str, str]) -> list[str]:
    facts = prediction.facts
    region = facts.region
    head = f"{region.span.line:>6} {names[region.function]:<{NAME_WIDTH}} "
    if prediction.status == "skipped":
        return page_lines(head + "skipped: " + _first_message(facts), then=" " * len(head))
    partial = "?" if prediction.status == "partial" else ""
    assumed = "*" if prediction.assumed else " "
    row = (
        head
        + f"{show_count(facts.iterations.value):>8} "
        + f"{show_bytes(prediction.working_set_bytes):>8}{assumed} "
        + _choice(prediction)
        + f"{limit_cell(prediction)} {100 * prediction.confidence:3.0f} %"
    )
    marked = row + guess_mark(prediction) + partial + wrong_mark(prediction.diagnostics)
    notes = [note.message for note in prediction.diagnostics if note.id == _ON_HOST][:1]
    if prediction.idle:
        notes.append("apparently unreachable from main; excluded from the plan")
    below = [line for text in notes for line in page_lines(" " * 7 + text, then=" " * 7)]
    return [marked.rstrip(), *open_lines(prediction), *below]


def _choice(prediction: Prediction) -> str:
    mark = "~" if prediction.borderline else " "
    if not prediction.speedup:
        return f"{prediction.score:5.2f} {mark}{prediction.packages:>3}  "
    seats = f"{prediction.packages:>2}{prediction.threads:>4}{seats_mark(prediction)}"
    return f"{show_times(gain_of(prediction) or 0.0):>5}x{mark}{seats}"


def _legend(
    predictions: Sequence[Prediction], machine: Machine, planned: Sequence[str]
) -> list[str]:
    lines = [""]
    lines.append(f"{plural(len(predictions), 'region')}{_shares(predictions)}")
    lines += page_lines(_sizes_from(predictions), then="  ")
    lines += [
        part for rule in (*row_rule(predictions), *planned) for part in page_lines(rule, then="  ")
    ]
    if any(p.range is not None for p in predictions):
        lines += page_lines(
            f"{GUESSED} unknown sizes are assumed {_scale(predictions, machine)}; "
            "the thresholds are below the row", then="  ",
        )  # fmt: skip
    lines += needed_lines(rank_sizes(predictions))
    lines += cut_lines(predictions)
    if any(p.borderline for p in predictions):
        near = "the score is within 0.05 of the next number of packages"
        if any(p.speedup for p in predictions):
            near = "another number of packages is about as good"
        lines.append(f"~ borderline: {near}")
    if any(p.assumed for p in predictions):
        lines.append("* assumed:")
        for line in _assumptions(predictions):
            lines += page_lines(f"    {line}", then=" " * 6)
    each = max((p.threads_per_core for p in predictions), default=1)
    if each > 1:
        lines.append(f"{HARDWARE_THREADS} hardware threads: {each} on each core")
    wrong = _notes_of(predictions, CONFLICTS)
    if wrong:
        lines.append(f"{WRONG} conflicts between threads (wrong results or contention):")
        for line in wrong:
            lines += page_lines(f"    {line}", then=" " * 6)
    cautions = _notes_of(predictions, CAUTIONS)
    if cautions:
        lines.append("Possible conflicts, depending on values in memory:")
        for line in _limited(cautions):
            lines += page_lines(f"    {line}", then=" " * 6)
    if any(p.status == "partial" for p in predictions):
        lines.append("? partial: part of the region is unknown:")
        for line in _gaps(predictions):
            lines += page_lines(f"    {line}", then=" " * 6)
    return lines


def _scale(predictions: Sequence[Prediction], machine: Machine) -> str:
    """The assumed scale of unknown sizes."""
    if any(own.facts.bindings.typical is not None for own in predictions):
        return f"({TYPICAL})"
    return f"large ({size_target(machine).reason})"


def _shares(predictions: Sequence[Prediction]) -> str:
    """`: 3 predicted, 1 skipped`. Empty if there are no regions."""
    kinds = Counter(p.status for p in predictions)
    order = ("predicted", "partial", "skipped")
    return ": " * bool(kinds) + ", ".join(f"{kinds[kind]} {kind}" for kind in order if kinds[kind])


def _sizes_from(predictions: Sequence[Prediction]) -> str:
    """The origins of the sizes, with numbers of regions if they differ. Empty if the source has all
    sizes.
    """
    origins = Counter(p.sizes_from for p in predictions if p.status != "skipped")
    if not origins.keys() - {"source"}:
        return ""
    told = [
        f"{words} ({plural(origins[origin], 'region')})" if len(origins) > 1 else words
        for origin, words in _ORIGINS.items() if origins[origin]
    ]  # fmt: skip
    return f"Sizes: {', '.join(told)}"


def _assumptions(predictions: Sequence[Prediction]) -> Iterator[str]:
    """Each assumption with its number of regions. Assumptions that differ only in the number of
    unnamed figures are merged.
    """
    seen: dict[str, int] = {}
    more: dict[str, int] = {}
    for prediction in predictions:
        for line in dict.fromkeys(prediction.assumed):
            match = _AND_MORE.fullmatch(line)
            named = match[1] if match else line
            seen[named] = seen.get(named, 0) + 1
            more[named] = max(more.get(named, 0), int(match[2]) if match else 0)
    yield from _limited([
        line + (f", and {more[line]} more" if more[line] else "")
        + (f"  ({n} regions)" if n > 1 else "")
        for line, n in seen.items()
    ])  # fmt: skip


def _notes_of(predictions: Sequence[Prediction], rules: frozenset[str]) -> list[str]:
    return [str(note) for p in predictions for note in p.diagnostics if note.id in rules]


def _gaps(predictions: Sequence[Prediction]) -> Iterator[str]:
    """The first unsupported construct of each region, with one line for identical ones."""
    first = []
    for prediction in predictions:
        if prediction.status == "partial":
            told = CONFLICTS | CAUTIONS
            notes = [note for note in prediction.diagnostics if note.id not in told]
            causes = [note for note in notes if note.id in INCOMPLETE]
            first += (causes or notes)[:1]
    yield from _limited(note_lines(first))


def _limited(lines: list[str]) -> Iterator[str]:
    yield from lines[:_NOTES]
    if len(lines) > _NOTES:
        more = len(lines) - _NOTES
        yield f"... and {more} more: see --format json, or regionpredict explain FILE:LINE"


def facts_table(facts: Sequence[RegionFacts], view: View = EVERYTHING) -> str:
    """The table of `analyze`: facts of the source, without a machine."""
    shown = chosen_facts(facts, view)
    names = short_names([region_facts.region.function for region_facts in shown], NAME_WIDTH)
    lines, titles = _titles([region_facts.region.span.file for region_facts in shown])
    lines += [""] if lines else []
    for file, group in groupby(shown, key=lambda region_facts: region_facts.region.span.file):
        lines += [
            titles[file],
            f"  line {'function':<{NAME_WIDTH}} {'iterations':<20}  working set in bytes",
        ]
        for region_facts in group:
            region = region_facts.region
            head = f"{region.span.line:>6} {names[region.function]:<{NAME_WIDTH}} "
            if region_facts.status == "skipped":
                lines += page_lines(
                    head + "skipped: " + _first_message(region_facts), then=" " * len(head)
                )
                continue
            row = f"{head}{_count_cell(region_facts.iterations, 20):<20}  "
            lines.append(row + _count_cell(region_facts.working_set, PAGE_WIDTH - len(row)))
        lines.append("")
    shares = "" if len(shown) == len(facts) else f"{len(shown)} of "
    lines.append(f"{shares}{plural(len(facts), 'region')}")
    return "\n".join(map(one_line, lines)) + "\n"


def _count_cell(count: Count, width: int) -> str:
    """`ni = 1024`, shortened to the column: the value first, then the start of the expression."""
    whole = str(count)
    if len(whole) <= width:
        return whole
    if count.value is not None:
        value = f" = {show_count(count.value)}"
        return whole[: max(0, width - len(value) - 1)] + "…" + value
    return whole[: width - 1] + "…"


def _first_message(facts: RegionFacts) -> str:
    return facts.diagnostics[0].message if facts.diagnostics else "not understood"
