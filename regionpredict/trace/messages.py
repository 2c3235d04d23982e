"""Counts point-to-point messages by pair of ranks and by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import EventTrace, Kind
from regionpredict.trace.matching import Matches

_SENDS = (Kind.SEND, Kind.SEND_REQUEST)


@dataclass(frozen=True, slots=True)
class Pair:
    """The number of messages from one rank to another, and their total bytes."""

    sender: int
    receiver: int
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The messages of `least` to `most` bytes. A class contains the sizes from a power of two to
    the next one, exclusive. Size 0 is a separate class.
    """

    least: int
    most: int
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Messages:
    """Sent point-to-point messages by pair of ranks and by size, both in ascending order.

    `ranks` are all ranks of the trace. `unmatched` are sends without a known receive.
    """

    ranks: tuple[int, ...]
    pairs: tuple[Pair, ...]
    sizes: tuple[SizeClass, ...]
    unmatched: int

    @property
    def count(self) -> int:
        """The number of messages."""
        return sum(pair.messages for pair in self.pairs)

    @property
    def bytes(self) -> int:
        """The number of bytes in all messages."""
        return sum(pair.bytes for pair in self.pairs)


def messages_of(trace: EventTrace, matches: Matches) -> Messages:
    """Counts the messages of a trace."""
    operations = trace.operations
    sends = np.flatnonzero(
        np.isin(trace.kind[operations.event], _SENDS) & (operations.partner >= 0)
    )
    rank = np.array([location.rank for location in trace.locations] or [0], dtype=np.int64)
    sender = rank[trace.locations_of(operations.event[sends])]
    receiver = operations.partner[sends].astype(np.int64)
    size = np.maximum(operations.sent[sends], 0)
    span = int(max(receiver.max(initial=0), sender.max(initial=0))) + 1
    pairs, of_pair = np.unique(sender * span + receiver, return_inverse=True)
    bits = _binary_digits(size)
    classes, of_class = np.unique(bits, return_inverse=True)
    return Messages(
        ranks=trace.ranks,
        pairs=tuple(
            Pair(pair // span, pair % span, count, total)
            for pair, (count, total) in zip(
                pairs.tolist(), _sums_by_group(of_pair, size), strict=True
            )
        ),
        sizes=tuple(
            SizeClass((1 << bit) >> 1, (1 << bit) - 1, count, total)
            for bit, (count, total) in zip(
                classes.tolist(), _sums_by_group(of_class, size), strict=True
            )
        ),
        unmatched=int(np.count_nonzero(matches.mate[sends] < 0)),
    )


def _binary_digits(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the number of binary digits of each size. It is 0 for size 0."""
    return np.searchsorted(1 << np.arange(63, dtype=np.int64), size, side="right").astype(np.int64)


def _sums_by_group(group: NDArray[np.intp], size: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Returns the number of messages and the total bytes of each group."""
    counts = np.bincount(group)
    totals = np.zeros(len(counts), dtype=np.int64)
    np.add.at(totals, group, size)
    return list(zip(counts.tolist(), totals.tolist(), strict=True))
