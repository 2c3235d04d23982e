"""Results of a trace's analyses as a table, JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.csv_text import csv_text
from regionpredict.report.names import cut
from regionpredict.report.page_width import PAGE_WIDTH
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.trace import EventTrace, Location
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.profile import SECONDS, Balance, Record, TraceResult

T = TypeVar("T")
SCHEMA = "regionpredict/trace/1"
_LEAST_PATH = 16  # columns in which a call path can still be told
_PER_PROFILE = ("time", "wait_direct", "wait_indirect", "wait_propagating", "wait_terminal")


def result_json(result: TraceResult, analysis: Analysis, metric: str | None = None) -> str:
    """Records, totals, counts, the sums that must hold, findings, clocks that differ, and grids."""
    second = analysis.trace.ticks_per_second
    document = {
        "schema": SCHEMA,
        "records": [
            {
                "metric": record.metric,
                "callpath": record.callpath,
                "location": _location(record.location),
                "value": record.value,
                "unit": record.unit,
            }
            for record in _chosen(result, metric)
        ],
        "worst_instances": [
            {
                "metric": instance.metric,
                "seconds": instance.seconds,
                "longest_s": instance.longest_s,
                "time_s": instance.time_s,
                "callpath": instance.callpath,
                "waiting": [_location(location) for location in instance.waiting],
                "late": _location(instance.late),
                "late_callpath": instance.late_callpath,
            }
            for instance in result.worst
            if metric in (None, instance.metric)
        ],
        "severity": None
        if result.severity is None
        else {
            "part_s": result.severity.part_s,
            "seconds": {
                name: list(parts)
                for name, parts in result.severity.seconds.items()
                if metric in (None, name)
            },
        },
        "totals": _only(result.totals, metric),
        "counts": _only(result.counts, metric),
        "conservation": [_balance(balance) for balance in result.balances],
        "findings": [asdict(finding) for finding in analysis.findings],
        "not_analyzed": dict(analysis.not_analysed),
        "clock_violations": [
            {
                "kind": pair.kind,
                "from": _location(pair.source),
                "to": _location(pair.to),
                "count": pair.count,
                "largest_s": pair.largest / second,
            }
            for pair in analysis.clock_violations
        ],
        "grids": [
            {
                "name": grid.name,
                "sizes": list(grid.sizes),
                "periodic": list(grid.periodic),
                "ranks": [
                    {"rank": rank, "place": list(place)} for rank, place in grid.coordinates.items()
                ],
            }
            for grid in analysis.trace.grids
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def result_csv(result: TraceResult, metric: str | None = None) -> str:
    """A row each record, under a header row."""
    rows = [
        (
            record.metric, record.callpath, record.location, repr(record.value), record.unit,
            result.sources.get(record.callpath),
        )
        for record in _chosen(result, metric)
    ]  # fmt: skip
    return csv_text(("metric", "callpath", "location", "value", "unit", "source"), rows)


INSTANCES = "instances."  # metrics that count waits, by place


def result_table(
    result: TraceResult, trace: EventTrace, top: int, metric: str | None = None
) -> str:
    """Totals, then call paths by cost with the rank that has most of it, then the sums."""
    lines = [
        f"{trace.name}: {plural(len(trace.locations), 'location')} on "
        f"{plural(len(trace.ranks), 'rank')}, {plural(len(trace), 'event')}",
        "",
    ]
    totals = _only(result.totals, metric)
    if not totals:
        return "\n".join([*lines, "nothing of the kind was found"]) + "\n"
    units = {record.metric: record.unit for record in result.records}
    head = [("metric", "total", "instances")]
    head += [
        (name, _quantity(value, units.get(name, "")), str(result.counts.get(name, "")))
        for name, value in totals.items()
        if metric or not name.startswith(INSTANCES)  # their column has them
    ]
    lines += [*aligned_lines(head), ""]
    ranked = _ranked(result, metric)
    if ranked:
        lines += aligned_lines(_fitting([_RANKED_HEAD, *ranked[:top]]))
        if len(ranked) > top:
            lines.append(f"... and {len(ranked) - top} more; --top {len(ranked)} shows all")
    lines += _worst_lines(result, metric)
    for balance in result.balances:
        sign = "=" if balance.holds else "is not"
        lines += [
            "",
            f"{balance.name}:",
            f"  {_quantity(balance.left, SECONDS)} {sign} {_quantity(balance.right, SECONDS)}",
            *(
                f"  {name}: {_quantity(value, SECONDS)}"
                for name, value in balance.parts.items()
                if value
            ),
        ]
    return "\n".join(lines) + "\n"


_WORST_HEAD = ("worst instances", "call path", "wait", "until", "waiting", "for")


def _worst_lines(result: TraceResult, metric: str | None) -> list[str]:
    """When each kind of wait was worst, who waited and for whom."""
    rows = []
    for instance in result.worst:
        if metric not in (None, instance.metric):
            continue
        first, others = str(instance.waiting[0]), len(instance.waiting) - 1
        rows.append(
            (
                instance.metric, instance.callpath, show_seconds(instance.seconds),
                f"{instance.time_s:.6g} s", f"{first} + {others}" if others else first,
                "" if instance.late is None else str(instance.late),
            )
        )  # fmt: skip
    return ["", *aligned_lines(_fitting([_WORST_HEAD, *rows]))] if rows else []


_RANKED_HEAD = ("metric", "call path", "time", "most on", "source")


def _fitting(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows with call paths cut in the middle where a line would be wider than the page."""
    others = [max(map(len, column)) for column in list(zip(*rows, strict=True))]
    room = max(PAGE_WIDTH - sum(others) + others[1] - 2 * (len(others) - 1), _LEAST_PATH)
    return [(row[0], cut(row[1], room, room // 3), *row[2:]) for row in rows]


def _ranked(result: TraceResult, metric: str | None) -> list[tuple[str, ...]]:
    """Metrics in seconds by call path, the largest first."""
    sums: dict[tuple[str, str], float] = {}
    most: dict[tuple[str, str], Record] = {}
    for record in _chosen(result, metric):
        if record.unit != SECONDS or (metric is None and record.metric in _PER_PROFILE):
            continue
        key = record.metric, record.callpath
        sums[key] = sums.get(key, 0.0) + record.value
        if key not in most or record.value > most[key].value:
            most[key] = record
    order = sorted(sums, key=lambda key: (-sums[key], key))
    return [
        (
            *key,
            show_seconds(sums[key]),
            "" if most[key].location is None else str(most[key].location),
            result.sources.get(key[1], "").rpartition("/")[2],
        )
        for key in order
    ]


def _chosen(result: TraceResult, metric: str | None) -> Iterator[Record]:
    return (record for record in result.records if metric in (None, record.metric))


def _only(values: Mapping[str, T], metric: str | None) -> dict[str, T]:
    return {name: value for name, value in values.items() if metric in (None, name)}


def _location(location: Location | None) -> int | str | None:
    if location is None:
        return None
    return location.rank if location.thread == 0 else str(location)


def _balance(balance: Balance) -> dict[str, Any]:
    return {
        "name": balance.name,
        "left": balance.left,
        "right": balance.right,
        "holds": balance.holds,
        "parts": dict(balance.parts),
    }


def _quantity(value: float, unit: str) -> str:
    return f"{value:.9g} {unit}".rstrip()
