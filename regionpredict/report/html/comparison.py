"""The page of `compare`: each region's prediction beside its measurement, and what was wrong."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.compare.empirical import Fitted
from regionpredict.compare.success import baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.report.comparison import comparison_table
from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    as_text,
    curve,
    facts,
    items,
    line,
    table,
)
from regionpredict.report.html.page import page
from regionpredict.report.quantities import show_seconds


def comparison_page(comparison: Comparison, laws: Sequence[Fitted] = ()) -> str:
    """The page; `laws` are what was fitted to the measured times."""
    hints = comparison.hints
    found = {law.verdict.measured.last.place: law for law in laws}
    rates = [("Success", success(comparison)), *baselines(comparison).items()]
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
    rows, details = [], []
    for one in comparison.verdicts:
        rows.append(_row(one, comparison))
        details.append(_details(one, found.get(one.measured.last.place)))
    columns = [
        Column("Region"), Column("Function", minor=True), Column("Speedup predicted", number=True),
        Column("measured", number=True), Column("Off by", number=True, minor=True),
        Column(f"{comparison.unit} hinted", number=True), Column("needed", number=True),
        Column("Verdict", choice=True), Column("What was wrong", choice=True, minor=True),
    ]  # fmt: skip
    without = [f"{name}: a hint without a measurement" for name in comparison.not_measured]
    without += [f"{name}: measured, without a hint" for name in comparison.without_hint]
    lead = [f"{hints.model} model for {hints.machine}; unit of a hint: {comparison.unit}"]
    if comparison.other_machine:
        lead.append(f"Another machine was measured: {comparison.other_machine}")
    sections = [
        Section("Overview", [facts(told)]),
        Section("Regions", [table("Predicted and measured", columns, rows, details=details)]),
        Section("Not compared", [items(without)] if without else []),
        as_text(comparison_table(comparison, laws)),
    ]
    return page(f"Predicted and measured: {hints.machine}", lead, sections)


def _row(one: Verdict, comparison: Comparison) -> list[Cell]:
    both = sorted(set(one.predicted_speedup) & set(one.measured_speedup))
    most = both[-1] if both else None
    predicted = None if most is None else one.predicted_speedup[most]
    measured = None if most is None else one.measured_speedup[most]
    error = one.speedup_error
    verdict = one.incomparable or {True: "right", False: "wrong", None: "not judged"}[one.right]
    return [
        one.hint.id, one.hint.function, _number(predicted), _number(measured),
        ("" if error is None else f"{100 * error:+.0f} %", None if error is None else abs(error)),
        _whole(one.hinted), _whole(one.needed), verdict, wrong_term(one),
    ]  # fmt: skip


def wrong_term(one: Verdict) -> str:
    """What the comparison shows to be wrong: the seconds, the scaling, the choice, or nothing.

    A run tells times and no terms: of the model's terms only the one that limits is named.
    """
    if one.incomparable:
        return ""
    error, ratio = one.speedup_error, one.time_ratio
    limit = f" ({one.hint.bottleneck})" if one.hint.bottleneck else ""
    if error is not None and abs(error) > 0.25:
        return ("scales too well" if error > 0 else "scales too little") + limit
    if ratio is not None and not 0.5 <= ratio <= 2:
        return "time on one thread too " + ("long" if ratio > 1 else "short")
    return "the choice" + limit if one.right is False else ""


def _details(one: Verdict, law: Fitted | None) -> list[Block]:
    series = [
        line("predicted", one.predicted_speedup.items()),
        line("measured", one.measured_speedup.items()),
    ]
    ratio = one.time_ratio
    pairs = [("Limited by", one.hint.bottleneck or "not told"),
             ("Sure", f"{100 * one.hint.confidence:.0f} %")]  # fmt: skip
    if ratio is not None:
        pairs.append(("Predicted time on one thread", f"{ratio:.3g} times the measured one"))
    if one.loss is not None:
        pairs.append(("On the hinted number", f"{100 * one.loss:+.1f} % of the best time"))
    pairs += [(f"Measured on {n}", show_seconds(seconds)) for n, seconds in one.times.items()]
    pairs += [("Assumed", line) for line in one.hint.assumed]
    if law is not None:
        pairs.append(("Fitted to the measured times", str(law.model)))
    return [facts(pairs), curve("Speedup", "threads", "times faster",
                                [one for one in series if one["points"]])]  # fmt: skip


def _number(value: float | None) -> Cell:
    return ("?" if value is None else f"{value:.2f}", value)


def _whole(value: int | None) -> Cell:
    return ("?" if value is None else str(value), value)
