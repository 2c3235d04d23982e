"""A trace over time: the longest activity in each part of the run by location, and the critical
path.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Kind, Paradigm, Region, Role
from regionpredict.trace.wait_classes import NO_WAIT

MOST_ROWS = 32
"""Maximum number of ranks and threads in a picture. If there are more, those with the largest share
of the critical path are shown.
"""
MOST_MESSAGES = 300
"""More arrows would hide the rest."""
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


class Bar(NamedTuple):
    """The main activity of a location from `begin` to `end`, in ticks."""

    doing: Doing
    begin: float
    end: float


class Row(NamedTuple):
    """A location, by its number in the trace, with its bars in ascending order."""

    location: int
    bars: tuple[Bar, ...]


class Message(NamedTuple):
    """A message from a row at a tick to a row at a tick. Rows are numbered as in the picture."""

    sender: int
    sent: int
    receiver: int
    received: int


class PathPiece(NamedTuple):
    """A piece of the critical path: its row in the picture, and its start and end in ticks."""

    row: int
    begin: int
    end: int


class TimelineRows(NamedTuple):
    """`end` is the last tick of the run. If there are more than `MOST_MESSAGES` messages, none are
    included.
    """

    rows: tuple[Row, ...]
    messages: tuple[Message, ...]
    path: tuple[PathPiece, ...]
    end: int


def timeline_rows(analysis: Analysis, bins: int) -> TimelineRows:
    """The run in this many parts of equal length, each with its main activity.

    Raises InputError for a trace without duration.
    """
    end = int(analysis.trace.time.max(initial=0))
    if not end:
        raise InputError("no time passes in this trace", remedy="there is nothing to draw")
    locations = _locations(analysis)
    edges = np.linspace(0, end, bins + 1)
    rows = tuple(Row(location, _bars(analysis, location, edges)) for location in locations)
    place = {location: number for number, location in enumerate(locations)}
    return TimelineRows(
        rows, _messages(analysis, place), _path(analysis, place, bins, end / bins), end
    )


def time_unit(seconds: float) -> tuple[float, str]:
    """A unit for a run of this length: its size in seconds, and its name.

    >>> time_unit(0.02), time_unit(0.0)
    ((0.001, 'ms'), (1e-09, 'ns'))
    """
    return next(((size, name) for size, name in _UNITS if seconds >= size), _UNITS[-1])


def _locations(analysis: Analysis) -> list[int]:
    """The locations in the picture, in ascending order."""
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


def _bars(analysis: Analysis, location: int, edges: NDArray[np.float64]) -> tuple[Bar, ...]:
    filled = np.stack([_time_in(*spans, edges) for spans in _spans(analysis, location)])
    for other in (Doing.COMMUNICATES, Doing.SYNCHRONISES):
        filled[other] -= np.minimum(filled[Doing.WAITS], filled[other])
    most = np.where(filled.sum(0) > 0, filled.argmax(0), Doing.NOTHING)
    begins = np.flatnonzero(np.diff(most, prepend=-1))
    ends = np.append(begins[1:], len(most))
    return tuple(
        Bar(Doing(most[begin]), float(edges[begin]), float(edges[end]))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        if most[begin] != Doing.NOTHING
    )


def _spans(analysis: Analysis, location: int) -> list[tuple[Ticks, Ticks]]:
    """Starts and ends of the activities of a location, for each of `Doing` except idle time."""
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
    spans.append(_waits(analysis, location))
    return spans


def _waits(analysis: Analysis, location: int) -> tuple[Ticks, Ticks]:
    """The waits of a location. Each starts at the beginning of the region of its synchronization
    point.
    """
    points = analysis.points
    own = np.flatnonzero(
        (points.location == location) & (points.wait > 0) & (points.kind != NO_WAIT)
    )
    if not len(own):
        return _NO_TIME, _NO_TIME
    begins = analysis.wait_begins(own)
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], (begins + points.wait[own])[order]
    begins[1:] = np.maximum(begins[1:], np.maximum.accumulate(ends)[:-1])  # counts each moment once
    longer = ends > begins
    return begins[longer], ends[longer]


def _time_in(begins: Ticks, ends: Ticks, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The time of disjoint spans in each bin, in ticks."""
    if not len(begins):
        return np.zeros(len(edges) - 1)
    at = np.stack([begins, ends], axis=1).ravel().astype(np.float64)
    total = np.cumsum((ends - begins).astype(np.float64))
    value = np.stack([total - (ends - begins), total], axis=1).ravel()
    filled: NDArray[np.float64] = np.diff(np.interp(edges, at, value))
    return filled


def _messages(analysis: Analysis, place: dict[int, int]) -> tuple[Message, ...]:
    """One message from each send to its receive."""
    trace, mate = analysis.trace, analysis.matches.mate
    events = trace.operations.event
    kinds = trace.kind[events]
    sends = np.flatnonzero(((kinds == Kind.SEND) | (kinds == Kind.SEND_REQUEST)) & (mate >= 0))
    if len(sends) > MOST_MESSAGES:
        return ()
    owner = np.searchsorted(trace.starts, events, side="right") - 1
    messages = []
    for send in sends.tolist():
        receive = int(mate[send])
        sender, other = int(owner[send]), int(owner[receive])
        if sender in place and other in place:
            sent, received = (int(trace.time[events[at]]) for at in (send, receive))
            messages.append(Message(place[sender], sent, place[other], received))
    return tuple(messages)


def _path(
    analysis: Analysis, place: dict[int, int], bins: int, least: float
) -> tuple[PathPiece, ...]:
    """The critical path. If there are many pieces, those shorter than `least` ticks are left
    out.
    """
    replay = analysis.replay
    many = len(replay.segment_from) > bins
    return tuple(
        PathPiece(place[location], begin, end)
        for location, begin, end in zip(
            replay.segment_location.tolist(), replay.segment_from.tolist(),
            replay.segment_to.tolist(), strict=True,
        )
        if location in place and not (many and end - begin < least)
    )  # fmt: skip
