"""Shows a trace over time: activities, waits, messages, and the critical path."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.report.document import Drawing, Section
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Kind, Paradigm, Region, Role

MOST_ROWS = 32
"""Maximum number of ranks and threads in a picture. If there are more, those with the largest share
of the critical path are shown.
"""
MOST_MESSAGES = 300
"""The maximum number of messages that are drawn. More arrows would cover the rest."""
_BINS = 4000
"""The number of parts into which a picture with few rows divides the run. Each part shows its
longest activity, also after zooming.
"""
_CELLS = 40_000  # rows times parts: more make a page slow
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_NO_TIME = np.zeros(0, dtype=np.int64)
Ticks = NDArray[np.int64]


class Doing(IntEnum):
    """The activity of a location in a part of the run."""

    COMPUTES = 0
    SYNCHRONISES = 1
    COMMUNICATES = 2
    WAITS = 3
    NOTHING = 4


NAMES = {
    Doing.COMPUTES: "computation",
    Doing.COMMUNICATES: "MPI",
    Doing.SYNCHRONISES: "OpenMP barrier or lock",
    Doing.WAITS: "waiting for another",
}
"""The names of activities in pictures. Idle time is not drawn."""


def timeline_section(analysis: Analysis) -> Section:
    """Returns the picture for pages. Empty if the trace has no duration."""
    lasts = analysis.trace.time.any()
    return Section("Timeline", lambda: [timeline_block(analysis)] if lasts else [], "page")


def timeline_block(analysis: Analysis, bins: int | None = None) -> Drawing:
    """Returns the run in `bins` parts of equal length, each with its main activity by location.

    By default, pages have more parts if they have fewer rows. Raises `InputError` if the trace has
    no duration.
    """
    trace = analysis.trace
    end = int(trace.time.max(initial=0))
    if not end:
        raise InputError("the trace has no duration", remedy="there is nothing to draw")
    size, unit = time_unit(end / trace.ticks_per_second)
    tick = 1.0 / (trace.ticks_per_second * size)
    shown = _shown_locations(analysis)
    row_of = {location: row for row, location in enumerate(shown)}
    places = [trace.locations[location] for location in shown]
    bins = bins or min(_BINS, _CELLS // max(len(shown), 1))
    edges = np.linspace(0, end, bins + 1)
    numbers = {doing: number for number, doing in enumerate(NAMES)}
    ends = analysis.message_ends()
    messages = ends.tolist() if len(ends) <= MOST_MESSAGES else []
    path = analysis.path_pieces()
    if len(path) > bins:  # short pieces are left out
        path = [piece for piece in path if piece[2] - piece[1] >= end / bins]
    title = f"{trace.name or 'Trace'}: activities of each location, messages, and the critical path"
    if len(shown) < len(trace.locations):
        title += f"; {len(shown)} of {len(trace.locations)}, with most of the path"
    return {
        "kind": "timeline", "title": title, "x": f"time ({unit})",
        "end": end * tick, "second": size,
        "rows_are": "rank.thread" if any(place.thread for place in places) else "rank",
        "kinds": [
            {"name": name, "hatched": doing is Doing.WAITS, "plain": doing is Doing.SYNCHRONISES}
            for doing, name in NAMES.items()
        ],
        "rows": [
            {"name": str(place), "bars": [
                [numbers[doing], begin * tick, last * tick]
                for doing, begin, last in _activity_bars(analysis, location, edges)
            ]}
            for place, location in zip(places, shown, strict=True)
        ],
        "messages": [
            [row_of[sender], sent * tick, row_of[receiver], received * tick]
            for sender, sent, receiver, received in messages
            if sender in row_of and receiver in row_of
        ],
        "path": [
            [row_of[location], begin * tick, last * tick]
            for location, begin, last in path if location in row_of
        ],
    }  # fmt: skip


def time_unit(seconds: float) -> tuple[float, str]:
    """Returns a unit for a run of this length: its size in seconds, and its name.

    >>> time_unit(0.02), time_unit(0.0)
    ((0.001, 'ms'), (1e-09, 'ns'))
    """
    return next(((size, name) for size, name in _UNITS if seconds >= size), _UNITS[-1])


def _shown_locations(analysis: Analysis) -> list[int]:
    """Returns the locations in the picture, in ascending order."""
    count = len(analysis.trace.locations)
    if count <= MOST_ROWS:
        return list(range(count))
    replay = analysis.replay
    lengths = (replay.segment_to - replay.segment_from).astype(np.float64)
    on_path = np.bincount(replay.segment_location, weights=lengths, minlength=count)
    return sorted(np.argsort(-on_path, kind="stable")[:MOST_ROWS].tolist())


def _doing_in(region: Region) -> Doing:
    if region.role is Role.IDLE:
        return Doing.NOTHING
    if region.paradigm is Paradigm.MPI:
        return Doing.COMMUNICATES
    waits = (Role.BARRIER, Role.IMPLICIT_BARRIER, Role.LOCK)
    return Doing.SYNCHRONISES if region.role in waits else Doing.COMPUTES


def _activity_bars(
    analysis: Analysis, location: int, edges: NDArray[np.float64]
) -> Iterator[tuple[Doing, float, float]]:
    """Returns the main activities of a location, each with its start and end in ticks."""
    filled = np.stack([_time_in(*spans, edges) for spans in _activity_spans(analysis, location)])
    for other in (Doing.COMMUNICATES, Doing.SYNCHRONISES):
        filled[other] -= np.minimum(filled[Doing.WAITS], filled[other])
    most = np.where(filled.sum(0) > 0, filled.argmax(0), Doing.NOTHING)
    begins = np.flatnonzero(np.diff(most, prepend=-1))
    ends = np.append(begins[1:], len(most))
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        if most[begin] != Doing.NOTHING:
            yield Doing(most[begin]), float(edges[begin]), float(edges[end])


def _activity_spans(analysis: Analysis, location: int) -> list[tuple[Ticks, Ticks]]:
    """Returns starts and ends of each activity of a location, except idle time."""
    trace, paths = analysis.trace, analysis.paths
    rows = np.arange(int(trace.starts[location]), int(trace.starts[location + 1]))
    rows = rows[(trace.kind[rows] == Kind.ENTER) | (trace.kind[rows] == Kind.LEAVE)]
    nodes = paths.event_node[rows]
    leaves = trace.kind[rows] == Kind.LEAVE
    inside = np.where(leaves, paths.parent[nodes], nodes)
    kinds = [_doing_in(trace.regions[int(region)]) for region in paths.region]
    kind = np.array([*kinds, Doing.NOTHING])[inside]  # node -1 is no activity
    times = trace.time[rows]
    begins, ends = times[:-1], times[1:]
    spans = []
    for doing in (Doing.COMPUTES, Doing.SYNCHRONISES, Doing.COMMUNICATES):
        own = kind[:-1] == doing
        spans.append((begins[own], ends[own]))
    spans.append(_wait_bars(analysis, location))
    return spans


def _wait_bars(analysis: Analysis, location: int) -> tuple[Ticks, Ticks]:
    """Returns the waits of a location, each from the beginning of its region."""
    points = analysis.points
    own = analysis.waiting_points()
    own = own[points.location[own] == location]
    if not len(own):
        return _NO_TIME, _NO_TIME
    begins = analysis.wait_begins(own)
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], (begins + points.wait[own])[order]
    begins[1:] = np.maximum(begins[1:], np.maximum.accumulate(ends)[:-1])  # counts each moment once
    longer = ends > begins
    return begins[longer], ends[longer]


def _time_in(begins: Ticks, ends: Ticks, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the time of disjoint spans in each bin, in ticks."""
    if not len(begins):
        return np.zeros(len(edges) - 1)
    at = np.stack([begins, ends], axis=1).ravel().astype(np.float64)
    total = np.cumsum((ends - begins).astype(np.float64))
    value = np.stack([total - (ends - begins), total], axis=1).ravel()
    filled: NDArray[np.float64] = np.diff(np.interp(edges, at, value))
    return filled
