"""Reads a recording (the folder made by `tasks record`) into tables of events, one per thread.

The folder has `events-PROCESS-THREAD`, whose layout `measure/runtime/ompt_record.c` defines,
`sites-PROCESS`, `bodies-PROCESS`, and `counters-PROCESS` if counters were requested. After the end
of the program, it has `lines.json` and `counters.json` with the names of counters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regionpredict.documents import parse_json, read_bytes, read_text
from regionpredict.errors import InputError

EVENT_BYTES = 32
MOST_EVENT_BYTES = 4 << 30
"""The maximum size in bytes of one thread's file, enough for about thirty million tasks."""
_LAST_BYTES = 2 << 20  # size of the last written window and the next one
ID_BITS = 40
VERSION = 1
LINES = "lines.json"
COUNTER_NAMES = "counters.json"
_REMEDY = "record it again: regionpredict tasks record -o FOLDER -- PROGRAM"
_SITE = re.compile(r"([0-9]{1,9}) ([0-9a-f]{1,16}) ")
_NUMBER = re.compile(r"[0-9]{1,9}")  # the number of a site
_EVENTS = re.compile(r"events-([0-9]+)-([0-9]+)")

(HEADER, PARALLEL_BEGIN, PARALLEL_END, IMPLICIT_BEGIN, IMPLICIT_END, CREATE, SCHEDULE, SYNC_BEGIN,
 SYNC_END, WORK_BEGIN, WORK_END, DISPATCH, DEPENDENCE, WAIT_BEGIN, WAIT_END,
 FINISHED, COUNTERS) = range(1, 18)  # fmt: skip
STEP, SHARE, PREEMPTED = 23, 24, 25

Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Recording:
    """The events of one process. `threads[k]` has shape `(n, 4)`, in the order of thread k.

    `lines` has `file:line` of each known site, and `addresses` the address of each site in its
    file. `finished` says whether the program ended normally, and `full` whether the disk was full.
    `counted[k]` has shape `(n, c)`: the readings of `counters` at each event of thread k, if they
    were read. They are 0 at events without a time. `waited[k]` has shape `(n,)`: the nanoseconds
    until each event in which thread k was ready but had no processor.
    """

    threads: tuple[Words, ...]
    lines: dict[int, str]
    addresses: dict[int, int]
    finished: bool
    full: bool = False
    counters: tuple[str, ...] = ()
    counted: tuple[Words, ...] = ()
    waited: tuple[Words, ...] = ()


def read_recording(folder: Path) -> Recording:
    """Reads a recording, which may be incomplete. Raises InputError if the folder contains no
    events.
    """
    files: dict[int, dict[int, Path]] = {}
    for file in folder.iterdir():
        match = _EVENTS.fullmatch(file.name)
        if match:
            files.setdefault(int(match[1]), {})[int(match[2])] = file
    if not files:
        raise InputError("no recording: a folder without events", remedy=_REMEDY, path=str(folder))
    if len(files) > 1:
        raise InputError(
            f"{len(files)} processes were recorded",
            remedy="record one program, not a script that starts several", path=str(folder),
        )  # fmt: skip
    threads = next(iter(files.values()))
    tables = [
        _read_thread_events(threads[number], number)
        for number in range(len(threads))
        if number in threads
    ]
    if len(tables) != len(threads):
        raise InputError("a thread's events are missing", remedy=_REMEDY, path=str(folder))
    finished = all(len(table) for table in tables) and any(
        bool((table[:, 0] & np.uint64(255) == FINISHED).any()) for table in tables
    )
    names = _read_counter_names(folder)
    parted = [_event_columns(table, len(names)) for table in tables]
    return Recording(
        threads=tuple(table for table, _, _ in parted),
        lines=_read_lines(folder),
        addresses=_read_addresses(folder),
        finished=finished,
        full=disk_was_full(folder),
        counters=names,
        counted=tuple(counted for _, counted, _ in parted) if names else (),
        waited=tuple(waited for _, _, waited in parted),
    )


def disk_was_full(folder: Path) -> bool:
    """Returns whether the disk was full during the recording."""
    return any(folder.glob("full-*"))


