"""How unevenly a run's work is distributed, as a table or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.names import cut
from regionpredict.report.page_width import PAGE_WIDTH
from regionpredict.report.quantities import plural
from regionpredict.trace import EventTrace, Finding
from regionpredict.trace.imbalance import Imbalance, ImbalanceStudy

SCHEMA = "regionpredict/imbalance/1"
_LEAST_PATH = 16  # columns in which a call path can still be told


def imbalance_json(study: ImbalanceStudy, findings: Sequence[Finding]) -> str:
    """The whole run, the call paths by impact, and iterations; all times in seconds.

    `records` has the workload and its deviation by call path and location, as other results of
    traces have theirs; `callpath` is "" for the whole run.
    """
    rows = [study.whole, *study.callpaths]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "whole": _summary(study.whole),
        "callpaths": [_summary(row) for row in study.callpaths],
        "iterations": None
        if study.iterations is None
        else {"count": study.iterations.count, "calls": study.iterations.period},
        "records": [
            {
                "metric": metric,
                "callpath": row.callpath,
                "location": place.rank if place.thread == 0 else str(place),
                "value": value,
                "unit": "s",
            }
            for row in rows
            for metric, values in (
                ("workload", row.workload_s),
                ("workload_deviation", row.deviation_s),
            )
            for place, value in zip(study.locations, values, strict=True)
        ],
        "findings": [
            {"message": finding.message, "location": finding.location, "count": finding.count}
            for finding in findings
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _summary(row: Imbalance) -> dict[str, Any]:
    evolution = row.evolution
    return {
        "callpath": row.callpath,
        "mean_s": row.mean_s,
        "runtime_impact_s": row.runtime_impact_s,
        "allocation_impact_s": row.allocation_impact_s,
        "pattern": row.pattern,
        "groups": [{"locations": g.locations, "mean_s": g.mean_s} for g in row.groups],
        "evolution": None
        if evolution is None
        else {
            "course": evolution.course,
            "persistent": evolution.persistent,
            "growth": evolution.growth,
            "imbalance_s": list(evolution.imbalance_s),
        },
    }


def imbalance_table(study: ImbalanceStudy, trace: EventTrace, top: int) -> str:
    """Call paths by what an even distribution would gain."""
    whole = study.whole
    lines = [
        f"{trace.name}: {plural(len(study.locations), 'location')}",
        "",
        f"useful time   {whole.mean_s:.6g} s in the mean, at most {max(whole.workload_s):.6g} s "
        f"on {study.locations[whole.most_on]}",
        f"imbalance     I_t = {whole.runtime_impact_s:.6g} s of run time",
        f"              I_T = {whole.allocation_impact_s:.6g} s of allocated time",
        f"distribution  {pattern_text(whole)}",
    ]
    if whole.evolution is not None and study.iterations is not None:
        lines += [
            f"iterations    {study.iterations.count}, together I_t = "
            f"{sum(whole.evolution.imbalance_s):.6g} s where all meet in each",
            f"course        {course_text(whole)}",
        ]
    shown = study.callpaths[:top]
    if shown:
        head = ("call path", "mean", "I_t", "I_T", "most on", "distribution", "course")
        rows = [
            (
                row.callpath,
                f"{row.mean_s:.4g}",
                f"{row.runtime_impact_s:.4g}",
                f"{row.allocation_impact_s:.4g}",
                str(study.locations[row.most_on]),
                "-" if row.pattern is None else row.pattern.value,
                "-" if row.evolution is None else row.evolution.course.value,
            )
            for row in shown
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        room = max(PAGE_WIDTH - sum(widths) + widths[0] - 2 * (len(widths) - 1), _LEAST_PATH)
        lines += [
            "",
            *aligned_lines([head, *((cut(row[0], room, room // 3), *row[1:]) for row in rows)]),
        ]
        if len(study.callpaths) > top:
            lines.append(f"... and {len(study.callpaths) - top} more; --top shows them")
    return "\n".join(lines) + "\n"


def pattern_text(row: Imbalance) -> str:
    """How the workload is distributed, in words."""
    if row.pattern is None:
        return "too few locations to tell"
    if len(row.groups) < 2:
        return str(row.pattern)
    parts = ", ".join(f"{group.locations} x {group.mean_s:.4g} s" for group in row.groups)
    return f"{row.pattern} ({parts})"


def course_text(row: Imbalance) -> str:
    """What becomes of the imbalance from iteration to iteration, in words."""
    evolution = row.evolution
    if evolution is None:
        return "unknown"
    change = round(100 * evolution.growth)  # as a whole number there is no -0
    same = round(100 * evolution.persistent)
    return f"{evolution.course}, {same} % on the same locations; {change:+} % to the last third"
