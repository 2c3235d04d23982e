"""Reads and matches an archive rank by rank, in independent pieces with one exchange.

A piece reads the events of one rank, matches its requests and collective operations, and lists its
sends by receiver. After an exchange of these lists, each rank's receives are matched with the sends
to it. The caller chooses where pieces run: in processes (`workers.spread`), or on a cluster
(`dask_workers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace import columns
from regionpredict.trace.event_trace import NONE, EventTrace, Kind, Location, Operations
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import (
    Matches,
    match_columns,
    match_operations,
    order_of_threads,
    unmatched_findings,
)
from regionpredict.trace.otf2_definitions import Definitions
from regionpredict.trace.otf2_reader import (
    Events,
    assemble_trace,
    join_events,
    open_otf2,
    operations_of,
    read_events,
    read_otf2,
)
from regionpredict.workers import spread

Rows = NDArray[np.int64]
Run = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""A parallel map: returns `[work(item) for item in items]`. All of these can be pickled."""


@dataclass(frozen=True, slots=True)
class _Sends:
    """The messages from one rank to another in order: the sender's operations with their
    communicators and tags.
    """

    sender: int
    row: Rows
    communicator: NDArray[np.int32]
    tag: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Piece:
    """One rank's events with the archive's numbers, its matches, and its sends by receiver.

    `receives` are the receiving operations, with `partner`, `communicator` and `tag` for matching.
    `kind` and `partners` have an entry per operation. `unknown` is the number of operations without
    a known partner.
    """

    rank: int
    events: Events
    other: Rows
    instance: Rows
    sends: dict[int, _Sends]
    receives: Rows
    partner: NDArray[np.int32]
    communicator: NDArray[np.int32]
    tag: NDArray[np.int32]
    kind: NDArray[np.uint8]
    partners: NDArray[np.int32]
    unknown: int


@dataclass(frozen=True, slots=True)
class PieceReader:
    """Reads and matches the events of one rank."""

    anchor: Path
    definitions: Definitions
    kernels: Kernels

    def __call__(self, span: tuple[int, int]) -> Piece:
        """Reads the rank whose locations are between two positions."""
        definitions, (first, end) = self.definitions, span
        locations = definitions.locations[first:end]
        numbers, expected = definitions.references[first:end], definitions.events[first:end]
        events = read_events(self.anchor, numbers, expected, self.kernels)
        raw = events.columns
        own = {name: raw[name].copy() for name in ("communicator", "partner", "root")}
        operations, unknown = operations_of(
            Events({**raw, **own}, events.ends, events.notes, events.readings),
            definitions,
            locations,
        )
        kind = np.ascontiguousarray(raw["kind"][raw["event"]])
        starts = np.concatenate([[0], events.ends]).astype(np.int64)
        first_rows = np.searchsorted(raw["event"], starts).astype(np.int64)
        ranks = np.array([place.rank for place in locations], dtype=np.int32)
        order = order_of_threads(first_rows, ranks, kind, raw["time"], raw["event"])
        _, other, instance = match_columns(
            first_rows,
            ranks,
            kind,
            operations,
            len(definitions.communicators),
            self.kernels,
            order=order,
        )
        ordered = np.arange(len(kind)) if order is None else order
        cancelled = (other >= 0) & (kind[np.maximum(other, 0)] == Kind.REQUEST_CANCELLED)
        sending = (kind == Kind.SEND) | (kind == Kind.SEND_REQUEST)
        receiving = (kind == Kind.RECEIVE) | (kind == Kind.RECEIVE_COMPLETE)
        receives = ordered[receiving[ordered]]
        rank = locations[0].rank
        return Piece(
            rank,
            events,
            other,
            instance,
            _sends_by_receiver(rank, operations, ordered[(sending & ~cancelled)[ordered]]),
            receives,
            operations.partner[receives],
            operations.communicator[receives],
            operations.tag[receives],
            kind,
            operations.partner,
            unknown,
        )


