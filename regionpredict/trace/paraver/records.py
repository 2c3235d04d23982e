"""The text of a Paraver trace as columns of numbers.

The format (BSC, "Paraver: Parallel Program Visualization and Analysis tool, Trace format"): a
header, lines `c:` for communicators, then a record a line, numbers with colons between them:

    1:cpu:application:task:thread:begin:end:state
    2:cpu:application:task:thread:time:type:value:type:value...
    3:cpu:application:task:thread:logical send:physical send:
      cpu:application:task:thread:logical receive:physical receive:size:tag
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError

_CHUNK = 1 << 24  # bytes of text taken apart at once: bounds the memory, not the result
_LONGEST_LINE = 1 << 26  # an event record with millions of pairs: no tracer writes one
_COLON, _NEWLINE, _ZERO, _MINUS = 58, 10, 48, 45
_STATE_FIELDS, _MESSAGE_FIELDS, _EVENT_FIELDS = 8, 15, 6
_LONGEST = 20  # digits of the largest unsigned 64-bit number, which failed counters show
_MOST_THREADS = 10**7  # more than any machine runs of one program: the number is damaged
_LARGEST = 2**62  # times and places in one integer
_POWERS = (10 ** np.arange(_LONGEST, dtype=np.uint64)).astype(np.uint64)

_PASSED_OVER = 4  # collective communication, which old tracers wrote and Paraver does not read

Integers = NDArray[np.int64]
_Parts = tuple[Integers, Integers, Integers, Integers]  # as in Records
File = gzip.GzipFile | BufferedReader


@dataclass(frozen=True, slots=True)
class Header:
    """What the head of the file says of one application.

    `ticks_per_second` is 1e9 or 1e6; `threads` has each task's number of threads; `communicators`
    the tasks (from 0) of each, by its number. `application` counts from 1; it is None where the
    file has one only. `threads_before` are those of the applications before it.
    """

    ticks: int
    ticks_per_second: float
    threads: tuple[int, ...]
    communicators: dict[int, tuple[int, ...]]
    application: int | None = None
    threads_before: int = 0


@dataclass(frozen=True, slots=True)
class Records:
    """All records, in the order of the file; tasks and threads count from 0.

    `states` is (n, 5): task, thread, begin, end, state. `events` is (n, 5): task, thread, time,
    type, value. `messages` is (n, 10): task, thread, logical and physical send; the same of the
    receive; size and tag. Times are ticks. `passed_over` is the kind of each
    record that is not read.
    """

    states: Integers
    events: Integers
    messages: Integers
    passed_over: Integers


def read_records(path: Path, application: int | None = None) -> tuple[Header, Records]:
    """The header and the records of `path`, gzipped where its name ends in `.gz`.

    `application` counts from 1; None is the only one. Raises InputError where the file cannot be
    read, is no such text, or does not have that application.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            header, rest, line = _header(file, path, application)
            parts: list[_Parts] = []
            for chunk, first in _chunks(file, rest, line, path):
                parts.append(_records_of(chunk, path, first, header))
    except OSError as error:
        raise _damaged(f"cannot be read: {error.strerror or error}", path) from None
    except (EOFError, zlib.error):
        raise InputError(
            "the compressed file ends too early or is damaged",
            remedy="copy it again",
            path=str(path),
        ) from None
    last = max((int(part.max(initial=0)) for kinds in parts for part in _times(kinds)), default=0)
    if max(last, header.ticks) * sum(header.threads) >= _LARGEST:
        raise _damaged("times are too large to be of a run", path)
    kinds = [np.concatenate(kind) for kind in zip(*parts, strict=True)] if parts else []
    if not kinds or not any(map(len, kinds[:-1])):
        raise _damaged("holds no record", path)
    return header, Records(*kinds)


def _damaged(message: str, path: Path, line: int | None = None) -> InputError:
    return InputError(message, remedy="give a complete trace", path=str(path), line=line)


def _times(tables: _Parts) -> tuple[Integers, ...]:
    states, events, messages, _ = tables
    return states[:, 2:4], events[:, 2], messages[:, 2:4], messages[:, 6:8]


