"""Documents the derivation of a hint: of one loop by either model, and of a parallel region with
several loops.

The page of `predict` shows this derivation in the details of a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from regionpredict.analysis import RegionFacts
from regionpredict.ir import Loop
from regionpredict.machine import Machine
from regionpredict.predict import (
    BAND_SHARE,
    Advice,
    Bounds,
    DensityDerivation,
    Estimate,
    Point,
    Prediction,
    SaturationDerivation,
    StatementScore,
    TeamEstimate,
    TeamPrediction,
)
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Drawing,
    Items,
    Preformatted,
    Section,
    Table,
    Text,
    map_texts,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.machine import convergence_sentence
from regionpredict.report.names import evenly_chosen, first_of, several
from regionpredict.report.quantities import (
    plural,
    show_bytes,
    show_seconds,
    show_share,
    show_times,
    threads_text,
)
from regionpredict.report.reuse import explain_reuse
from regionpredict.report.size_hints import range_sentence, size_sentence
from regionpredict.report.speedup_chart import program_speedup, region_speedup
from regionpredict.report.view import is_hinted_for_other_sizes
from regionpredict.workload import LevelTraffic

TERMS = {
    "compute": "compute", "cache": "caches", "memory-bandwidth": "memory",
    "imbalance": "imbalance", "overhead": "overhead", "serialization": "serial",
}  # fmt: skip
"""The names of the time terms."""
_ROWS, _COLUMNS = 10, 60  # size of the plot in text
_POINTS = 16  # rows of the table of times
_BARS = 12  # bars of the chart of times
_MOST_ASSUMED = 15  # listed assumptions


def region_document(
    prediction: Prediction, machine: Machine, team: TeamPrediction | None = None,
    advice: Sequence[Advice] = (), planned: Sequence[str] = (),
) -> Document:  # fmt: skip
    """Returns the hint of a loop, and its derivation.

    `team` is the loop's parallel region if it has several loops. `advice` are source changes, and
    `planned` are the differences in a program's plan.
    """
    region, derived = prediction.facts.region, prediction.derivation
    title = f"{region.id}  omp {region.directive} in {region.function}"
    notes = Section("Notes", [Items([str(note) for note in prediction.diagnostics], "Notes")])
    if prediction.status == "skipped" or derived is None:
        return Document(title, ["No hint."], [notes], titled=True)
    lead = [
        _hint_line(prediction, derived),
        *_size_range(prediction),
        *_expected_blocks(prediction),
    ]
    by_size = size_sentence(prediction.by_size, whole=True)
    also = [f"By size: {by_size}"] if by_size else []
    also += [*(team_hint(team) if team is not None else ()), *planned]
    sections = [
        Section("Confidence", [_doubt_blocks(prediction)]),
        Section("Other sizes and plans", [Items(also)]),
        Section("Changes", [_change_blocks(advice)]),
        *(_by_saturation(prediction, derived, machine) if isinstance(derived, SaturationDerivation)
          else _by_density(prediction, derived, machine)),
        notes,
        Section("Machine", [Items(convergence_sentence(machine))]),
    ]  # fmt: skip
    return _with_names(Document(title, lead, sections, titled=True), [prediction])


def team_document(
    team: TeamPrediction, loops: Sequence[Prediction], machine: Machine,
    advice: Sequence[Advice] = (), planned: Sequence[str] = (),
) -> Document:  # fmt: skip
    """Returns the hint of a parallel region, its `loops` in order, and its curve."""
    facts = team.facts
    first, *others = team_hint(team)
    inside = [f"The parallel region runs {_run_count_text(facts.executions.value)}. In each run:"]
    for member, loop in zip(facts.members, loops, strict=True):
        alone = "no hint alone" if loop.threads is None else (
            f"alone {threads_text(loop.packages or 0, loop.threads)} ({_limiter(loop.bottleneck)})"
        )  # fmt: skip
        inside.append(f"  {loop.facts.region.id} in {loop.facts.region.function} runs "
                      f"{_run_count_text(member.runs.value)}: {alone}")  # fmt: skip
    inside += [f"  {construct.kind} (line {construct.line})" for construct in facts.constructs]
    if team.seconds is not None:
        inside.append(f"One run on one thread: {show_seconds(team.seconds)}")
    inside += [f"  assumed: {assumption}" for assumption in team.assumed]
    speedup = [(point.threads, point.value) for point in team.speedup]
    band = [Bounds(point.low, point.high) for point in team.speedup]
    sections = [
        Section("Confidence", [_doubt_blocks(team)]),
        Section("Other sizes and plans", [Items([*others, *planned])]),
        Section("Changes", [_change_blocks(advice)]),
        Section("Loops", [Items(inside)]),
        Section("Speedup", [_text_plot(speedup, band)], "text"),
        Section("Speedup", [program_speedup([team], machine)] if speedup[1:] else [], "page"),
        Section("Further", [Text("To explain one loop: regionpredict explain "
                                 f"{facts.members[0].facts.region.id}")]),
    ]  # fmt: skip
    title = f"{facts.id}  omp parallel in {facts.function}: {plural(len(loops), 'loop')}"
    return _with_names(Document(title, [first], sections, titled=True), loops)


def _with_names(document: Document, loops: Sequence[Prediction]) -> Document:
    """Returns the document with short names of loops and metrics."""
    for region in {loop.facts.region.id: loop.facts.region for loop in loops}.values():
        document = map_texts(document, region.in_words) if region.others else document
    return replace(document, files=[loop.facts.region.span.file for loop in loops])


def _hint_line(prediction: Prediction, derived: DensityDerivation | SaturationDerivation) -> str:
    each = prediction.threads_per_core
    cores = f" on {plural((prediction.threads or 0) // each, 'core')} ({each} per core)"
    within = ""
    if isinstance(derived, SaturationDerivation):
        within = f" (within {100 * derived.within:g} % of the best)"
    return (
        f"Hint: {threads_text(prediction.packages or 0, prediction.threads or 0)}"
        f"{cores if each > 1 else ''} ({_limiter(prediction.bottleneck)}), "
        f"{show_share(prediction.confidence)} confidence{within}"
        + (", borderline" if prediction.borderline else "")
    )


def _limiter(bottleneck: str | None) -> str:
    return f"limited by {bottleneck}" if bottleneck else "nothing limits it"


def _size_range(estimate: Prediction | TeamPrediction) -> list[str]:
    """Returns the range of the hint over unknown sizes, if they change it."""
    if estimate.range is None:
        return []
    others = range_sentence(estimate.range, estimate.deciding, whole=True)
    return [f"  at the assumed sizes; otherwise {others}"]


def _expected_blocks(prediction: Prediction) -> list[str]:
    """Returns the hinted speedup with its interval, the saturation point, and the score."""
    lines = [
        f"{plural(threads, 'thread')}: speedup {value:.3g} "
        f"({show_share(BAND_SHARE.value)} interval {low:.3g} to {high:.3g})"
        for (threads, value), (low, high) in zip(prediction.speedup, prediction.band, strict=True)
        if threads == prediction.threads
    ]
    if is_hinted_for_other_sizes(prediction):
        lines = ["No iterations at the assumed sizes: the hint is for other sizes"]
    derived = prediction.derivation
    if not isinstance(derived, SaturationDerivation):
        return lines
    guessed = " at the assumed sizes" if prediction.range is not None else ""
    score = "none" if prediction.score is None else f"{prediction.score:.3g}"
    return [
        *lines,
        f"Saturation: 90 % of the best speed on {plural(derived.saturation, 'thread')}{guessed}",
        f"Score of the density model: {score}",
    ]


def team_hint(team: TeamPrediction) -> list[str]:
    """Describes the hint of the whole parallel region, since `num_threads` belongs to it."""
    loops = plural(len(team.facts.members), "loop")
    name = f"Parallel region of {loops}, line {team.facts.span.line}"
    if team.threads is None:
        return [f"{name}: no hint"]
    by_size = size_sentence(team.by_size, whole=True)
    return [
        f"{name}: {threads_text(team.packages or 0, team.threads)} ({_limiter(team.bottleneck)})",
        *_size_range(team),
        *([f"{name}, by size: {by_size}"] if by_size else []),
    ]


def _doubt_blocks(estimate: Estimate | TeamEstimate) -> Items:
    return Items([f"{100 * own.factor:3.0f} %  {own.id}: {own.reason}" for own in estimate.doubts],
                 "Factors of the confidence")  # fmt: skip


def _change_blocks(advice: Sequence[Advice]) -> Items:
    return Items([f"{change.span}: {change}" for change in advice],
                 "Changes to the source that would help (each predicted again)")  # fmt: skip


def _by_saturation(
    prediction: Prediction, derived: SaturationDerivation, machine: Machine
) -> list[Section]:
    core = derived.core
    pages = f"{derived.first_touch} first touch"
    placed = [
        f"Pages: {'interleaved' if derived.first_touch == 'interleave' else pages} "
        f"({derived.placement_reason})"
    ]
    if machine.binding != "close":
        placed.append(
            {
                "caches": "Threads: one for each second-level cache first",
                "spread": "Threads: spread over packages (OMP_PROC_BIND=spread)",
            }.get(machine.binding, f"Threads: OMP_PLACES='{machine.binding}'")
        )
    if derived.past:
        most = plural(derived.points[-1].threads, "thread")
        placed.append(f"Cache contents before the run on {most}: {derived.past}")
    if (doubled := derived.doubled) is not None:
        placed.append(
            f"All hardware threads, {doubled.threads} on "
            f"{doubled.threads // machine.threads_per_core} cores: "
            f"{show_seconds(doubled.seconds)}, {doubled.speedup:.2f} times one thread"
        )
    charts: list[Block] = [region_speedup(prediction, machine)] if prediction.speedup else []
    charts += [_by_size(prediction)] if len(prediction.by_size) > 1 else []
    return [
        Section("Speedup", [_text_plot(prediction.speedup, prediction.band)], "text"),
        Section("Speedup", charts, "page"),
        Section("Time", [_time_table(derived.points)], "text"),
        Section("Time", [_time_chart(derived.points)], "page"),
        Section("Data", [Items([
            _iteration_lines(prediction), working_set_line(prediction.facts),
            *_assumption_blocks(prediction),
        ])]),
        Section("Core", [Items([
            *[f"{note} ({n} times)" if n > 1 else note for note, n in Counter(core.notes).items()],
            f"arithmetic, recurrences, issue {show_seconds(core.overlapping)}; "
            f"loads and stores {show_seconds(core.loading)} on one thread",
        ], "In the core, data in the first cache")]),
        Section("Traffic", [
            _traffic_table("one thread", derived.levels, machine),
            _traffic_table(plural(machine.cores, "thread"), derived.full_levels, machine),
            Text("Reuse: the loop along which the cache keeps data, and the data of an iteration."),
        ]),
        Section("Reuse", [explain_reuse(prediction.facts, machine.line_bytes)]),
        Section("Placement", [Items(placed)]),
    ]  # fmt: skip


def _iteration_lines(prediction: Prediction) -> str:
    return f"Iterations shared among the threads: {prediction.facts.iterations}"


def _assumption_blocks(prediction: Prediction) -> list[str]:
    """Returns the assumptions, sizes first. A long list is shortened."""
    assumed = [f"assumed: {assumption}" for assumption in prediction.assumed]
    shown = first_of(assumed, _MOST_ASSUMED, "more: predict --format json lists all")
    return [f"  {line}" for line in shown]


def working_set_line(facts: RegionFacts) -> str:
    """Describes the working set: `Working set: 8*n bytes = 24 MiB`. Without a value, the line has
    the reason.
    """
    size = facts.working_set
    if size.expr is None and size.value is None:
        return "Working set: not known"
    most = "at most " if size.at_most else ""
    shown = f"Working set: {most}{size.value if size.expr is None else size.expr} bytes"
    if size.value is not None:
        return f"{shown} = {show_bytes(size.value)}"
    open_names = [] if size.expr is None else facts.bindings.unbound(size.expr.names)
    return f"{shown}, no value for {', '.join(open_names)}" if open_names else f"{shown}, not known"


def _time_table(points: Sequence[Point]) -> Table:
    rows: list[list[Cell]] = [
        [point.threads, point.seconds, point.speedup,
         *(point.terms[term] / (point.seconds or 1.0) for term in TERMS)]
        for point in evenly_chosen(points, _POINTS)
    ]  # fmt: skip
    columns = [
        Column("Threads", str), Column("Time", show_seconds),
        Column("Speedup", lambda speedup: show_times(speedup, 2)),
        *(Column(name.capitalize(), show_share) for name in TERMS.values()),
    ]  # fmt: skip
    return Table("Time by threads (share of each term)", columns, rows)


def _time_chart(points: Sequence[Point]) -> Drawing:
    step = max(1, -(-len(points) // _BARS))
    return {
        "kind": "stack", "title": "Time by term and number of threads", "x": "threads",
        "y": "seconds of one execution", "names": list(TERMS.values()),
        "rows": [{"label": point.threads, "values": [point.terms.get(key, 0.0) for key in TERMS]}
                 for point in (*points[:-1:step], points[-1])],
    }  # fmt: skip


def _traffic_table(who: str, levels: Sequence[LevelTraffic], machine: Machine) -> Table:
    names = [*(f"L{cache.level}" for cache in machine.caches), "memory"]
    rows: list[list[Cell]] = []
    for at, level in enumerate(levels):
        stays = "" if level.arrays else "all data stay in the cache"
        rows.append([f"{names[at]} <-> {names[at + 1]}", "all", level.read, level.written, stays])
        alike: dict[tuple[float, float, str], list[str]] = {}
        for array in level.arrays:
            loop, window = array.carrier
            reuse = "none fits" if loop is None else f"along {loop}, {show_bytes(window)}"
            alike.setdefault((array.read, array.written, reuse), []).append(array.array)
        for key, arrays in alike.items():
            rows.append(["", several(arrays) + " (each)" * (len(arrays) > 1), *key])
    columns = [Column("Between"), Column("Array", cut=True), Column("In", show_bytes),
               Column("Back", show_bytes), Column("Reuse", cut=True, minor=True)]  # fmt: skip
    return Table(f"Data moved by {who}", columns, rows)


def _by_size(prediction: Prediction) -> Drawing:
    """Draws threads over the unknown size, as steps, to ten times the last threshold."""
    points: list[list[float]] = []
    begin = 1.0
    for part in prediction.by_size:
        points.append([begin, part.threads])
        begin = float(part.below) if part.below is not None else begin * 10
    points.append([begin, prediction.by_size[-1].threads])
    name = prediction.by_size[0].name
    return curve(f"The hint as a function of {name}", name, "threads",
                 [line("threads", points)], step=True, logx=True)  # fmt: skip


def _text_plot(speedup: Sequence[tuple[int, float]], band: Sequence[Bounds]) -> Block:
    """Draws the speedup curve as a small text plot, with dots at the ends of its interval.

    >>> print("\\n".join(_text_plot([(1, 1.0), (2, 2.0)], ()).content.splitlines()[-2:]))
            +-------------------------------------------------------------
             1                                                 threads   2
    """
    if not speedup:
        return Items([])
    top = max([value for _, value in speedup] + [bounds.high for bounds in band])
    last, first = speedup[-1][0], speedup[0][0]
    wide = max(1, last - first)
    cells = [[" "] * (_COLUMNS + 1) for _ in range(_ROWS)]
    ends = [(threads, end, ".") for (threads, _), bounds in zip(speedup, band, strict=bool(band))
            for end in bounds]  # fmt: skip
    for threads, value, mark in (*ends, *((*point, "*") for point in speedup)):
        row = min(_ROWS - 1, max(0, round(value / top * _ROWS) - 1))
        cells[_ROWS - 1 - row][round((threads - first) / wide * _COLUMNS)] = mark
    interval = f" (*) with {show_share(BAND_SHARE.value)} interval (.)" if band else ""
    lines = [f"Speedup{interval}"]
    for number, row_cells in enumerate(cells):
        level = top * (_ROWS - number) / _ROWS
        lines.append(f"{show_times(level, 2):>7} |" + "".join(row_cells).rstrip())
    lines.append(" " * 8 + "+" + "-" * (_COLUMNS + 1))
    lines.append(f"{'':9}{first:<{_COLUMNS - 11}} threads {last:>3}")
    return Preformatted("Speedup", "\n".join(lines))


def _run_count_text(runs: int | None) -> str:
    return "an unknown number of times" if runs is None else plural(runs, "time")


def _by_density(
    prediction: Prediction, derived: DensityDerivation, machine: Machine
) -> list[Section]:
    arrays = prediction.facts.arrays
    most = plural(max((array.dims for array in arrays), default=0), "dimension")
    largest = f"the largest cache of {machine.name} holds {show_bytes(derived.cache_bytes)}"
    miss = [f"Miss probability (eq. 4.2): 0, nothing to miss ({largest})"]
    if derived.data_bytes:
        miss = [
            f"Miss probability (eq. 4.2): max(0, 1 - {show_bytes(derived.cache_bytes)} / "
            f"{show_bytes(derived.data_bytes)}) = {prediction.miss_probability:.3f}",
            f"  {largest}",
        ]
    statements = zip(derived.statements, derived.counts, strict=True)
    return [
        Section("Loops", [Items([_iteration_lines(prediction), *_loop_tree(prediction)])]),
        Section("Arrays", [Items([
            f"{array.name}: {plural(array.dims, 'dimension')}, "
            f"{'counted' if array.counted else 'left out'}" for array in arrays
        ], f"Arrays (those that move in {most} count)")]),
        Section("Data", [Items([
            working_set_line(prediction.facts), *_assumption_blocks(prediction), *miss,
        ])]),
        Section("Reuse", [explain_reuse(prediction.facts, machine.line_bytes)]),
        Section("Statements", [
            _statement_block(score, count if derived.form.by_executions else None)
            for score, count in statements
        ]),
        Section("Score", [Items(_score_lines(prediction, derived))]),
    ]  # fmt: skip


def _loop_tree(prediction: Prediction) -> list[str]:
    lines = []
    shown = -1
    for _, loops, positions in prediction.facts.region.placed_statements():
        for depth, (loop, position) in enumerate(zip(loops, positions, strict=True)):
            if position > shown:
                shown = position
                lines.append("  " * (depth + 1) + _loop_line(loop))
    return lines


def _loop_line(loop: Loop) -> str:
    if loop.trips is None:
        return f"{loop.variable}: iterations not known  (line {loop.span.line})"
    most = "at most " if loop.exits else ""
    unit = "iteration" if str(loop.trips) == "1" else "iterations"
    return f"{loop.variable}: {most}{loop.trips} {unit}  (line {loop.span.line})"


def _statement_block(score: StatementScore, executions: int | None) -> Table:
    rows: list[list[Cell]] = [
        ["good" if term.good else "bad", term.value, term.number, term.weight,
         term.what if term.kind == "operation" else f"{term.what}: {term.kind}"]
        for term in score.terms
    ]  # fmt: skip
    rows += [["sum", score.good, None, None, "good"], ["sum", score.bad, None, None, "bad"]]
    columns = [
        Column("Part"), Column("Cycles", "{:.2f}".format),
        Column("Number", "{:.3g}".format, unknown=""),
        Column("Weight", "{:.4g}".format, unknown=""), Column("For"),
    ]  # fmt: skip
    often = "" if executions is None else f" (counts {plural(executions, 'time')})"
    title = f"Statement in line {score.line}: {score.text}{often}"
    return Table(title, columns, rows, legend=["Cycles: number x weight."])


def _score_lines(prediction: Prediction, derived: DensityDerivation) -> list[str]:
    over = f"Average over {plural(len(derived.statements), 'statement')}"
    over += ", by their executions" if derived.form.by_executions else ""
    areas = ", ".join(f"{100 * bound:.0f} %" for bound in derived.thresholds) or "none"
    formula = "Score (eq. 4.1): max(0, (good - bad)/(good + bad)) ="
    if derived.form.combination == "ratio":
        formula = "Score (ratio r = good/bad, as r/(1+r)):"
    return [
        f"{over}: good {derived.good:.3f}, bad {derived.bad:.3f}",
        f"{formula} {prediction.score:.3f}",
        f"Thresholds for {plural(len(derived.thresholds) + 1, 'package')}: {areas}",
    ]
