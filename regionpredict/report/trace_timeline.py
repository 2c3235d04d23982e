"""A trace as a timeline in the Trace Event Format, which Perfetto and chrome://tracing show.

The format is that of Google's "Trace Event Format" document: complete events (X) for region
instances, flow events (s, f) for messages, and metadata (M) for names; times in microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Kind

_MICROSECONDS = 1e6
_PATH_THREAD = 1_000_000  # a track of its own on the rank where the path runs


def timeline(analysis: Analysis) -> str:
    """Regions by rank and thread, messages as arrows, the critical path on tracks of its own."""
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": list(_all(analysis))}) + "\n"


def _all(analysis: Analysis) -> Iterator[dict[str, Any]]:
    trace = analysis.trace
    for location in trace.locations:
        for name, text in (("process_name", "rank"), ("thread_name", "thread")):
            number = location.rank if text == "rank" else location.thread
            yield {
                "ph": "M", "name": name, "pid": location.rank, "tid": location.thread,
                "args": {"name": f"{text} {number}"},
            }  # fmt: skip
    yield from _regions(analysis)
    yield from _messages(analysis)
    yield from _path(analysis)


def _regions(analysis: Analysis) -> Iterator[dict[str, Any]]:
    trace = analysis.trace
    scale = _MICROSECONDS / trace.ticks_per_second
    for at, location in enumerate(trace.locations):
        stack: list[int] = []
        for row in range(int(trace.starts[at]), int(trace.starts[at + 1])):
            kind = trace.kind[row]
            if kind == Kind.ENTER:
                stack.append(row)
            elif kind == Kind.LEAVE and stack:
                begin = stack.pop()
                region = trace.regions[int(trace.region[begin])]
                yield {
                    "ph": "X", "name": region.name, "cat": region.paradigm.name.lower(),
                    "pid": location.rank, "tid": location.thread,
                    "ts": float(trace.time[begin]) * scale,
                    "dur": float(trace.time[row] - trace.time[begin]) * scale,
                }  # fmt: skip


def _messages(analysis: Analysis) -> Iterator[dict[str, Any]]:
    trace, mate = analysis.trace, analysis.matches.mate
    operations = trace.operations
    kinds = trace.kind[operations.event]
    owner = trace.locations_of(operations.event)
    scale = _MICROSECONDS / trace.ticks_per_second
    sends = np.flatnonzero(((kinds == Kind.SEND) | (kinds == Kind.SEND_REQUEST)) & (mate >= 0))
    for send in sends.tolist():
        for phase, operation in (("s", send), ("f", int(mate[send]))):
            location = trace.locations[int(owner[operation])]
            yield {
                "ph": phase, "bp": "e", "id": send, "name": "message", "cat": "message",
                "pid": location.rank, "tid": location.thread,
                "ts": float(trace.time[operations.event[operation]]) * scale,
            }  # fmt: skip


def _path(analysis: Analysis) -> Iterator[dict[str, Any]]:
    trace, replay = analysis.trace, analysis.replay
    scale = _MICROSECONDS / trace.ticks_per_second
    for rank in sorted({trace.locations[int(at)].rank for at in replay.segment_location}):
        yield {
            "ph": "M", "name": "thread_name", "pid": rank, "tid": _PATH_THREAD,
            "args": {"name": "critical path"},
        }  # fmt: skip
    for at, begin, end in zip(
        replay.segment_location, replay.segment_from, replay.segment_to, strict=True
    ):
        yield {
            "ph": "X", "name": "critical path", "cat": "critical path",
            "pid": trace.locations[int(at)].rank, "tid": _PATH_THREAD,
            "ts": float(begin) * scale, "dur": float(max(end - begin, 0)) * scale,
        }  # fmt: skip
