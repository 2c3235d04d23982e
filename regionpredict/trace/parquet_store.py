"""Stores a trace in Parquet files, and reads parts of the stored trace.

A store is a folder. `trace.json` contains the definitions and an index. `events.parquet` contains
the time, kind and region of each event, and `counters.parquet` the counter readings.
`operations.parquet` contains the communication operations with their matches, so that a part of the
trace can be analyzed alone. A row group of events has at most `GROUP` events of one location. Each
row group of events has one row group of operations.

The index contains a digest of itself and of each file's footer, and pages have checksums.
Therefore, reading a damaged part raises an error.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.documents import input_errors_while_reading
from regionpredict.errors import InputError, one_line, with_extra
from regionpredict.file_presence import is_file
from regionpredict.trace.event_trace import (
    NONE,
    Communicator,
    Counter,
    EventTrace,
    Finding,
    Kind,
    Location,
    Operations,
    Paradigm,
    ProcessGrid,
    Region,
    Role,
)
from regionpredict.trace.matching import OUTSIDE, Matches
from regionpredict.trace.selection import Selection, require_known_ranks

SCHEMA = "regionpredict/trace-store/2"  # 2: digests
GROUP = 1 << 18
_INDEX = "trace.json"
_WHAT = "an undamaged store of a trace"
_REMEDY = "convert the trace again"
_EVENTS = ("time", "kind", "region")
_OPERATIONS = tuple(Operations.__dataclass_fields__)
_MATCHES = ("mate", "other", "instance")


@dataclass(frozen=True, slots=True)
class _RowGroup:
    """A row group of one location. `event` and `operation` are its first rows, `events` and
    `operations` the numbers of rows. `first` and `last` are times. `open` are the regions entered
    before the row group and not left, the outermost first.
    """

    location: int
    event: int
    events: int
    operation: int
    operations: int
    first: int
    last: int
    open: tuple[int, ...]


def is_store(path: Path) -> bool:
    """Returns whether a folder contains a stored trace."""
    return is_file(path / _INDEX)


def write_store(trace: EventTrace, matches: Matches, folder: Path) -> None:
    """Writes a trace and its matches into a new folder.

    Raises InputError if pyarrow is missing or the folder cannot be written.
    """
    with StoreWriter(folder) as writer:
        writer.add(trace, matches.mate, matches.other, matches.instance)
        writer.finish_store(trace, matches.findings)


class StoreWriter:
    """Writes a stored trace in parts. Each part has the events of the next locations in order.

    Raises InputError if pyarrow is missing or the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pyarrow_modules, self._parquet = _pyarrow_modules()
        self._files: dict[str, Any] = {}
        self._row_groups: list[_RowGroup] = []
        self._starts = [0]
        self._locations = self._operations = 0
        with self._os_errors_as_input_errors():
            folder.mkdir(parents=True)

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def add(
        self,
        part: EventTrace,
        mate: NDArray[np.int64],
        other: NDArray[np.int64],
        instance: NDArray[np.int64],
    ) -> None:
        """Adds the events of the next locations. `mate` and `other` are row numbers among all
        operations.
        """
        events, operations = self._starts[-1], part.operations
        columns: dict[str, NDArray[Any]] = {name: getattr(operations, name) for name in _OPERATIONS}
        columns["event"] = columns["event"] + events
        columns |= {"mate": mate, "other": other, "instance": instance}
        rows = {name: getattr(part, name) for name in _EVENTS}
        for group in _row_groups(part):
            self._write_row_group("events", rows, group.event, group.events)
            self._write_row_group("operations", columns, group.operation, group.operations)
            self._row_groups.append(
                replace(
                    group,
                    location=group.location + self._locations,
                    event=group.event + events,
                    operation=group.operation + self._operations,
                )
            )
        if not self._files:  # a part without events still creates both files
            self._write_row_group("events", rows, 0, None)
            self._write_row_group("operations", columns, 0, None)
        self._starts.extend((part.starts[1:] + events).tolist())
        self._locations += len(part.locations)
        self._operations += len(operations)

    def finish_store(self, trace: EventTrace, unmatched: Sequence[Finding]) -> None:
        """Writes the definitions and counters of the whole trace, and completes the stored
        trace.
        """
        counts = [len(counter.event) for counter in trace.counters]
        columns: dict[str, NDArray[Any]] = {
            "counter": np.repeat(np.arange(len(counts), dtype=np.int32), counts),
            "event": _concatenate_columns([counter.event for counter in trace.counters]),
            "increase": _concatenate_columns([counter.increase for counter in trace.counters]),
        }
        self._write_row_group("counters", columns, 0, sum(counts))
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "name": trace.name,
            "ticks_per_second": trace.ticks_per_second,
            "locations": [asdict(location) for location in trace.locations],
            "regions": [asdict(region) for region in trace.regions],
            "communicators": [asdict(group) for group in trace.communicators],
            "counters": [{"name": c.name, "unit": c.unit} for c in trace.counters],
            "grids": [
                [grid.name, grid.sizes, grid.periodic, list(grid.coordinates.items())]
                for grid in trace.grids
            ],
            "findings": [asdict(finding) for finding in trace.findings],
            "unmatched": [asdict(finding) for finding in unmatched],
            "starts": self._starts,
            "groups": [list(asdict(group).values()) for group in self._row_groups],
        }
        with self._os_errors_as_input_errors():
            for file in self._files.values():
                file.close()
            document["footers"] = {
                name: _footer_digest(self._folder / f"{name}.parquet") for name in self._files
            }
            document["digest"] = _index_digest(document)
            (self._folder / _INDEX).write_text(json.dumps(document), "utf-8")

    def _write_row_group(
        self, file: str, columns: dict[str, NDArray[Any]], first: int, count: int | None
    ) -> None:
        """Writes `count` rows as a row group. If `count` is None, only creates the file."""
        arrow = self._pyarrow_modules
        schema = arrow.schema(
            [(name, arrow.from_numpy_dtype(c.dtype)) for name, c in columns.items()]
        )
        with self._os_errors_as_input_errors():
            if file not in self._files:
                self._files[file] = self._parquet.ParquetWriter(
                    self._folder / f"{file}.parquet", schema, compression="zstd",
                    write_page_checksum=True,
                )  # fmt: skip
            if count is not None:
                rows = {name: column[first : first + count] for name, column in columns.items()}
                table = arrow.table(rows, schema=schema)
                self._files[file].write_table(table, row_group_size=max(count, 1))

    @contextmanager
    def _os_errors_as_input_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror}",
                remedy="choose another folder",
                path=str(self._folder),
            ) from None


