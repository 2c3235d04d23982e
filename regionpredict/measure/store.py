"""The measurements file: JSON lines that are appended immediately, so it is readable even if the
writer is killed.

The first line is the campaign (schema `regionpredict/measurements/1`). Every other line is a run. A
last line without a newline was interrupted and is ignored.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from regionpredict import __version__
from regionpredict.atomic_file import system_message, write_all
from regionpredict.documents import input_errors_while_reading, read_bytes
from regionpredict.errors import InputError
from regionpredict.json_records import Record, json_record
from regionpredict.measure.records import (
    SCHEMA,
    Campaign,
    EntryCase,
    Host,
    RegionRun,
    Run,
)


class Store:
    """An open measurements file that runs are appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, campaign: Campaign) -> None:
        """Writes the campaign's line to a new file."""
        entry = asdict(replace(campaign, runs=()))
        del entry["runs"]
        tool = {"name": "regionpredict", "version": __version__}
        self._append_entry({"kind": "campaign", "schema": SCHEMA, "tool": tool, **entry})

    def add(self, run: Run) -> None:
        """Appends one run to the file."""
        beside = None if run.beside is None else run.beside._asdict()
        self._append_entry({"kind": "run", **asdict(run), "beside": beside})

    def _append_entry(self, entry: dict[str, Any]) -> None:
        append_line(self.path, entry)


def append_line(path: Path, entry: dict[str, Any]) -> None:
    """Appends a line of JSON, after it terminates an incomplete last line. Raises InputError if the
    file cannot be written.
    """
    data = (json.dumps(entry) + "\n").encode()
    try:
        handle = _open_to_append(path)
        try:
            _remove_incomplete_line(handle)
            write_all(handle, data)
        finally:
            os.close(handle)
    except (OSError, RuntimeError) as error:  # RuntimeError: circular links
        raise InputError(
            f"cannot be written: {system_message(error)}",
            remedy="choose another -o FILE",
            path=str(path),
        ) from None


def _open_to_append(path: Path) -> int:
    """Opens a regular file for reading and appending. Links are followed."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path.resolve(), flags, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "is not a regular file")
    return handle


def _remove_incomplete_line(handle: int) -> None:
    """Removes an incomplete last line."""
    size = os.lseek(handle, 0, os.SEEK_END)
    if size == 0:
        return
    if os.pread(handle, 1, size - 1) == b"\n":
        return
    data = os.pread(handle, size, 0)
    os.ftruncate(handle, data.rfind(b"\n") + 1)


def read_campaign(path: Path) -> Campaign:
    """Reads a measurements file. Several campaigns in one file (concatenated by `cat`) are merged.

    Raises InputError if the file cannot be read, is not a measurements file, or mixes hosts,
    programs or bindings.
    """
    remedy = "give a file written by regionpredict measure"
    text = read_bytes(path, remedy).decode("utf-8", "replace")
    lines = text.split("\n")
    torn = lines.pop()  # "" after the last complete line
    campaign: Campaign | None = None
    runs: list[Run] = []
    for number, line in enumerate(lines, 1):
        with input_errors_while_reading(path, "a line of measurements", remedy, number):
            entry = json_record(line, "a line of measurements", path, remedy, number)
            if entry.value.get("kind") == "campaign":
                campaign = _check_same_campaign(campaign, _parse_campaign(entry), path, number)
            elif entry.value.get("kind") == "run":
                runs.append(_parse_run(entry))
    if campaign is None and torn and not '{"kind": "campaign"'.startswith(torn[:19]):
        raise InputError(
            "not a file of measurements", remedy="give a file written by regionpredict measure",
            path=str(path),
        )  # fmt: skip
    if campaign is None:
        left = "it ends in its first line" if torn else "it is empty" if not text else "no campaign"
        raise InputError(
            f"no measurements: {left}", remedy="measure again, or give another file", path=str(path)
        )
    return replace(campaign, runs=tuple(runs))


def _check_same_campaign(
    known: Campaign | None, other: Campaign, path: Path, line: int
) -> Campaign:
    if known is None:
        return other
    for what, first, second in (
        ("hosts", known.host, other.host),
        ("programs", known.command, other.command),
        ("bindings", known.binding, other.binding),
    ):
        if first != second:
            raise InputError(
                f"measurements of different {what} in one file: {_value_text(first)} and "
                f"{_value_text(second)}",
                remedy="keep one file for each", path=str(path), line=line,
            )  # fmt: skip
    return known


def _value_text(value: object) -> str:
    if isinstance(value, Host):
        return f"{value.name} ({value.processor})"
    if isinstance(value, tuple):
        return " ".join(str(part) for part in value)
    return str(value)


def _parse_campaign(entry: Record) -> Campaign:
    if entry.text("schema") != SCHEMA:
        raise entry.error("schema", f"is not {SCHEMA}")
    return entry.fill(Campaign, binding=dict(entry.inner("binding").value), runs=())


def _parse_run(entry: Record) -> Run:
    teams = entry.inner_records("teams") if "teams" in entry.value else ()
    regions = tuple(map(_region_run, entry.inner_records("regions")))
    return entry.fill(Run, regions=regions, teams=tuple(map(_region_run, teams)))


def _region_run(region: Record) -> RegionRun:
    cases = region.inner_records("cases") if "cases" in region.value else ()
    return region.fill(RegionRun, cases=tuple(map(read_case, cases)))


def read_case(case: Record) -> EntryCase:
    """Parses a case of a region's executions, in the format of the program and of the file."""
    trips = case.whole("trips") if case.value.get("trips") is not None else None
    values = case.inner("values")
    named = {name: values.whole(name, -(1 << 63)) for name in values.value if name}
    return EntryCase(case.whole("entries", 1), trips, named)