def _sends_by_receiver(rank: int, operations: Operations, sends: Rows) -> dict[int, _Sends]:
    sends = sends[operations.partner[sends] >= 0]
    if not len(sends):
        return {}
    order = sends[np.argsort(operations.partner[sends], kind="stable")]
    receivers, first = np.unique(operations.partner[order], return_index=True)
    return {
        int(receiver): _Sends(rank, rows, operations.communicator[rows], operations.tag[rows])
        for receiver, rows in zip(receivers, np.split(order, first[1:]), strict=True)
    }


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The receives of one rank, and the messages that other ranks send to it."""

    rank: int
    partner: NDArray[np.int32]
    communicator: NDArray[np.int32]
    tag: NDArray[np.int32]
    sends: tuple[_Sends, ...]


@dataclass(frozen=True, slots=True)
class _Matcher:
    """Finds the matching send, or -1, for each receive of one rank."""

    communicators: int
    kernels: Kernels

    def __call__(self, exchange: _Exchange) -> Rows:
        sizes = [len(sends.row) for sends in exchange.sends]
        count, received = sum(sizes), len(exchange.partner)
        nothing = np.full(count + received, NONE, dtype=np.int64)
        small = nothing.astype(np.int32)
        sent = np.full(count, exchange.rank, dtype=np.int32)
        operations = Operations(
            event=nothing,
            partner=np.concatenate([sent, exchange.partner]).astype(np.int32),
            communicator=_concatenate_parts(
                [s.communicator for s in exchange.sends], exchange.communicator
            ),
            tag=_concatenate_parts([s.tag for s in exchange.sends], exchange.tag),
            root=small,
            sent=nothing,
            received=nothing,
            request=nothing,
            collective=np.full(count + received, 255, dtype=np.uint8),
        )
        kind = np.full(count + received, Kind.SEND, dtype=np.uint8)
        kind[count:] = Kind.RECEIVE
        mate, _, _ = match_columns(
            np.cumsum([0, *sizes, received]).astype(np.int64),
            np.array([*(s.sender for s in exchange.sends), exchange.rank], dtype=np.int32),
            kind,
            operations,
            self.communicators,
            self.kernels,
        )
        return mate[count:]


def _concatenate_parts(
    parts: list[NDArray[np.int32]], last: NDArray[np.int32]
) -> NDArray[np.int32]:
    return np.concatenate([*parts, last]).astype(np.int32)


def read_in_pieces(path: Path, kernels: Kernels, run: Run) -> tuple[EventTrace, Matches]:
    """Reads and matches an archive like `read_otf2` and `match`, in pieces that `run` executes.

    Raises InputError like these functions.
    """
    anchor, definitions = open_otf2(path, kernels)
    spans = spans_of(definitions.locations)
    pieces: list[Piece] = run(PieceReader(anchor, definitions, kernels), spans)
    if not pieces:
        nothing = np.zeros(0, dtype=np.int64)
        trace = assemble_trace(anchor, definitions, read_events(anchor, (), (), kernels))
        return trace, Matches(nothing, nothing, nothing, ())
    matches = match_between_pieces(pieces, len(definitions.communicators), kernels, run)
    trace = assemble_trace(anchor, definitions, join_events([piece.events for piece in pieces]))
    return trace, matches


def read_in_processes(path: Path, kernels: Kernels, processes: int) -> tuple[EventTrace, Matches]:
    """Reads and matches an archive like `read_otf2` and `match`, in up to `processes` local
    processes.

    An archive that is too large for memory is read by one process with temporary files. Raises
    InputError like these functions.
    """
    _, definitions = open_otf2(path, kernels)
    if sum(definitions.events) > columns.MOST_IN_MEMORY:
        trace = read_otf2(path, kernels)
        return trace, match_operations(trace, kernels)
    return read_in_pieces(path, kernels, partial(spread, processes=processes))


def match_between_pieces(
    pieces: Sequence[Piece], communicators: int, kernels: Kernels, run: Run
) -> Matches:
    """Matches the messages between at least one piece. The events of the pieces are not used."""
    exchanges = [
        _Exchange(
            piece.rank,
            piece.partner,
            piece.communicator,
            piece.tag,
            tuple(other.sends[piece.rank] for other in pieces if piece.rank in other.sends),
        )
        for piece in pieces
    ]
    taken: list[Rows] = run(_Matcher(communicators, kernels), exchanges)
    first = np.cumsum([0, *(len(piece.other) for piece in pieces)])
    place = {piece.rank: int(at) for piece, at in zip(pieces, first[:-1], strict=True)}
    mate = np.full(first[-1], NONE, dtype=np.int64)
    for piece, exchange, array in zip(pieces, exchanges, taken, strict=True):
        if not exchange.sends:
            continue
        rows = np.concatenate([sends.row + place[sends.sender] for sends in exchange.sends])
        matched = array >= 0
        receives = piece.receives[matched] + place[piece.rank]
        mate[receives] = rows[array[matched]]
        mate[rows[array[matched]]] = receives
    other = np.concatenate(
        [
            np.where(piece.other >= 0, piece.other + at, NONE)
            for piece, at in zip(pieces, first[:-1], strict=True)
        ]
    )
    instance = np.concatenate([piece.instance for piece in pieces])
    kind = np.concatenate([piece.kind for piece in pieces])
    partners = np.concatenate([piece.partners for piece in pieces])
    return Matches(mate, other, instance, unmatched_findings(kind, partners, mate, other))


def spans_of(locations: tuple[Location, ...]) -> list[tuple[int, int]]:
    """Returns the range of each rank's locations, in the order of ranks."""
    ranks = np.array([location.rank for location in locations], dtype=np.int64)
    edges = np.flatnonzero(np.diff(ranks, prepend=-1, append=-1) != 0).tolist()
    return list(pairwise(edges))
