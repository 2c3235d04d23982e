"""Adds a region around the run of each rank if a trace has none, so that time between calls belongs
to a region.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regionpredict.trace.event_trace import NONE, EventTrace, Kind, Paradigm, Region, Role

NAME = "program"


def with_whole_run(trace: EventTrace) -> EventTrace:
    """Adds a region around the run of each rank whose first thread is outside all regions at some
    time.

    A trace without such gaps is returned unchanged. Call paths omit the added region.
    """
    with_gaps = [at for at in range(len(trace.locations)) if _has_gaps(trace, at)]
    if not with_gaps:
        return trace
    begins = trace.starts[with_gaps]
    ends = trace.starts[np.array(with_gaps) + 1]
    number = len(trace.regions)
    # At the same row, a location's end precedes the next one's start.
    rows = np.column_stack([begins, ends]).reshape(-1)
    times = np.column_stack([trace.time[begins], trace.time[ends - 1]]).reshape(-1)
    kinds = np.tile(np.array([Kind.ENTER, Kind.LEAVE], dtype=np.uint8), len(with_gaps))
    moved = np.searchsorted(rows, trace.operations.event, side="right")
    added = np.zeros(len(trace.starts), dtype=np.int64)
    added[np.array(with_gaps) + 1] = 2
    return replace(
        trace,
        regions=(*trace.regions, Region(NAME, Paradigm.OTHER, Role.PROGRAM)),
        starts=trace.starts + np.cumsum(added),
        time=np.insert(trace.time, rows, times),
        kind=np.insert(trace.kind, rows, kinds),
        region=np.insert(trace.region, rows, np.int32(number)),
        operations=replace(trace.operations, event=trace.operations.event + moved),
        counters=tuple(
            replace(
                counter,
                event=counter.event + np.searchsorted(rows, counter.event, side="right"),
            )
            for counter in trace.counters
        ),
    )


def _has_gaps(trace: EventTrace, at: int) -> bool:
    """Returns whether a location is the first thread of its rank and is outside all regions at some
    time.
    """
    rows = slice(int(trace.starts[at]), int(trace.starts[at + 1]))
    kind = trace.kind[rows]
    if not len(kind) or trace.locations[at].thread:
        return False
    if kind[0] != Kind.ENTER or trace.region[rows][0] == NONE:
        return True
    steps = (kind == Kind.ENTER).astype(np.int32) - (kind == Kind.LEAVE)
    return bool(np.any(np.cumsum(steps, dtype=np.int32)[:-1] <= 0))
