"""Reads the efficiency factors of several versions of one program from results of `trace factors`.

The input files are written by `regionpredict trace factors --format json`, one per version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.json_records import Share, json_record

_SCHEMA = "regionpredict/factors/1"
_REMEDY = "give a file of regionpredict trace factors --format json"


@dataclass(frozen=True, slots=True)
class VersionRun:
    """A run of one version on `width` processes, with its time in seconds. Factors are from 0 to 1,
    and None if the run does not contain them.
    """

    width: int
    runtime_s: float
    load_balance: Share
    serialisation: Share | None
    transfer: Share | None
    communication: Share
    parallel: Share


@dataclass(frozen=True, slots=True)
class Version:
    """The runs of one version of the program. `name` is the file name without its suffix."""

    name: str
    runs: tuple[VersionRun, ...]


def read_version(path: Path) -> Version:
    """Reads the runs of one version. Raises InputError if the file is not such a result."""
    record = json_record(read_text(path, _REMEDY), "a result of trace factors", path, _REMEDY)
    if record.text("schema") != _SCHEMA:
        raise record.error("schema", f"is not '{_SCHEMA}'")
    runs = tuple(
        run.fill(VersionRun, width=run.whole("ranks", 1)) for run in record.inner_records("runs")
    )
    if not runs:
        raise record.error("runs", "is empty")
    return Version(path.stem, runs)


def by_width(versions: Sequence[Version]) -> Iterator[tuple[int, list[tuple[str, VersionRun]]]]:
    """Yields each number of processes with the runs of all versions on it, in the order of
    versions.

    Raises InputError if a version has two runs on one number of processes.
    """
    widths = sorted({run.width for version in versions for run in version.runs})
    for width in widths:
        own = [(version.name, run) for version in versions for run in version.runs
               if run.width == width]  # fmt: skip
        names = [name for name, _ in own]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{twice} has several runs on {width} processes",
                remedy="give one result per version, and rename files with the same name",
            )
        yield width, own
