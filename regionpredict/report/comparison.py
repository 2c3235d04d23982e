"""Documents a comparison of hints and measurements, also as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from regionpredict.compare.empirical import FittedLaw, disagreeing
from regionpredict.compare.success import Rate, baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.constant import Constant
from regionpredict.predict import BAND_SHARE
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
    Text,
    below_folder,
    csv_rows,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.html.constants import SPEEDUP_OFF
from regionpredict.report.html.source import file_blocks
from regionpredict.report.json_text import fields_of
from regionpredict.report.names import first_of
from regionpredict.report.page_width import PAGE_WIDTH
from regionpredict.report.quantities import plural, show_seconds, show_share
from regionpredict.report.verdict_scatter import KINDS, speedup_scatter

_SHOWN = 10
_MORE = "more: see --format json"
FAR_OFF = Constant(
    2.0, "1", "assumed",
    "a predicted time beyond this factor of the measured one is reported as wrong: ratios of "
    "times may still be right",
)  # fmt: skip


def comparison_document(
    comparison: Comparison, laws: Sequence[FittedLaw] = (),
    sources: Callable[[Iterable[str]], Mapping[str, str]] = lambda _: {},
) -> Document:  # fmt: skip
    """Returns each region's prediction next to its measurement, the success rate next to trivial
    strategies, and the errors.

    `laws` are fitted to the measured times. `sources` maps file names to their texts.
    """
    hints = comparison.hints
    shown = (*comparison.verdicts, *comparison.teams)
    rate = success(comparison)
    lead = (
        [
            f"{rate.right} of {plural(rate.judged, 'hint')} {'is' if rate.judged == 1 else 'are'} "
            f"right (95 % interval {100 * rate.low:.0f} to {100 * rate.high:.0f} %)."
        ]
        if rate.judged
        else ["No hint could be judged."]
    )
    rule = f"the smallest number within {100 * comparison.tolerance:.0f} % of the best time"
    if comparison.criterion == "utilisation":
        rule = "in the area of the utilization"
    lead += [
        f"{hints.model} model for {hints.machine}, hints in {comparison.unit}",
        f"A hint is right if it is {rule}.",
        *_reservations(comparison),
    ]
    sections = [
        Section("Overview", [Facts(_rate_facts(comparison)), speedup_scatter(comparison)]),
        Section("Regions", [_region_table(comparison, comparison.verdicts, laws)]),
        Section("Teams", [_region_table(comparison, comparison.teams, laws)]),
        Section("Wrong", [
            _not_comparable(shown), _worst_table(comparison.most_wrong),
        ], "text"),
        Section("Fitted laws", _law_disagreements(laws)),
        Section("Source", lambda: _source_blocks(comparison, sources), "page"),
        Section("Not compared", [
            *_not_compared(comparison.not_measured, "hint", "measurement"),
            *_not_compared(comparison.without_hint, "measured region", "hint"),
        ]),
        Section("Rows", [csv_table({(): comparison})], "csv"),
    ]  # fmt: skip
    title = f"Predicted and measured: {hints.machine}"
    document = Document(title, lead, sections, lambda: _json_record(comparison, laws))
    return below_folder(document, [verdict.hint.file for verdict in shown])


def csv_table(
    comparisons: Mapping[tuple[str, ...], Comparison], names: Sequence[str] = ()
) -> Table:
    """Returns the score, the times and the utilization of chapter 5 of Chatzopoulos 2012, with a
    row per region and number of threads.

    The key of a comparison is in the columns `names`.
    """
    rows = [
        [*key, verdict.hint.id, verdict.hint.function, verdict.hint.score, verdict.hinted,
         verdict.needed, _verdict_word(verdict), threads, seconds, speedup,
         None if speedup is None else speedup / threads, verdict.predicted_speedup.get(threads)]
        for key, comparison in comparisons.items()
        for verdict in comparison.counted
        for threads, seconds in verdict.times.items()
        for speedup in [verdict.measured_speedup.get(threads)]
    ]  # fmt: skip
    columns = (*names, "region", "function", "score", "hinted", "needed", "verdict", "threads",
               "seconds", "speedup", "utilization", "predicted_speedup")  # fmt: skip
    return csv_rows(columns, rows)


def _reservations(comparison: Comparison) -> list[str]:
    """Returns remarks on another machine, a partly measured machine, and disturbed runs."""
    lines = []
    if comparison.other_machine:
        lines.append(f"another machine: {comparison.other_machine}")
    if comparison.in_part:
        lines.append(
            f"{comparison.options[-1]} of {comparison.most} {comparison.unit} were measured; "
            f"{comparison.options[-1]}+ means at least this number"
        )
    lines += [f"{line}; their hints are judged anyway" for line in comparison.disturbed]
    return lines


def _rate_facts(comparison: Comparison) -> list[tuple[str, str]]:
    left = [verdict for verdict in comparison.counted if verdict.right is None]
    regions = [verdict for verdict in left if not verdict.regions]
    not_judged = "".join(
        f"; {plural(many, what)} not judged"
        for many, what in (
            (len(regions), "region"), (len(left) - len(regions), "parallel region"),
        )
        if many
    )  # fmt: skip
    pairs = [("Success", _rate_text(success(comparison)) + not_judged)]
    pairs += [
        (f"Baseline: {name}", _rate_text(rate)) for name, rate in baselines(comparison).items()
    ]
    lost = time_lost(comparison.judged)
    if lost is not None:
        pairs.append((f"Time, hinted {comparison.unit}", f"{100 * lost:+.1f} % of the best"))
    error = comparison.median_speedup_error
    if error is not None:
        pairs.append(("Predicted speedup", f"off by {show_share(error)} (median over regions)"))
    ratio = comparison.median_time_ratio
    if ratio is not None:
        beyond = max(ratio, 1 / ratio) > FAR_OFF.value if ratio > 0 else True
        pairs.append((
            "Predicted time, 1 thread",
            f"{ratio:.3g} times the measured one (median)"
            + ("; the seconds are wrong, even if the ratios are right" if beyond else ""),
        ))  # fmt: skip
    return pairs


def _rate_text(rate: Rate) -> str:
    if rate.share is None:
        return "none judged"
    return (
        f"{100 * rate.share:.1f} % ({rate.right} of {rate.judged}; 95 % interval "
        f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %)"
    )


def _region_table(
    comparison: Comparison, verdicts: Sequence[Verdict], laws: Sequence[FittedLaw]
) -> Table:
    """Returns a table of regions, or of parallel regions as a whole."""
    laws_by_construct = {law.verdict.measured.last.construct: law for law in laws}
    rows = [_region_row(verdict, comparison) for verdict in verdicts]

    def details(at: int) -> list[Block]:
        return _region_details(
            verdicts[at], laws_by_construct.get(verdicts[at].measured.last.construct)
        )

    of_teams = any(verdict.regions for verdict in verdicts)
    most = max(n for verdict in comparison.counted for n in verdict.times)
    columns = [
        Column("Parallel region" if of_teams else "Region", cut=True),
        Column("Predicted", "{:.2f}".format, unknown="?"),
        Column("Measured", "{:.2f}".format, unknown="?"),
        Column("Off by", str, minor=True, unknown="", only="page"),
        Column("Predicted time", show_seconds, minor=True, unknown="?", only="page"),
        Column("Measured time", show_seconds, minor=True, unknown="?", only="page"),
        Column("Used", show_share, minor=True, unknown="?"),
        Column("Hinted", str, minor=True), Column("Needed", str, minor=True),
        Column("Verdict", choice=True),
        Column("What was wrong", choice=True, minor=True, only="page"),
    ]  # fmt: skip
    counted = {verdict.hint.id for verdict in comparison.counted}
    alone = [verdict for verdict in verdicts if of_teams and verdict.hint.id not in counted]
    told = "A parallel region with one measured loop is counted as that loop."
    return Table(
        f"Predicted and measured speedups on up to {plural(most, 'thread')}; {comparison.unit} "
        "hinted and needed",
        columns, rows, details, name="teams" if of_teams else "regions",
        legend=["Used: measured speedup per thread.", *([told] if alone else [])],
    )  # fmt: skip


def _not_comparable(verdicts: Sequence[Verdict]) -> Items:
    reasons = [
        f"{verdict.hint.id} {verdict.hint.function}: {verdict.incomparable}"
        for verdict in verdicts
        if verdict.incomparable
    ]
    return Items(reasons, "Not comparable")


def _region_row(verdict: Verdict, comparison: Comparison) -> list[Cell]:
    predicted, measured = _speedups(verdict)
    error, alone = verdict.speedup_error, verdict.times.get(1)
    return [
        f"{verdict.hint.id} {verdict.hint.function}",
        predicted, measured,
        None if error is None else (f"{round(100 * error):+d} %", abs(error)),
        verdict.hint.seconds,
        None if alone is None else alone / max(1, verdict.measured.last.executions),
        verdict.utilisation,
        _whole_number(verdict.hinted, comparison), _whole_number(verdict.needed, comparison),
        _verdict_word(verdict),
        wrong_term(verdict),
    ]  # fmt: skip


def _speedups(verdict: Verdict) -> tuple[float | None, float | None]:
    """Returns predicted and measured speedups at the largest common number of threads."""
    both = sorted(set(verdict.predicted_speedup) & set(verdict.measured_speedup))
    if not both:
        return None, None
    return verdict.predicted_speedup[both[-1]], verdict.measured_speedup[both[-1]]


def _verdict_word(verdict: Verdict) -> str:
    if verdict.incomparable:
        return "not comparable"
    return KINDS[verdict.right]


def wrong_term(verdict: Verdict) -> str:
    """Returns the kind of error: in the time, the scaling, or the choice of threads.

    Runs measure times, not terms. Only the limiting term of the model is reported.
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


