"""Documents results of a trace's analyses, also as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from regionpredict.report.document import (
    Block,
    Cell,
    Document,
    Drawing,
    Facts,
    Folded,
    Items,
    Section,
    Table,
    Text,
    csv_rows,
)
from regionpredict.report.html.blocks import curve, heat, line
from regionpredict.report.html.timeline import timeline_section
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.metric_names import metric_name
from regionpredict.report.quantities import plural, show_bytes, show_seconds, show_share
from regionpredict.report.trace_tables import (
    chosen_records,
    flat_table,
    kind_tables,
    largest,
    path_table,
    sum_facts,
    worst_table,
)
from regionpredict.trace import EventTrace, ProcessGrid
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.process_grids import grid_values
from regionpredict.trace.profile import TraceResult

T = TypeVar("T")
SCHEMA = "regionpredict/trace/1"


def result_document(
    result: TraceResult, analysis: Analysis, top: int, metric: str | None = None
) -> Document:
    """Returns sums by kind, call paths with the rank that has the largest part, and the sums that
    must hold.

    With `metric`, only this metric. Text has the `top` call paths. CSV has one row per record.
    """
    trace = analysis.trace
    totals = _filter_metric(result.totals, metric)
    names = list(totals)
    run_s = int(trace.time.max(initial=0)) / trace.ticks_per_second
    lead = [
        f"{trace.name}: {plural(len(trace.locations), 'location')} on "
        f"{plural(len(trace.ranks), 'rank')}, {plural(len(trace), 'event')}, "
        f"run time {show_seconds(run_s)}"
    ]
    whole_s = run_s * len(trace.locations)
    if metric is None and "wait_direct" in totals and run_s:
        waited = int(analysis.points.wait.sum()) / trace.ticks_per_second
        lead.insert(0, f"Waiting: {show_share(waited / whole_s)} of the time of all locations, "
                    f"{show_seconds(waited)} in sum.")  # fmt: skip
    if metric is None and (sentence := largest(result)):
        lead.insert(len(lead) if len(lead) > 1 else 0, sentence)
    if metric is None and "comms_send" in totals:
        lead.append(f"{plural(int(totals['comms_send']), 'message')} with data, "
                    f"{show_bytes(totals['bytes_sent'])}")  # fmt: skip
    if not totals:
        lead.append("no such metric was found")
    if not all(balance.holds for balance in result.balances):
        lead.insert(0, "Do not rely on these results: the sides of a sum differ, see the sums.")
    sections = [
        Section("Totals", kind_tables(result, metric, whole_s) if totals else []),
        timeline_section(analysis),
        Section("Metrics by call path and location", lambda: _pane_block(result, names), "page"),
        Section("Call paths", lambda: [path_table(result, metric, top)]),
        Section("Flat profile", [] if metric else [flat_table(result.regions, whole_s, top)]),
        Section("Worst instances", [worst_table(result, metric)]),
        Section("Checks of sums", [
            Facts([pair for sum in result.balances for pair in sum_facts(sum)])
        ]),
        Section("Waits over time", lambda: _severity_curve(result, metric), "page"),
        Section("Process grid", lambda: _grid_pictures(result, trace, names), "page"),
        Section("Process grid", [
            block for grid in trace.grids if metric for block in grid_blocks(result, grid, metric)
        ], "text"),
        Section("Findings", [Items([str(finding) for finding in analysis.findings])], "page"),
        Section("Records", lambda: [_record_table(result, metric)], "csv"),
    ]  # fmt: skip
    title = f"Trace {trace.name}"
    return Document(title, lead, sections, lambda: _json_record(result, analysis, metric))


def _record_table(result: TraceResult, metric: str | None) -> Table:
    keys = ("metric", "callpath", "location", "value", "unit", "source")
    rows: list[list[Cell]] = [
        [record.metric, record.callpath,
         None if record.location is None else str(record.location), repr(record.value),
         record.unit, result.sources.get(record.callpath)]
        for record in chosen_records(result, metric)
    ]  # fmt: skip
    return csv_rows(keys, rows)


def _severity_curve(result: TraceResult, metric: str | None) -> list[Drawing]:
    """Returns the mean number of waiting locations in each part of the run."""
    if result.severity is None:
        return []
    part = result.severity.part_s
    series = [
        line(
            metric_name(name),
            [((at + 0.5) * part, seconds / part) for at, seconds in enumerate(parts)],
        )
        for name, parts in result.severity.seconds.items()
        if metric in (None, name)
    ]
    return [curve("Average number of waiting locations", "seconds", "locations", series)]


def _grid_pictures(result: TraceResult, trace: EventTrace, names: Sequence[str]) -> list[Block]:
    """Draws each metric by the place of the ranks in the topologies of the trace."""
    known = {record.metric for record in result.records if record.location is not None}
    return [
        Folded(f"{metric_name(name)} on the grid {grid.name}".rstrip(),
               grid_blocks(result, grid, name))
        for grid in trace.grids for name in names if name in known
    ]  # fmt: skip


def grid_blocks(result: TraceResult, grid: ProcessGrid, metric: str) -> list[Block]:
    """Draws a picture for each index in the dimensions of the grid before the last two."""
    sums = grid_values(result, grid, metric)
    title = f"{metric_name(metric)} on the {sums.sizes} grid"
    blocks: list[Block] = [
        heat(f"{title} {front}".rstrip(), rows, sums.unit) for front, rows in sums.planes
    ]
    if sums.missing:
        places = "1 place has" if sums.missing == 1 else f"{sums.missing} places have"
        blocks.append(Text(f"{places} no rank in the trace."))
    return blocks


def _pane_block(result: TraceResult, names: Sequence[str]) -> list[Drawing]:
    """Returns metric, call path and location of the records, encoded as numbers."""
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
            "name": metric_name(name), "unit": metric["unit"],
            "total": result.totals.get(name, 0.0),
            "paths": [{"path": path, "total": sum(v for _, v in values), "values": values}
                      for path, values in ranked],
        })  # fmt: skip
    panes = {"kind": "panes", "metrics": shown, "paths": list(paths),
             "locations": list(location_numbers)}  # fmt: skip
    return [panes] if shown else []


def _json_record(result: TraceResult, analysis: Analysis, metric: str | None) -> dict[str, Any]:
    parts = result.severity
    return {
        "schema": SCHEMA,
        "records": [
            fields_of(own, "metric callpath location value unit")
            for own in chosen_records(result, metric)
        ],
        "worst_instances": [
            fields_of(own, "metric seconds longest_s time_s callpath waiting late late_callpath")
            for own in result.worst if metric in (None, own.metric)
        ],
        "severity": None if parts is None else {
            "part_s": parts.part_s, "seconds": plain(_filter_metric(parts.seconds, metric)),
        },
        "flat_profile": [
            fields_of(one, "region kind seconds visits waiting_s instructions_per_cycle")
            for one in result.regions if metric is None
        ],
        "totals": _filter_metric(result.totals, metric),
        "counts": _filter_metric(result.counts, metric),
        "conservation": [fields_of(own, "name left right holds parts") for own in result.balances],
        "findings": plain(analysis.findings),
        "not_analyzed": dict(analysis.not_analysed),
        "clock_violations": [
            {**fields_of(pair, "kind", **{"from": "source", "to": "to"}), "count": pair.count,
             "largest_s": pair.largest / analysis.trace.ticks_per_second}
            for pair in analysis.clock_violations
        ],
        "grids": [
            {
                **fields_of(grid, "name sizes periodic"),
                "ranks": [
                    {"rank": rank, "place": list(place)} for rank, place in grid.coordinates.items()
                ],
            }
            for grid in analysis.trace.grids
        ],
    }  # fmt: skip


def _filter_metric(values: Mapping[str, T], metric: str | None) -> dict[str, T]:
    return {name: value for name, value in values.items() if metric in (None, name)}
