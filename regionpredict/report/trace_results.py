"""Results of a trace's analyses as a document and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

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
from regionpredict.report.html.timeline import timeline_section
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.process_grid import grid_tables, grid_values, without_rank
from regionpredict.report.quantities import plural, show_seconds, show_share
from regionpredict.trace import EventTrace, Location
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.profile import SECONDS, Balance, Record, TraceResult

T = TypeVar("T")
SCHEMA = "regionpredict/trace/1"
INSTANCES = "instances."  # prefix of metrics that count waits by call path
_PER_PROFILE = ("time", "wait_direct", "wait_indirect", "wait_propagating", "wait_terminal")


def result_document(
    result: TraceResult, analysis: Analysis, top: int, metric: str | None = None
) -> Document:
    """Totals, call paths by cost with the rank that has the largest part, and the sums that must
    hold. With `metric`, only this metric. Text has the `top` call paths. CSV has one row per
    record.
    """
    trace = analysis.trace
    totals = _only(result.totals, metric)
    names = list(totals)
    run_s = int(trace.time.max(initial=0)) / trace.ticks_per_second
    lead = [
        f"{trace.name}: {plural(len(trace.locations), 'location')} on "
        f"{plural(len(trace.ranks), 'rank')}, {plural(len(trace), 'event')}, "
        f"run time {show_seconds(run_s)}"
    ]
    if metric is None and "wait_direct" in totals and run_s:
        waited = int(analysis.points.wait.sum()) / trace.ticks_per_second
        share = show_share(waited / run_s / len(trace.locations))
        lead.insert(0, f"Waiting: {share} of the time of all locations, "
                    f"{show_seconds(waited)} in sum.")  # fmt: skip
    if not totals:
        lead.append("nothing of the kind was found")
    sections = [
        Section("Totals", [_totals(result, totals, metric)]),
        Section("Where", lambda: _panes(result, names), "page"),
        Section("Call paths", lambda: [_ranked(result, metric, top)], "text"),
        Section("Worst instances", [_worst(result, metric)]),
        Section("Sums", [Facts([pair for sum in result.balances for pair in _sum(sum)])]),
        timeline_section(analysis),
        Section("Waits over time", lambda: _severity(result, metric), "page"),
        Section("Process grid", lambda: _grids(result, trace, names), "page"),
        Section("Process grid", [
            block for grid in trace.grids if metric for block in grid_tables(result, grid, metric)
        ], "text"),
        Section("Findings", [Items([str(finding) for finding in analysis.findings])], "page"),
        Section("Records", lambda: [_records(result, metric)], "csv"),
    ]  # fmt: skip
    title = f"Trace {trace.name}"
    return Document(title, lead, sections, lambda: _record(result, analysis, metric))


def _totals(result: TraceResult, totals: Mapping[str, float], metric: str | None) -> Table:
    units = {record.metric: record.unit for record in result.records}
    rows: list[list[Cell]] = [
        [name, (_amount(value, units.get(name, "")), value), result.counts.get(name)]
        for name, value in totals.items()
        if metric or not name.startswith(INSTANCES)  # shown in their own column
    ]
    columns = [Column("Metric"), Column("Total", str), Column("Instances", str, unknown="")]
    return Table("Totals", columns, rows)


def _ranked(result: TraceResult, metric: str | None, top: int) -> Table:
    """Metrics in seconds, or the chosen one, by call path, the largest first."""
    sums: dict[tuple[str, str], float] = {}
    most: dict[tuple[str, str], Record] = {}
    for record in _chosen(result, metric):
        per_profile = record.metric.partition(".")[0] in _PER_PROFILE
        if metric is None and (record.unit != SECONDS or per_profile):
            continue
        key = record.metric, record.callpath
        sums[key] = sums.get(key, 0.0) + record.value
        if key not in most or record.value > most[key].value:
            most[key] = record
    rows: list[list[Cell]] = [
        [*key, (_amount(sums[key], most[key].unit), sums[key]), _named(most[key].location),
         _source(result, key[1])]
        for key in sorted(sums, key=lambda key: (-sums[key], key))
    ]  # fmt: skip
    columns = [
        Column("Metric"), Column("Call path", cut=True), Column("Sum", str), Column("Most on"),
        Column("Source"),
    ]  # fmt: skip
    if not any(row[-1] for row in rows):
        rows, columns = [row[:-1] for row in rows], columns[:-1]
    return Table("Call paths by time", columns, rows, top=top)


def _source(result: TraceResult, callpath: str) -> str:
    """File and line of a call path, unless its name has the line, like those of Paraver traces."""
    source = result.sources.get(callpath, "").rpartition("/")[2]
    line = source.rpartition(":")[2]
    return "" if f":{line}" in callpath else source


def _worst(result: TraceResult, metric: str | None) -> Table:
    """The worst instance of each kind of wait, the waiting location, and its cause."""
    rows: list[list[Cell]] = []
    for instance in result.worst:
        if metric in (None, instance.metric):
            first, others = str(instance.waiting[0]), len(instance.waiting) - 1
            rows.append([
                instance.metric, instance.callpath, instance.seconds, instance.time_s,
                f"{first} + {others}" if others else first, _named(instance.late),
            ])  # fmt: skip
    columns = [
        Column("Metric", choice=True), Column("Call path", cut=True), Column("Wait", show_seconds),
        Column("Until", lambda seconds: f"{seconds:.6g} s", minor=True),
        Column("Waiting", minor=True), Column("For"),
    ]  # fmt: skip
    return Table("Worst instances", columns, rows)


def _sum(balance: Balance) -> list[tuple[str, str]]:
    """The two sides of a sum, and the parts of the left side that exceed rounding errors."""
    if balance.holds:
        sides = f"{show_seconds(balance.left)} on both sides"
    else:
        left, right = (_quantity(side, SECONDS) for side in (balance.left, balance.right))
        sides = f"{left} and {right}: does not hold"
    rounding = 1e-9 * max(abs(balance.left), 1e-3)
    parts = [
        (name, show_seconds(value))
        for name, value in balance.parts.items()
        if abs(value) > rounding
    ]
    return [(balance.name, sides), *parts]


def _records(result: TraceResult, metric: str | None) -> Table:
    keys = ("metric", "callpath", "location", "value", "unit", "source")
    rows: list[list[Cell]] = [
        [record.metric, record.callpath,
         None if record.location is None else str(record.location), repr(record.value),
         record.unit, result.sources.get(record.callpath)]
        for record in _chosen(result, metric)
    ]  # fmt: skip
    return Table("", [Column(key, key=key) for key in keys], rows)


def _severity(result: TraceResult, metric: str | None) -> list[Drawing]:
    """The mean number of waiting locations in each part of the run."""
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
    """Each metric by the place of the ranks in the topologies of the trace."""
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
    """Metric, call path and location of the records, encoded as numbers."""
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


def _record(result: TraceResult, analysis: Analysis, metric: str | None) -> dict[str, Any]:
    parts = result.severity
    return {
        "schema": SCHEMA,
        "records": [
            fields_of(own, "metric callpath location value unit") for own in _chosen(result, metric)
        ],
        "worst_instances": [
            fields_of(own, "metric seconds longest_s time_s callpath waiting late late_callpath")
            for own in result.worst if metric in (None, own.metric)
        ],
        "severity": None if parts is None else {
            "part_s": parts.part_s, "seconds": plain(_only(parts.seconds, metric)),
        },
        "totals": _only(result.totals, metric),
        "counts": _only(result.counts, metric),
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


def _chosen(result: TraceResult, metric: str | None) -> Iterator[Record]:
    return (record for record in result.records if metric in (None, record.metric))


def _only(values: Mapping[str, T], metric: str | None) -> dict[str, T]:
    return {name: value for name, value in values.items() if metric in (None, name)}


def _named(location: Location | None) -> str:
    return "" if location is None else str(location)


def _amount(value: float, unit: str) -> str:
    return show_seconds(value) if unit == SECONDS else _quantity(value, unit)


def _quantity(value: float, unit: str) -> str:
    return f"{value:.9g} {unit}".rstrip()
