"""What a run would gain without the delays of call paths, as a table, JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields

from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.csv_text import csv_text
from regionpredict.report.names import cut
from regionpredict.report.page_width import PAGE_WIDTH
from regionpredict.report.quantities import show_seconds
from regionpredict.trace import EventTrace, Finding
from regionpredict.trace.what_if import Change, WhatIf

SCHEMA = "regionpredict/what-if/1"
_LEAST_PATH = 16  # columns in which a call path can still be told


def what_if_json(what_if: WhatIf, findings: Sequence[Finding]) -> str:
    """The run time as it was, the changes by gain, and findings; all times in seconds."""
    document = {
        "schema": SCHEMA,
        "runtime_s": what_if.runtime_s,
        "changes": [asdict(change) for change in what_if.changes],
        "untried": what_if.untried,
        "contradicted": what_if.contradicted,
        "findings": [
            {"message": finding.message, "location": finding.location, "count": finding.count}
            for finding in findings
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def what_if_csv(what_if: WhatIf) -> str:
    """A row each change, under a header row."""
    header = [field.name for field in fields(Change)]
    rows = [
        [repr(v) if isinstance(v, float) else v for v in asdict(change).values()]
        for change in what_if.changes
    ]
    return csv_text(header, rows)


def what_if_table(what_if: WhatIf, trace: EventTrace) -> str:
    """Call paths by what the run gains without their delays."""
    lines = [f"{trace.name}: the run takes {what_if.runtime_s:.6g} s", ""]
    if not what_if.changes:
        return "\n".join([*lines, "no call path delays anybody"]) + "\n"
    head = ("call path", "delay cost", "run time", "gain", "halved", "on")
    rows = [
        (
            change.callpath,
            show_seconds(change.delay_cost_s),
            show_seconds(change.runtime_s),
            _share(change.gain_s, what_if.runtime_s),
            _share(change.half_gain_s, what_if.runtime_s),
            change.location,
        )
        for change in what_if.changes
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    room = max(PAGE_WIDTH - sum(widths) + widths[0] - 2 * (len(widths) - 1), _LEAST_PATH)
    lines += aligned_lines([head, *((cut(row[0], room, room // 3), *row[1:]) for row in rows)])
    if what_if.untried:
        lines.append(f"... and {what_if.untried} more with smaller costs; --top tries them")
    lines += [
        "",
        "What others wait for the call path, summed over ranks; the run time without its",
        "delays, what the run gains by that, and what by half of it; on: the rank with",
        "most of them.",
    ]
    return "\n".join(lines) + "\n"


def _share(gain: float, runtime: float) -> str:
    return f"{show_seconds(gain)} ({100 * gain / runtime if runtime else 0.0:.1f} %)"
