"""Messages and collectives of a Paraver trace, each assigned to its calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import (
    NONE,
    Collective,
    Finding,
    Kind,
    Operations,
    Region,
    Role,
)
from regionpredict.trace.mpi_regions import collective_of, plain_name
from regionpredict.trace.paraver.calls import Calls
from regionpredict.trace.paraver.records import Integers, Records

_SENT, _RECEIVED, _ROOT, _COMMUNICATOR = 50100001, 50100002, 50100003, 50100004
"""Extrae's types of events at the start of a collective call: bytes sent and received, whether this
rank is its root, and its communicator's number.
"""

_NONBLOCKING_SENDS = ("mpi_isend", "mpi_issend", "mpi_ibsend", "mpi_irsend", "mpi_start")


@dataclass(frozen=True, slots=True)
class Placed:
    """Operations as columns of equal length: the call of each, whether it is at the end of that
    call, its `Kind`, and the columns of `Operations`.
    """

    call: Integers
    at_end: NDArray[np.bool_]
    kind: Integers
    partner: Integers
    communicator: Integers
    tag: Integers
    root: Integers
    sent: Integers
    received: Integers
    request: Integers
    collective: Integers


def operations_table(operation: Integers, placed: Placed) -> Operations:
    """The operations in the order of events. `operation` has the row of each event's operation.

    -1 is an event without an operation, and -2 - n a fork of n threads.
    """
    event = np.flatnonzero((operation >= 0) | (operation < -1))
    row = operation[event]
    fork = row < 0
    at = np.where(fork, 0, row)

    def column(values: Integers, otherwise: int = NONE) -> Integers:
        if not len(values):
            return np.full(len(at), otherwise, dtype=np.int64)
        return np.where(fork, otherwise, values[at])

    return Operations(
        event=event.astype(np.int64),
        partner=column(placed.partner).astype(np.int32),
        communicator=column(placed.communicator).astype(np.int32),
        tag=column(placed.tag).astype(np.int32),
        root=column(placed.root).astype(np.int32),
        sent=column(placed.sent, 0),
        received=column(placed.received, 0),
        request=np.where(fork, -2 - row, column(placed.request)),
        collective=column(placed.collective, int(Collective.UNKNOWN)).astype(np.uint8),
    )


def placed_operations(
    records: Records,
    first: Integers,
    where: Integers,
    calls: Calls,
    communicators: dict[int, int],
    regions: list[Region],
    findings: list[Finding],
) -> Placed:
    """All messages and collectives. `where` is the location of each event in the records."""
    parts = [
        *_messages(records, first, calls, regions, findings),
        _collectives(records, first, where, calls, communicators, regions),
    ]
    return Placed(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _messages(
    records: Records,
    first: Integers,
    calls: Calls,
    regions: list[Region],
    findings: list[Finding],
) -> list[tuple[Integers, ...]]:
    m = records.messages
    sender, receiver = first[m[:, 0]] + m[:, 1], first[m[:, 4]] + m[:, 5]
    send = calls.at(sender, m[:, 2])
    post = calls.at(receiver, m[:, 6])
    done = calls.ending(receiver, m[:, 7])
    post = np.where(post < 0, done, post)
    whole = (send >= 0) & (done >= 0)
    if not whole.all():
        findings.append(Finding("a message outside any call of MPI", count=int((~whole).sum())))
    number = np.flatnonzero(whole)
    send, post, done, m = send[whole], post[whole], done[whole], m[whole]
    names = [plain_name(region.name) for region in regions]
    immediate = np.array([name in _NONBLOCKING_SENDS for name in names])
    later = post != done
    none = np.full(len(m), NONE, dtype=np.int64)
    zero = np.zeros(len(m), dtype=np.int64)
    known = np.full(len(m), int(Collective.UNKNOWN), dtype=np.int64)
    begins, ends = np.zeros(len(m), dtype=bool), np.ones(len(m), dtype=bool)
    is_immediate = immediate[calls.region[send]] if len(m) else begins
    send_kind = np.where(is_immediate, int(Kind.SEND_REQUEST), int(Kind.SEND))
    receive_kind = np.where(later, int(Kind.RECEIVE_COMPLETE), int(Kind.RECEIVE))
    # requests are unique in the trace: even for sends, odd for receives
    sends = (send, begins, send_kind, m[:, 4], none, m[:, 9], none, m[:, 8], zero,
             np.where(is_immediate, 2 * number, NONE), known)  # fmt: skip
    receives = (done, ends, receive_kind, m[:, 0], none, m[:, 9], none, zero, m[:, 8],
                np.where(later, 2 * number + 1, NONE), known)  # fmt: skip
    posts = (post, begins, none * 0 + int(Kind.RECEIVE_REQUEST), none, none, none, none, zero, zero,
             2 * number + 1, known)  # fmt: skip
    return [sends, receives, tuple(column[later] for column in posts)]


def _collectives(
    records: Records,
    first: Integers,
    where: Integers,
    calls: Calls,
    communicators: dict[int, int],
    regions: list[Region],
) -> tuple[Integers, ...]:
    role = np.array([region.role is Role.COLLECTIVE for region in regions])
    # The trace does not show where non-blocking collectives complete.
    names = [plain_name(region.name) for region in regions]
    waits = np.array([name.startswith("mpi_i") for name in names])  # MPI_Ibcast and similar ones
    collective = role[calls.region] if len(calls) else np.zeros(0, dtype=bool)
    immediate = collective & waits[calls.region] if len(calls) else collective
    call = np.flatnonzero(collective & ~immediate)
    operation = np.array([int(collective_of(region.name)) for region in regions])
    count = len(call)
    row_of_call = np.full(len(calls) + 1, -1, dtype=np.int64)
    row_of_call[call] = np.arange(count)

    def of_type(number: int, otherwise: int) -> Integers:
        column = np.full(count, otherwise, dtype=np.int64)
        chosen = np.flatnonzero(records.events[:, 3] == number)
        row = row_of_call[calls.at(where[chosen], records.events[chosen, 2])]
        column[row[row >= 0]] = records.events[chosen[row >= 0], 4]
        return column

    named = of_type(_COMMUNICATOR, NONE)
    communicator = np.array([communicators.get(n, 0) for n in named.tolist()], dtype=np.int64)
    is_root = of_type(_ROOT, 0) != 0
    rank = np.searchsorted(first, calls.location[call], side="right") - 1
    root = _shared_root(communicator, rank, np.where(is_root, rank, NONE))
    none = np.full(count, NONE, dtype=np.int64)
    return (call, np.ones(count, dtype=bool), none * 0 + int(Kind.COLLECTIVE_END), none,
            communicator, none, root, of_type(_SENT, 0), of_type(_RECEIVED, 0), none,
            operation[calls.region[call]])  # fmt: skip


def _shared_root(communicator: Integers, rank: Integers, root: Integers) -> Integers:
    """Each call's root, which is only in the root's own record. The n-th collective of a
    communicator has the same root on all ranks. Calls are ordered by rank and time.
    """
    if not len(rank):
        return root
    group = communicator * (int(rank.max()) + 1) + rank
    order = np.argsort(group, kind="stable")
    grouped = group[order]
    begins = np.concatenate([[True], grouped[1:] != grouped[:-1]])
    start = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - start
    instance = communicator * (int(nth.max()) + 1) + nth
    of_instance = np.full(int(instance.max()) + 1, NONE, dtype=np.int64)
    np.maximum.at(of_instance, instance, root)
    return np.asarray(of_instance[instance], dtype=np.int64)
