"""Collects MPI's collective operations in a table of their members with start and end times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.columns import release_file_memory
from regionpredict.trace.event_trace import Collective, EventTrace, Finding, Kind
from regionpredict.trace.matching import Matches

_Rows = NDArray[np.int64]

ONE_TO_N = (Collective.BCAST, Collective.SCATTER, Collective.SCATTERV)
N_TO_ONE = (Collective.GATHER, Collective.GATHERV, Collective.REDUCE)
N_TO_N = (
    Collective.ALLGATHER,
    Collective.ALLGATHERV,
    Collective.ALLTOALL,
    Collective.ALLREDUCE,
    Collective.REDUCE_SCATTER,
    Collective.REDUCE_SCATTER_BLOCK,
)
PREFIX = (Collective.SCAN, Collective.EXSCAN)


@dataclass(frozen=True, slots=True)
class CollectiveTable:
    """The collective operations of a trace, with one row per member. The rows of an operation are
    in the order of ranks in the communicator. If several ranks arrive at the same time, the first
    rank counts as the last to arrive, as with MPI_MAXLOC. `first` is the first row of each
    operation, and `begin_event` the event at which a rank began it.
    """

    event: _Rows
    location: NDArray[np.int32]
    rank: NDArray[np.int32]
    node: NDArray[np.int32]
    begin_event: _Rows
    begin: _Rows  # times at which ranks begin to wait
    posted: _Rows  # times of taking part, earlier for non-blocking operations
    late_event: _Rows  # the event that others wait for: the start of a non-blocking operation
    post_node: NDArray[np.int32]  # call path of the call that begins it
    post_total: _Rows
    end: _Rows
    total: _Rows
    sent: _Rows
    received: _Rows
    root: NDArray[np.int32]
    first: _Rows  # first row of each instance, and the number of rows
    operation: NDArray[np.uint8]  # operation of each instance
    communicator: NDArray[np.int32]
    findings: tuple[Finding, ...]  # operations that are left out


def collective_table(trace: EventTrace, paths: CallPaths, matches: Matches) -> CollectiveTable:
    """Returns the operations that all members of their communicators called. Findings list the
    others.
    """
    operations = trace.operations
    sizes = np.array(
        [len(group.members or ()) for group in trace.communicators] or [0], dtype=np.int64
    )
    between = np.array([group.remote is not None for group in trace.communicators] or [False])
    kind = trace.kind[operations.event]
    ended = (kind == Kind.COLLECTIVE_END) | (kind == Kind.COLLECTIVE_COMPLETE)
    ended &= matches.instance >= 0
    findings = []
    across = ended & between[operations.communicator]
    if np.any(across):
        count = int(np.count_nonzero(across))
        findings.append(
            Finding("collective operations of inter-communicators, not analyzed", count=count)
        )
    rows = np.flatnonzero(ended & ~across & (paths.operation_leave >= 0))
    rows = rows[sizes[operations.communicator[rows]] > 1]
    communicator = operations.communicator[rows].astype(np.int64)
    instance = matches.instance[rows]
    release_file_memory()
    place = _ranks_in_communicator(trace, operations.event[rows], communicator)
    order = np.lexsort((place, instance, communicator))
    rows, communicator, instance = rows[order], communicator[order], instance[order]
    changes = np.ones(len(rows), dtype=bool)
    changes[1:] = (communicator[1:] != communicator[:-1]) | (instance[1:] != instance[:-1])
    first = np.flatnonzero(changes)
    counts = np.diff(np.append(first, len(rows)))
    whole = counts == sizes[communicator[first]] if len(first) else np.zeros(0, dtype=bool)
    if not np.all(whole):
        missing = int(np.count_nonzero(~whole))
        findings.append(
            Finding("collective operations that some members do not call", count=missing)
        )
        rows = rows[np.repeat(whole, counts)]
        counts = counts[whole]
        first = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
    release_file_memory()
    event = operations.event[rows]
    enter, leave = paths.operation_enter[rows], paths.operation_leave[rows]
    begin = _begins_of_waits(trace, enter, event)
    later = kind[rows] == Kind.COLLECTIVE_COMPLETE
    post = np.where(later, matches.other[rows], rows)
    begins = paths.operation_enter[post]
    posted = np.where(later, np.where(begins < 0, operations.event[post], begins), begin)
    begin[later] = enter[later]
    location = trace.locations_of(event)
    ranks = np.array([place.rank for place in trace.locations], dtype=np.int32)
    release_file_memory()
    return CollectiveTable(
        event=event,
        location=location,
        rank=ranks[location],
        node=paths.operation_node[rows],
        begin_event=posted,
        begin=trace.time[begin],
        posted=trace.time[posted],
        late_event=operations.event[post],
        post_node=paths.operation_node[post],
        post_total=trace.time[paths.operation_leave[post]]
        - trace.time[paths.operation_enter[post]],
        end=trace.time[event],
        total=trace.time[leave] - trace.time[enter],
        sent=operations.sent[rows],
        received=operations.received[rows],
        root=operations.root[rows],
        first=np.append(first, len(rows)).astype(np.int64),
        operation=operations.collective[rows[first]] if len(rows) else np.zeros(0, np.uint8),
        communicator=(operations.communicator[rows[first]] if len(rows) else np.zeros(0, np.int32)),
        findings=tuple(findings),
    )


def _ranks_in_communicator(
    trace: EventTrace, event: _Rows, communicator: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns the rank of each event's location in the event's communicator."""
    ranks = np.array([place.rank for place in trace.locations], dtype=np.int64)
    own = ranks[trace.locations_of(event)]
    place = own.copy()
    for number in np.flatnonzero(np.bincount(communicator)).tolist():
        members = np.array(trace.communicators[number].members or (), dtype=np.int64)
        if np.any(np.diff(members) < 0):  # otherwise, in the order of world ranks
            local = np.argsort(members)
            rows = communicator == number
            place[rows] = local[
                np.minimum(np.searchsorted(members[local], own[rows]), len(local) - 1)
            ]
    return place


def _begins_of_waits(trace: EventTrace, enter: _Rows, event: _Rows) -> _Rows:
    """The event at which each operation begins: its own record, or the call's ENTER."""
    before = event - 1
    after = enter + 1
    begin = np.where(trace.kind[after] == Kind.COLLECTIVE_BEGIN, after, enter)
    return np.where(trace.kind[before] == Kind.COLLECTIVE_BEGIN, before, begin)
