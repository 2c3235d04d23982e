"""Reads OTF2 archives into an `EventTrace`, with millions of events per second."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.documents import check_regular
from regionpredict.errors import InputError, with_extra
from regionpredict.file_presence import is_file, is_folder
from regionpredict.trace.columns import empty_column
from regionpredict.trace.event_trace import (
    NONE,
    Counter,
    EventTrace,
    Finding,
    Kind,
    Location,
    Operations,
    Paradigm,
    Region,
    Role,
)
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_definitions import Definitions, read_definitions
from regionpredict.trace.partners import world_ranks

_EVENT_COLUMNS = (("time", np.int64), ("kind", np.uint8), ("region", np.int32))
_OPERATION_COLUMNS = (
    ("event", np.int64),
    ("partner", np.int32),
    ("communicator", np.int32),
    ("tag", np.int32),
    ("root", np.int32),
    ("sent", np.int64),
    ("received", np.int64),
    ("request", np.int64),
    ("collective", np.uint8),
)
_NOTES = (
    "ends of regions that were not begun, left out",
    "ends of regions that were not open, left out",
    "regions without an end, ended with the region around them",
    "times that run backwards, replaced by the previous time",
    "the events break off or cannot be read; those before are analyzed",
    "one-sided operations, which are not analyzed",
    "counter readings left out for lack of memory",
    "task events, which are not analyzed",
    "",  # file operations
    "samples and calling contexts, which are not analyzed",
    "pauses of the recording",
    "records of an unknown kind",
    "probes, which are not analyzed",
    "matched receives, which are not analyzed",
)
_READING = np.dtype(
    [("event", "<i8"), ("value", "<u8"), ("metric", "<u4"), ("place", "<u4"), ("type", "u1")],
    align=True,
)
_INTEGERS = (4, 8)  # OTF2_TYPE_UINT64, OTF2_TYPE_INT64
_PROGRAM = -(2**31)
_TOO_SMALL = 1
_LEAST_CAPACITY = 1 << 16
_LONGEST_RUN = 2**62  # ticks: sums and differences of two times fit into 64 bits


class _Table(ctypes.Structure):
    _fields_ = [
        ("capacity", ctypes.c_int64),
        ("events", ctypes.c_int64),
        ("operations", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name, _ in _EVENT_COLUMNS),
        *((name, ctypes.c_void_p) for name, _ in _OPERATION_COLUMNS),
        ("ends", ctypes.c_void_p),
        ("notes", ctypes.c_void_p),
        ("readings", ctypes.c_int64),
        ("reading_room", ctypes.c_int64),
        ("reading", ctypes.c_void_p),
    ]


@dataclass(frozen=True, slots=True)
class Events:
    """The events of some locations as columns. Regions, communicators and other definitions have
    the numbers of the archive.

    `ends` is the number of events up to the end of each location, and `notes` counts the
    irregularities in `_NOTES`. `readings` has the counter readings with the type `_READING`.
    """

    columns: dict[str, NDArray[Any]]
    ends: NDArray[np.int64]
    notes: NDArray[np.int64]
    readings: NDArray[Any]


def read_otf2(path: Path, kernels: Kernels) -> EventTrace:
    """Reads an OTF2 archive. `path` is its anchor file or its folder.

    Raises InputError if it is not an archive, if the package otf2 is missing, and if the reader
    cannot be compiled. Damaged parts are findings of the trace.
    """
    anchor, definitions = open_otf2(path, kernels)
    events = read_events(anchor, definitions.references, definitions.events, kernels)
    return assemble_trace(anchor, definitions, events)


def open_otf2(path: Path, kernels: Kernels) -> tuple[Path, Definitions]:
    """Returns the anchor file of an archive, and its definitions. Raises InputError like
    `read_otf2`.
    """
    anchor = _find_anchor(path)
    parts = anchor.with_suffix("")
    for part in (anchor.with_suffix(".def"), *(parts.iterdir() if is_folder(parts) else ())):
        if part.exists() and not part.is_dir():
            check_regular(part, "copy it or record it again")
    otf2, _, _ = _load_library(kernels)
    return anchor, read_definitions(otf2, anchor)


def _load_library(kernels: Kernels) -> tuple[ModuleType, ctypes.CDLL, bytes]:
    otf2 = _otf2_package()
    library = kernels.load("otf2_events.c")
    shared = str(otf2.Config.lib_path()).encode()
    library.rp_silence(shared)
    return otf2, library, shared


def _find_anchor(path: Path) -> Path:
    if is_folder(path):
        glob = sorted(path.glob("*.otf2"))
        if len(glob) != 1:
            raise InputError(
                f"there are {len(glob)} anchor files in the folder" if glob
                else "there is no anchor file in the folder",
                remedy="name one, NAME.otf2", path=str(path),
            )  # fmt: skip
        return glob[0]
    if not is_file(path):
        raise InputError("there is no such file", remedy="check the path", path=str(path))
    return path


def _otf2_package() -> ModuleType:
    try:
        import _otf2  # noqa: PLC0415 (an extra)
        import _otf2.Config  # noqa: PLC0415
    except (ImportError, OSError):
        raise InputError(
            "reading OTF2 needs the package otf2",
            remedy=with_extra("trace"),
        ) from None
    package: ModuleType = _otf2
    return package


def read_events(
    anchor: Path, locations: Sequence[int], expected: Sequence[int], kernels: Kernels
) -> Events:
    """Reads the events of the locations with these numbers in the archive. A location with fewer
    events than `expected` is reported as truncated.
    """
    _, library, shared = _load_library(kernels)
    count = len(locations)
    references = np.array(locations, dtype=np.uint64)
    counts = np.array(expected, dtype=np.uint64).astype(np.int64)
    most = _most_events(anchor, locations, expected)
    capacity = max(int(most.sum()) + 2 * count, _LEAST_CAPACITY)
    while True:
        columns: dict[str, NDArray[Any]] = {
            name: empty_column(capacity, kind, capacity)
            for name, kind in (*_EVENT_COLUMNS, *_OPERATION_COLUMNS)
        }
        ends = np.zeros(count, dtype=np.int64)
        notes = np.zeros((count, len(_NOTES)), dtype=np.int64)
        table = _Table(
            capacity, 0, 0,
            *(columns[name].ctypes.data for name, _ in (*_EVENT_COLUMNS, *_OPERATION_COLUMNS)),
            ends.ctypes.data, notes.ctypes.data,
        )  # fmt: skip
        code = library.rp_read(
            shared, str(anchor).encode(), references.ctypes.data_as(ctypes.c_void_p),
            counts.ctypes.data_as(ctypes.c_void_p), most.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int64(count), ctypes.byref(table),
        )  # fmt: skip
        size = table.readings * _READING.itemsize
        readings = np.frombuffer(
            ctypes.string_at(table.reading, size) if size else b"", dtype=_READING
        )
        library.rp_free_readings(ctypes.byref(table))
        if code == _TOO_SMALL:
            capacity *= 2
            continue
        if code:
            raise InputError("cannot be read", remedy="record it again", path=str(anchor))
        for name, _ in _EVENT_COLUMNS:
            columns[name] = columns[name][: table.events]
        for name, _ in _OPERATION_COLUMNS:
            columns[name] = columns[name][: table.operations]
        return Events(columns, ends, notes, readings)


def _most_events(
    anchor: Path, locations: Sequence[int], expected: Sequence[int]
) -> NDArray[np.int64]:
    """Returns the maximum number of events of each location. It is the expected number if known,
    otherwise one per byte of the location's file (`traces/3.evt`). Without a file it is 0.
    """
    files = [anchor.with_suffix("") / f"{number}.evt" for number in locations]
    sizes = [file.stat().st_size if is_file(file) else 0 for file in files]
    return np.array(
        [min(events or size, size) for events, size in zip(expected, sizes, strict=True)],
        dtype=np.int64,
    )


def join_events(pieces: Sequence[Events]) -> Events:
    """Concatenates the events of at least one piece of the archive."""
    before = np.cumsum([0, *(len(piece.columns["time"]) for piece in pieces)])
    columns = {
        name: np.concatenate([piece.columns[name] for piece in pieces])
        for name in pieces[0].columns
        if name != "event"
    }
    columns["event"] = np.concatenate(
        [piece.columns["event"] + first for piece, first in zip(pieces, before[:-1], strict=True)]
    )
    ends = [piece.ends + first for piece, first in zip(pieces, before[:-1], strict=True)]
    readings = np.concatenate([piece.readings for piece in pieces])
    counts = [len(piece.readings) for piece in pieces]
    readings["event"] += np.repeat(before[:-1], counts)
    notes = np.concatenate([piece.notes for piece in pieces])
    return Events(columns, np.concatenate(ends), notes, readings)


def operations_of(
    events: Events, definitions: Definitions, locations: tuple[Location, ...]
) -> tuple[Operations, int]:
    """Returns the communication operations of these locations. The archive's numbers are replaced
    in place by positions and ranks. Also returns the number of partners without a known
    communicator.
    """
    _number_communicators(events.columns["communicator"], definitions)
    table = Operations(**{name: events.columns[name] for name, _ in _OPERATION_COLUMNS})
    starts = np.concatenate([[0], events.ends]).astype(np.int64)
    world = max((place.rank for place in definitions.locations), default=-1) + 1
    return table, world_ranks(table, starts, locations, definitions.communicators, world)


def assemble_trace(anchor: Path, definitions: Definitions, events: Events) -> EventTrace:
    """Creates the trace from the events of all locations, without copying the columns."""
    table, unknown = operations_of(events, definitions, definitions.locations)
    columns = events.columns
    time = columns["time"]
    if len(time):
        begin = int(time.min())
        check_length(anchor, begin, int(time.max()))
        time -= begin
    undefined: list[Finding] = []
    regions = number_regions(columns["region"], columns["kind"], definitions, undefined)
    starts = np.concatenate([[0], events.ends]).astype(np.int64)
    whole = trace_without_events(anchor, definitions, regions, events.notes, undefined, unknown)
    return replace(
        whole,
        starts=starts,
        time=time,
        kind=columns["kind"],
        region=columns["region"],
        operations=table,
        counters=counters_of(definitions, events.readings, starts),
    )


def check_length(anchor: Path, begin: int, end: int) -> None:
    """Raises InputError if the first and the last time are too far from each other for one run."""
    if end - begin >= _LONGEST_RUN:
        raise InputError(
            "times are too large for a run", remedy="give a complete trace", path=str(anchor)
        )


def trace_without_events(
    anchor: Path,
    definitions: Definitions,
    regions: tuple[Region, ...],
    notes: NDArray[np.int64],
    undefined: Sequence[Finding],
    unknown: int,
) -> EventTrace:
    """Creates a trace with definitions and findings, but without events. `unknown` is the number of
    partners without a communicator.
    """
    findings = [
        *definitions.findings,
        *_findings_of_notes(definitions.locations, notes),
        *undefined,
    ]
    if unknown:
        findings.append(Finding("omitted partners without a communicator", count=unknown))
    nothing: dict[str, Any] = {
        name: np.zeros(0, dtype=kind) for name, kind in (*_EVENT_COLUMNS, *_OPERATION_COLUMNS)
    }
    return EventTrace(
        locations=definitions.locations,
        regions=regions,
        communicators=definitions.communicators,
        ticks_per_second=definitions.ticks_per_second,
        starts=np.zeros(len(definitions.locations) + 1, dtype=np.int64),
        **{name: nothing[name] for name, _ in _EVENT_COLUMNS},
        operations=Operations(**{name: nothing[name] for name, _ in _OPERATION_COLUMNS}),
        findings=tuple(findings),
        name=anchor.name,
        grids=definitions.grids,
    )


def counters_of(
    definitions: Definitions, readings: NDArray[Any], starts: NDArray[np.int64]
) -> tuple[Counter, ...]:
    """Returns the hardware counters: metrics with integer readings that are accumulated or relative
    to the previous reading.

    The first accumulated reading of a location has the increase 0.
    """
    chunks: dict[tuple[str, str], list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = {}
    location = np.searchsorted(starts, readings["event"], side="right") - 1
    whole = np.isin(readings["type"], _INTEGERS) & (readings["event"] < starts[-1])
    for number, members in definitions.counters.items():
        for place, member in enumerate(members):
            if not (member.accumulated or member.relative):
                continue
            rows = np.flatnonzero(
                whole & (readings["metric"] == number) & (readings["place"] == place)
            )
            value = readings["value"][rows].view(np.int64)
            if member.accumulated:
                grown = np.diff(value, prepend=value[:1])
                grown[location[rows] != np.roll(location[rows], 1)] = 0
                value = np.maximum(grown, 0)
            if len(rows):
                pair = readings["event"][rows], value
                chunks.setdefault((member.name, member.unit or "1"), []).append(pair)
    counters = []
    for (name, unit), parts in chunks.items():
        event, increase = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(event, kind="stable")
        counters.append(Counter(name, event[order], increase[order], unit))
    return tuple(counters)


def _findings_of_notes(locations: tuple[Location, ...], notes: NDArray[np.int64]) -> list[Finding]:
    findings = []
    for at, text in enumerate(_NOTES):
        for row in np.flatnonzero(notes[:, at]) if text else ():
            findings.append(Finding(text, str(locations[int(row)]), int(notes[row, at])))
    return findings


def number_regions(
    column: NDArray[np.int32],
    kind: NDArray[np.uint8],
    definitions: Definitions,
    findings: list[Finding],
) -> tuple[Region, ...]:
    """Replaces the archive's region numbers by positions in the returned regions, in place.
    Programs become regions, too.
    """
    regions = list(definitions.regions)
    numbers = definitions.region_numbers
    named = kind <= Kind.LEAVE
    straight = all(number == at for number, at in numbers.items())
    if not straight or int(column.max(initial=-1)) >= len(regions):
        usable = named & (column >= 0)
        column[usable] = _positions_in_column(column[usable], numbers)
        if np.any(column[usable] < 0):
            findings.append(Finding("regions that are not defined"))
            column[usable & (column < 0)] = len(regions)
            regions.append(Region("unknown", Paradigm.OTHER))
    program = column < NONE
    for value in np.unique(column[program]):
        column[column == value] = len(regions)
        text = definitions.strings.get(int(value) - _PROGRAM, "program")
        regions.append(Region(Path(text).name, Paradigm.OTHER, Role.PROGRAM))
    return tuple(regions)


def _number_communicators(column: NDArray[np.int32], definitions: Definitions) -> None:
    column[:] = _positions_in_column(column, definitions.communicator_numbers)


def _positions_in_column(
    column: NDArray[np.int32], numbers: Mapping[int, int]
) -> NDArray[np.int32]:
    """The positions of the archive's numbers in a column, or NONE for undefined ones.

    They are searched, since a damaged number may be as large as four billion.
    """
    keys = np.array(sorted(numbers), dtype=np.uint32)
    if not len(keys):
        return np.full(len(column), NONE, dtype=np.int32)
    positions = np.array([numbers[int(key)] for key in keys], dtype=np.int32)
    wanted = column.view(np.uint32)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, positions[place], np.int32(NONE))
