"""Parses the text of a Paraver trace into columns of numbers.

The format (BSC, "Paraver: Parallel Program Visualization and Analysis tool, Trace format") has a
header, lines `c:` for communicators, and a record per line, with numbers separated by colons:

    1:cpu:application:task:thread:begin:end:state
    2:cpu:application:task:thread:time:type:value:type:value...
    3:cpu:application:task:thread:logical send:physical send:
      cpu:application:task:thread:logical receive:physical receive:size:tag
"""

from __future__ import annotations

import ctypes
import gzip
import re
import zlib
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.documents import check_regular
from regionpredict.errors import InputError
from regionpredict.trace.columns import GrowingColumn
from regionpredict.trace.kernels import Kernels

_CHUNK = 1 << 23  # bytes of text parsed at once, which limits the memory
_MOST_IN_MEMORY = 1 << 28  # size in bytes above which columns are kept in temporary files
_LONGEST_LINE = 1 << 26  # maximum bytes of a line, far above the lines that tracers write
_MOST_THREADS = 10**7  # larger numbers of threads indicate a damaged file
_LARGEST = 2**62  # maximum of an integer that combines time and location
NEVER = int(np.iinfo(np.int64).max)
Integers = NDArray[np.int64]
File = gzip.GzipFile | BufferedReader


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a trace, restricted to one application.

    `ticks_per_second` is 1e9 or 1e6. `threads` has the number of threads of each task, and
    `communicators` the tasks (from 0) of each, by its number. `application` counts from 1. It is
    None if the file has only one application. `threads_before` is the number of threads in previous
    applications.
    """

    ticks: int
    ticks_per_second: float
    threads: tuple[int, ...]
    communicators: dict[int, tuple[int, ...]]
    application: int | None = None
    threads_before: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """Records in file order, as columns of equal length. Locations are all threads in order, and
    times are in ticks.
    """

    location: NDArray[np.int32]
    number: NDArray[np.int32]
    time: Integers
    value: Integers

    def __len__(self) -> int:
        return len(self.location)

    def int64_columns(
        self, selection: NDArray[Any] | None = None
    ) -> tuple[Integers, Integers, Integers, Integers]:
        """Returns the columns of the selected rows, or of all rows, as 64-bit integers."""
        rows: Any = slice(None) if selection is None else selection
        if selection is not None and selection.dtype == bool:
            rows = np.flatnonzero(selection)
        columns = (self.location, self.number, self.time, self.value)
        location, number, time, value = (
            column[rows].astype(np.int64, copy=False) for column in columns
        )
        return location, number, time, value


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a trace. `skipped` is the number of ignored records. `first_event` is the time
    of each location's first event. `first_state` is the time of its first state other than *Not
    created*, and `end` is its last time.

    | table | `number` | `time` | `value` |
    | --- | --- | --- | --- |
    | `states` | state | start | end |
    | `calls` of MPI, their `callers`, the `sizes` of collective ones | type | time | value |
    | other `events`, `readings` of hardware counters | type | time | value |
    | `sends` | tag | start of the call | bytes |
    | `receives` of the same messages | tag | start of the call | arrival |
    """

    skipped: int
    first_event: Integers
    first_state: Integers
    end: Integers
    states: Rows
    calls: Rows
    callers: Rows
    sizes: Rows
    events: Rows
    readings: Rows
    sends: Rows
    receives: Rows


def read_records(
    path: Path, kernels: Kernels, application: int | None = None
) -> tuple[Header, Records]:
    """Reads the header and the records of `path`, which is decompressed if its name ends in `.gz`.

    `application` counts from 1. None is valid if the file has only one application. Raises
    InputError if the file cannot be read, is not a Paraver trace, or does not have that
    application.
    """
    check_regular(path, "give a .prv or .prv.gz file")
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            header, rest, line = _read_header(file, path, application)
            text = _Text(header, kernels, path, line)
            text.read(file, rest)
    except OSError as error:
        raise _damaged_error(f"cannot be read: {error.strerror or error}", path) from None
    except (EOFError, zlib.error):
        raise InputError(
            "the compressed file ends too early or is damaged",
            remedy="copy it again",
            path=str(path),
        ) from None
    if max(text.latest, header.ticks) * sum(header.threads) >= _LARGEST:
        raise _damaged_error("times are too large for a run", path)
    records = text.records()
    if not len(records.states) + len(records.sends) and (records.end < 0).all():
        raise _damaged_error("holds no record", path)
    return header, records