def _region_details(verdict: Verdict, law: FittedLaw | None) -> list[Block]:
    band = [(n, low, high) for n, (low, high) in sorted(verdict.hint.band.items())
            if n in verdict.predicted_speedup]  # fmt: skip
    series = [line("predicted", sorted(verdict.predicted_speedup.items()), band),
              line("measured", sorted(verdict.measured_speedup.items()))]  # fmt: skip
    ratio = verdict.time_ratio
    pairs = [
        ("Function", verdict.hint.function),
        ("What was wrong", wrong_term(verdict) or "nothing"),
        ("Limited by", verdict.hint.bottleneck or "unknown"),
        ("Hinted, needed", f"{verdict.hinted or '?'}, {verdict.needed or '?'}"),
        ("Confidence", f"{100 * verdict.hint.confidence:.0f} %"),
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
        pairs.append(("Fitted to the times, in s", str(law.model)))
    drawn = [curve for curve in series if curve["points"]]
    share = f"{100 * BAND_SHARE.value:.0f} % of measured speedups are inside"
    drawings = [curve("Speedup", "threads", "times faster", drawn, band=share)] if drawn else []
    return [Facts(pairs), *drawings]


def _worst_table(wrong: Sequence[Verdict]) -> Items:
    lines: list[str] = []
    for verdict in wrong[:_SHOWN]:
        lines.append(
            f"{verdict.hint.id} {verdict.hint.function}: "
            f"{verdict.hinted} instead of {verdict.needed}, "
            f"{100 * (verdict.loss or 0):.0f} % slower than the best; "
            f"{verdict.hint.bottleneck or 'no bottleneck'}, "
            f"{100 * verdict.hint.confidence:.0f} % confidence"
            + (", borderline" if verdict.hint.borderline else "")
        )
        lines += [f"    assumed: {line}" for line in verdict.hint.assumed]
    left = len(wrong) - _SHOWN
    return Items(lines + [f"... and {left} {_MORE}"] * (left > 0), "Most wrong first")


def _law_disagreements(laws: Sequence[FittedLaw]) -> list[Block]:
    """Returns regions whose predicted speedup is outside the interval of the fitted law."""
    if not laws:
        return []
    disagreements = disagreeing(laws)
    title = (
        f"Prediction and fitted law disagree for {len(disagreements)} of "
        f"{plural(len(laws), 'region')}"
    )
    lines = [
        f"{law.verdict.hint.id} {law.verdict.hint.function}: on {plural(threads, 'thread')} "
        f"{law.verdict.predicted_speedup[threads]:.2f} predicted, {band.value:.2f} fitted "
        f"({band.low:.2f} to {band.high:.2f}); predicted {law.predicted_law}, measured {law.law}"
        for law in disagreements if law.worst is not None
        for threads, band in [(law.worst[0], law.speedup[law.worst[0]])]
    ]  # fmt: skip
    if not lines:
        return [Text(f"{title}.")]
    return [Items(first_of(lines, _SHOWN, _MORE), f"{title}, largest first")]


def _not_compared(names: Sequence[str], what: str, lack: str) -> list[Block]:
    """Returns the number and the first names in text, all names on a page."""
    if not names:
        return []
    title = f"{plural(len(names), what)} without a {lack}"
    return [
        Text(_list_of_regions(names, f"{title}: "), only="text"),
        Folded(title, [Items(names)]),
    ]


def _list_of_regions(regions: Sequence[str], line: str) -> str:
    """Lists names, such as `2 hints without a measurement: solve.c:40, ...`, in one line."""
    first, *others = [PurePath(region).name for region in regions]
    for region in others:
        if len(line) + len(f"{first}, {region}, ...") > PAGE_WIDTH:
            return f"{line}{first}, ..."
        first += f", {region}"
    return line + first


def _source_blocks(
    comparison: Comparison, sources: Callable[[Iterable[str]], Mapping[str, str]]
) -> list[Drawing]:  # fmt: skip
    notes: dict[str, list[Drawing]] = {}
    for row, verdict in enumerate(comparison.verdicts):
        notes.setdefault(verdict.hint.file, []).append(
            {"line": verdict.hint.line, "text": _verdict_sentence(verdict, comparison), "row": row}
        )
    return file_blocks(notes, sources(notes))


def _verdict_sentence(verdict: Verdict, comparison: Comparison) -> str:
    predicted, measured = _speedups(verdict)
    sentence = f"predicted {_times_text(predicted)}, measured {_times_text(measured)}"
    if verdict.hinted is not None and verdict.needed is not None:
        sentence += (
            f"; {comparison.unit}: {_whole_number(verdict.hinted, comparison)[0]} hinted, "
            f"{_whole_number(verdict.needed, comparison)[0]} needed, {_verdict_word(verdict)}"
        )
    wrong = wrong_term(verdict)
    return f"{sentence}; {wrong}" if wrong else sentence


def _times_text(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.2f}x"


def _whole_number(value: int | None, comparison: Comparison) -> tuple[str, int | None]:
    """Formats a number. On a partly measured machine, the largest one means "at least"."""
    if value is None:
        return "?", None
    return f"{value}{'+' if comparison.in_part and value == comparison.options[-1] else ''}", value


def _json_record(comparison: Comparison, laws: Sequence[FittedLaw]) -> dict[str, Any]:
    law_of = {law.verdict.measured.last.construct: law for law in laws}
    counted = {verdict.hint.id for verdict in comparison.counted if verdict.regions}
    return {
        "schema": "regionpredict/comparison/1",
        "machine": fields_of(comparison.hints, "packages cores_per_package", name="machine"),
        "model": comparison.hints.model,
        **fields_of(comparison, "unit options most disturbed criterion tolerance"),
        "other_machine": comparison.other_machine or None,
        "success": _rate_entry(success(comparison)),
        "baselines": {name: _rate_entry(rate) for name, rate in baselines(comparison).items()},
        "time_lost": time_lost(comparison.judged),
        **fields_of(comparison, "median_speedup_error median_time_ratio"),
        "regions": [_verdict_record(verdict, law_of) for verdict in comparison.verdicts],
        "teams": [
            {**_verdict_record(verdict, law_of), "regions": list(verdict.regions),
             "counted": verdict.hint.id in counted}
            for verdict in comparison.teams
        ],
        "disagreeing": [law.verdict.hint.id for law in disagreeing(laws)],
        "most_wrong": [verdict.hint.id for verdict in comparison.most_wrong],
        **fields_of(comparison, "without_hint not_measured"),
    }  # fmt: skip


def _rate_entry(rate: Rate) -> dict[str, Any]:
    return {**fields_of(rate, "share right judged"), "interval": [rate.low, rate.high]}


def _verdict_record(verdict: Verdict, laws: Mapping[Any, FittedLaw]) -> dict[str, Any]:
    law = laws.get(verdict.measured.last.construct)
    return {
        **fields_of(verdict.hint, "id file line function score bottleneck confidence assumed"),
        **fields_of(verdict, "predicted_speedup measured_speedup speedup_error time_ratio "
                    "utilisation hinted needed right loss", seconds="times"),
        "incomparable": verdict.incomparable or None,
        "fitted": law and {
            **fields_of(law, "law predicted_law disagrees"), "text": str(law.model),
            "speedup": {
                str(n): fields_of(band, "value low high") for n, band in law.speedup.items()
            },
        },
    }  # fmt: skip
