"""The page of `trace imbalance`: call paths by what an even distribution would gain."""

from __future__ import annotations

from collections.abc import Sequence

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
from regionpredict.report.html.timeline import timeline_block
from regionpredict.report.imbalance import course_text, imbalance_table, pattern_text
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.trace import Finding
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Location
from regionpredict.trace.imbalance import Imbalance, ImbalanceStudy

_MOST_CELLS = 20_000
"""Locations times call paths whose workloads a page holds; what gains less has none."""


def imbalance_page(
    study: ImbalanceStudy, analysis: Analysis, findings: Sequence[Finding], top: int
) -> str:
    """The page; `top` are the rows of the table of the terminal, the page has all."""
    trace, whole = analysis.trace, study.whole
    overview = [
        ("Useful time", f"{show_seconds(whole.mean_s)} in the mean, at most "
         f"{show_seconds(max(whole.workload_s))} on {study.locations[whole.most_on]}"),
        ("I_t, of run time", show_seconds(whole.runtime_impact_s)),
        ("I_T, of allocated time", show_seconds(whole.allocation_impact_s)),
        ("Distribution", pattern_text(whole)),
    ]  # fmt: skip
    if whole.evolution is not None and study.iterations is not None:
        overview += [
            ("Iterations", f"{study.iterations.count}; I_t of each, together: "
             f"{show_seconds(sum(whole.evolution.imbalance_s))}"),
            ("Course", course_text(whole)),
        ]  # fmt: skip
    notes = [str(finding) for finding in findings] + ([study.note] if study.note else [])
    lead = [plural(len(study.locations), "location"),
            "I_t is how much more the busiest location has than the mean; I_T that times all "
            "locations."]  # fmt: skip
    sections = [
        Section("Overview", [facts(overview), *_workloads(whole, study.locations),
                             *_evolution(whole)]),
        Section("Call paths", _call_paths(study)),
        Section("Timeline", timeline_block(analysis)),
        Section("Findings", [items(notes)] if notes else []),
        as_text(imbalance_table(study, trace, top)),
    ]  # fmt: skip
    return page(f"Imbalance of {trace.name}", lead, sections)


def _call_paths(study: ImbalanceStudy) -> list[Block]:
    if not study.callpaths:
        return []
    rows: list[list[Cell]] = [
        [
            callpath.callpath, (show_seconds(callpath.mean_s), callpath.mean_s),
            (show_seconds(callpath.runtime_impact_s), callpath.runtime_impact_s),
            (show_seconds(callpath.allocation_impact_s), callpath.allocation_impact_s),
            str(study.locations[callpath.most_on]),
            "too few to tell" if callpath.pattern is None else callpath.pattern.value,
            "not known" if callpath.evolution is None else callpath.evolution.course.value,
        ]
        for callpath in study.callpaths
    ]  # fmt: skip
    shown = max(1, _MOST_CELLS // len(study.locations))
    details = [
        [*_workloads(callpath, study.locations), *_evolution(callpath)] if at < shown else []
        for at, callpath in enumerate(study.callpaths)
    ]
    columns = [
        Column("Call path"), Column("Mean", number=True, minor=True),
        Column("I_t", number=True, bar=True), Column("I_T", number=True, minor=True),
        Column("Most on", minor=True), Column("Distribution", choice=True),
        Column("Course", choice=True, minor=True),
    ]  # fmt: skip
    title = "Call paths, by what an even distribution would gain"
    return [table(title, columns, rows, details=details)]


def _workloads(imbalance: Imbalance, locations: Sequence[Location]) -> list[Block]:
    rows: list[list[Cell]] = [
        [str(place), (show_seconds(work), work), (_signed(deviation), deviation)]
        for place, work, deviation in zip(
            locations, imbalance.workload_s, imbalance.deviation_s, strict=True
        )
    ]  # fmt: skip
    columns = [Column("Location"), Column("Workload", number=True, bar=True),
               Column("From the mean", number=True)]  # fmt: skip
    return [table("Workload by location", columns, rows)]


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{show_seconds(abs(seconds))}"


def _evolution(imbalance: Imbalance) -> list[Block]:
    if imbalance.evolution is None:
        return []
    points = list(enumerate(imbalance.evolution.imbalance_s, 1))
    return [curve("I_t of each iteration", "iteration", "seconds", [line("I_t", points)])]
