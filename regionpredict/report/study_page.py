"""The page of a study: how right each model was, beside trivial answers, with its plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.compare.success import Rate, baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison
from regionpredict.measure.records import Campaign
from regionpredict.report.measurements import disturbed_runs
from regionpredict.report.quantities import plural


class Judged(NamedTuple):
    """A comparison, what the page calls its model, and the file that its plot is in, empty where
    nothing could be drawn."""

    comparison: Comparison
    model: str
    plot: str


class Figure(NamedTuple):
    """A plot of the model alone: its file, and what it shows."""

    plot: str
    caption: str


def study_page(campaign: Campaign, judged: Sequence[Judged], sweeps: Sequence[Figure]) -> str:
    """The page as Markdown; plots are named by their files beside it."""
    host, hints = campaign.host, judged[0].comparison.hints
    lines = [
        "# Predicted and measured",
        "",
        f"`{' '.join(campaign.command)}` on {host.name} ({host.processor}, "
        f"{plural(host.packages, 'package')} of {plural(host.cores_per_package, 'core')}), "
        f"on {_threads(campaign.threads)}, "
        f"{plural(len(campaign.measured), 'run')}, begun {campaign.started}; "
        f"predicted for {hints.machine}.",
        "",
        "| model | right is | success | 95 % interval | "
        + " | ".join(name.partition(" (")[0] for name in baselines(judged[0].comparison))
        + " | time lost | speedup off by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_row(comparison) for comparison in judged]
    lines += ["", *_reservations(campaign, judged[0].comparison)]
    for comparison in judged:
        if comparison.plot:
            what = f"{comparison.model} model, {_rule(comparison.comparison)}"
            lines += ["", f"![{what}]({comparison.plot})"]
    if sweeps:
        lines += ["", "## What the models say of one loop", "", "No measurement is in these.", ""]
        lines += [f"![{figure.caption}]({figure.plot})" for figure in sweeps]
    return "\n".join(lines) + "\n"


def _row(judged: Judged) -> str:
    comparison = judged.comparison
    rate = success(comparison)
    lost, error = time_lost(comparison.judged), comparison.median_speedup_error
    cells = [
        judged.model,
        _rule(comparison),
        _share(rate),
        f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %" if rate.judged else "-",
        *(_share(baseline) for baseline in baselines(comparison).values()),
        "-" if lost is None else f"{100 * lost:+.1f} %",
        "-" if error is None else f"{100 * error:.0f} %",
    ]
    return "| " + " | ".join(cells) + " |"


def _rule(comparison: Comparison) -> str:
    if comparison.criterion == "utilisation":
        return "the area of decision"
    return f"the fewest within {100 * comparison.tolerance:.0f} %"


def _share(rate: Rate) -> str:
    if rate.share is None:
        return "none judged"
    return f"{100 * rate.share:.1f} % ({rate.right} of {rate.judged})"


def _reservations(campaign: Campaign, comparison: Comparison) -> list[str]:
    """What the page cannot show."""
    lines = ["What this cannot show:", ""]
    if comparison.hints.packages == 1:
        lines.append("- The machine has one package: hints were judged by threads, not packages.")
    elif comparison.unit == "threads":
        lines.append("- Not two counts of whole packages were measured: judged by threads.")
    elif comparison.in_part:
        lines.append(
            f"- {comparison.options[-1]} of {comparison.most} {comparison.unit} were measured."
        )
    disturbed = disturbed_runs(campaign)
    if disturbed:
        lines.append(f"- {disturbed}.")
    left = len(comparison.counted) - len(comparison.judged)
    for count, what in (
        (left, "was not judged: size or hint unknown, or measured with another size"),
        (len(comparison.not_measured), "was not measured"),
        (len(comparison.without_hint), "was measured and not predicted"),
    ):
        if count:
            lines.append(f"- {plural(count, 'region')} {what if count == 1 else _plural(what)}.")
    return lines if len(lines) > 2 else []


def _threads(counts: Sequence[int]) -> str:
    """`1 thread`, `1, 2, 4 threads`."""
    *before, last = counts
    return ", ".join([*map(str, before), plural(last, "thread")])


def _plural(what: str) -> str:
    return what.replace("was ", "were ", 1)
