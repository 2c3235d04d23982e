"""Selects a part of a trace before the analysis: ranks, a time span, a call path."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.trace.call_paths import CallPaths, call_paths, nodes_after, path_names
from regionpredict.trace.event_slices import cut_trace, only_rows, with_apportioned_counters
from regionpredict.trace.event_trace import NONE, EventTrace, Finding, Kind
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches
from regionpredict.trace.whole_run import with_whole_run

_NAMED = 8  # maximum number of names in a message


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected part of a trace, where None means all. `ranks` are ranks in MPI_COMM_WORLD.
    `time_s` is a span in seconds since the trace's first event. `call_path` is named as in results
    and includes its callees.
    """

    ranks: frozenset[int] | None = None
    time_s: tuple[float, float] | None = None
    call_path: str | None = None

    def __bool__(self) -> bool:
        return any(part is not None for part in (self.ranks, self.time_s, self.call_path))


def select_part(
    trace: EventTrace, matches: Matches, selection: Selection, kernels: Kernels
) -> tuple[EventTrace, Matches]:
    """Returns the selected part of a trace. Operations stay matched, and those without a
    counterpart are a finding.

    Regions that are open at the ends of the span begin and end there, and counters are divided by
    time. For a call path, the regions that lead to it are kept, and the time of their other callees
    is assigned to these regions. Raises InputError if nothing remains.
    """
    linked = matches.mate, matches.other
    numbers = np.arange(len(trace.operations))
    require_known_ranks(selection, set(trace.ranks), trace.name)
    if selection.ranks is not None:
        trace, matches, numbers = _select_ranks(trace, matches, numbers, selection.ranks)
    if selection.call_path is not None:
        trace = with_whole_run(trace)
        rows = _rows_of_call_path(trace, call_paths(trace, kernels), selection.call_path)
        numbers = numbers[rows[trace.operations.event]]
        trace, matches = only_rows(trace, matches, rows)
    if selection.time_s is not None:
        trace, matches, numbers = _select_time_span(trace, matches, numbers, selection.time_s)
        if selection.call_path is not None:
            # Only the span was read from a store, so the path may exist elsewhere.
            _rows_of_call_path(trace, call_paths(trace, kernels), selection.call_path)
    findings = _findings_about_cut_operations(matches, (linked[0][numbers], linked[1][numbers]))
    whole = replace(
        matches,
        mate=np.maximum(matches.mate, NONE),  # OUTSIDE is reported separately
        other=np.maximum(matches.other, NONE),
    )
    return replace(trace, findings=(*trace.findings, *findings)), whole


def require_known_ranks(selection: Selection, ranks: Set[int], name: str) -> None:
    """Raises InputError if the selection has a rank that is not in `ranks`."""
    unknown = sorted((selection.ranks or frozenset()) - ranks)
    if unknown:
        raise InputError(
            f"there is no rank {unknown[0]}",
            remedy=f"the trace has {min(ranks)} to {max(ranks)}" if ranks else "it has none",
            path=name,
        )


def _select_ranks(
    trace: EventTrace, matches: Matches, numbers: NDArray[np.int64], ranks: frozenset[int]
) -> tuple[EventTrace, Matches, NDArray[np.int64]]:
    kept = np.array([location.rank in ranks for location in trace.locations], dtype=bool)
    rows = np.repeat(kept, np.diff(trace.starts))
    numbers = numbers[rows[trace.operations.event]]
    part, matches = only_rows(trace, matches, rows)
    return (
        replace(
            part,
            locations=tuple(location for location in trace.locations if location.rank in ranks),
            starts=np.append(part.starts[:-1][kept], part.starts[-1]),
        ),
        matches,
        numbers,
    )


def _rows_of_call_path(trace: EventTrace, paths: CallPaths, path_nodes: str) -> NDArray[np.bool_]:
    """Returns a mask of the rows inside the call path, and of the rows that enter and leave the
    regions around it.
    """
    names = path_names(paths, trace.regions)
    count = len(names)
    inside = np.array(
        [name == path_nodes or name.startswith(f"{path_nodes}/") for name in names] + [False]
    )
    if not np.any(inside):
        raise not_in_trace("call path", path_nodes, names, trace)
    leads = np.zeros(count + 1, dtype=bool)
    for chosen in np.flatnonzero(inside[:-1]).tolist():
        above = int(paths.parent[chosen])
        while above >= 0:
            leads[above] = True
            above = int(paths.parent[above])
    named = trace.kind <= Kind.LEAVE
    node = np.where(named, paths.event_node, count)
    # Other events belong to the region that is open at their time.
    around = nodes_after(trace, paths)
    return np.where(named, inside[node] | leads[node], inside[around])


def not_in_trace(kind: str, name: str, names: Sequence[str], trace: EventTrace) -> InputError:
    """Returns the error for a name that does not occur in a trace, or in its selected part."""
    known = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    return InputError(
        f"there is no {kind} '{name}'",
        remedy=f"there are {known}" if names else "no data at these ranks and times",
        path=trace.name,
    )


def span_ticks(trace: EventTrace, span: tuple[float, float]) -> tuple[int, int]:
    """Converts a time span to ticks, limited to the trace. Raises InputError if it is outside the
    trace.
    """
    last = int(trace.time.max(initial=0))
    low = min(max(0, round(span[0] * trace.ticks_per_second)), last + 1)
    high = min(last, round(min(span[1] * trace.ticks_per_second, 2.0**62)))
    if low > high:
        raise InputError(
            f"nothing happens from {span[0]:g} s to {span[1]:g} s",
            remedy=f"the trace ends after {last / trace.ticks_per_second:.9g} s",
            path=trace.name,
        )
    return low, high


def _select_time_span(
    trace: EventTrace, matches: Matches, numbers: NDArray[np.int64], span: tuple[float, float]
) -> tuple[EventTrace, Matches, NDArray[np.int64]]:
    low, high = span_ticks(trace, span)
    begin, end = np.empty((2, len(trace.locations)), dtype=np.int64)
    for at in range(len(trace.locations)):
        first = int(trace.starts[at])
        times = trace.time[first : int(trace.starts[at + 1])]
        begin[at] = first + np.searchsorted(times, low, side="left") - 1
        end[at] = first + np.searchsorted(times, high, side="right") - 1
    location = trace.locations_of(trace.operations.event)
    inside = trace.operations.event > begin[location]
    inside &= trace.operations.event <= end[location]
    part, matches = cut_trace(trace, matches, begin, end, (low, high))
    return with_apportioned_counters(part, trace, (low, high)), matches, numbers[inside]


def _findings_about_cut_operations(
    matches: Matches, before: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> list[Finding]:
    findings = []
    for now, then, message in (
        (matches.mate, before[0], "messages with their other side outside the selection"),
        (matches.other, before[1], "requests begun or completed outside the selection"),
    ):
        count = int(np.count_nonzero((then != NONE) & (now < 0)))
        if count:
            findings.append(Finding(f"{message}, left out", count=count))
    return findings