def _row_groups(trace: EventTrace) -> Iterator[_RowGroup]:
    for at in range(len(trace.locations)):
        stack: list[int] = []
        begin, end = int(trace.starts[at]), int(trace.starts[at + 1])
        for first in range(begin, end, GROUP):
            last = min(first + GROUP, end)
            low, high = np.searchsorted(trace.operations.event, [first, last]).tolist()
            yield _RowGroup(
                at, first, last - first, low, high - low,
                int(trace.time[first]), int(trace.time[last - 1]), tuple(stack),
            )  # fmt: skip
            if last < end:
                stack = _open_regions_after(stack, trace.kind[first:last], trace.region[first:last])


def _open_regions_after(
    stack: list[int], kind: NDArray[np.uint8], region: NDArray[np.int32]
) -> list[int]:
    """Returns the regions that are entered and not left after these events."""
    step = np.where(kind == Kind.ENTER, 1, 0) - np.where(kind == Kind.LEAVE, 1, 0)
    depth = np.cumsum(step)
    lowest = np.minimum.accumulate(depth[::-1])[::-1]
    stays = (kind == Kind.ENTER) & (lowest >= depth)
    kept = len(stack) + min(0, int(depth.min(initial=0)))
    return [*stack[:kept], *region[stays].tolist()]


