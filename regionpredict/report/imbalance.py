"""Documents how unevenly a run's work is distributed, as a table or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Section,
    Table,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.html.timeline import timeline_section
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.trace import Finding
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Location
from regionpredict.trace.imbalance import Imbalance, ImbalanceStudy

SCHEMA = "regionpredict/imbalance/1"
_MOST_CELLS = 20_000
"""The maximum number of workloads on a page, in locations times call paths. Call paths with smaller
gains have no workloads beyond it.
"""


def _json_record(study: ImbalanceStudy, findings: Sequence[Finding]) -> dict[str, Any]:
    metrics = (("workload", "workload_s"), ("workload_deviation", "deviation_s"))
    return {
        "schema": SCHEMA,
        "whole": _summary_record(study.whole),
        "callpaths": [_summary_record(row) for row in study.callpaths],
        "iterations": study.iterations and fields_of(study.iterations, "count", calls="period"),
        "records": [
            {"metric": metric, "callpath": row.callpath, "location": plain(place), "value": value,
             "unit": "s"}
            for row in (study.whole, *study.callpaths)
            for metric, values in metrics
            for place, value in zip(study.locations, getattr(row, values), strict=True)
        ],
        "findings": plain(findings),
    }  # fmt: skip


def _summary_record(row: Imbalance) -> dict[str, Any]:
    course = row.evolution and fields_of(row.evolution, "course persistent growth imbalance_s")
    return {**fields_of(row, "callpath mean_s runtime_impact_s allocation_impact_s pattern groups"),
            "evolution": course}  # fmt: skip


def imbalance_document(
    study: ImbalanceStudy, analysis: Analysis, findings: Sequence[Finding], top: int
) -> Document:
    """Returns call paths by the gain of an even distribution. Text shows the first `top`."""
    whole = study.whole
    most = study.locations[whole.most_loaded_location]
    facts = [
        ("Useful time", f"{show_seconds(whole.mean_s)} on average, at most "
         f"{show_seconds(max(whole.workload_s))} on {most}"),
        ("Imbalance I_t", f"{show_seconds(whole.runtime_impact_s)} of run time"),
        ("Imbalance I_T", f"{show_seconds(whole.allocation_impact_s)} of allocated time"),
        ("Distribution", _pattern_text(whole)),
    ]  # fmt: skip
    if whole.evolution is not None and study.iterations is not None:
        facts += [
            ("Iterations", f"{study.iterations.count}, together I_t = "
             f"{show_seconds(sum(whole.evolution.imbalance_s))} where all meet in each"),
            ("Course", _course_text(whole)),
        ]  # fmt: skip
    notes = [str(finding) for finding in findings] + ([study.note] if study.note else [])
    lead = [
        f"An even distribution of the work saves at most {show_seconds(whole.runtime_impact_s)}. "
        f"Location {most} works {show_seconds(max(whole.workload_s))}, "
        f"and the mean is {show_seconds(whole.mean_s)}.",
        f"{analysis.trace.name}: {plural(len(study.locations), 'location')}",
    ]
    sections = [
        Section("Overview", [Facts(facts)]),
        timeline_section(analysis),
        Section("Locations", lambda: [_workloads(whole, study.locations), *_iteration_curve(whole)],
                "page"),
        Section("Call paths", [_call_paths(study, top)]),
        Section("Findings", [Items(notes)], "page"),
    ]  # fmt: skip
    title = f"Imbalance of {analysis.trace.name}"
    return Document(title, lead, sections, lambda: _json_record(study, findings))


def _call_paths(study: ImbalanceStudy, top: int) -> Table:
    rows: list[list[Cell]] = [
        [
            own.callpath, own.mean_s, own.runtime_impact_s, own.allocation_impact_s,
            str(study.locations[own.most_loaded_location]),
            None if own.pattern is None else own.pattern.value,
            None if own.evolution is None else own.evolution.course.value,
        ]
        for own in study.callpaths
    ]  # fmt: skip
    shown = max(1, _MOST_CELLS // len(study.locations))

    def details(at: int) -> list[Block]:
        own = study.callpaths[at]
        return [_workloads(own, study.locations), *_iteration_curve(own)] if at < shown else []

    columns = [
        Column("Call path", cut=True), Column("Mean", show_seconds, minor=True),
        Column("I_t", show_seconds, bar=True),
        Column("I_T", show_seconds, minor=True, only="page"),
        Column("Most on", minor=True), Column("Distribution", choice=True),
        Column("Course", choice=True, minor=True),
    ]  # fmt: skip
    legend = ["I_t: excess of the busiest location over the mean. I_T: I_t times the locations."]
    title = "Call paths by the gain of an even distribution"
    return Table(title, columns, rows, details, top=top, legend=legend)


def _workloads(imbalance: Imbalance, locations: Sequence[Location]) -> Table:
    rows: list[list[Cell]] = [
        [str(place), work, deviation]
        for place, work, deviation in zip(
            locations, imbalance.workload_s, imbalance.deviation_s, strict=True
        )
    ]
    columns = [Column("Location"), Column("Workload", show_seconds, bar=True),
               Column("From the mean", _signed_seconds)]  # fmt: skip
    return Table("Workload by location", columns, rows)


def _signed_seconds(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{show_seconds(abs(seconds))}"


def _iteration_curve(imbalance: Imbalance) -> list[Block]:
    if imbalance.evolution is None:
        return []
    points = list(enumerate(imbalance.evolution.imbalance_s, 1))
    return [curve("I_t of each iteration", "iteration", "seconds", [line("I_t", points)])]


def _pattern_text(row: Imbalance) -> str:
    if row.pattern is None:
        return "too few locations"
    if len(row.groups) < 2:
        return row.pattern.value
    parts = ", ".join(f"{group.locations} x {show_seconds(group.mean_s)}" for group in row.groups)
    return f"{row.pattern.value} ({parts})"


def _course_text(row: Imbalance) -> str:
    evolution = row.evolution
    if evolution is None:
        return "unknown"
    change = round(100 * evolution.growth)  # an integer has no -0
    same = round(100 * evolution.persistent)
    return (
        f"{evolution.course.value}, {same} % on the same locations; {change:+} % to the last third"
    )
