"""Assigns the messages and collective operations of a Paraver trace to MPI calls."""

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
from regionpredict.trace.paraver.fast_order import distinct_values
from regionpredict.trace.paraver.records import Integers, Records, Rows

_SENT, _RECEIVED, _ROOT, _COMMUNICATOR = 50100001, 50100002, 50100003, 50100004
"""Extrae's types of events at the start of a collective call: bytes sent and received, whether this
rank is its root, and its communicator's number.
"""

_NONBLOCKING_SENDS = ("mpi_isend", "mpi_issend", "mpi_ibsend", "mpi_irsend", "mpi_start")


@dataclass(frozen=True, slots=True)
class OperationColumns:
    """Operations as columns of equal length. `call` is the MPI call of each operation, `at_end`
    means that it is at the end of this call, and `kind` is its `Kind`. Other columns are those of
    `Operations`.
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


def operations_table(operation: Integers, placed: OperationColumns) -> Operations:
    """Sorts the operations by event. `operation` has the row of each event's operation.

    A row of -1 means an event without an operation, and -2 - n a fork of n threads.
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
    ranks: Integers,
    calls: Calls,
    communicators: dict[int, int],
    regions: list[Region],
    findings: list[Finding],
) -> OperationColumns:
    """Returns all messages and collective operations. `ranks` has the rank of each location."""
    parts = [
        *_message_columns(records, ranks, calls, regions, findings),
        _collective_columns(records.sizes, ranks, calls, communicators, regions),
    ]
    return OperationColumns(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _message_columns(
    records: Records,
    ranks: Integers,
    calls: Calls,
    regions: list[Region],
    findings: list[Finding],
) -> list[tuple[Integers, ...]]:
    sender, tag, sent, size = records.sends.int64_columns()
    receiver, _, posted, arrived = records.receives.int64_columns()
    send = calls.at(sender, sent)
    post = calls.at(receiver, posted)
    done = calls.ending(receiver, arrived)
    post = np.where(post < 0, done, post)
    whole = (send >= 0) & (done >= 0)
    if not whole.all():
        findings.append(Finding("a message outside any call of MPI", count=int((~whole).sum())))
    number = np.flatnonzero(whole)
    send, post, done, tag, size = send[whole], post[whole], done[whole], tag[whole], size[whole]
    sender, receiver = ranks[sender[whole]], ranks[receiver[whole]]
    names = [plain_name(region.name) for region in regions]
    immediate = np.array([name in _NONBLOCKING_SENDS for name in names])
    later = post != done
    none = np.full(len(send), NONE, dtype=np.int64)
    zero = np.zeros(len(send), dtype=np.int64)
    known = np.full(len(send), int(Collective.UNKNOWN), dtype=np.int64)
    begins, ends = np.zeros(len(send), dtype=bool), np.ones(len(send), dtype=bool)
    is_immediate = immediate[calls.region[send]] if len(send) else begins
    send_kind = np.where(is_immediate, int(Kind.SEND_REQUEST), int(Kind.SEND))
    receive_kind = np.where(later, int(Kind.RECEIVE_COMPLETE), int(Kind.RECEIVE))
    # Request numbers are unique in the trace: even for sends, odd for receives.
    sends = (send, begins, send_kind, receiver, none, tag, none, size, zero,
             np.where(is_immediate, 2 * number, NONE), known)  # fmt: skip
    receives = (done, ends, receive_kind, sender, none, tag, none, zero, size,
                np.where(later, 2 * number + 1, NONE), known)  # fmt: skip
    posts = (post, begins, none * 0 + int(Kind.RECEIVE_REQUEST), none, none, none, none, zero, zero,
             2 * number + 1, known)  # fmt: skip
    return [sends, receives, tuple(column[later] for column in posts)]


def _collective_columns(
    events: Rows,
    ranks: Integers,
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

    where, kind, time, value = events.int64_columns()
    row = row_of_call[calls.at(where, time)]

    def of_type(number: int) -> Integers:
        column = np.zeros(count, dtype=np.int64)
        mine = (kind == number) & (row >= 0)
        column[row[mine]] = value[mine]
        return column

    named, which = distinct_values(of_type(_COMMUNICATOR))
    numbers = [communicators.get(number, 0) for number in named.tolist()]
    communicator = np.array(numbers, dtype=np.int64)[which]
    is_root = of_type(_ROOT) != 0
    rank = ranks[calls.location[call]]
    root = _roots_of_collectives(communicator, rank, np.where(is_root, rank, NONE))
    none = np.full(count, NONE, dtype=np.int64)
    return (call, np.ones(count, dtype=bool), none * 0 + int(Kind.COLLECTIVE_END), none,
            communicator, none, root, of_type(_SENT), of_type(_RECEIVED), none,
            operation[calls.region[call]])  # fmt: skip


def _roots_of_collectives(communicator: Integers, rank: Integers, root: Integers) -> Integers:
    """Returns the root of each collective call, which only the root itself records. The n-th
    collective operation of a communicator has the same root on all ranks. Calls are sorted by rank
    and time.
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
