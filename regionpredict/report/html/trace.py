"""The page of `trace waits`, `delays` and `critical-path`: metrics, call paths, locations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regionpredict.report.html.blocks import Block, Cell, Column, Section, facts, items, table
from regionpredict.report.html.page import page
from regionpredict.trace import EventTrace, Finding
from regionpredict.trace.profile import TraceResult


def trace_page(
    result: TraceResult, trace: EventTrace, findings: Sequence[Finding], metric: str | None = None
) -> str:
    """The page; `metric`: only this one."""
    told = [
        ("Locations", f"{len(trace.locations)} on {len(trace.ranks)} ranks"),
        ("Events", f"{len(trace):,}"),
        *((f"Sum: {one.name}", f"{one.left:.6g} s and {one.right:.6g} s: "
           + ("equal" if one.holds else "does not hold")) for one in result.balances),
    ]  # fmt: skip
    totals = {name: value for name, value in result.totals.items() if metric in (None, name)}
    units = {record.metric: record.unit for record in result.records}
    rows: list[list[Cell]] = [
        [name, (f"{value:.9g} {units.get(name, '')}".rstrip(), value), result.counts.get(name)]
        for name, value in totals.items()
    ]
    columns = [Column("Metric"), Column("Total", number=True),
               Column("Instances", number=True)]  # fmt: skip
    sections = [
        Section("Overview", [facts(told)]),
        Section("Totals", [table("Totals", columns, rows)] if rows else []),
        Section("Where", _panes(result, list(totals))),
        Section("Findings", [items([str(one) for one in findings])] if findings else []),
    ]
    return page(f"Trace {trace.name}", [], sections)


def _panes(result: TraceResult, names: Sequence[str]) -> list[Block]:
    """Metric, call path, location: records once, by numbers."""
    paths: dict[str, int] = {}
    places: dict[str, int] = {}
    metrics: dict[str, dict[str, Any]] = {}
    for record in result.records:
        if record.metric not in names:
            continue
        one = metrics.setdefault(record.metric, {"unit": record.unit, "paths": {}})
        path = paths.setdefault(record.callpath, len(paths))
        where = "the whole run" if record.location is None else str(record.location)
        place = places.setdefault(where, len(places))
        one["paths"].setdefault(path, []).append((place, record.value))
    shown = []
    for name, one in metrics.items():
        ranked = sorted(one["paths"].items(), key=lambda item: -sum(v for _, v in item[1]))
        shown.append({
            "name": name, "unit": one["unit"], "total": result.totals.get(name, 0.0),
            "paths": [{"path": path, "total": sum(v for _, v in values), "values": values}
                      for path, values in ranked],
        })  # fmt: skip
    if not shown:
        return []
    return [{"kind": "panes", "metrics": shown, "paths": list(paths), "locations": list(places)}]
