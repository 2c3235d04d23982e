"""The page of `compare`: each region's prediction beside its measurement, and what was wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.compare.empirical import Fitted
from regionpredict.compare.success import baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.report.comparison import FAR_OFF, comparison_table
from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    as_text,
    curve,
    facts,
    folded,
    items,
    line,
    table,
)
from regionpredict.report.html.constants import SPEEDUP_OFF
from regionpredict.report.html.page import page
from regionpredict.report.html.source import file_blocks
from regionpredict.report.names import common_folder
from regionpredict.report.quantities import plural, show_seconds


def comparison_page(
    comparison: Comparison, laws: Sequence[Fitted] = (), sources: Mapping[str, str] | None = None
) -> str:
    """The page; `laws` are what was fitted to the measured times, `sources` the texts of files by
    their names, as far as they can be read.
    """
    hints = comparison.hints
    folder = common_folder([one.hint.file for one in comparison.verdicts])
    lead = [f"{hints.model} model for {hints.machine}; unit of a hint: {comparison.unit}"]
    if comparison.other_machine:
        lead.append(f"Another machine was measured: {comparison.other_machine}")
    if comparison.in_part:
        lead.append(f"{comparison.options[-1]} of {comparison.most} {comparison.unit} were "
                    f"measured; {comparison.options[-1]}+ means at least so many")  # fmt: skip
    if folder:
        lead.append(f"Files are named as they stand in {folder}")
    sections = [
        Section("Overview", [facts(_rates(comparison)), *_scatter(comparison, folder)]),
        Section("Regions", [_regions(comparison, laws, folder)]),
        Section("Source", _source(comparison, sources or {})),
        Section("Not compared", _not_compared(comparison, folder)),
        as_text(comparison_table(comparison, laws)),
    ]
    return page(f"Predicted and measured: {hints.machine}", lead, sections)


def _rates(comparison: Comparison) -> list[tuple[str, str]]:
    rates = [("Success", success(comparison))]
    rates += [(f"The answer '{name}'", rate) for name, rate in baselines(comparison).items()]
    told = [
        (name, "none judged" if rate.share is None else
         f"{100 * rate.share:.1f} % ({rate.right} of {rate.judged}), 95 % interval "
         f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %")
        for name, rate in rates
    ]  # fmt: skip
    lost = time_lost(comparison.judged)
    if lost is not None:
        told.append((f"Time on the hinted {comparison.unit}", f"{100 * lost:+.1f} % of the best"))
    if comparison.median_speedup_error is not None:
        told.append(("Predicted speedup", f"off by {100 * comparison.median_speedup_error:.0f} %, "
                     "median over regions"))  # fmt: skip
    if comparison.median_time_ratio is not None:
        told.append(("Predicted time on one thread", f"{comparison.median_time_ratio:.3g} times "
                     "the measured one, median over regions"))  # fmt: skip
    return told


def _scatter(comparison: Comparison, folder: str) -> list[Block]:
    """Predicted over measured speedups: on the line, they are the same."""
    points: list[Block] = []
    for one in comparison.verdicts:
        predicted, measured = _speedups(one)
        if predicted is None or measured is None or one.incomparable:
            continue
        points.append({"name": one.hint.id.removeprefix(folder), "x": measured, "y": predicted,
                       "kind": _verdict(one)})  # fmt: skip
    if not points:
        return []
    most = max(max(one["x"], one["y"]) for one in points)
    return [{
        "kind": "scatter", "title": "Speedups on the most threads: on the line, both are the same",
        "x": "measured", "y": "predicted", "points": points, "kinds": "verdict",
        "lines": [{"name": "", "points": [[0, 0], [most, most]]}],
    }]  # fmt: skip


def _regions(comparison: Comparison, laws: Sequence[Fitted], folder: str) -> Block:
    found = {law.verdict.measured.last.place: law for law in laws}
    rows, details = [], []
    for one in comparison.verdicts:
        rows.append(_row(one, comparison, folder))
        details.append(_details(one, found.get(one.measured.last.place)))
    unit = comparison.unit.capitalize()
    columns = [
        Column("Region"),
        Column("Predicted speedup", number=True), Column("Measured", number=True),
        Column("Off by", number=True, minor=True), Column("Predicted time", number=True,
        minor=True), Column("Measured", number=True, minor=True),
        Column(f"{unit} hinted", number=True), Column("Needed", number=True),
        Column("Verdict", choice=True), Column("What was wrong", choice=True, minor=True),
    ]  # fmt: skip
    title = "Predicted and measured: speedups on the most threads, times of one execution on one"
    return table(title, columns, rows, details=details, name="regions")


def _row(one: Verdict, comparison: Comparison, folder: str) -> list[Cell]:
    predicted, measured = _speedups(one)
    error = one.speedup_error
    return [
        f"{one.hint.id.removeprefix(folder)} {one.hint.function}",
        _number(predicted), _number(measured),
        ("", None) if error is None else (f"{round(100 * error):+d} %", abs(error)),
        (show_seconds(one.hint.seconds), one.hint.seconds),
        (show_seconds(_alone(one)), _alone(one)),
        _whole(one.hinted, comparison), _whole(one.needed, comparison), _verdict(one),
        wrong_term(one),
    ]  # fmt: skip


def _speedups(one: Verdict) -> tuple[float | None, float | None]:
    """Predicted and measured, on the most threads that both have."""
    both = sorted(set(one.predicted_speedup) & set(one.measured_speedup))
    if not both:
        return None, None
    return one.predicted_speedup[both[-1]], one.measured_speedup[both[-1]]


def _alone(one: Verdict) -> float | None:
    """Measured seconds of one execution on one thread."""
    seconds = one.times.get(1)
    return None if seconds is None else seconds / max(1, one.measured.last.executions)


def _verdict(one: Verdict) -> str:
    if one.incomparable:
        return "not comparable"
    return {True: "right", False: "wrong", None: "not judged"}[one.right]


def wrong_term(one: Verdict) -> str:
    """What the comparison shows to be wrong: the seconds, the scaling, the choice, or nothing.

    A run tells times and no terms: of the model's terms only the one that limits is named.
    """
    if one.incomparable:
        return one.incomparable
    error, ratio = one.speedup_error, one.time_ratio
    limit = f" ({one.hint.bottleneck})" if one.hint.bottleneck else ""
    wrong = []
    if error is not None and abs(error) > SPEEDUP_OFF.value:
        wrong.append(("scales too well" if error > 0 else "scales too little") + limit)
    if ratio is not None and not 1 / FAR_OFF.value <= ratio <= FAR_OFF.value:
        wrong.append("time on one thread too " + ("long" if ratio > 1 else "short"))
    if not wrong and one.right is False:
        wrong.append("the choice" + limit)
    return "; ".join(wrong)


def _details(one: Verdict, law: Fitted | None) -> list[Block]:
    band = [(n, low, high) for n, (low, high) in sorted(one.hint.band.items())
            if n in one.predicted_speedup]  # fmt: skip
    series = [line("predicted", sorted(one.predicted_speedup.items()), band),
              line("measured", sorted(one.measured_speedup.items()))]  # fmt: skip
    ratio = one.time_ratio
    pairs = [("Function", one.hint.function), ("What was wrong", wrong_term(one) or "nothing"),
             ("Limited by", one.hint.bottleneck or "not told"),
             ("Sure", f"{100 * one.hint.confidence:.0f} %")]  # fmt: skip
    if ratio is not None:
        pairs.append(("Predicted time on one thread", f"{ratio:.3g} times the measured one"))
    if one.loss is not None:
        pairs.append(("On the hinted number", f"{100 * one.loss:+.1f} % of the best time"))
    pairs += [(f"Measured on {plural(n, 'thread')}", show_seconds(seconds))
              for n, seconds in one.times.items()]  # fmt: skip
    pairs += [("Assumed", words) for words in one.hint.assumed]
    if law is not None:
        pairs.append(("Fitted to the measured times", str(law.model)))
    drawn = [one for one in series if one["points"]]
    return [facts(pairs), *([curve("Speedup", "threads", "times faster", drawn)] if drawn else [])]


def _source(comparison: Comparison, sources: Mapping[str, str]) -> list[Block]:
    """The sources, each line with a region telling what was predicted, measured, and wrong."""
    notes: dict[str, list[Block]] = {}
    for row, one in enumerate(comparison.verdicts):
        notes.setdefault(one.hint.file, []).append(
            {"line": one.hint.line, "text": _told(one, comparison), "row": row}
        )
    return file_blocks(notes, sources)


def _told(one: Verdict, comparison: Comparison) -> str:
    predicted, measured = _speedups(one)
    words = f"predicted {_times(predicted)}, measured {_times(measured)}"
    if one.hinted is not None and one.needed is not None:
        words += (f"; {comparison.unit}: {_whole(one.hinted, comparison)[0]} hinted, "
                  f"{_whole(one.needed, comparison)[0]} needed, {_verdict(one)}")  # fmt: skip
    wrong = wrong_term(one)
    return f"{words}; {wrong}" if wrong else words


def _not_compared(comparison: Comparison, folder: str) -> list[Block]:
    blocks = []
    for names, what in (
        (comparison.not_measured, "hint"), (comparison.without_hint, "measured region"),
    ):  # fmt: skip
        if names:
            lack = "measurement" if what == "hint" else "hint"
            shown = items([name.removeprefix(folder) for name in names])
            blocks.append(folded(f"{plural(len(names), what)} without a {lack}", [shown]))
    return blocks


def _times(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.2f}x"


def _number(value: float | None) -> Cell:
    return ("?" if value is None else f"{value:.2f}", value)


def _whole(value: int | None, comparison: Comparison) -> tuple[str, int | None]:
    """A number of the unit; of a machine that was measured in part, the last means no fewer."""
    if value is None:
        return "?", None
    return f"{value}{'+' if comparison.in_part and value == comparison.options[-1] else ''}", value
