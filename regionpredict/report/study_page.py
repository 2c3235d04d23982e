"""Makes the page of a study: the success of each model next to trivial strategies, with plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.compare.success import Rate, baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison
from regionpredict.measure.records import Campaign
from regionpredict.report.comparison import csv_table
from regionpredict.report.document import (
    Cell,
    Column,
    Document,
    Drawing,
    Items,
    Section,
    Table,
    Text,
    transposed,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.measurements import disturbed_runs
from regionpredict.report.quantities import plural, show_share
from regionpredict.report.verdict_scatter import scored, utilisation_scatter


class JudgedModel(NamedTuple):
    """A comparison, the name of its model, and the file of its plot (empty without a plot)."""

    comparison: Comparison
    model: str
    plot: str


class Figure(NamedTuple):
    """A plot of model predictions: its file, its caption, and its lines over `axis`."""

    plot: str
    caption: str
    axis: str
    lines: Mapping[str, Sequence[tuple[float, float]]]


def study_document(
    campaign: Campaign, judged: Sequence[JudgedModel], sweeps: Sequence[Figure]
) -> Document:  # fmt: skip
    """Returns the success of each model next to trivial strategies, its plots, and the limits of
    the study.

    Markdown links to plot files. Pages draw the plots.
    """
    host, hints = campaign.host, judged[0].comparison.hints
    *counts, most = campaign.threads
    lead = [
        _verdict_text(judged),
        f"{' '.join(campaign.command)} on {host.name} ({host.processor}, "
        f"{plural(host.packages, 'package')} of {plural(host.cores_per_package, 'core')}), "
        f"on {', '.join([*map(str, counts), plural(most, 'thread')])}, "
        f"{plural(len(campaign.measured), 'run')}, begun {campaign.started}; "
        f"predicted for {hints.machine}.",
    ]
    trivial = [name.partition(" (")[0] for name in baselines(judged[0].comparison)]
    columns = [
        Column("Model"), Column("Right is", minor=True), Column("Success", str),
        Column("95 % interval", str, minor=True),
        *(Column(name, str, minor=True) for name in trivial),
        Column("Time lost", lambda lost: f"{100 * lost:+.1f} %"),
        Column("Speedup off by", show_share, minor=True),
    ]  # fmt: skip
    table = Table("Right hints of each model", columns, list(map(_model_row, judged)))
    plots = [
        Text(f"![{one.model} model, {_rule_text(one.comparison)}]({one.plot})")
        for one in judged if one.plot
    ]  # fmt: skip
    alone = "The models of one loop, without a measurement"
    sections = [
        Section("Success", [table], "markdown"),
        Section("Success", [table], "page"),
        Section("Success", _by_rule(judged, columns), "text"),
        Section("Limits", [Items(_study_limits(campaign, judged[0].comparison))]),
        Section("Plots", plots, "markdown"),
        Section("Score and utilization", lambda: [
            {**utilisation_scatter(one.comparison),
             "title": f"{one.model}, right is {_rule_text(one.comparison)}"}
            for one in judged if scored(one.comparison)
        ], "page"),
        Section(alone, [Text(f"![{one.caption}]({one.plot})") for one in sweeps], "markdown"),
        Section(alone, lambda: list(map(sweep_curve, sweeps)), "page"),
        Section("Rows", [csv_table(
            {(one.model, _rule_text(one.comparison)): one.comparison for one in judged},
            ("model", "right_is"),
        )], "csv"),
    ]  # fmt: skip
    return Document("Predicted and measured", lead, sections)


def _by_rule(judged: Sequence[JudgedModel], columns: Sequence[Column]) -> list[Table]:
    """Returns a table for each definition of a right hint, with a column per model."""
    tables = []
    for rule in dict.fromkeys(_rule_text(one.comparison) for one in judged):
        own = [one for one in judged if _rule_text(one.comparison) == rule]
        rows = [(column.title, column.shown, cells)
                for column, *cells in zip(columns, *map(_model_row, own), strict=True)]  # fmt: skip
        heads = ["", *(one.model for one in own)]
        tables.append(transposed(f"Right is {rule}", heads, rows[2:]))
    legend = ["density, weighted: references are weighted by executions and element size."]
    return [*tables[:-1], replace(tables[-1], legend=legend)]


def sweep_curve(figure: Figure) -> Drawing:
    """Draws the models' predictions for synthetic loops."""
    lines = [line(name, points) for name, points in figure.lines.items()]
    return curve(figure.caption, figure.axis, "", lines, logx=True)


def _model_row(judged: JudgedModel) -> list[Cell]:
    comparison = judged.comparison
    rate = success(comparison)
    return [
        judged.model, _rule_text(comparison), (_share_text(rate), rate.share),
        (f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %", rate.low) if rate.judged else None,
        *((_share_text(baseline), baseline.share) for baseline in baselines(comparison).values()),
        time_lost(comparison.judged), comparison.median_speedup_error,
    ]  # fmt: skip


def _rule_text(comparison: Comparison) -> str:
    if comparison.criterion == "utilisation":
        return "the area of decision"
    return f"the fewest within {100 * comparison.tolerance:.0f} %"


def _share_text(rate: Rate) -> str:
    if rate.share is None:
        return "none judged"
    return f"{100 * rate.share:.1f} % ({rate.right} of {rate.judged})"


def _verdict_text(judged: Sequence[JudgedModel]) -> str:
    rates = [success(one.comparison) for one in judged]
    if not any(rate.judged for rate in rates):
        return "No hint was judged."
    best, rate = max(zip(judged, rates, strict=True), key=lambda pair: pair[1].share or 0.0)
    if not rate.right:
        return "No model gave a right hint."
    return (
        f"The {best.model} model has the most right hints, {_share_text(rate)}. A right hint is "
        f"{_rule_text(best.comparison)}."
    )


def _study_limits(campaign: Campaign, comparison: Comparison) -> list[str]:
    lines = []
    if comparison.hints.packages == 1:
        lines.append("The machine has one package, so threads are judged instead of packages.")
    elif comparison.unit == "threads":
        lines.append(
            "Fewer than two counts of whole packages were measured, so threads are judged."
        )
    elif comparison.in_part:
        lines.append(f"{comparison.options[-1]} of {comparison.most} {comparison.unit} measured.")
    disturbed = disturbed_runs(campaign)
    if disturbed:
        lines.append(f"{disturbed}.")
    left = len(comparison.counted) - len(comparison.judged)
    for count, what in (
        (left, "was not judged: size or hint unknown, or measured with another size"),
        (len(comparison.not_measured), "was not measured"),
        (len(comparison.without_hint), "was measured and not predicted"),
    ):
        if count:
            verbs = what if count == 1 else what.replace("was ", "were ", 1)
            lines.append(f"{plural(count, 'region')} {verbs}.")
    return lines