def _damaged_error(message: str, path: Path, line: int | None = None) -> InputError:
    return InputError(message, remedy="give a complete trace", path=str(path), line=line)


_APPLICATION = re.compile(r"(\d{1,18})\(((?:\d{1,18}:\d+,?)*)\)(?:,\d+(?![\d(]))?")


def _read_header(file: File, path: Path, application: int | None) -> tuple[Header, bytes, int]:
    """Reads the header. Also returns the text read beyond it, and the line number at which that
    text begins.
    """
    first = file.readline(_CHUNK).decode("latin-1").rstrip("\r\n")
    # The date in parentheses may contain a colon.
    match = re.fullmatch(r"#Paraver \(.*?\):(\d{1,99})(_ns|_us)?:(.*)", first)
    if match is None:
        raise InputError(
            "is not a Paraver trace: its first line does not start with '#Paraver (date):time'",
            remedy="give a .prv or .prv.gz file",
            path=str(path),
            line=1,
        )
    machine, _, rest = match[3].partition(":")  # nodes, then the number of applications
    if re.match(r"\d+\([\d,]*\)", machine) is None and not machine.isdigit():
        raise _damaged_error("its first line names no nodes", path, 1)
    of_all = _threads_of_applications(rest, path)
    if application is None and len(of_all) != 1:
        raise InputError(
            f"holds {len(of_all)} applications",
            remedy=f"choose one with --application 1 to {len(of_all)}",
            path=str(path),
            line=1,
        )
    if not 1 <= (application or 1) <= len(of_all):
        raise InputError(
            f"has no application {application}", remedy=f"it has {len(of_all)}", path=str(path)
        )
    number = (application or 1) if len(of_all) > 1 else None
    threads = of_all[(number or 1) - 1]
    before = sum(map(sum, of_all[: (number or 1) - 1]))
    communicators: dict[int, tuple[int, ...]] = {}
    line = 2
    text = file.readline(_CHUNK)
    while text[:1] in (b"c", b"i", b"#", b"\n", b"\r") and text:
        if text.startswith(b"c:"):
            fields = text.decode("latin-1").strip().split(":")
            try:
                numbers = [int(field) for field in fields[1:] if field]
                if number in (None, numbers[0]):
                    communicators[numbers[1]] = tuple(task - 1 for task in numbers[3:])
            except (ValueError, IndexError):
                raise _damaged_error("is not a communicator", path, line) from None
        text = file.readline(_CHUNK)
        line += 1
    unit = 1e9 if match[2] == "_ns" else 1e6
    return Header(int(match[1]), unit, threads, communicators, number, before), text, line


def _threads_of_applications(text: str, path: Path) -> list[tuple[int, ...]]:
    """Returns the number of threads of each task, with one tuple per application."""
    applications, _, lists = text.partition(":")
    if re.fullmatch(r"\d{1,18}", applications) is None:
        raise _damaged_error("its first line names no tasks", path, 1)
    of_all: list[tuple[int, ...]] = []
    for _ in range(int(applications)):
        tasks = _APPLICATION.match(lists)
        if tasks is None:
            raise _damaged_error("its first line names no tasks", path, 1)
        lists = lists[tasks.end() :].lstrip(":,")  # merged traces separate applications by commas
        threads = tuple(int(part.split(":")[0]) for part in tasks[2].strip(",").split(",") if part)
        if len(threads) != int(tasks[1]) or not threads:
            raise _damaged_error(
                f"its first line announces {tasks[1]} tasks and lists {len(threads)}", path, 1
            )
        of_all.append(threads)
    announced = sum(map(sum, of_all))
    if announced > _MOST_THREADS:
        raise _damaged_error(f"its first line announces {announced} threads", path, 1)
    return of_all


class _Rows(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("location", "number", "time", "value")),
        ("count", ctypes.c_int64),
    ]


_BY_LOCATION = ("threads", "first", "first_event", "first_state", "end_of")
_TABLES = 8


class _Table(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("length", "application", "tasks")),
        *((name, ctypes.c_void_p) for name in _BY_LOCATION),
        ("tables", _Rows * _TABLES),
        *((name, ctypes.c_int64) for name in ("skipped", "latest", "error", "line")),
        *((name, ctypes.c_int64) for name in ("begin", "end", "first_number", "second_number")),
    ]


