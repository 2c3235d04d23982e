"""Selects a part of a run for factors: instances of a call path or a region, or the time between
MPI_Init and MPI_Finalize.

All events are kept, but time outside the part has no length: the clock stops while no location is
in an instance. Messages and collective operations across the ends of the part therefore remain
matched, and the events of threads are complete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import call_paths, path_names
from regionpredict.trace.event_trace import Counter, EventTrace, Kind
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.mpi_regions import Call, call_of
from regionpredict.trace.selection import not_in_trace

Spans = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RunPart:
    """A part of a run. In `trace`, the clock runs only during the part.

    `inside` says for each event whether the time from it to the location's next event is in the
    part. `instances` is the number of entries of all locations.
    """

    trace: EventTrace
    inside: NDArray[np.bool_]
    instances: int


def part_of_call_path(trace: EventTrace, path_name: str, kernels: Kernels) -> RunPart:
    """Selects all instances of a call path with its callees. `path_name` is its name in results.

    Raises InputError if there are none.
    """
    paths = call_paths(trace, kernels)
    names = path_names(paths, trace.regions)
    chosen = np.array([name == path_name for name in names] + [False])
    if not chosen.any():
        raise not_in_trace("call path", path_name, names, trace)
    named = trace.kind <= Kind.LEAVE
    return _part_of_instances(trace, named & chosen[np.where(named, paths.event_node, len(names))])


def part_of_region(trace: EventTrace, region_name: str) -> RunPart:
    """Selects all instances of a region in any call path. Raises InputError if there are none."""
    chosen = np.array([region.name == region_name for region in trace.regions] + [False])
    rows = chosen[trace.region] & (trace.kind <= Kind.LEAVE)
    if not rows.any():
        entered = np.unique(trace.region[trace.region >= 0]).tolist()
        names = [trace.regions[number].name for number in entered]
        raise not_in_trace("region", region_name, names, trace)
    return _part_of_instances(trace, rows)


def initialized_part(trace: EventTrace) -> RunPart | None:
    """Selects the part from the last exit from MPI_Init to the first entry into MPI_Finalize.

    The result is None if the trace has no MPI_Init.
    """
    calls = np.array([int(call_of(region.name)) for region in trace.regions] + [int(Call.OTHER)])
    call = calls[trace.region]
    inits = (call == Call.INIT) & (trace.kind == Kind.LEAVE)
    if not inits.any():
        return None
    begin = int(trace.time[inits].max())
    finalizes = trace.time[(call == Call.FINALIZE) & (trace.kind == Kind.ENTER)]
    end = int(finalizes.min(initial=int(trace.time.max())))
    if end <= begin:
        return None
    everywhere = np.ones(len(trace), dtype=bool)
    return _restricted_to_spans(
        trace, np.array([[begin, end]], dtype=np.int64), everywhere, len(trace.ranks)
    )


def _part_of_instances(trace: EventTrace, rows: NDArray[np.bool_]) -> RunPart:
    """Selects the part of the run between the entries and exits in the mask `rows`. Instances may
    be nested by recursion.
    """
    step = np.where(rows, np.where(trace.kind == Kind.ENTER, 1, -1), 0)
    depth = np.cumsum(step)
    opens = np.flatnonzero(rows & (trace.kind == Kind.ENTER) & (depth == 1))
    ends = np.flatnonzero(rows & (trace.kind == Kind.LEAVE) & (depth == 0))
    inside = depth > 0
    # Threads started by a rank's first thread have separate call paths.
    for at, (low, high) in enumerate(pairwise(trace.starts.tolist())):
        if trace.locations[at].thread:
            inside[low:high] = True
    spans = np.stack([trace.time[opens], trace.time[ends]], axis=1)
    return _restricted_to_spans(trace, _merged_spans(spans), inside, len(opens))


def _merged_spans(spans: Spans) -> Spans:
    """Merges spans to disjoint spans in ascending order that cover the same times."""
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    last = np.maximum.accumulate(spans[:, 1])
    begins = np.concatenate([[True], spans[1:, 0] > last[:-1]])
    ends = np.concatenate([begins[1:], [True]])
    return np.stack([spans[begins, 0], last[ends]], axis=1)


def _restricted_to_spans(
    trace: EventTrace, spans: Spans, inside: NDArray[np.bool_], instances: int
) -> RunPart:
    before = np.concatenate([[0], np.cumsum(spans[:, 1] - spans[:, 0])])
    row = np.searchsorted(spans[:, 0], trace.time, side="right") - 1
    at = np.maximum(row, 0)
    within = np.minimum(trace.time, spans[at, 1]) - spans[at, 0]
    time = np.where(row < 0, 0, before[at] + within)
    length = np.zeros(len(trace), dtype=np.int64)
    length[:-1] = np.where(inside[:-1], np.diff(time), 0)
    # Differences across locations cancel, since sums are per location.
    passed = np.concatenate([[0], np.cumsum(length)])[:-1]
    counters = tuple(_growth_in_part(trace, counter, passed, inside) for counter in trace.counters)
    return RunPart(replace(trace, time=time, counters=counters), inside, instances)


def _growth_in_part(
    trace: EventTrace, counter: Counter, passed: NDArray[np.int64], inside: NDArray[np.bool_]
) -> Counter:
    """Returns the increases of a counter in the part. A counter is assumed to grow evenly between
    two readings.
    """
    event = counter.event
    first = trace.starts[trace.locations_of(event)]
    previous = first.copy()
    previous[1:] = np.maximum(event[:-1], first[1:])
    whole = trace.time[event] - trace.time[previous]
    share = (passed[event] - passed[previous]) / np.maximum(whole, 1)
    share = np.where(whole > 0, share, inside[previous])
    grown = np.rint(counter.increase * share)
    return replace(counter, increase=grown.astype(counter.increase.dtype))
