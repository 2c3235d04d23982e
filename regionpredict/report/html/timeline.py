"""A trace over time as a block: activities of each rank or thread, its waits, and the critical
path.
"""

from __future__ import annotations

from regionpredict.report.document import Drawing, Section
from regionpredict.report.timeline_rows import NAMES, Doing, time_unit, timeline_rows
from regionpredict.trace.analysis import Analysis

_BINS = 600
"""The number of parts of the run, about one per pixel. Each shows its longest activity."""


def timeline_section(analysis: Analysis) -> Section:
    """The picture on pages. Empty if the trace has no duration."""
    lasts = analysis.trace.time.any()
    return Section("Timeline", lambda: [timeline_block(analysis)] if lasts else [], "page")


def timeline_block(analysis: Analysis, bins: int = _BINS) -> Drawing:
    """The picture with `bins` parts. Raises `InputError` if the trace has no duration."""
    trace = analysis.trace
    shown = timeline_rows(analysis, bins)
    size, unit = time_unit(shown.end / trace.ticks_per_second)
    tick = 1.0 / (trace.ticks_per_second * size)
    numbers = {doing: number for number, doing in enumerate(NAMES)}
    locations = [trace.locations[row.location] for row in shown.rows]
    title = f"{trace.name or 'Trace'}: activities of each location, messages, and the critical path"
    if len(locations) < len(trace.locations):
        title += f"; {len(locations)} of {len(trace.locations)}, with most of the path"
    return {
        "kind": "timeline",
        "title": title,
        "x": f"time ({unit})",
        "rows_are": "rank.thread" if any(place.thread for place in locations) else "rank",
        "end": shown.end * tick,
        "kinds": [
            {
                "name": name,
                "hatched": doing is Doing.WAITS,
                "plain": doing is Doing.SYNCHRONISES,
            }
            for doing, name in NAMES.items()
        ],
        "rows": [
            {
                "name": str(place),
                "bars": [
                    [numbers[bar.doing], bar.begin * tick, bar.end * tick] for bar in row.bars
                ],
            }
            for place, row in zip(locations, shown.rows, strict=True)
        ],
        "messages": [
            [message.sender, message.sent * tick, message.receiver, message.received * tick]
            for message in shown.messages
        ],
        "path": [[piece.row, piece.begin * tick, piece.end * tick] for piece in shown.path],
    }