_APPLICATION = re.compile(r"(\d+)\(((?:\d+:\d+,?)*)\)(?:,(\d+))?")


def _header(file: File, path: Path, application: int | None) -> tuple[Header, bytes, int]:
    """The header, the text read beyond it, and the number of the line that text begins with."""
    first = file.readline(_CHUNK).decode("latin-1").rstrip("\r\n")
    # the date in parentheses may hold a colon
    match = re.fullmatch(r"#Paraver \(.*?\):(\d+)(_ns|_us)?:(.*)", first)
    if match is None:
        raise InputError(
            "is not a Paraver trace: its first line does not start with '#Paraver (date):time'",
            remedy="give a .prv or .prv.gz file",
            path=str(path),
            line=1,
        )
    machine, _, rest = match[3].partition(":")  # nodes, then the number of applications
    if re.match(r"\d+\([\d,]*\)", machine) is None and not machine.isdigit():
        raise _damaged("its first line names no nodes", path, 1)
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
                raise _damaged("is not a communicator", path, line) from None
        text = file.readline(_CHUNK)
        line += 1
    unit = 1e9 if match[2] == "_ns" else 1e6
    return Header(int(match[1]), unit, threads, communicators, number, before), text, line


def _threads_of_applications(text: str, path: Path) -> list[tuple[int, ...]]:
    """The number of threads of each task, a tuple an application."""
    applications, _, lists = text.partition(":")
    if not applications.isdigit():
        raise _damaged("its first line names no tasks", path, 1)
    of_all: list[tuple[int, ...]] = []
    for _ in range(int(applications)):
        tasks = _APPLICATION.match(lists)
        if tasks is None:
            raise _damaged("its first line names no tasks", path, 1)
        lists = lists[tasks.end() :].removeprefix(":")
        threads = tuple(int(part.split(":")[0]) for part in tasks[2].strip(",").split(",") if part)
        if len(threads) != int(tasks[1]) or not threads:
            raise _damaged(
                f"its first line announces {tasks[1]} tasks and lists {len(threads)}", path, 1
            )
        of_all.append(threads)
    announced = sum(map(sum, of_all))
    if announced > _MOST_THREADS:
        raise _damaged(f"its first line announces {announced} threads", path, 1)
    return of_all


def _chunks(file: File, rest: bytes, line: int, path: Path) -> Iterator[tuple[bytes, int]]:
    """Whole lines of text and the number of their first; InputError for an endless line."""
    while True:
        more = file.read(_CHUNK)
        text = rest + more
        if not more:
            if text.strip():
                yield (text if text.endswith(b"\n") else text + b"\n"), line
            return
        cut = text.rfind(b"\n") + 1
        if cut:
            yield text[:cut], line
            line += text.count(b"\n", 0, cut)
        rest = text[cut:]
        if len(rest) > _LONGEST_LINE:
            raise _damaged(f"has a line of more than {_LONGEST_LINE >> 20} MiB", path, line)


