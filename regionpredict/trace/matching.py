"""Matches the operations of a trace: sends with receives, requests with completions, and members of
collective operations.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.trace.columns import empty_column
from regionpredict.trace.event_trace import EventTrace, Finding, Kind, Operations
from regionpredict.trace.kernels import Kernels, c_struct

OUTSIDE = -2  # in matches of a part: the counterpart is outside the part


@dataclass(frozen=True, slots=True)
class Matches:
    """The matching operations of each operation, as rows of operations or -1.

    `mate` is the receive of a send and the send of a receive. `other` is the completion of a
    request and the request of a completion. For a blocking operation, `other` is the operation
    itself. `instance` numbers the collective operations on a communicator. `findings` lists
    operations without a counterpart.
    """

    mate: NDArray[np.int64]
    other: NDArray[np.int64]
    instance: NDArray[np.int64]
    findings: tuple[Finding, ...]


def match_operations(trace: EventTrace, kernels: Kernels) -> Matches:
    """Matches the operations of a trace. Raises InputError if memory is insufficient."""
    first = np.searchsorted(trace.operations.event, trace.starts).astype(np.int64)
    rank = np.array([location.rank for location in trace.locations], dtype=np.int32)
    kind = np.ascontiguousarray(trace.kind[trace.operations.event])
    order = order_of_threads(first, rank, kind, trace.time, trace.operations.event)
    mate, other, instance = match_columns(
        first, rank, kind, trace.operations, len(trace.communicators), kernels, len(trace), order
    )
    return Matches(
        mate, other, instance, unmatched_findings(kind, trace.operations.partner, mate, other)
    )


def order_of_threads(
    first: NDArray[np.int64],
    rank: NDArray[np.int32],
    kind: NDArray[np.uint8],
    time: NDArray[np.int64],
    event: NDArray[np.int64],
) -> NDArray[np.int64] | None:
    """Returns the rows of operations sorted by rank and time if several threads of a rank
    communicate. The result is None if the operations are already sorted.

    The operations of each location begin at `first`. `rank` has an entry per location, `kind` and
    `event` an entry per operation, and `time` an entry per event.
    """
    communicates = np.append(np.flatnonzero(kind < Kind.FORK), len(kind))
    has_some = communicates[np.searchsorted(communicates, first[:-1])] < first[1:]
    ranks = rank[: len(first) - 1][has_some]
    if len(np.unique(ranks)) == len(ranks):
        return None
    owner = np.repeat(rank[: len(first) - 1], np.diff(first))
    return np.lexsort((time[event], owner))


def match_columns(
    first: NDArray[np.int64],
    rank: NDArray[np.int32],
    kind: NDArray[np.uint8],
    operations: Operations,
    communicators: int,
    kernels: Kernels,
    events: int = 0,
    order: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns `mate`, `other` and `instance` of operations given as columns.

    The operations of each location begin at `first`.

    `rank` has an entry per location, and `kind` an entry per operation. `events` is the number of
    events in the trace, `order` the result of `order_of_threads`. Raises InputError if memory is
    insufficient.
    """
    mate, other, instance = (empty_column(len(operations), np.int64, events) for _ in range(3))
    table = c_struct(
        locations=len(rank), operations=len(operations), communicators=communicators, first=first,
        order=order, rank=rank, kind=kind, partner=operations.partner,
        communicator=operations.communicator, tag=operations.tag, request=operations.request,
        mate=mate, other=other, instance=instance,
    )  # fmt: skip
    if kernels.load("matching.c").rp_match(ctypes.byref(table)):
        raise InputError("not enough memory", remedy="filter the trace")
    return mate, other, instance


def unmatched_findings(
    kind: NDArray[np.uint8],
    partner: NDArray[np.int32],
    mate: NDArray[np.int64],
    other: NDArray[np.int64],
) -> tuple[Finding, ...]:
    """Returns findings about operations without a counterpart."""
    sends = (kind == Kind.SEND) | (kind == Kind.SEND_REQUEST)
    cancelled = np.zeros(len(kind), dtype=bool)
    linked = other >= 0
    cancelled[linked] = kind[other[linked]] == Kind.REQUEST_CANCELLED
    receives = (kind == Kind.RECEIVE) | (kind == Kind.RECEIVE_COMPLETE)
    completions = (kind == Kind.SEND_COMPLETE) | (kind == Kind.RECEIVE_COMPLETE)
    findings = []
    for rows, message in (
        (sends & ~cancelled & (mate < 0) & (partner >= 0), "sends without a receive"),
        (receives & (mate < 0) & (partner >= 0), "receives without a send"),
        (completions & (other < 0), "completions without a request"),
    ):
        count = int(np.count_nonzero(rows))
        if count:
            findings.append(Finding(message, count=count))
    return tuple(findings)


def matched_rows(
    trace: EventTrace, matches: Matches, kinds: tuple[Kind, Kind], span: tuple[int, int] | None
) -> NDArray[np.int64]:
    """Returns the operations of the given kinds that have a counterpart. With `span`, only those of
    the locations between these two positions.
    """
    ends = trace.starts[list(span)] if span is not None else (0, len(trace))
    first, last = np.searchsorted(trace.operations.event, ends).tolist()
    kind = trace.kind[trace.operations.event[first:last]]
    chosen = ((kind == kinds[0]) | (kind == kinds[1])) & (matches.mate[first:last] >= 0)
    rows: NDArray[np.int64] = np.flatnonzero(chosen) + first
    return rows
