"""Extracts parts of a trace: rows of events with their operations and matches."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import NONE, Counter, EventTrace, Kind, Operations
from regionpredict.trace.matching import Matches

Rows = NDArray[np.int64]


def cut_trace(
    trace: EventTrace,
    matches: Matches,
    begin: Rows,
    end: Rows,
    between: tuple[int, int] | None = None,
) -> tuple[EventTrace, Matches]:
    """Returns the part of the trace from the row after `begin` up to and including the row `end`.
    Both have one row per location.

    Operations inside the part remain matched.

    Regions that are open at an end of the part are entered or left there. The times are those of
    these rows, or the two times in `between`. Messages and counter readings outside the part are
    omitted.
    """
    parts: list[NDArray[np.int64]] = []
    row_of = np.full(len(trace), NONE, dtype=np.int64)
    starts, total = [0], 0
    if between is None:
        first_time = int(min(trace.time[np.maximum(begin, trace.starts[:-1])]))
    else:
        first_time = between[0]
    for number in range(len(trace.locations)):
        low, high = int(begin[number]), int(end[number])
        before, after = _open_regions(trace, number, low), _open_regions(trace, number, high)
        opened, closed = between or (
            int(trace.time[max(low, int(trace.starts[number]))]),
            int(trace.time[high]),
        )
        rows = np.arange(low + 1, high + 1)
        head = [(opened, int(Kind.ENTER), region) for region in before]
        tail = [(closed, int(Kind.LEAVE), region) for region in reversed(after)]
        body = np.stack([trace.time[rows], trace.kind[rows], trace.region[rows]], axis=1)
        row_of[rows] = total + len(head) + np.arange(len(rows))
        parts += [np.array(head).reshape(-1, 3), body, np.array(tail).reshape(-1, 3)]
        total += len(head) + len(rows) + len(tail)
        starts.append(total)
    table = np.concatenate(parts).astype(np.int64)
    part = replace(
        trace,
        starts=np.array(starts, dtype=np.int64),
        time=table[:, 0] - first_time,
        kind=table[:, 1].astype(np.uint8),
        region=table[:, 2].astype(np.int32),
    )
    return _with_operations(part, trace, matches, row_of)


def with_apportioned_counters(
    part: EventTrace, trace: EventTrace, between: tuple[int, int]
) -> EventTrace:
    """Returns the part of `trace` between two times with apportioned counters. Counters are assumed
    to grow evenly between readings.
    """
    counters = tuple(
        _growth_in_span(old, new, trace, part, between)
        for old, new in zip(trace.counters, part.counters, strict=True)
    )
    return replace(part, counters=counters)


def _growth_in_span(
    old: Counter, new: Counter, trace: EventTrace, part: EventTrace, between: tuple[int, int]
) -> Counter:
    """Returns the increases of a counter within the span. Increases across an end of the span are
    reduced to the share of the time inside.

    The share at the end of the span is added at the location's first event there, which ends the
    last burst of computation.
    """
    low, high = between
    time, location = trace.time[old.event], trace.locations_of(old.event)
    before = np.concatenate([time[:1], time[:-1]])
    first = np.ones(len(time), dtype=bool)
    first[1:] = location[1:] != location[:-1]
    before[first] = trace.time[trace.starts[location[first]]]
    inside = np.minimum(time, high) - np.maximum(before, low)
    share = np.where(time > before, np.maximum(inside, 0) / np.maximum(time - before, 1), 0.0)
    whole = (time >= low) & (time <= high) & (before >= low)
    grown = np.where(whole, old.increase, np.rint(share * old.increase))
    kept = (time >= low) & (time <= high)
    end = np.array(
        [begin + np.searchsorted(part.time[begin:stop], high - low)
         for begin, stop in pairwise(part.starts.tolist())],
        dtype=np.int64,
    )  # fmt: skip
    # If no region is open at the end, there is no event, and the location does not count.
    ended = (end < part.starts[1:])[location]
    over = np.flatnonzero((time > high) & (share > 0) & ended)
    event = np.concatenate([new.event, end[location[over]]])
    increase = np.concatenate([grown[kept], grown[over]]).astype(new.increase.dtype)
    order = np.argsort(event, kind="stable")
    return Counter(new.name, event[order], increase[order], new.unit)


def only_rows(
    trace: EventTrace, matches: Matches, rows: NDArray[np.bool_]
) -> tuple[EventTrace, Matches]:
    """Returns the trace restricted to the rows in the mask. Their ENTER and LEAVE events must be
    balanced.
    """
    row_of = np.where(rows, np.cumsum(rows) - 1, NONE)
    part = replace(
        trace,
        starts=np.concatenate([[0], np.cumsum(rows)])[trace.starts].astype(np.int64),
        time=trace.time[rows],
        kind=trace.kind[rows],
        region=trace.region[rows],
    )
    return _with_operations(part, trace, matches, row_of)


def _with_operations(
    part: EventTrace, trace: EventTrace, matches: Matches, row_of: Rows
) -> tuple[EventTrace, Matches]:
    """Adds the operations, counters and matches of `trace` to its part. `row_of` is the new row of
    each event, or -1.
    """
    operations = trace.operations
    kept = np.flatnonzero(row_of[operations.event] >= 0)
    columns = {
        name: getattr(operations, name)[kept] for name in Operations.__dataclass_fields__
    } | {"event": row_of[operations.event[kept]]}
    new_row = np.full(len(operations) + 1, NONE, dtype=np.int64)  # the last entry is for -1
    new_row[kept] = np.arange(len(kept))
    return replace(
        part,
        operations=Operations(**columns),
        counters=tuple(_cut_counter(counter, row_of) for counter in trace.counters),
    ), Matches(
        _new_positions(matches.mate[kept], new_row),
        _new_positions(matches.other[kept], new_row),
        matches.instance[kept],
        matches.findings,
    )


def _new_positions(rows: Rows, new_row: Rows) -> Rows:
    """Returns the new positions of operations, or -1 for omitted ones. Negative values are
    unchanged.
    """
    return np.where(rows >= 0, new_row[rows], rows)


def _open_regions(trace: EventTrace, location: int, row: int) -> list[int]:
    """Returns the regions that are open after a row of a location, the outermost first."""
    start = int(trace.starts[location])
    kind, region = trace.kind[start : row + 1], trace.region[start : row + 1]
    step = np.where(kind == Kind.ENTER, 1, 0) - np.where(kind == Kind.LEAVE, 1, 0)
    depth = np.cumsum(step)
    if not len(depth):
        return []
    # An open region was entered at the last row where its depth was reached from below.
    lowest = np.minimum.accumulate(depth[::-1])[::-1]
    stays = (kind == Kind.ENTER) & (lowest >= depth)
    return [int(number) for number in region[stays]]


def _cut_counter(counter: Counter, row_of: Rows) -> Counter:
    kept = np.flatnonzero(row_of[counter.event] >= 0)
    return Counter(counter.name, row_of[counter.event[kept]], counter.increase[kept], counter.unit)
