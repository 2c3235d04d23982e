"""The page of `compare`: each region's prediction beside its measurement, and what was wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.compare.empirical import Fitted
from regionpredict.compare.success import baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.predict import BAND_SHARE
from regionpredict.report.comparison import FAR_OFF, comparison_table
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Drawing,
    Facts,
    Folded,
    Items,
    Section,
    Table,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.html.constants import SPEEDUP_OFF
from regionpredict.report.html.page import as_text, document_page
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
    shown = (*comparison.verdicts, *comparison.teams)
    folder = common_folder([verdict.hint.file for verdict in shown])
    lead = [f"{hints.model} model for {hints.machine}; unit of a hint: {comparison.unit}"]
    if comparison.other_machine:
        lead.append(f"Another machine was measured: {comparison.other_machine}")
    if comparison.in_part:
        lead.append(f"{comparison.options[-1]} of {comparison.most} {comparison.unit} were "
                    f"measured; {comparison.options[-1]}+ means at least so many")  # fmt: skip
    lead += [f"{line}; they are judged all the same" for line in comparison.disturbed]
    if folder:
        lead.append(f"Files are named as they stand in {folder}")
    sections = [
        Section("Overview", [Facts(_rates(comparison)), *_scatter(comparison, folder)]),
        Section("Regions", [_regions(comparison, comparison.verdicts, laws, folder)]),
        *_teams(comparison, laws, folder),
        Section("Source", _source(comparison, sources or {})),
        Section("Not compared", _not_compared(comparison, folder)),
        as_text(comparison_table(comparison, laws)),
    ]
    return document_page(Document(f"Predicted and measured: {hints.machine}", lead, sections))


def _rates(comparison: Comparison) -> list[tuple[str, str]]:
    rates = [("Success", success(comparison))]
    rates += [(f"The answer '{name}'", rate) for name, rate in baselines(comparison).items()]
    pairs = [
        (name, "none judged" if rate.share is None else
         f"{100 * rate.share:.1f} % ({rate.right} of {rate.judged}), 95 % interval "
         f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %")
        for name, rate in rates
    ]  # fmt: skip
    lost = time_lost(comparison.judged)
    if lost is not None:
        pairs.append((f"Time on the hinted {comparison.unit}", f"{100 * lost:+.1f} % of the best"))
    if comparison.median_speedup_error is not None:
        pairs.append(("Predicted speedup", f"off by {100 * comparison.median_speedup_error:.0f} %, "
                     "median over regions"))  # fmt: skip
    if comparison.median_time_ratio is not None:
        pairs.append(("Predicted time on one thread", f"{comparison.median_time_ratio:.3g} times "
                     "the measured one, median over regions"))  # fmt: skip
    return pairs


def _scatter(comparison: Comparison, folder: str) -> list[Drawing]:
    """Predicted over measured speedups: on the line, they are the same."""
    points: list[Drawing] = []
    for verdict in comparison.counted:
        predicted, measured = _speedups(verdict)
        if predicted is None or measured is None or verdict.incomparable:
            continue
        points.append({"name": verdict.hint.id.removeprefix(folder), "x": measured, "y": predicted,
                       "kind": _verdict(verdict)})  # fmt: skip
    if not points:
        return []
    most = max(max(point["x"], point["y"]) for point in points)
    return [{
        "kind": "scatter", "title": "Speedups on the most threads: on the line, both are the same",
        "x": "measured", "y": "predicted", "points": points, "kinds": "verdict",
        "lines": [{"name": "", "points": [[0, 0], [most, most]]}],
    }]  # fmt: skip


def _teams(comparison: Comparison, laws: Sequence[Fitted], folder: str) -> list[Section]:
    """The `parallel` constructs as a whole; none where none was measured so."""
    if not comparison.teams:
        return []
    return [Section("Teams", [_regions(comparison, comparison.teams, laws, folder)])]


def _regions(
    comparison: Comparison, verdicts: Sequence[Verdict], laws: Sequence[Fitted], folder: str
) -> Table:
    """A table of regions, or of teams."""
    laws_by_construct = {law.verdict.measured.last.construct: law for law in laws}
    rows = [_row(verdict, comparison, folder) for verdict in verdicts]

    def details(at: int) -> list[Block]:
        return _details(verdicts[at], laws_by_construct.get(verdicts[at].measured.last.construct))

    of_teams = any(verdict.regions for verdict in verdicts)
    unit = comparison.unit.capitalize()
    columns = [
        Column("Team" if of_teams else "Region"),
        Column("Predicted speedup", "{:.2f}".format, unknown="?"),
        Column("Measured", "{:.2f}".format, unknown="?"),
        Column("Off by", str, minor=True, unknown=""),
        Column("Predicted time", show_seconds, minor=True, unknown="?"),
        Column("Measured", show_seconds, minor=True, unknown="?"),
        Column(f"{unit} hinted", str), Column("Needed", str),
        Column("Verdict", choice=True), Column("What was wrong", choice=True, minor=True),
    ]  # fmt: skip
    title = "Predicted and measured: speedups on the most threads, times of one execution on one"
    return Table(title, columns, rows, details, name="teams" if of_teams else "regions")


def _row(verdict: Verdict, comparison: Comparison, folder: str) -> list[Cell]:
    predicted, measured = _speedups(verdict)
    error = verdict.speedup_error
    return [
        f"{verdict.hint.id.removeprefix(folder)} {verdict.hint.function}",
        predicted, measured,
        None if error is None else (f"{round(100 * error):+d} %", abs(error)),
        verdict.hint.seconds, _alone(verdict),
        _whole(verdict.hinted, comparison), _whole(verdict.needed, comparison), _verdict(verdict),
        wrong_term(verdict),
    ]  # fmt: skip


def _speedups(verdict: Verdict) -> tuple[float | None, float | None]:
    """Predicted and measured, on the most threads that both have."""
    both = sorted(set(verdict.predicted_speedup) & set(verdict.measured_speedup))
    if not both:
        return None, None
    return verdict.predicted_speedup[both[-1]], verdict.measured_speedup[both[-1]]


def _alone(verdict: Verdict) -> float | None:
    """Measured seconds of one execution on one thread."""
    seconds = verdict.times.get(1)
    return None if seconds is None else seconds / max(1, verdict.measured.last.executions)


def _verdict(verdict: Verdict) -> str:
    if verdict.incomparable:
        return "not comparable"
    return {True: "right", False: "wrong", None: "not judged"}[verdict.right]


def wrong_term(verdict: Verdict) -> str:
    """What the comparison shows to be wrong: the seconds, the scaling, the choice, or nothing.

    A run tells times and no terms: of the model's terms only the one that limits is named.
    """
    if verdict.incomparable:
        return verdict.incomparable
    error, ratio = verdict.speedup_error, verdict.time_ratio
    limit = f" ({verdict.hint.bottleneck})" if verdict.hint.bottleneck else ""
    wrong = []
    if error is not None and abs(error) > SPEEDUP_OFF.value:
        wrong.append(("scales too well" if error > 0 else "scales too little") + limit)
    if ratio is not None and not 1 / FAR_OFF.value <= ratio <= FAR_OFF.value:
        wrong.append("time on one thread too " + ("long" if ratio > 1 else "short"))
    if not wrong and verdict.right is False:
        wrong.append("the choice" + limit)
    return "; ".join(wrong)


def _details(verdict: Verdict, law: Fitted | None) -> list[Block]:
    band = [(n, low, high) for n, (low, high) in sorted(verdict.hint.band.items())
            if n in verdict.predicted_speedup]  # fmt: skip
    series = [line("predicted", sorted(verdict.predicted_speedup.items()), band),
              line("measured", sorted(verdict.measured_speedup.items()))]  # fmt: skip
    ratio = verdict.time_ratio
    pairs = [
        ("Function", verdict.hint.function),
        ("What was wrong", wrong_term(verdict) or "nothing"),
        ("Limited by", verdict.hint.bottleneck or "not told"),
        ("Sure", f"{100 * verdict.hint.confidence:.0f} %"),
    ]
    if ratio is not None:
        pairs.append(("Predicted time on one thread", f"{ratio:.3g} times the measured one"))
    if verdict.loss is not None:
        pairs.append(("On the hinted number", f"{100 * verdict.loss:+.1f} % of the best time"))
    pairs += [(f"Measured on {plural(n, 'thread')}", show_seconds(seconds))
              for n, seconds in verdict.times.items()]  # fmt: skip
    pairs += [("Its loop", region) for region in verdict.regions]
    pairs += [("Assumed", assumption) for assumption in verdict.hint.assumed]
    if law is not None:
        pairs.append(("Fitted to the measured times", str(law.model)))
    drawn = [curve for curve in series if curve["points"]]
    share = f"{100 * BAND_SHARE.value:.0f} % of measured speedups lie in it"
    drawings = [curve("Speedup", "threads", "times faster", drawn, band=share)] if drawn else []
    return [Facts(pairs), *drawings]


def _source(comparison: Comparison, sources: Mapping[str, str]) -> list[Drawing]:
    """The sources, each line with a region telling what was predicted, measured, and wrong."""
    notes: dict[str, list[Drawing]] = {}
    for row, verdict in enumerate(comparison.verdicts):
        notes.setdefault(verdict.hint.file, []).append(
            {"line": verdict.hint.line, "text": _verdict_sentence(verdict, comparison), "row": row}
        )
    return file_blocks(notes, sources)


def _verdict_sentence(verdict: Verdict, comparison: Comparison) -> str:
    predicted, measured = _speedups(verdict)
    sentence = f"predicted {_times(predicted)}, measured {_times(measured)}"
    if verdict.hinted is not None and verdict.needed is not None:
        sentence += (
            f"; {comparison.unit}: {_whole(verdict.hinted, comparison)[0]} hinted, "
            f"{_whole(verdict.needed, comparison)[0]} needed, {_verdict(verdict)}"
        )
    wrong = wrong_term(verdict)
    return f"{sentence}; {wrong}" if wrong else sentence


def _not_compared(comparison: Comparison, folder: str) -> list[Block]:
    blocks: list[Block] = []
    for names, what in (
        (comparison.not_measured, "hint"), (comparison.without_hint, "measured region"),
    ):  # fmt: skip
        if names:
            lack = "measurement" if what == "hint" else "hint"
            shown = Items([name.removeprefix(folder) for name in names])
            blocks.append(Folded(f"{plural(len(names), what)} without a {lack}", [shown]))
    return blocks


def _times(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.2f}x"


def _whole(value: int | None, comparison: Comparison) -> tuple[str, int | None]:
    """A number of the unit; of a machine that was measured in part, the last means no fewer."""
    if value is None:
        return "?", None
    return f"{value}{'+' if comparison.in_part and value == comparison.options[-1] else ''}", value
