"""A comparison of hints and measurements, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from regionpredict.compare.empirical import Fitted, disagreeing
from regionpredict.compare.success import Rate, baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.constant import Constant
from regionpredict.errors import one_line
from regionpredict.report.page_width import PAGE_WIDTH
from regionpredict.report.quantities import plural

_SHOWN = 10
_REGION = 28
FAR_OFF = Constant(
    2.0, "1", "assumed",
    "a predicted time beyond twice the measured one, or below half of it, is called wrong: ratios "
    "of times may still be right",
)  # fmt: skip


def comparison_table(comparison: Comparison, laws: Sequence[Fitted] = ()) -> str:
    """One line a region, the success rate beside the trivial ones, and the worst misses.

    `laws` are what was fitted to the measured times: where predictions disagree is told.
    """
    most = max(n for verdict in comparison.counted for n in verdict.times)
    hints = comparison.hints
    lines = [
        f"{hints.model} model for {hints.machine}, hints in {comparison.unit}",
        f"right: {_rule(comparison)}",
        *_reservations(comparison),
        "",
        f"{'region':<{_REGION}} {f'speedup on {most}':>18} {'utili-':>6} {comparison.unit:>13}",
        f"{'':<{_REGION}} {'predicted measured':>18} {'sation':>6} {'hinted needed':>13}",
    ]
    for verdict in comparison.verdicts:
        lines += _rows(verdict, most, comparison)
    lines += _team_rows(comparison, most)
    lines += ["", *_rates(comparison)]
    lines += _worst(comparison.most_wrong)
    lines += _disagreements(laws)
    if comparison.not_measured:
        lines += ["", _named(comparison.not_measured, "hint", "without a measurement")]
    if comparison.without_hint:
        lines += ["", _named(comparison.without_hint, "measured region", "without a hint")]
    return "\n".join(map(one_line, lines)) + "\n"


def _named(regions: Sequence[str], what: str, how: str) -> str:
    """`2 hints without a measurement: solve.c:40, solve.c:52`; of many the first."""
    line = f"{plural(len(regions), what)} {how}: "
    first, *others = [PurePath(region).name for region in regions]
    for region in others:
        if len(line) + len(f"{first}, {region}, ...") > PAGE_WIDTH:
            return f"{line}{first}, ..."
        first += f", {region}"
    return line + first


def _rule(comparison: Comparison) -> str:
    if comparison.criterion == "utilisation":
        return "the area that the utilisation lies in"
    return f"the smallest within {100 * comparison.tolerance:.0f} % of the best time"


def _reservations(comparison: Comparison) -> list[str]:
    """What a reader has to know of the whole: another machine, a part of it, runs disturbed."""
    lines = []
    if comparison.other_machine:
        lines.append(f"another machine: {comparison.other_machine}")
    if comparison.in_part:
        lines.append(
            f"{comparison.options[-1]} of {comparison.most} {comparison.unit} were measured; "
            f"{comparison.options[-1]}+ means at least this number"
        )
    lines += [f"{line}; they are judged all the same" for line in comparison.disturbed]
    return lines


def _rows(verdict: Verdict, most: int, comparison: Comparison) -> list[str]:
    """A line, and where a region cannot be judged another with the reason."""
    name = f"{PurePath(verdict.hint.file).name}:{verdict.hint.line} {verdict.hint.function}"
    predicted, measured = verdict.predicted_speedup.get(most), verdict.measured_speedup.get(most)
    mark = {True: "", False: "  wrong", None: "  not judged"}[verdict.right]
    line = (
        f"{name[:_REGION]:<{_REGION}} {_number(predicted):>9} {_number(measured):>8} "
        f"{_percent(verdict.utilisation):>6} {_number_of(verdict.hinted, comparison):>6} "
        f"{_number_of(verdict.needed, comparison):>6}{mark}"
    )
    return [line, f"    {verdict.incomparable}"] if verdict.incomparable else [line]


def _team_rows(comparison: Comparison, most: int) -> list[str]:
    """The `parallel` constructs as a whole, below the regions."""
    if not comparison.teams:
        return []
    lines = ["", "parallel regions with several loops:"]
    for verdict in comparison.teams:
        lines += _rows(verdict, most, comparison)
    counted = {verdict.hint.id for verdict in comparison.counted if verdict.regions}
    if any(verdict.hint.id not in counted for verdict in comparison.teams):
        lines.append("a parallel region with one measured loop is counted as that loop")
    return lines


def _rates(comparison: Comparison) -> list[str]:
    lines = [f"success {_rate(success(comparison))}"]
    left = [v for v in comparison.counted if v.right is None]
    for what, many in (
        ("region", [v for v in left if not v.regions]),
        ("parallel region", [v for v in left if v.regions]),
    ):  # fmt: skip
        if many:
            lines[0] += f"; {plural(len(many), what)} not judged"
    lines += [f"  {name}: {_rate(rate)}" for name, rate in baselines(comparison).items()]
    lost = time_lost(comparison.judged)
    if lost is not None:
        lines.append(f"time on the hinted {comparison.unit}: {100 * lost:+.1f} % of the best")
    error = comparison.median_speedup_error
    if error is not None:
        lines.append(f"predicted speedup: off by {100 * error:.0f} % (median over regions)")
    ratio = comparison.median_time_ratio
    if ratio is not None:
        beyond = max(ratio, 1 / ratio) > FAR_OFF.value if ratio > 0 else True
        lines.append(
            f"predicted time on one thread: {ratio:.3g} times the measured one (median)"
            + ("; the seconds are wrong, whatever the ratios" if beyond else "")
        )
    return lines


def _worst(wrong: Sequence[Verdict]) -> list[str]:
    if not wrong:
        return []
    lines = ["", "most wrong first:"]
    for verdict in wrong[:_SHOWN]:
        lines.append(
            f"  {verdict.hint.id} {verdict.hint.function}: {_whole(verdict.hinted)} instead of "
            f"{_whole(verdict.needed)}, {100 * (verdict.loss or 0):.0f} % slower than the best; "
            f"{verdict.hint.bottleneck or 'no bottleneck'}, "
            f"{100 * verdict.hint.confidence:.0f} % confidence"
            + (", borderline" if verdict.hint.borderline else "")
        )
        lines += [f"      assumed: {line}" for line in verdict.hint.assumed]
    if len(wrong) > _SHOWN:
        lines.append(f"  ... and {len(wrong) - _SHOWN} more: see --format json")
    return lines


def _disagreements(laws: Sequence[Fitted]) -> list[str]:
    """Where the predicted speedup is beyond the uncertainty of the law fitted to the times."""
    if not laws:
        return []
    disagreements = disagreeing(laws)
    lines = [
        "",
        f"prediction and fitted law disagree for {len(disagreements)} of "
        f"{plural(len(laws), 'region')}" + (", largest difference first:" if disagreements else ""),
    ]
    for law in disagreements[:_SHOWN]:
        assert law.worst is not None
        threads = law.worst[0]
        band = law.speedup[threads]
        lines += [
            f"  {law.verdict.hint.id} {law.verdict.hint.function}: on {plural(threads, 'thread')} "
            f"{law.verdict.predicted_speedup[threads]:.2f} predicted, {band.value:.2f} fitted "
            f"({band.low:.2f} to {band.high:.2f})",
            f"      predicted {law.predicted_law}, measured {law.law}",
        ]
    if len(disagreements) > _SHOWN:
        lines.append(f"  ... and {len(disagreements) - _SHOWN} more: see --format json")
    return lines


def _rate(rate: Rate) -> str:
    if rate.share is None:
        return "none judged"
    return (
        f"{100 * rate.share:.1f} % ({rate.right} of {rate.judged}; 95 % interval "
        f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %)"
    )


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{100 * value:.0f} %"


def _number_of(value: int | None, comparison: Comparison) -> str:
    """Packages or threads; `2+` where it may be more than were measured."""
    open_end = comparison.in_part and value == comparison.options[-1]
    return f"{_whole(value)}{'+' if open_end else ''}"


def _whole(value: int | None) -> str:
    return "?" if value is None else str(value)


def comparison_document(comparison: Comparison, laws: Sequence[Fitted] = ()) -> dict[str, Any]:
    """The whole comparison for `json.dumps`, schema `regionpredict/comparison/1`."""
    hints = comparison.hints
    law_of = {law.verdict.measured.last.construct: law for law in laws}
    counted = {verdict.hint.id for verdict in comparison.counted if verdict.regions}
    return {
        "schema": "regionpredict/comparison/1",
        "machine": {"name": hints.machine, "packages": hints.packages,
                    "cores_per_package": hints.cores_per_package},
        "model": hints.model,
        "unit": comparison.unit,
        "options": list(comparison.options),
        "most": comparison.most,
        "other_machine": comparison.other_machine or None,
        "disturbed": list(comparison.disturbed),
        "criterion": comparison.criterion,
        "tolerance": comparison.tolerance,
        "success": _rate_entry(success(comparison)),
        "baselines": {name: _rate_entry(rate) for name, rate in baselines(comparison).items()},
        "time_lost": time_lost(comparison.judged),
        "median_speedup_error": comparison.median_speedup_error,
        "median_time_ratio": comparison.median_time_ratio,
        "regions": [
            _entry(verdict, law_of.get(verdict.measured.last.construct))
            for verdict in comparison.verdicts
        ],
        "teams": [
            {
                **_entry(verdict, law_of.get(verdict.measured.last.construct)),
                "regions": list(verdict.regions),
                "counted": verdict.hint.id in counted,
            }
            for verdict in comparison.teams
        ],
        "disagreeing": [law.verdict.hint.id for law in disagreeing(laws)],
        "most_wrong": [verdict.hint.id for verdict in comparison.most_wrong],
        "without_hint": list(comparison.without_hint),
        "not_measured": list(comparison.not_measured),
    }  # fmt: skip


def _rate_entry(rate: Rate) -> dict[str, Any]:
    return {"share": rate.share, "right": rate.right, "judged": rate.judged,
            "interval": [rate.low, rate.high]}  # fmt: skip


def _entry(verdict: Verdict, law: Fitted | None) -> dict[str, Any]:
    return {
        "id": verdict.hint.id,
        "file": verdict.hint.file,
        "line": verdict.hint.line,
        "function": verdict.hint.function,
        "score": verdict.hint.score,
        "bottleneck": verdict.hint.bottleneck,
        "confidence": verdict.hint.confidence,
        "assumed": list(verdict.hint.assumed),
        "seconds": {str(n): t for n, t in verdict.times.items()},
        "predicted_speedup": {str(n): s for n, s in verdict.predicted_speedup.items()},
        "measured_speedup": {str(n): s for n, s in verdict.measured_speedup.items()},
        "speedup_error": verdict.speedup_error,
        "time_ratio": verdict.time_ratio,
        "utilisation": verdict.utilisation,
        "hinted": verdict.hinted,
        "needed": verdict.needed,
        "right": verdict.right,
        "loss": verdict.loss,
        "incomparable": verdict.incomparable or None,
        "fitted": None if law is None else _law_entry(law),
    }


def _law_entry(law: Fitted) -> dict[str, Any]:
    return {
        "law": law.law,
        "predicted_law": law.predicted_law,
        "text": str(law.model),
        "speedup": {
            str(n): {"value": band.value, "low": band.low, "high": band.high}
            for n, band in law.speedup.items()
        },
        "disagrees": list(law.disagrees),
    }
