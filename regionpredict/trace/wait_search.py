"""Finds waits for messages and in collective operations, rank by rank in several processes.

A wait for a message belongs to one rank: a late sender to the receiver, a late receiver to the
sender. Therefore, ranks are independent. At the same time, one process searches all collective
operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.clock_conditions import (
    LateEvents,
    group_conditions,
    late_events,
    message_conditions,
)
from regionpredict.trace.collective_table import collective_table
from regionpredict.trace.collective_waits import CollectiveWaits, collective_waits
from regionpredict.trace.columns import release_file_memory
from regionpredict.trace.event_trace import EventTrace
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches
from regionpredict.trace.message_waits import MessageWaits, join_waits, message_waits
from regionpredict.workers import spread

_SPANS_PER_PROCESS = 3  # more spans would repeat work that each span needs


class FoundWaits(NamedTuple):
    """The waits for messages and in collective operations, and the events whose times contradict
    cause and effect.
    """

    messages: MessageWaits
    collectives: CollectiveWaits
    late: Mapping[str, LateEvents]


def found_waits(
    trace: EventTrace, paths: CallPaths, matches: Matches, kernels: Kernels, processes: int
) -> FoundWaits:
    """Finds the waits of a trace. The result does not depend on the number of processes."""

    def in_messages(span: tuple[int, int]) -> tuple[MessageWaits, LateEvents]:
        late = late_events(trace, {"message": message_conditions(trace, matches, span)})
        release_file_memory()
        return message_waits(trace, paths, matches, kernels, span), late["message"]

    def in_groups() -> tuple[CollectiveWaits, Mapping[str, LateEvents]]:
        table = collective_table(trace, paths, matches)
        release_file_memory()
        late = late_events(trace, group_conditions(trace, table))
        release_file_memory()
        return collective_waits(trace, paths, table), late

    spans = _balanced_spans(trace, _SPANS_PER_PROCESS * processes if processes > 1 else 1)
    results: list[Any] = spread(
        lambda span: in_groups() if span is None else in_messages(span), [None, *spans], processes
    )
    (collectives, late), *found = results
    release_file_memory()
    in_time = LateEvents(*map(np.concatenate, zip(*(late for _, late in found), strict=True)))
    messages = join_waits([waits for waits, _ in found])
    return FoundWaits(messages, collectives, {"message": in_time, **late})


def _balanced_spans(trace: EventTrace, most: int) -> list[tuple[int, int]]:
    """Returns up to `most` ranges of locations with about equal numbers of events. Each range
    consists of whole ranks.
    """
    ranks = np.array([location.rank for location in trace.locations], dtype=np.int64)
    edges = np.flatnonzero(np.diff(ranks, prepend=-1, append=-1) != 0)
    if len(edges) < 2:
        return [(0, len(ranks))]
    wanted = np.linspace(0, len(trace), most + 1)[1:-1]
    inner = edges[np.searchsorted(trace.starts[edges], wanted)]
    return list(pairwise(np.unique([0, *inner, len(ranks)]).tolist()))
