"""A trace over time: what each rank or thread does, where it waits, and the critical path."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.report.plots.canvas import (
    ORANGE,
    SKY,
    VERMILION,
    dress,
    legend_below,
    new_figure,
    plain,
)
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Kind, Paradigm, Region, Role
from regionpredict.trace.wait_classes import NO_WAIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 32
"""Ranks and threads of one picture; of more, those with most of the critical path."""
_MOST_MESSAGES = 300
"""Arrows beyond hide what they cross."""
_BINS = 2000
"""Parts of the run; each has the colour of what fills most of it."""
_COMPUTES, _SYNCHRONISES, _COMMUNICATES, _WAITS, _NOTHING = range(5)
_KINDS = (
    (_COMPUTES, "computation", SKY, ""),
    (_COMMUNICATES, "MPI", ORANGE, ""),
    (_SYNCHRONISES, "OpenMP barrier or lock", "0.75", ""),
    (_WAITS, "waiting for another", VERMILION, "////"),
)
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_NO_TIME = np.zeros(0, dtype=np.int64)
Ticks = NDArray[np.int64]


def timeline_figure(analysis: Analysis) -> Figure:
    """Rows are locations, time runs to the right (Boehme 2014, figures 3.2, 3.3 and 4.8, in form).

    The black line is the critical path, which goes from row to row where one waits for another;
    messages are thin lines where there are few. Raises `InputError` for a trace without time.
    """
    trace = analysis.trace
    end = int(trace.time.max(initial=0))
    if not end:
        raise InputError("no time passes in this trace", remedy="there is nothing to draw")
    rows = _rows(analysis)
    scale, unit = _unit(end / trace.ticks_per_second)
    per_tick = 1.0 / (trace.ticks_per_second * scale)
    figure = new_figure(7.2, 1.6 + 0.24 * max(len(rows), 3))
    axes = figure.add_subplot()
    edges = np.linspace(0, end, _BINS + 1)
    seen: set[int] = set()
    for number, location in enumerate(rows):
        seen |= _draw_row(axes, analysis, location, number, edges, per_tick)
    for kind, name, colour, hatch in _KINDS:
        if kind in seen:
            axes.bar([0], [0], color=colour, hatch=hatch, edgecolor="white", linewidth=0,
                     label=name)  # fmt: skip
    _messages(axes, analysis, rows, per_tick)
    _path(axes, analysis, rows, per_tick, end / _BINS)
    axes.set_xlim(0, end * per_tick)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    threads = any(trace.locations[k].thread for k in rows)
    axes.set_yticks(range(len(rows)), [str(trace.locations[k]) for k in rows])
    axes.set_xlabel(f"time ({unit})")
    axes.set_ylabel("rank.thread" if threads else "rank")
    title = plain(trace.name or "trace")
    if len(rows) < len(trace.locations):
        title += f"; {len(rows)} of {len(trace.locations)}, with most of the critical path"
    axes.set_title(title, fontsize=9, loc="left")
    dress(axes, grid="x")
    legend_below(figure, 3)
    return figure


def _rows(analysis: Analysis) -> list[int]:
    """The locations that are drawn, ascending."""
    count = len(analysis.trace.locations)
    if count <= MOST_ROWS:
        return list(range(count))
    replay = analysis.replay
    lengths = (replay.segment_to - replay.segment_from).astype(np.float64)
    on_path = np.bincount(replay.segment_location, weights=lengths, minlength=count)
    return sorted(np.argsort(-on_path, kind="stable")[:MOST_ROWS].tolist())


def _unit(seconds: float) -> tuple[float, str]:
    return next(((size, name) for size, name in _UNITS if seconds >= size), _UNITS[-1])


def _kind_of(region: Region) -> int:
    if region.role is Role.IDLE:
        return _NOTHING
    if region.paradigm is Paradigm.MPI:
        return _COMMUNICATES
    waits = (Role.BARRIER, Role.IMPLICIT_BARRIER, Role.LOCK)
    return _SYNCHRONISES if region.role in waits else _COMPUTES


def _draw_row(
    axes: Axes, analysis: Analysis, location: int, number: int, edges: NDArray[np.float64],
    per_tick: float,
) -> set[int]:  # fmt: skip
    """Draws one location's bars; the kinds that are among them."""
    filled = np.stack([_time_in(*spans, edges) for spans in _spans(analysis, location)])
    filled[_COMMUNICATES] -= np.minimum(filled[_WAITS], filled[_COMMUNICATES])
    filled[_SYNCHRONISES] -= np.minimum(filled[_WAITS], filled[_SYNCHRONISES])
    most = np.where(filled.sum(0) > 0, filled.argmax(0), _NOTHING)
    begins = np.flatnonzero(np.diff(most, prepend=-1))
    ends = np.append(begins[1:], len(most))
    for kind, _, colour, hatch in _KINDS:
        own = most[begins] == kind
        left, right = edges[begins[own]] * per_tick, edges[ends[own]] * per_tick
        axes.broken_barh(
            list(zip(left, right - left, strict=True)), (number - 0.36, 0.72), facecolor=colour,
            hatch=hatch, edgecolor="white", linewidth=0, zorder=2,
        )  # fmt: skip
    return set(np.unique(most).tolist())


