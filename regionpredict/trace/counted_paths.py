"""Computes hardware counters by call path."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths, nodes_after
from regionpredict.trace.event_trace import Counter, EventTrace


def counted_paths(trace: EventTrace, paths: CallPaths) -> dict[str, NDArray[np.float64]]:
    """Returns the increase of each counter by location and call path, without callees.

    Between two readings, a counter is assumed to increase evenly.
    """
    if not trace.counters:
        return {}
    node = nodes_after(trace, paths)
    tables = {}
    for counter in trace.counters:
        table = np.zeros(paths.exclusive.shape)
        for at, (first, end) in enumerate(pairwise(trace.starts.tolist())):
            if end > first:
                increase = np.diff(_counter_at_events(trace, counter, first, end))
                where = node[first : end - 1]
                inside = where >= 0
                table[at] = np.bincount(where[inside], increase[inside], len(paths.parent))
        tables[counter.name] = table
    return tables


def _counter_at_events(
    trace: EventTrace, counter: Counter, first: int, end: int
) -> NDArray[np.float64]:
    """Returns the increase of a counter from the first event of a location to each of its
    events.
    """
    low, high = np.searchsorted(counter.event, (first, end))
    read = np.concatenate([[first], counter.event[low:high]])
    total = np.concatenate([[0], np.cumsum(counter.increase[low:high])]).astype(np.float64)
    event = np.arange(first, end)
    after = np.minimum(np.searchsorted(read, event, side="left"), len(read) - 1)
    before = np.maximum(after - 1, 0)
    since, until = trace.time[read[before]], trace.time[read[after]]
    passed = (trace.time[first:end] - since) / np.maximum(until - since, 1)
    share = np.where(event >= read[after], 1.0, passed)
    return np.asarray(total[before] + (total[after] - total[before]) * share, dtype=np.float64)
