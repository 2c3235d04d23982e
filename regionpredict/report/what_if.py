"""Documents the gain of a run without the delays of call paths, as a table, JSON or CSV."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.report.document import Cell, Column, Document, Items, Section, Table, csv_records
from regionpredict.report.html.timeline import timeline_section
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.trace import Finding
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.what_if import Change, WhatIf

SCHEMA = "regionpredict/what-if/1"


def what_if_document(
    what_if: WhatIf, analysis: Analysis, findings: Sequence[Finding]
) -> Document:  # fmt: skip
    """Returns call paths by the time that the run saves without their delays."""
    runtime = what_if.runtime_s
    lead = []
    if what_if.changes:
        best = what_if.changes[0]
        lead.append(
            f"Fix {best.callpath} first: the run would take {show_seconds(best.runtime_s)} instead "
            f"of {show_seconds(runtime)}, {_gain_share(best.gain_s, runtime)} less."
        )
    else:
        lead.append("No call path delays another location: the run takes "
                    f"{show_seconds(runtime)}.")  # fmt: skip
    if what_if.untried:
        lead.append(f"Not tried: {plural(what_if.untried, 'call path')} with smaller costs. "
                    "A larger --top tries them.")  # fmt: skip

    def gain(seconds: float) -> Cell:
        return f"{show_seconds(seconds)} ({_gain_share(seconds, runtime)})", seconds

    rows: list[list[Cell]] = [
        [change.callpath, change.delay_cost_s, change.runtime_s, gain(change.gain_s),
         gain(change.half_gain_s), change.location]
        for change in what_if.changes
    ]  # fmt: skip
    columns = [
        Column("Call path", cut=True), Column("Delay cost", show_seconds, minor=True),
        Column("Run time", show_seconds, minor=True), Column("Gain", str, bar=True),
        Column("Halved", str, minor=True), Column("On"),
    ]  # fmt: skip
    legend = [
        "Delay cost: time that others wait for the call path, summed over ranks. Run time, gain: "
        "of a replay of the run without its delays. Halved: gain with half of its delays. On: the "
        "rank with most of them."
    ]
    sections = [
        Section("Call paths", [Table("Call paths, by gain", columns, rows, legend=legend)]),
        Section("Records", [csv_records(Change, what_if.changes)], "csv"),
        timeline_section(analysis),
        Section("Findings", [Items([str(finding) for finding in findings])], "page"),
    ]  # fmt: skip
    return Document(f"What if: {analysis.trace.name}", lead, sections, lambda: {
        "schema": SCHEMA, **fields_of(what_if, "runtime_s changes untried contradicted"),
        "findings": plain(findings),
    })  # fmt: skip


def _gain_share(gain: float, runtime: float) -> str:
    return f"{100 * gain / runtime if runtime else 0.0:.1f} %"
