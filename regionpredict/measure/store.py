"""The measurements file: JSON lines, appended as they come, readable whenever the writer ends.

The first line is the campaign (schema `regionpredict/measurements/1`), every further line one
whole run. A last line without its end was torn by an interruption and does not count.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from regionpredict import __version__
from regionpredict.errors import InputError
from regionpredict.measure.records import SCHEMA, Campaign, Host, RegionRun, Run


class Store:
    """An open measurements file that runs are appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, campaign: Campaign) -> None:
        """Writes the campaign's own line into a new file."""
        entry = asdict(replace(campaign, runs=()))
        del entry["runs"]
        tool = {"name": "regionpredict", "version": __version__}
        self._append({"kind": "campaign", "schema": SCHEMA, "tool": tool, **entry})

    def add(self, run: Run) -> None:
        """Appends one run, whole."""
        self._append({"kind": "run", **asdict(run)})

    def _append(self, entry: dict[str, Any]) -> None:
        data = (json.dumps(entry) + "\n").encode()
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                _end_torn_line(handle)
                os.write(handle, data)
            finally:
                os.close(handle)
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror}", remedy="choose another -o FILE",
                path=str(self.path),
            ) from None  # fmt: skip


def _end_torn_line(handle: int) -> None:
    """Cuts off a line that an interruption left without its end."""
    size = os.lseek(handle, 0, os.SEEK_END)
    if size == 0:
        return
    if os.pread(handle, 1, size - 1) == b"\n":
        return
    data = os.pread(handle, size, 0)
    os.ftruncate(handle, data.rfind(b"\n") + 1)


def read_campaign(path: Path) -> Campaign:
    """Reads a measurements file; several campaigns in one file (put together by `cat`) are joined.

    Raises InputError where the file cannot be read, is no measurements file, or where it mixes
    hosts, programs or bindings.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}",
            remedy="give a file written by regionpredict measure", path=str(path),
        ) from None  # fmt: skip
    lines = text.split("\n")
    torn = lines.pop()  # "" behind the last whole line
    campaign: Campaign | None = None
    runs: list[Run] = []
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if entry.get("kind") == "campaign":
                campaign = _same(campaign, _campaign(entry), path, number)
            elif entry.get("kind") == "run":
                runs.append(_run(entry))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                "not a line of measurements", remedy="give a file written by regionpredict measure",
                path=str(path), line=number,
            ) from None  # fmt: skip
    if campaign is None and torn and not '{"kind": "campaign"'.startswith(torn[:19]):
        raise InputError(
            "not a file of measurements", remedy="give a file written by regionpredict measure",
            path=str(path),
        )  # fmt: skip
    if campaign is None:
        left = "it ends in its first line" if torn else "it is empty" if not text else "no campaign"
        raise InputError(
            f"no measurements: {left}", remedy="measure anew, or give another file", path=str(path)
        )
    return replace(campaign, runs=tuple(runs))


def _same(known: Campaign | None, other: Campaign, path: Path, line: int) -> Campaign:
    if known is None:
        return other
    for what, one, two in (
        ("hosts", known.host, other.host),
        ("programs", known.command, other.command),
        ("bindings", known.binding, other.binding),
    ):
        if one != two:
            raise InputError(
                f"measurements of different {what} in one file: {_shown(one)} and {_shown(two)}",
                remedy="keep one file for each", path=str(path), line=line,
            )  # fmt: skip
    return known


def _shown(value: object) -> str:
    if isinstance(value, Host):
        return f"{value.name} ({value.processor})"
    if isinstance(value, tuple):
        return " ".join(str(part) for part in value)
    return str(value)


def _campaign(entry: dict[str, Any]) -> Campaign:
    if entry["schema"] != SCHEMA:
        raise ValueError(entry["schema"])
    return Campaign(
        command=tuple(entry["command"]),
        host=Host(**entry["host"]),
        binding=dict(entry["binding"]),
        started=entry["started"],
    )


def _run(entry: dict[str, Any]) -> Run:
    fields = {name: value for name, value in entry.items() if name != "kind"}
    fields["regions"] = tuple(RegionRun(**region) for region in entry["regions"])
    return Run(**fields)