def _records_of(text: bytes, path: Path, first: int, header: Header) -> _Parts:
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
    if b"\n#" in text or text.startswith(b"#"):
        text = re.sub(rb"(?m)^#.*$", b"", text)
    numbers, starts, counts, lines = _numbers(np.frombuffer(text, dtype=np.uint8), path, first)
    kind = numbers[starts]
    wrong = ~(
        ((kind == 1) & (counts == _STATE_FIELDS))
        | ((kind == 2) & (counts > _EVENT_FIELDS) & (counts % 2 == 0))
        | ((kind == 3) & (counts == _MESSAGE_FIELDS))
        | (kind == _PASSED_OVER)
    )
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"is not a record: {counts[at]} numbers after {kind[at]}"
            if kind[at] in (1, 2, 3)
            else f"records of kind {kind[at]} are not known",
            remedy="give a complete trace",
            path=str(path),
            line=first + int(lines[at]),
        )
    passed_over = kind[kind == _PASSED_OVER]
    if header.application is not None:
        # A record of four numbers or more has its application third; a message's two must agree.
        mine = (kind != _PASSED_OVER) & (
            numbers[np.minimum(starts + 2, len(numbers) - 1)] == header.application
        )
        received = np.flatnonzero(mine & (kind == 3))
        mine[received] = numbers[starts[received] + 8] == header.application
        starts, counts, kind = starts[mine], counts[mine], kind[mine]
    begin = starts[kind == 1]
    states = np.stack([numbers[begin + field] for field in (3, 4, 5, 6, 7)], axis=1)
    begin, count = starts[kind == 2], counts[kind == 2]
    pairs = (count - _EVENT_FIELDS) // 2
    owner = np.repeat(np.arange(len(begin)), pairs)
    within = np.arange(int(pairs.sum())) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    place = begin[owner] + _EVENT_FIELDS + 2 * within
    head = begin[owner]
    columns = [numbers[head + field] for field in (3, 4, 5)]
    events = np.stack([*columns, numbers[place], numbers[place + 1]], axis=1)
    begin = starts[kind == 3]
    fields = (3, 4, 5, 6, 9, 10, 11, 12, 13, 14)
    messages = np.stack([numbers[begin + field] for field in fields], axis=1)
    for table, columns_of_place in ((states, (0,)), (events, (0,)), (messages, (0, 4))):
        for column in columns_of_place:
            table[:, column : column + 2] -= 1
            _check_threads(table[:, column], table[:, column + 1], header, path)
    return states, events, messages, passed_over


def _check_threads(task: Integers, thread: Integers, header: Header, path: Path) -> None:
    threads = np.array(header.threads)
    known = (task >= 0) & (task < len(threads))
    known &= (thread >= 0) & (thread < threads[np.where(known, task, 0)])
    if not known.all():
        at = int(np.flatnonzero(~known)[0])
        raise InputError(
            f"has a record of task {task[at] + 1}, thread {thread[at] + 1}, which its first line "
            "does not list",
            remedy="the trace and its header do not belong together",
            path=str(path),
        )


def _numbers(
    text: NDArray[np.uint8], path: Path, first: int
) -> tuple[Integers, Integers, Integers, Integers]:
    """The numbers, and of each line that has any: its first one, how many, and its place.

    All digits at one place from the right are taken at once: as many passes as digits.
    """
    newline = text == _NEWLINE
    ends = np.flatnonzero(newline | (text == _COLON))
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    lengths = ends - starts
    closes = newline[ends]
    blank = closes & (lengths == 0) & np.concatenate([[True], closes[:-1]])
    lines = np.concatenate([[0], np.cumsum(closes)[:-1]])
    kept = ~blank
    if blank.any():
        ends, starts, lengths, closes = ends[kept], starts[kept], lengths[kept], closes[kept]
        lines = lines[kept]
    negative = text[np.minimum(starts, len(text) - 1)] == _MINUS
    lengths = lengths - negative
    broken = (lengths < 1) | (lengths > _LONGEST)
    magnitudes = np.zeros(len(ends), dtype=np.uint64)
    some = np.flatnonzero(~broken)
    for place in range(int(lengths.max(initial=0)) if len(some) else 0):
        if place >= _LONGEST:
            break
        some = some[lengths[some] > place]
        digit = text[ends[some] - 1 - place] - _ZERO  # wraps round below 0
        broken[some[digit > 9]] = True
        magnitudes[some] += digit * _POWERS[place]
    if broken.any():
        at = int(np.flatnonzero(broken)[0])
        shown = bytes(text[starts[at] : ends[at]][:30]).decode("latin-1")
        raise InputError(
            f"'{shown}' is not a number" if shown else "a number is missing",
            remedy="give a complete trace",
            path=str(path),
            line=first + int(lines[at]),
        )
    signed = magnitudes.view(np.int64)
    signed[negative] *= -1
    last = np.flatnonzero(closes)
    head = np.concatenate([[0], last[:-1] + 1])[: len(last)].astype(np.int64)
    return signed, head, last - head + 1, lines[head]