def ended_by_itself(folder: Path) -> bool:
    """Returns whether a recorded program ended normally, according to the last events of its
    threads.
    """
    for file in folder.glob("events-*"):
        whole = file.stat().st_size // EVENT_BYTES * EVENT_BYTES
        begin = max(whole - _LAST_BYTES, 0)
        with file.open("rb") as events:
            events.seek(begin)
            words = np.frombuffer(events.read(whole - begin), dtype="<u8")
        if (words[::4] & np.uint64(255) == FINISHED).any():
            return True
    return False


def _event_columns(table: Words, count: int) -> tuple[Words, Words, Words]:
    """Splits a thread's table into its events, the counter values at each event, and the cumulative
    time without a processor until each event.
    """
    kinds = table[:, 0] & np.uint64(255)
    counts, preempted = np.flatnonzero(kinds == COUNTERS), np.flatnonzero(kinds == PREEMPTED)
    events = np.flatnonzero((kinds != COUNTERS) & (kinds != PREEMPTED))
    counted = np.zeros((len(events), count), dtype=np.uint64)
    counted[np.searchsorted(events, counts) - 1] = table[counts, 1 : 1 + count]
    waited = np.zeros(len(events), dtype=np.uint64)
    np.add.at(waited, np.searchsorted(events, preempted) - 1, table[preempted, 2])
    return table[events], counted, np.cumsum(waited, dtype=np.uint64)


def _read_counter_names(folder: Path) -> tuple[str, ...]:
    path = folder / COUNTER_NAMES
    if not path.exists():
        return ()
    value = parse_json(read_text(path, _REMEDY), path, _REMEDY)
    if not (isinstance(value, list) and len(value) <= 3 and all(isinstance(v, str) for v in value)):
        raise InputError("not the names of counters", remedy=_REMEDY, path=str(path))
    return tuple(value)


def _read_thread_events(file: Path, number: int) -> Words:
    """Reads the events of one thread, up to the first incomplete event."""
    data = read_bytes(file, _REMEDY, most=MOST_EVENT_BYTES)
    words = np.frombuffer(data[: len(data) // EVENT_BYTES * EVENT_BYTES], dtype="<u8")
    table: Words = words.reshape(-1, 4).astype(np.uint64, copy=False)
    if number and not data.strip(b"\0"):  # killed before its thread wrote anything
        return table[:0]
    kinds = table[:, 0] & np.uint64(255)
    unwritten = np.flatnonzero((kinds == 0) | (kinds > PREEMPTED))
    table = table[: unwritten[0]] if len(unwritten) else table
    if not len(table) or int(table[0, 0]) & 255 != HEADER or int(table[0, 2]) != number:
        raise InputError("no events of a recording", remedy=_REMEDY, path=str(file))
    version = int(table[0, 0]) >> 8 & 0xFFFFFF
    if version != VERSION:
        raise InputError(f"of version {version}, not {VERSION}", remedy=_REMEDY, path=str(file))
    return table


def _read_lines(folder: Path) -> dict[int, str]:
    path = folder / LINES
    if not path.exists():
        return {}
    value = parse_json(read_text(path, _REMEDY), path, _REMEDY)
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise InputError("not the lines of a recording", remedy=_REMEDY, path=str(path))
    return {int(key): place for key, place in value.items() if _NUMBER.fullmatch(key)}


def _read_addresses(folder: Path) -> dict[int, int]:
    addresses = {}
    for file in (*folder.glob("sites-*"), *folder.glob("bodies-*")):
        for line in read_text(file, _REMEDY).splitlines():
            match = _SITE.match(line)
            if match:
                addresses[int(match[1])] = int(match[2], 16)
    return addresses


def counter_names_text(names: Sequence[str]) -> str:
    """Returns the content of `counters.json`."""
    return json.dumps(list(names)) + "\n"


def lines_text(lines: dict[int, str]) -> str:
    """Returns the content of `lines.json`."""
    return json.dumps({str(site): place for site, place in sorted(lines.items())}, indent=0) + "\n"
