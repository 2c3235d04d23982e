"""Converts an OTF2 archive to a stored trace in Parquet, with one rank in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import NONE, EventTrace, Finding, Kind
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches
from regionpredict.trace.otf2_definitions import Definitions
from regionpredict.trace.otf2_reader import (
    Events,
    check_length,
    counters_of,
    number_regions,
    open_otf2,
    operations_of,
    read_events,
    trace_without_events,
)
from regionpredict.trace.parquet_store import StoreWriter
from regionpredict.trace.per_rank_reading import Piece, PieceReader, match_between_pieces, spans_of


@dataclass(frozen=True, slots=True)
class _RankData:
    """The data of a rank that are kept between its two readings: its piece without events, its
    first and last time, and the numbers of its regions.
    """

    piece: Piece
    times: tuple[int, int] | None
    regions: NDArray[np.int32]


def convert_otf2(path: Path, folder: Path, kernels: Kernels) -> None:
    """Writes the same files as `write_store` after `read_otf2` and `match`. Only the events of one
    rank are in memory, and the matches of all ranks.

    Each rank is read twice, for matching and for writing. Raises InputError like these functions.
    """
    anchor, definitions = open_otf2(path, kernels)
    spans = spans_of(definitions.locations)
    reader = PieceReader(anchor, definitions, kernels)
    ranks = [_without_events(reader(span)) for span in spans]
    pieces = [rank.piece for rank in ranks]
    nothing = np.zeros(0, dtype=np.int64)
    matches = Matches(nothing, nothing, nothing, ())
    if pieces:
        matches = match_between_pieces(pieces, len(definitions.communicators), kernels, _serial_map)
    times = [rank.times for rank in ranks if rank.times is not None]
    begin = min((first for first, _ in times), default=0)
    check_length(anchor, begin, max((last for _, last in times), default=0))
    numbers = np.unique(_concatenate_parts([rank.regions for rank in ranks]))
    named = numbers.copy()
    undefined: list[Finding] = []
    kind = np.full(len(named), Kind.ENTER, dtype=np.uint8)
    regions = number_regions(named, kind, definitions, undefined)
    notes = np.concatenate(
        [read_events(anchor, (), (), kernels).notes, *(piece.events.notes for piece in pieces)]
    )
    unknown = sum(piece.unknown for piece in pieces)
    whole = trace_without_events(anchor, definitions, regions, notes, undefined, unknown)
    readings: list[NDArray[Any]] = []
    starts, operations = [0], 0
    with StoreWriter(folder) as writer:
        for span in spans:
            selected = slice(*span)
            references, expected = definitions.references[selected], definitions.events[selected]
            events = read_events(anchor, references, expected, kernels)
            part = _trace_of_rank(whole, definitions, span, events)
            part = replace(
                part, time=part.time - begin, region=_region_positions(part.region, numbers, named)
            )
            rows = slice(operations, operations + len(part.operations))
            writer.add(part, matches.mate[rows], matches.other[rows], matches.instance[rows])
            own = events.readings.copy()
            own["event"] += starts[-1]
            readings.append(own)
            starts.extend((part.starts[1:] + starts[-1]).tolist())
            operations = rows.stop
        if not spans:
            writer.add(whole, nothing, nothing, nothing)
        if readings:
            counters = counters_of(
                definitions, np.concatenate(readings), np.array(starts, dtype=np.int64)
            )
            whole = replace(whole, counters=counters)
        writer.finish_store(whole, matches.findings)


def _without_events(piece: Piece) -> _RankData:
    columns, events = piece.events.columns, piece.events
    time, named = columns["time"], columns["kind"] <= Kind.LEAVE
    regions = np.unique(columns["region"][named])
    light = Events({}, events.ends, events.notes, events.readings[:0])
    times = (int(time.min()), int(time.max())) if len(time) else None
    return _RankData(replace(piece, events=light), times, regions[regions != NONE])


def _trace_of_rank(
    whole: EventTrace, definitions: Definitions, span: tuple[int, int], events: Events
) -> EventTrace:
    """Returns the events of one rank with the archive's times and regions."""
    locations = definitions.locations[slice(*span)]
    table, _ = operations_of(events, definitions, locations)
    columns = events.columns
    return replace(
        whole,
        locations=locations,
        starts=np.concatenate([[0], events.ends]).astype(np.int64),
        time=columns["time"],
        kind=columns["kind"],
        region=columns["region"],
        operations=table,
    )


def _region_positions(
    column: NDArray[np.int32], numbers: NDArray[np.int32], named: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Converts the archive's region numbers to positions."""
    known = column != NONE
    place = np.full(len(column), NONE, dtype=np.int32)
    place[known] = named[np.searchsorted(numbers, column[known])]
    return place


def _concatenate_parts(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate([np.zeros(0, dtype=np.int32), *parts]).astype(np.int32)


def _serial_map(work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return [work(item) for item in items]
