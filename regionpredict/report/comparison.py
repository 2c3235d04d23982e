"""A comparison of hints and measurements, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from regionpredict.compare.empirical import Fitted, disagreeing
from regionpredict.compare.success import Rate, baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.errors import one_line
from regionpredict.report.quantities import plural

_SHOWN = 10
_REGION = 30


def comparison_table(comparison: Comparison, laws: Sequence[Fitted] = ()) -> str:
    """One line a region, the success rate beside the trivial ones, and the worst misses.

    `laws` are what was fitted to the measured times: where predictions disagree is told.
    """
    most = max(n for one in comparison.verdicts for n in one.times)
    hints = comparison.hints
    lines = [
        f"{hints.model} model for {hints.machine}; unit of a hint: {comparison.unit}; right is "
        + _rule(comparison),
        "",
        f"{'region':<{_REGION}} {f'speedup on {most}':>19} {'utili-':>7} {comparison.unit:>17}",
        f"{'':<{_REGION}} {'predicted measured':>19} {'sation':>7} {'hinted   needed':>17}",
    ]
    lines += [_row(one, most) for one in comparison.verdicts]
    lines += ["", *_rates(comparison)]
    lines += _worst(comparison.most_wrong)
    lines += _disagreements(laws)
    if comparison.not_measured:
        lines += ["", f"{plural(len(comparison.not_measured), 'hint')} without a measurement"]
    if comparison.without_hint:
        lines += ["", f"{plural(len(comparison.without_hint), 'measured region')} without a hint"]
    return "\n".join(map(one_line, lines)) + "\n"


def _rule(comparison: Comparison) -> str:
    if comparison.criterion == "utilisation":
        return "the area that the utilisation lies in"
    return f"the smallest within {100 * comparison.tolerance:.0f} % of the best time"


def _row(one: Verdict, most: int) -> str:
    name = f"{PurePath(one.hint.file).name}:{one.hint.line} {one.hint.function}"
    predicted, measured = one.predicted_speedup.get(most), one.measured_speedup.get(most)
    mark = {True: "", False: "  wrong", None: "  not judged"}[one.right]
    return (
        f"{name[:_REGION]:<{_REGION}} {_number(predicted):>10} {_number(measured):>8} "
        f"{_percent(one.utilisation):>7} {_whole(one.hinted):>8} {_whole(one.needed):>8}{mark}"
    )


def _rates(comparison: Comparison) -> list[str]:
    lines = [f"success {_rate(success(comparison))}"]
    lines += [f"  {name}: {_rate(rate)}" for name, rate in baselines(comparison).items()]
    lost = time_lost(comparison.judged)
    if lost is not None:
        lines.append(f"time on the hinted {comparison.unit}: {100 * lost:+.1f} % of the best")
    error = comparison.median_speedup_error
    if error is not None:
        lines.append(f"predicted speedup: off by {100 * error:.0f} % (median over regions)")
    return lines


def _worst(wrong: Sequence[Verdict]) -> list[str]:
    if not wrong:
        return []
    lines = ["", "most wrong first:"]
    for one in wrong[:_SHOWN]:
        lines.append(
            f"  {one.hint.id} {one.hint.function}: {_whole(one.hinted)} instead of "
            f"{_whole(one.needed)}, {100 * (one.loss or 0):.0f} % slower than the best; "
            f"{one.hint.bottleneck or 'no bottleneck'}, {100 * one.hint.confidence:.0f} % sure"
            + (", borderline" if one.hint.borderline else "")
        )
        lines += [f"      assumed: {line}" for line in one.hint.assumed]
    if len(wrong) > _SHOWN:
        lines.append(f"  ... and {len(wrong) - _SHOWN} more: see --format json")
    return lines


def _disagreements(laws: Sequence[Fitted]) -> list[str]:
    """Where the predicted speedup is beyond the uncertainty of the law fitted to the times."""
    if not laws:
        return []
    apart = disagreeing(laws)
    lines = [
        "",
        f"prediction and fitted law disagree for {len(apart)} of {plural(len(laws), 'region')}"
        + (", farthest apart first:" if apart else ""),
    ]
    for one in apart[:_SHOWN]:
        assert one.worst is not None
        threads = one.worst[0]
        band = one.speedup[threads]
        lines += [
            f"  {one.verdict.hint.id} {one.verdict.hint.function}: on {threads} threads "
            f"{one.verdict.predicted_speedup[threads]:.2f} predicted, {band.value:.2f} fitted "
            f"({band.low:.2f} to {band.high:.2f})",
            f"      predicted: {one.predicted_law}; measured: {one.law}",
        ]
    if len(apart) > _SHOWN:
        lines.append(f"  ... and {len(apart) - _SHOWN} more: see --format json")
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


def _whole(value: int | None) -> str:
    return "?" if value is None else str(value)


def comparison_document(comparison: Comparison, laws: Sequence[Fitted] = ()) -> dict[str, Any]:
    """The whole comparison for `json.dumps`, schema `regionpredict/comparison/1`."""
    hints = comparison.hints
    by_region = {id(one.verdict): one for one in laws}
    return {
        "schema": "regionpredict/comparison/1",
        "machine": {"name": hints.machine, "packages": hints.packages,
                    "cores_per_package": hints.cores_per_package},
        "model": hints.model,
        "unit": comparison.unit,
        "options": list(comparison.options),
        "criterion": comparison.criterion,
        "tolerance": comparison.tolerance,
        "success": _rate_entry(success(comparison)),
        "baselines": {name: _rate_entry(rate) for name, rate in baselines(comparison).items()},
        "time_lost": time_lost(comparison.judged),
        "median_speedup_error": comparison.median_speedup_error,
        "regions": [_entry(one, by_region.get(id(one))) for one in comparison.verdicts],
        "disagreeing": [one.verdict.hint.id for one in disagreeing(laws)],
        "most_wrong": [one.hint.id for one in comparison.most_wrong],
        "without_hint": list(comparison.without_hint),
        "not_measured": list(comparison.not_measured),
    }  # fmt: skip


def _rate_entry(rate: Rate) -> dict[str, Any]:
    return {"share": rate.share, "right": rate.right, "judged": rate.judged,
            "interval": [rate.low, rate.high]}  # fmt: skip


def _entry(one: Verdict, law: Fitted | None) -> dict[str, Any]:
    return {
        "id": one.hint.id,
        "file": one.hint.file,
        "line": one.hint.line,
        "function": one.hint.function,
        "score": one.hint.score,
        "bottleneck": one.hint.bottleneck,
        "confidence": one.hint.confidence,
        "assumed": list(one.hint.assumed),
        "seconds": {str(n): t for n, t in one.times.items()},
        "predicted_speedup": {str(n): s for n, s in one.predicted_speedup.items()},
        "measured_speedup": {str(n): s for n, s in one.measured_speedup.items()},
        "speedup_error": one.speedup_error,
        "utilisation": one.utilisation,
        "hinted": one.hinted,
        "needed": one.needed,
        "right": one.right,
        "loss": one.loss,
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