class Store:
    """A stored trace. The constructor reads only the index.

    Raises InputError if pyarrow is missing or the files cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Any] = {}
        self._pyarrow_modules, self._parquet = _pyarrow_modules()
        with input_errors_while_reading(folder, _WHAT, _REMEDY):
            document = json.loads((folder / _INDEX).read_text("utf-8"))
            if document["schema"] != SCHEMA or document.pop("digest") != _index_digest(document):
                raise ValueError
            self.locations = tuple(Location(**fields) for fields in document["locations"])
            self.name: str = document["name"]
            self.ticks_per_second: float = document["ticks_per_second"]
            self.starts = np.array(document["starts"], dtype=np.int64)
            self._row_groups = [_row_group_from_json(*row) for row in document["groups"]]
            self._document = document

    def columns(
        self, names: Sequence[str], selection: Selection
    ) -> Iterator[tuple[Location, dict[str, NDArray[Any]]]]:
        """Yields the requested columns of events (time, kind, region) of each row group that may
        overlap the selected ranks and time span.
        """
        for at, group in self._selected_groups(selection):
            yield self.locations[group.location], self._read_rows("events", at, names)

    def read(self, selection: Selection) -> tuple[EventTrace, Matches]:
        """Reads the row groups that overlap the selection as a trace. The trace has all locations
        of the selected ranks. With counters, neighboring row groups are read, too, since increases
        are divided at the ends of a time span.

        Matches with operations outside these row groups are OUTSIDE. Regions entered before the
        first row group are entered at its first event. Regions still open after the last row group
        are left at the next event.
        """
        require_known_ranks(selection, {place.rank for place in self.locations}, self.name)
        chosen = list(self._selected_groups(selection))
        kept = [
            at
            for at, place in enumerate(self.locations)
            if selection.ranks is None or place.rank in selection.ranks
        ]
        parts: list[dict[str, NDArray[Any]]] = []
        operations: list[dict[str, NDArray[Any]]] = []
        numbers: list[NDArray[np.int64]] = []
        moved: list[tuple[int, int, int]] = []  # first event, end, and new position
        starts, total = [0], 0
        for location in kept:
            mine = [(at, group) for at, group in chosen if group.location == location]
            stack: list[int] = []
            for place, (at, group) in enumerate(mine):
                rows = self._read_rows("events", at, _EVENTS)
                if not place and group.open:
                    parts.append(_region_events(Kind.ENTER, group.first, group.open))
                    total += len(group.open)
                stack = list(group.open)
                parts.append(rows)
                moved.append((group.event, group.event + group.events, total))
                total += group.events
                if group.operations:
                    arrays = self._read_rows("operations", at, (*_OPERATIONS, *_MATCHES))
                    arrays["event"] = arrays["event"] - group.event + moved[-1][2]
                    operations.append(arrays)
                    numbers.append(np.arange(group.operation, group.operation + group.operations))
                if place + 1 == len(mine):
                    stack = _open_regions_after(stack, rows["kind"], rows["region"])
                    if stack:
                        parts.append(
                            _region_events(Kind.LEAVE, self._end_of_group(at), stack[::-1])
                        )
                        total += len(stack)
            starts.append(total)
        columns = {
            name: _concatenated_column(parts, name, self._column_type("events", name))
            for name in _EVENTS
        }
        table = {
            name: _concatenated_column(operations, name, self._column_type("operations", name))
            for name in (*_OPERATIONS, *_MATCHES)
        }
        position_of = _ReadPositions(_concatenate_columns(numbers))
        document = self._document
        trace = EventTrace(
            locations=tuple(self.locations[at] for at in kept),
            regions=tuple(_region_from_json(fields) for fields in document["regions"]),
            communicators=tuple(
                _communicator_from_json(fields) for fields in document["communicators"]
            ),
            ticks_per_second=self.ticks_per_second,
            starts=np.array(starts, dtype=np.int64),
            **columns,
            operations=Operations(**{name: table[name] for name in _OPERATIONS}),
            findings=tuple(Finding(**fields) for fields in document["findings"]),
            name=self.name,
            counters=self._read_counters(moved),
            grids=tuple(_grid_from_json(*fields) for fields in document["grids"]),
        )
        return trace, Matches(
            position_of(table["mate"]),
            position_of(table["other"]),
            table["instance"],
            tuple(Finding(**fields) for fields in document["unmatched"]),
        )

    def _selected_groups(self, selection: Selection) -> Iterator[tuple[int, _RowGroup]]:
        low, high = -1.0, float("inf")
        if selection.time_s is not None:
            low, high = (time * self.ticks_per_second for time in selection.time_s)
        within = {
            (group.location, at)
            for at, group in enumerate(self._row_groups)
            if self._end_of_group(at) + 1 >= low and group.first <= high + 1
        }
        reach = 1 if self._document["counters"] else 0
        for at, group in enumerate(self._row_groups):
            rank = self.locations[group.location].rank
            if selection.ranks is not None and rank not in selection.ranks:
                continue
            around = range(at - reach, at + reach + 1)
            if any((group.location, other) in within for other in around):
                yield at, group

    def _end_of_group(self, at: int) -> int:
        """Returns the time at which the next row group of the same location begins, or the last
        time.
        """
        group = self._row_groups[at]
        if at + 1 < len(self._row_groups) and self._row_groups[at + 1].location == group.location:
            return self._row_groups[at + 1].first
        return group.last

    def _read_rows(self, file: str, group: int, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        try:
            table = self._open_file(file).read_row_group(group, columns=list(names))
        except (OSError, self._pyarrow_modules.ArrowException) as error:
            raise InputError(
                f"{file}.parquet cannot be read: {one_line(str(error))[:100]}",
                remedy=_REMEDY, path=str(self._folder),
            ) from None  # fmt: skip
        return {name: table.column(name).to_numpy() for name in names}

    def _open_file(self, name: str) -> Any:
        """Opens a Parquet file of the stored trace. Its footer is read only once."""
        if name not in self._files:
            path = self._folder / f"{name}.parquet"
            with input_errors_while_reading(path, _WHAT, _REMEDY):
                if _footer_digest(path) != self._document["footers"].get(name):
                    raise ValueError
                self._files[name] = self._parquet.ParquetFile(path, page_checksum_verification=True)
        return self._files[name]

    def _column_type(self, file: str, name: str) -> Any:
        return self._open_file(file).schema_arrow.field(name).type.to_pandas_dtype()

    def _read_counters(self, moved: Sequence[tuple[int, int, int]]) -> tuple[Counter, ...]:
        named = self._document["counters"]
        if not named:
            return ()
        rows = self._read_rows("counters", 0, ("counter", "event", "increase"))
        first = np.array([begin for begin, _, _ in moved], dtype=np.int64)
        at = np.searchsorted(first, rows["event"], side="right") - 1
        ends = np.array([end for _, end, _ in moved] or [0], dtype=np.int64)
        now = np.array([place for _, _, place in moved] or [0], dtype=np.int64)
        kept = (at >= 0) & (rows["event"] < ends[at])
        event = rows["event"] - np.append(first, 0)[at] + now[at]
        counters = []
        for number, fields in enumerate(named):
            mine = kept & (rows["counter"] == number)
            counters.append(
                Counter(fields["name"], event[mine], rows["increase"][mine], fields["unit"])
            )
        return tuple(counters)


class _ReadPositions:
    """Converts row numbers among all operations to positions among the operations that were
    read.
    """

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self._numbers = numbers

    def __call__(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        at = np.searchsorted(self._numbers, rows)
        there = at < len(self._numbers)
        there[there] = self._numbers[at[there]] == rows[there]
        return np.where(there, at, np.where(rows >= 0, OUTSIDE, NONE)).astype(np.int64)


def _index_digest(document: dict[str, Any]) -> str:
    """Returns the digest of an index that has no key `digest`."""
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def _footer_digest(path: Path) -> str:
    """Returns the digest of a Parquet file's footer, which contains the positions of the file's
    pages.

    The file ends with the footer, its length in four bytes, and `PAR1` (Apache Parquet, "File
    Format").
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        tail = file.read()
        length = int.from_bytes(tail[:4], "little") + 8
        file.seek(max(size - length, 0))
        return hashlib.sha256(file.read()).hexdigest()


def _region_events(kind: Kind, time: int, regions: Sequence[int]) -> dict[str, NDArray[Any]]:
    return {
        "time": np.full(len(regions), time, dtype=np.int64),
        "kind": np.full(len(regions), kind, dtype=np.uint8),
        "region": np.array(regions, dtype=np.int32),
    }


def _region_from_json(fields: dict[str, Any]) -> Region:
    return replace(
        Region(**fields), paradigm=Paradigm(fields["paradigm"]), role=Role(fields["role"])
    )


def _row_group_from_json(*row: Any) -> _RowGroup:
    *numbers, opened = row
    location, event, events, operation, operations, first, last = numbers
    return _RowGroup(location, event, events, operation, operations, first, last, tuple(opened))


def _grid_from_json(
    name: str, sizes: list[int], periodic: list[bool], coordinates: list[tuple[int, list[int]]]
) -> ProcessGrid:
    where = {rank: tuple(place) for rank, place in coordinates}
    return ProcessGrid(name, tuple(sizes), tuple(periodic), where)


def _communicator_from_json(fields: dict[str, Any]) -> Communicator:
    members, remote = fields["members"], fields["remote"]
    return Communicator(
        fields["name"],
        None if members is None else tuple(members),
        None if remote is None else tuple(remote),
    )


def _concatenate_columns(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *columns])


def _concatenated_column(
    parts: Sequence[dict[str, NDArray[Any]]], name: str, kind: Any
) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *(part[name] for part in parts)])


def _pyarrow_modules() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow  # noqa: PLC0415 (an extra)
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "a store in Parquet needs the package pyarrow",
            remedy=with_extra("parquet"),
        ) from None
    return pyarrow, pyarrow.parquet
