"""Which operations belong together: a message's ends, and the members of a collective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import NONE, EventTrace, Kind

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Messages:
    """Matched messages, rows of `operations` each: `send`, `receive` (what completes it) and `post`
    (the request of a non-blocking receive; the same as `receive` of a blocking one).
    `completion` is the row that completes a non-blocking send, -1 where there is none. `unmatched`
    counts sends and receives without a partner.
    """

    send: Rows
    receive: Rows
    post: Rows
    completion: Rows
    unmatched: int


def matched_messages(trace: EventTrace) -> Messages:
    """Pairs sends and receives of one sender, receiver, communicator and tag in their order.

    Messages of one such channel do not overtake each other (MPI 4.0, 3.5): the order is that in
    which they are sent, and in which receives are posted.
    """
    operations = trace.operations
    kind = trace.kind[operations.event]
    ranks = np.array([location.rank for location in trace.locations], dtype=np.int64)
    rank = ranks[np.searchsorted(trace.starts, operations.event, side="right") - 1]
    sends = np.flatnonzero((kind == Kind.SEND) | (kind == Kind.SEND_REQUEST))
    done = np.flatnonzero((kind == Kind.RECEIVE) | (kind == Kind.RECEIVE_COMPLETE))
    begun = np.flatnonzero(kind == Kind.RECEIVE_REQUEST)
    complete = np.flatnonzero(kind == Kind.SEND_COMPLETE)
    waits = kind[done] == Kind.RECEIVE_COMPLETE
    post = done.copy()
    found = _request_before(done[waits], begun, rank, operations.request)
    post[waits] = np.where(found == NONE, done[waits], found)
    partner = operations.partner.astype(np.int64)
    channel_of_send = np.stack(
        [rank[sends], partner[sends], operations.communicator[sends], operations.tag[sends]]
    )
    channel_of_receive = np.stack(
        [partner[done], rank[done], operations.communicator[done], operations.tag[done]]
    )
    both = np.concatenate([channel_of_send, channel_of_receive], axis=1)
    channel = _groups(both)
    time = trace.time[operations.event]
    sent = _in_order(channel[: len(sends)], time[sends], sends)
    received = _in_order(channel[len(sends) :], time[post], post)
    # (channel, which message of it) is the same on both sides
    width = max(len(sends), len(done)) + 1
    send_key = sent[1] * width + sent[2]
    receive_key = received[1] * width + received[2]
    _, at_send, at_receive = np.intersect1d(send_key, receive_key, return_indices=True)
    send, receive_at = sends[sent[0][at_send]], received[0][at_receive]
    completion = np.full(len(send), NONE, dtype=np.int64)
    request = kind[send] == Kind.SEND_REQUEST
    completion[request] = _request_after(send[request], complete, rank, operations.request)
    return Messages(
        send=send,
        receive=done[receive_at],
        post=post[receive_at],
        completion=completion,
        unmatched=len(sends) + len(done) - 2 * len(send),
    )


def collective_instances(trace: EventTrace) -> tuple[Rows, Rows]:
    """The rows of `operations` that end a collective, and the instance each is part of.

    The n-th collective on a communicator is the same operation for all its members. Instances
    count from 0.
    """
    operations = trace.operations
    rows = np.flatnonzero(trace.kind[operations.event] == Kind.COLLECTIVE_END)
    location = np.searchsorted(trace.starts, operations.event[rows], side="right") - 1
    ranks = np.array([place.rank for place in trace.locations], dtype=np.int64)
    communicator = operations.communicator[rows].astype(np.int64)
    alone = np.array([c.members == () and c.remote is None for c in trace.communicators] + [False])
    apart = np.where(alone[communicator], location + 1, 0)  # MPI_COMM_SELF is many
    rank = ranks[location] if len(ranks) else location
    group = _groups(np.stack([communicator, rank]))
    order, _, nth = _in_order(group, trace.time[operations.event[rows]], rows)
    which = np.empty(len(rows), dtype=np.int64)
    which[order] = nth
    return rows, _groups(np.stack([communicator, apart, which]))


def _groups(columns: NDArray[np.int64]) -> Rows:
    """Equal columns of (k, n) get the same number, from 0 on."""
    if not columns.shape[1]:
        return np.zeros(0, dtype=np.int64)
    key = np.zeros(columns.shape[1], dtype=np.int64)
    for row in columns:
        _, number = np.unique(row, return_inverse=True)
        _, key = np.unique(key * (int(number.max()) + 1) + number, return_inverse=True)
    return np.asarray(key, dtype=np.int64)


def _in_order(group: Rows, time: Rows, row: Rows) -> tuple[Rows, Rows, Rows]:
    """The order by group, time and row; each one's group, and its place within it."""
    order = np.lexsort((row, time, group))
    grouped = group[order]
    first = np.concatenate([[True], grouped[1:] != grouped[:-1]]) if len(order) else order
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    return order, grouped, np.arange(len(order)) - start


def _request_before(done: Rows, begun: Rows, rank: Rows, request: Rows) -> Rows:
    """For each row of `done` the last row of `begun` before it with its rank and request."""
    return _nearest(done, begun, rank, request, before=True)


def _request_after(begun: Rows, done: Rows, rank: Rows, request: Rows) -> Rows:
    """For each row of `begun` the first row of `done` after it with its rank and request."""
    return _nearest(begun, done, rank, request, before=False)


def _nearest(rows: Rows, others: Rows, rank: Rows, request: Rows, before: bool) -> Rows:
    if not len(rows) or not len(others):
        return np.full(len(rows), NONE, dtype=np.int64)
    both = np.concatenate([rows, others])
    group = _groups(np.stack([rank[both], request[both]]))
    span = int(both.max()) + 1
    keys = group[len(rows) :] * span + others
    order = np.argsort(keys, kind="stable")
    wanted = group[: len(rows)] * span + rows
    at = np.searchsorted(keys[order], wanted, side="left") - (1 if before else 0)
    inside = (at >= 0) & (at < len(others))
    found = order[np.clip(at, 0, len(others) - 1)]
    same = inside & (group[len(rows) :][found] == group[: len(rows)])
    return np.where(same, others[found], NONE)