_NO_NUMBER, _NO_RECORD, _NO_SUCH_KIND, _NO_SUCH_THREAD = 1, 2, 3, 4
_SHORTEST = (15, 10, 10, 10, 4, 10, 29, 29)
"""The minimum length in bytes of the text of one row, for each table of `Records`."""
_COLUMNS = (np.int32, np.int32, np.int64, np.int64)


class _Text:
    """Parses the text of a trace piece by piece and collects the records as tables."""

    def __init__(self, header: Header, kernels: Kernels, path: Path, line: int) -> None:
        self._header, self._path, self._line = header, path, line
        self._library = kernels.load("paraver_text.c")
        self._threads = np.array(header.threads, dtype=np.int64)
        self._first = np.concatenate([[0], np.cumsum(self._threads)]).astype(np.int64)
        self._first_event, self._first_state = np.full((2, self._first[-1]), NEVER)
        self._end = np.full(self._first[-1], -1)
        in_files = path.stat().st_size > _MOST_IN_MEMORY
        self._tables = [[GrowingColumn(kind, in_files) for kind in _COLUMNS] for _ in _SHORTEST]
        self._skipped = 0
        self._buffer_bytes = -1
        self._buffers: list[list[NDArray[Any]]] = []
        self.latest = 0

    def read(self, file: File, rest: bytes) -> None:
        """Parses `rest` and the remaining text of the file. Raises InputError for an invalid
        line.
        """
        text, have = bytearray(rest) + bytes(_CHUNK), len(rest)
        while True:
            if len(text) < have + _CHUNK:
                text.extend(bytes(_CHUNK))
            with memoryview(text) as view:
                more = file.readinto(view[have : have + _CHUNK])
            if not more:
                break
            cut = text.rfind(b"\n", 0, have + more) + 1
            self._parse_lines(text, cut)
            have += more - cut
            text[:have] = text[cut : cut + have]
            if have > _LONGEST_LINE:
                message = f"has a line of more than {_LONGEST_LINE >> 20} MiB"
                raise _damaged_error(message, self._path, self._line)
        text[have : have + 1] = b"\n"
        self._parse_lines(text, have + 1)

    def _parse_lines(self, text: bytearray, length: int) -> None:
        """Parses the complete lines in the first `length` bytes of `text`."""
        if length > self._buffer_bytes:
            self._buffer_bytes = length
            rooms = [length // least + 2 for least in _SHORTEST]
            self._buffers = [[np.empty(room, dtype=kind) for kind in _COLUMNS] for room in rooms]
        table = _Table(
            text=np.frombuffer(text, dtype=np.uint8).ctypes.data, length=length,
            application=self._header.application or 0, tasks=len(self._threads),
            threads=self._threads.ctypes.data, first=self._first.ctypes.data,
            first_event=self._first_event.ctypes.data,
            first_state=self._first_state.ctypes.data, end_of=self._end.ctypes.data,
            tables=(_Rows * _TABLES)(*(
                _Rows(*(column.ctypes.data for column in buffer)) for buffer in self._buffers
            )),
        )  # fmt: skip
        self._library.rp_paraver_text(ctypes.byref(table))
        if table.error:
            raise _error_of_line(table, text, self._path, self._line)
        for columns, buffer, rows in zip(self._tables, self._buffers, table.tables, strict=True):
            for column, array in zip(columns, buffer, strict=True):
                column.append(array[: rows.count])
        self._skipped += table.skipped
        self.latest = max(self.latest, table.latest)
        self._line += table.line

    def records(self) -> Records:
        """Returns all collected records and releases the collected pieces. It can be called only
        once.
        """
        tables = (Rows(*(column.whole() for column in columns)) for columns in self._tables)
        return Records(self._skipped, self._first_event, self._first_state, self._end, *tables)


def _error_of_line(table: _Table, text: bytearray, path: Path, first: int) -> InputError:
    """Creates the error for the line at which the parser in C stopped."""
    one, other = table.first_number, table.second_number
    if table.error == _NO_SUCH_THREAD:
        return InputError(
            f"has a record of task {one}, thread {other}, which its first line does not list",
            remedy="the trace and its header do not belong together",
            path=str(path),
        )
    if table.error == _NO_NUMBER:
        shown = text[table.begin : table.end][:30].decode("latin-1").rstrip("\r")
        message = f"'{shown}' is not a number" if shown else "a number is missing"
    elif table.error == _NO_RECORD:
        message = f"is not a record: {one} numbers after {other}"
    else:
        message = f"records of kind {one} are unknown"
    return _damaged_error(message, path, first + int(table.line))
