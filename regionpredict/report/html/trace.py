"""The page of `trace waits`, `delays` and `critical-path`: metrics, call paths, locations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
)
from regionpredict.report.html.blocks import curve, heat, line
from regionpredict.report.html.page import document_page
from regionpredict.report.html.timeline import timeline_block
from regionpredict.report.process_grid import grid_values, without_rank
from regionpredict.report.quantities import plural
from regionpredict.report.trace_results import INSTANCES
from regionpredict.trace import EventTrace
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.profile import TraceResult


def trace_page(result: TraceResult, analysis: Analysis, metric: str | None = None) -> str:
    """The page; `metric`: only this one."""
    trace, findings = analysis.trace, analysis.findings
    overview = [
        ("Locations", f"{len(trace.locations)} on {plural(len(trace.ranks), 'rank')}"),
        ("Events", f"{len(trace):,}"),
        *((f"Sum: {balance.name}", f"{balance.left:.6g} s and {balance.right:.6g} s: "
           + ("equal" if balance.holds else "does not hold")) for balance in result.balances),
    ]  # fmt: skip
    totals = {name: value for name, value in result.totals.items() if metric in (None, name)}
    units = {record.metric: record.unit for record in result.records}
    rows: list[list[Cell]] = [
        [name, (f"{value:.9g} {units.get(name, '')}".rstrip(), value), result.counts.get(name)]
        for name, value in totals.items()
        if metric or not name.startswith(INSTANCES)
    ]
    columns = [Column("Metric"), Column("Total", str), Column("Instances", str, unknown="")]
    sections = [
        Section("Overview", [Facts(overview)]),
        Section("Totals", [Table("Totals", columns, rows)]),
        Section("Where", _panes(result, list(totals))),
        Section("Timeline", timeline_block(analysis)),
        Section("Waits over time", _severity(result, metric)),
        Section("Process grid", _grids(result, trace, list(totals))),
        Section("Findings", [Items([str(finding) for finding in findings])]),
    ]
    return document_page(Document(f"Trace {trace.name}", [], sections))


def _severity(result: TraceResult, metric: str | None) -> list[Drawing]:
    """How many locations wait in the mean, in each part of the run."""
    if result.severity is None:
        return []
    part = result.severity.part_s
    series = [
        line(name, [((at + 0.5) * part, seconds / part) for at, seconds in enumerate(parts)])
        for name, parts in result.severity.seconds.items()
        if metric in (None, name)
    ]
    return [curve("Locations that wait, in the mean", "seconds", "locations", series)]


def _grids(result: TraceResult, trace: EventTrace, names: Sequence[str]) -> list[Block]:
    """Each metric where its ranks lie in the trace's topologies."""
    known = {record.metric for record in result.records if record.location is not None}
    blocks: list[Block] = []
    for grid in trace.grids:
        for name in names:
            if name not in known:
                continue
            sums = grid_values(result, grid, name)
            shown: list[Block] = [heat(" ".join(filter(None, (name, front))), rows, sums.unit)
                     for front, rows in sums.planes]  # fmt: skip
            if sums.missing:
                shown.append(Text(without_rank(sums.missing)))
            blocks.append(Folded(f"{name} on the {sums.sizes} grid {grid.name}".rstrip(), shown))
    return blocks


def _panes(result: TraceResult, names: Sequence[str]) -> list[Drawing]:
    """Metric, call path, location: records once, by numbers."""
    paths: dict[str, int] = {}
    location_numbers: dict[str, int] = {}
    metrics: dict[str, dict[str, Any]] = {}
    for record in result.records:
        if record.metric not in names:
            continue
        metric = metrics.setdefault(record.metric, {"unit": record.unit, "paths": {}})
        path = paths.setdefault(record.callpath, len(paths))
        where = "the whole run" if record.location is None else str(record.location)
        place = location_numbers.setdefault(where, len(location_numbers))
        metric["paths"].setdefault(path, []).append((place, record.value))
    shown = []
    for name, metric in metrics.items():
        ranked = sorted(metric["paths"].items(), key=lambda item: -sum(v for _, v in item[1]))
        shown.append({
            "name": name, "unit": metric["unit"], "total": result.totals.get(name, 0.0),
            "paths": [{"path": path, "total": sum(v for _, v in values), "values": values}
                      for path, values in ranked],
        })  # fmt: skip
    if not shown:
        return []
    return [
        {
            "kind": "panes",
            "metrics": shown,
            "paths": list(paths),
            "locations": list(location_numbers),
        }
    ]