def _spans(analysis: Analysis, location: int) -> list[tuple[Ticks, Ticks]]:
    """Begins and ends of what the location does, for each kind but nothing."""
    trace, paths = analysis.trace, analysis.paths
    rows = np.arange(int(trace.starts[location]), int(trace.starts[location + 1]))
    rows = rows[(trace.kind[rows] == Kind.ENTER) | (trace.kind[rows] == Kind.LEAVE)]
    nodes = paths.event_node[rows]
    leaves = trace.kind[rows] == Kind.LEAVE
    inside = np.where(leaves, paths.parent[nodes], nodes)
    kinds = np.array([_kind_of(trace.regions[int(r)]) for r in paths.region] + [_NOTHING])
    kind = kinds[inside]  # of no node, -1, nothing
    times = trace.time[rows]
    begins, ends = times[:-1], times[1:]
    spans = []
    for one in (_COMPUTES, _SYNCHRONISES, _COMMUNICATES):
        own = kind[:-1] == one
        spans.append((begins[own], ends[own]))
    spans.append(_waits(analysis, location))
    return spans


def _waits(analysis: Analysis, location: int) -> tuple[Ticks, Ticks]:
    """When the location waits: from the begin of the region on that its point is in."""
    trace, points = analysis.trace, analysis.points
    own = (points.location == location) & (points.wait > 0) & (points.kind != NO_WAIT)
    if not own.any():
        return _NO_TIME, _NO_TIME
    enters = np.flatnonzero(trace.kind == Kind.ENTER)
    before = enters[np.searchsorted(enters, points.event[own], side="right") - 1]
    begins = trace.time[before]
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], (begins + points.wait[own])[order]
    begins[1:] = np.maximum(begins[1:], np.maximum.accumulate(ends)[:-1])  # each moment once
    longer = ends > begins
    return begins[longer], ends[longer]


def _time_in(begins: Ticks, ends: Ticks, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of each bin disjoint spans fill, in ticks."""
    if not len(begins):
        return np.zeros(len(edges) - 1)
    at = np.stack([begins, ends], axis=1).ravel().astype(np.float64)
    total = np.cumsum((ends - begins).astype(np.float64))
    value = np.stack([total - (ends - begins), total], axis=1).ravel()
    filled: NDArray[np.float64] = np.diff(np.interp(edges, at, value))
    return filled


def _messages(axes: Axes, analysis: Analysis, rows: list[int], per_tick: float) -> None:
    """A thin line from each send to its receive."""
    trace, mate = analysis.trace, analysis.matches.mate
    events = trace.operations.event
    kinds = trace.kind[events]
    sends = np.flatnonzero(((kinds == Kind.SEND) | (kinds == Kind.SEND_REQUEST)) & (mate >= 0))
    owner = np.searchsorted(trace.starts, events, side="right") - 1
    place = {location: number for number, location in enumerate(rows)}
    ends = [(int(send), int(mate[send])) for send in sends[: _MOST_MESSAGES + 1]]
    if len(ends) > _MOST_MESSAGES:
        return
    for send, receive in ends:
        if int(owner[send]) in place and int(owner[receive]) in place:
            axes.plot(
                [trace.time[events[k]] * per_tick for k in (send, receive)],
                [place[int(owner[k])] for k in (send, receive)],
                color="0.25", linewidth=0.5, alpha=0.7, zorder=3,
            )  # fmt: skip


def _path(axes: Axes, analysis: Analysis, rows: list[int], per_tick: float, least: float) -> None:
    """The critical path, its pieces shorter than `least` ticks left out where there are many."""
    replay = analysis.replay
    place = {location: number for number, location in enumerate(rows)}
    many = len(replay.segment_from) > _BINS
    pieces = [
        (place[location], begin * per_tick, end * per_tick)
        for location, begin, end in zip(
            replay.segment_location.tolist(), replay.segment_from.tolist(),
            replay.segment_to.tolist(), strict=True,
        )
        if location in place and not (many and end - begin < least)
    ]  # fmt: skip
    axes.hlines(
        [row for row, _, _ in pieces], [begin for _, begin, _ in pieces],
        [end for _, _, end in pieces], color="black", linewidth=2.2, zorder=5,
        label="critical path", gid="critical-path",
    )  # fmt: skip
    for (above, _, end), (below, begin, _) in pairwise(pieces):
        axes.plot([end, begin], [above, below], color="black", linewidth=0.8, zorder=4)
