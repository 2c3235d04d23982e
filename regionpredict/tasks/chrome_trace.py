"""Reads Chrome traces (Trace Event Format) as task graphs. Slices become tasks, and flows become
dependences.

Many runtimes and profilers write this format. A slice is a complete event (`X`) or a pair of `B`
and `E`. Only the outermost of nested slices is a task. A flow (`s`, `t`, `f` with one id) leads
from the slice in which it starts to the slice in which it ends. Both slices are divided at the
times of the flow.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from regionpredict.documents import parse_json
from regionpredict.errors import InputError
from regionpredict.tasks.task_graph import (
    CONTINUE,
    CREATE,
    DEPENDENCE,
    TASK,
    TaskGraph,
    check_acyclic,
)

_REMEDY = "give a trace with slices (X, or B and E) and flows (s and f) between them"
_MICROSECONDS = 1e-6  # the unit of times in this format


class _Slice(NamedTuple):
    begin: float
    end: float
    name: str


class _Flow(NamedTuple):
    at: float
    thread: tuple[Any, Any]
    phase: str


def is_chrome_trace(text: str) -> bool:
    """Returns whether the start of a JSON text is that of a Chrome trace."""
    return text.lstrip().startswith("[") or '"traceEvents"' in text[:65536]


def chrome_graph(text: str, path: str) -> TaskGraph:
    """Converts a Chrome trace to a task graph. Raises InputError if it has no slices, or no flows
    between slices.
    """
    value = parse_json(text, path, _REMEDY, file_kind="a Chrome trace")
    events = value.get("traceEvents") if isinstance(value, dict) else value
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise InputError("not a Chrome trace: no list of events", remedy=_REMEDY, path=path)
    slices = _outermost_slices(_slices_by_thread(events, path))
    if not slices:
        raise InputError("a Chrome trace without slices", remedy=_REMEDY, path=path)
    links = _dependences_of_flows(_flows_in_order(events, path), slices)
    if not links:
        raise InputError(
            "a Chrome trace without flows: the dependences of its tasks are unknown",
            remedy=_REMEDY,
            path=path,
        )  # fmt: skip
    graph = _graph_of_slices(slices, links)
    try:
        check_acyclic(graph)
    except InputError as error:
        raise InputError(error.message, remedy=error.remedy, path=path) from None
    return graph


def _parse_time(event: dict[str, Any], key: str, path: str) -> float:
    value = event.get(key)
    if isinstance(value, str):  # some writers quote them
        try:
            value = float(value)
        except ValueError:
            value = None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) < 1e18:
        name = str(event.get("name", "?"))[:40]
        raise InputError(
            f"not a Chrome trace: '{key}' of event '{name}' is not a time",
            remedy=_REMEDY,
            path=path,
        )
    return float(value)


def _thread_of_event(event: dict[str, Any]) -> tuple[Any, Any]:
    return str(event.get("pid")), str(event.get("tid"))


def _slices_by_thread(
    events: list[dict[str, Any]], path: str
) -> dict[tuple[Any, Any], list[_Slice]]:
    found: dict[tuple[Any, Any], list[_Slice]] = {}
    open_: dict[tuple[Any, Any], list[tuple[float, str]]] = {}
    for event in events:
        thread, phase, name = _thread_of_event(event), event.get("ph"), str(event.get("name", "?"))
        if phase == "X":
            begin = _parse_time(event, "ts", path)
            length = _parse_time(event, "dur", path) if "dur" in event else 0.0
            found.setdefault(thread, []).append(_Slice(begin, begin + max(length, 0.0), name))
        elif phase == "B":
            open_.setdefault(thread, []).append((_parse_time(event, "ts", path), name))
        elif phase == "E" and open_.get(thread):
            begin, name = open_[thread].pop()
            end = max(_parse_time(event, "ts", path), begin)
            found.setdefault(thread, []).append(_Slice(begin, end, name))
    return found


def _outermost_slices(
    slices: dict[tuple[Any, Any], list[_Slice]],
) -> dict[tuple[Any, Any], list[_Slice]]:
    """Returns the outermost slices of each thread, sorted by their starts."""
    kept: dict[tuple[Any, Any], list[_Slice]] = {}
    for thread, own in slices.items():
        outer: list[_Slice] = []
        for one in sorted(own, key=lambda s: (s.begin, -s.end)):
            if not outer or one.begin >= outer[-1].end:
                outer.append(one)
        kept[thread] = outer
    return kept


def _flows_in_order(events: list[dict[str, Any]], path: str) -> list[list[_Flow]]:
    """Returns the events of each flow in order of time."""
    flows: dict[tuple[str, str, str], list[_Flow]] = {}
    for event in events:
        if event.get("ph") in ("s", "t", "f"):
            key = (str(event.get("cat")), str(event.get("name")), str(event.get("id")))
            flow = _Flow(_parse_time(event, "ts", path), _thread_of_event(event), event["ph"])
            flows.setdefault(key, []).append(flow)
    return [sorted(steps, key=lambda step: (step.at, "stf".index(step.phase)))
            for steps in flows.values()]  # fmt: skip


class _Link(NamedTuple):
    """A dependence of the slice `target` on the slice `source`. The flow leaves the source at the
    time `left` and enters the target at `entered`.
    """

    source: tuple[tuple[Any, Any], int]
    left: float
    target: tuple[tuple[Any, Any], int]
    entered: float


def _dependences_of_flows(
    flows: list[list[_Flow]], slices: dict[tuple[Any, Any], list[_Slice]]
) -> list[_Link]:
    begins = {thread: [one.begin for one in own] for thread, own in slices.items()}

    def slice_at(flow: _Flow) -> int | None:
        """Returns the index of the slice at a flow's time. A flow that ends between two slices
        enters the next slice.
        """
        own = slices.get(flow.thread, [])
        at = bisect_right(begins.get(flow.thread, []), flow.at) - 1
        if at >= 0 and flow.at <= own[at].end:
            return at
        if flow.phase != "s" and at + 1 < len(own):
            return at + 1
        return None

    links = []
    for steps in flows:
        for before, after in pairwise(steps):
            source, target = slice_at(before), slice_at(after)
            if source is None or target is None:
                continue
            ends = (before.thread, source), (after.thread, target)
            if ends[0] != ends[1]:
                links.append(_Link(ends[0], before.at, ends[1], after.at))
    return links


def _graph_of_slices(slices: dict[tuple[Any, Any], list[_Slice]], links: list[_Link]) -> TaskGraph:
    """Creates the task graph. Each slice becomes a chain of nodes, divided where flows leave and
    enter the slice.
    """
    cuts: dict[tuple[tuple[Any, Any], int], set[float]] = {}
    for link in links:
        cuts.setdefault(link.source, set()).add(link.left)
        cuts.setdefault(link.target, set()).add(link.entered)
    seconds: list[float] = []
    tasks: list[int] = []
    ends: list[tuple[int, int, int]] = []
    pieces: dict[tuple[tuple[Any, Any], int], tuple[list[float], int]] = {}
    known: dict[str, int] = {}
    places: list[int] = []
    task = -1
    for thread, own in slices.items():
        for at, one in enumerate(own):
            task += 1
            inside = sorted(c for c in cuts.get((thread, at), ()) if one.begin < c < one.end)
            bounds = [one.begin, *inside, one.end]
            pieces[thread, at] = (bounds, len(seconds))
            for part in range(len(bounds) - 1):
                if part:
                    ends.append((len(seconds) - 1, len(seconds), CONTINUE))
                seconds.append((bounds[part + 1] - bounds[part]) * _MICROSECONDS)
                tasks.append(task)
                places.append(known.setdefault(one.name, len(known)))
    for link in links:
        bounds, first = pieces[link.source]
        # The piece that ends at the start of the flow, or the first one if the flow starts with the
        # slice.
        source = first + max(min(bisect_right(bounds, link.left) - 2, len(bounds) - 2), 0)
        inner, begin = pieces[link.target]
        target = begin + min(max(bisect_right(inner, link.entered) - 1, 0), len(inner) - 2)
        within = bounds[0] < link.left < bounds[-1]
        ends.append((source, target, CREATE if within else DEPENDENCE))
    unique = list(dict.fromkeys(ends))
    parts = np.array(unique, dtype=np.int64).reshape(len(unique), 3)
    return TaskGraph(
        seconds=np.array(seconds),
        node_kinds=np.full(len(seconds), TASK, dtype=np.uint8),
        tasks=np.array(tasks, dtype=np.int64),
        lines=np.array(places, dtype=np.int64),
        places=tuple(known),
        sources=parts[:, 0],
        targets=parts[:, 1],
        edge_kinds=parts[:, 2].astype(np.uint8),
    )
