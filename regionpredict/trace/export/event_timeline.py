"""Writes a trace as a timeline in the Trace Event Format, for Perfetto and chrome://tracing.

The format is Google's "Trace Event Format". Complete events (X) are region instances and waits,
flow events (s, f) are messages, and metadata (M) are names. Times are in microseconds. The JSON
text is written without a JSON library, since a trace has millions of events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Kind, Location
from regionpredict.trace.wait_classes import Wait

_MICROSECONDS = 1e6
_PATH_THREAD = 1_000_000  # a separate track on the rank of the path


def timeline(analysis: Analysis) -> str:
    """Returns the timeline: regions and waits by rank and thread, messages as arrows, and the
    critical path on separate tracks.
    """
    events = ",\n".join(_event_texts(analysis))
    return f'{{"displayTimeUnit": "ns", "traceEvents": [\n{events}\n]}}\n'


def _event_texts(analysis: Analysis) -> Iterator[str]:
    for location in analysis.trace.locations:
        yield _metadata_text("process_name", location, f"rank {location.rank}")
        yield _metadata_text("thread_name", location, f"thread {location.thread}")
    yield from _region_events(analysis)
    yield from _wait_events(analysis)
    yield from _message_events(analysis)
    yield from _critical_path_events(analysis)


def _metadata_text(metadata_name: str, location: Location, text: str) -> str:
    return json.dumps({"ph": "M", "name": metadata_name, "pid": location.rank,
                       "tid": location.thread, "args": {"name": text}})  # fmt: skip


def _start_of_complete_event(name: str, category: str, location: Location) -> str:
    """Returns the text of a complete event (X) up to its start time."""
    return (
        f'{{"ph": "X", "name": {json.dumps(name)}, "cat": "{category}", "pid": {location.rank}, '
        f'"tid": {location.thread}, "ts": '
    )


def _microseconds_per_tick(analysis: Analysis) -> float:
    return _MICROSECONDS / analysis.trace.ticks_per_second


def _region_events(analysis: Analysis) -> Iterator[str]:
    trace, scale = analysis.trace, _microseconds_per_tick(analysis)
    for at, location in enumerate(trace.locations):
        heads = [
            _start_of_complete_event(region.name, region.paradigm.name.lower(), location)
            for region in trace.regions
        ]
        rows = slice(int(trace.starts[at]), int(trace.starts[at + 1]))
        named = trace.kind[rows] <= Kind.LEAVE
        enters = (trace.kind[rows][named] == Kind.ENTER).tolist()
        times = (trace.time[rows][named] * scale).tolist()
        stack: list[tuple[str, float]] = []
        regions = trace.region[rows][named].tolist()
        for enter, time, region in zip(enters, times, regions, strict=True):
            if enter:
                stack.append((heads[region], time))
            elif stack:
                head, begin = stack.pop()
                yield f'{head}{begin:.3f}, "dur": {time - begin:.3f}}}'


def _wait_events(analysis: Analysis) -> Iterator[str]:
    """Yields each wait, from the start of its call, with the location that causes it."""
    trace, points, scale = analysis.trace, analysis.points, _microseconds_per_tick(analysis)
    chosen = analysis.waiting_points()
    begins = analysis.wait_begins(chosen).tolist()
    for row, begin in zip(chosen.tolist(), begins, strict=True):
        location = trace.locations[int(points.location[row])]
        head = _start_of_complete_event(Wait(int(points.kind[row])).metric, "wait", location)
        cause = int(points.cause[row])
        late = "" if cause < 0 else str(trace.locations[int(points.location[cause])])
        yield (
            f'{head}{begin * scale:.3f}, "dur": {float(points.wait[row]) * scale:.3f}, '
            f'"args": {{"waits for": "{late}"}}}}'
        )


def _message_events(analysis: Analysis) -> Iterator[str]:
    locations, scale = analysis.trace.locations, _microseconds_per_tick(analysis)
    for number, (sender, sent, receiver, received) in enumerate(analysis.message_ends().tolist()):
        for phase, location, tick in (("s", sender, sent), ("f", receiver, received)):
            yield (
                f'{{"ph": "{phase}", "bp": "e", "id": {number}, "name": "message", '
                f'"cat": "message", "pid": {locations[location].rank}, '
                f'"tid": {locations[location].thread}, "ts": {tick * scale:.3f}}}'
            )


def _critical_path_events(analysis: Analysis) -> Iterator[str]:
    ranks, scale = (
        [place.rank for place in analysis.trace.locations],
        _microseconds_per_tick(analysis),
    )
    pieces = analysis.path_pieces()
    for rank in sorted({ranks[at] for at, _, _ in pieces}):
        yield _metadata_text("thread_name", Location(rank, _PATH_THREAD), "critical path")
    for at, begin, end in pieces:
        head = _start_of_complete_event(
            "critical path", "critical path", Location(ranks[at], _PATH_THREAD)
        )
        yield f'{head}{begin * scale:.3f}, "dur": {max(end - begin, 0) * scale:.3f}}}'
