"""The page of `trace what-if`: what the run gains without each call path's delays."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.report.html.blocks import Cell, Column, Section, as_text, facts, items, table
from regionpredict.report.html.page import page
from regionpredict.report.html.timeline import timeline_block
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.report.what_if import what_if_table
from regionpredict.trace import Finding
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.what_if import WhatIf


def what_if_page(what_if: WhatIf, analysis: Analysis, findings: Sequence[Finding]) -> str:
    """The page."""
    trace, runtime = analysis.trace, what_if.runtime_s
    overview = [("Run time", show_seconds(runtime))]
    if what_if.changes:
        best = what_if.changes[0]
        overview.append(
            (
                "Fix first",
                f"{best.callpath}: the run would take "
                f"{show_seconds(best.runtime_s)}, {_share(best.gain_s, runtime)} less",
            )
        )
    else:
        overview.append(("Fix first", "no call path delays anybody"))
    if what_if.untried:
        overview.append(("Not tried", f"{plural(what_if.untried, 'call path')} with smaller costs"))
    if what_if.contradicted:
        overview.append(
            (
                "Left out",
                f"{plural(what_if.contradicted, 'wait')} that the trace's times contradict",
            )
        )
    rows: list[list[Cell]] = [
        [
            change.callpath, (show_seconds(change.delay_cost_s), change.delay_cost_s),
            (show_seconds(change.runtime_s), change.runtime_s),
            (f"{show_seconds(change.gain_s)}, {_share(change.gain_s, runtime)}", change.gain_s),
            (f"{show_seconds(change.half_gain_s)}, {_share(change.half_gain_s, runtime)}",
             change.half_gain_s),
            change.location,
        ]
        for change in what_if.changes
    ]  # fmt: skip
    columns = [
        Column("Call path"), Column("Delay cost", number=True, minor=True),
        Column("Run time without", number=True, minor=True), Column("Gain", number=True, bar=True),
        Column("Gain by half", number=True, minor=True), Column("Most on"),
    ]  # fmt: skip
    lead = ["A delay is what a call path takes longer on the rank that others wait for; the "
            "recorded run is replayed without it, and with half of it."]  # fmt: skip
    notes = [str(finding) for finding in findings]
    title = "Call paths, by what the run gains without their delays"
    sections = [
        Section("Overview", [facts(overview)]),
        Section("Call paths", [table(title, columns, rows)] if rows else []),
        Section("Timeline", timeline_block(analysis)),
        Section("Findings", [items(notes)] if notes else []),
        as_text(what_if_table(what_if, trace)),
    ]
    return page(f"What if: {trace.name}", lead, sections)


def _share(gain: float, runtime: float) -> str:
    return f"{100 * gain / runtime if runtime else 0.0:.1f} %"
