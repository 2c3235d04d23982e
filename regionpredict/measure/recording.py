"""What one measured run tells of sizes: each region's executions, trip counts and values of names.

In: a file of `regionpredict measure`, or what a measured program wrote by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from regionpredict.documents import read_bytes
from regionpredict.errors import InputError, one_line
from regionpredict.measure.records import EntrySize, RegionRun, Run
from regionpredict.measure.results import Results, read_results
from regionpredict.measure.store import read_campaign

_REMEDY = "give a file of regionpredict measure"


@dataclass(frozen=True, slots=True)
class RecordedRegion:
    """One region in the run.

    `least_trips` and `most_trips` are None where the program could not count; `macros` are the
    `-D` and `-U` that it was compiled with. `text` is the digest of its `lines` lines. Of a whole
    `parallel` the same is told, but no trips; loops that its threads share by hand are in `sizes`.
    """

    file: str
    line: int
    loop_line: int
    ordinal: int
    text: str
    lines: int
    executions: int
    least_trips: int | None
    most_trips: int | None
    sizes: Mapping[str, EntrySize]
    macros: frozenset[str]


@dataclass(frozen=True, slots=True)
class Recording:
    """The regions of one run and its `parallel` constructs, and the file that tells of it."""

    path: str
    regions: tuple[RecordedRegion, ...]
    teams: tuple[RecordedRegion, ...] = ()


def read_recording(path: Path) -> Recording:
    """The run on the fewest threads in a file, the first of several.

    Raises InputError where the file cannot be read, holds no run, or is none of measurements.
    """
    run: Results | Run | None = _written_by_a_program(path)
    if run is None:
        campaign = read_campaign(path)
        if not campaign.runs:
            raise InputError("no run in it", remedy="measure one", path=one_line(str(path)))
        run = min(campaign.runs, key=lambda run: run.threads)
    return Recording(
        one_line(str(path)), tuple(map(_recorded, run.regions)), tuple(map(_recorded, run.teams))
    )


def _written_by_a_program(path: Path) -> Results | None:
    """What a file tells that REGIONPREDICT_OUTPUT named; None where it is another one."""
    text = read_bytes(path, _REMEDY).decode("utf-8", "replace")
    if not text.startswith('{"kind":"run","pid":'):
        return None
    return read_results(text.splitlines())


def _recorded(region: RegionRun) -> RecordedRegion:
    macros = [word for word in region.build.split() if word.startswith(("-D", "-U"))]
    return RecordedRegion(
        region.file, region.line, region.loop_line, region.ordinal, region.text, region.lines,
        executions=region.executions,
        least_trips=region.least_trips if region.counted else None,
        most_trips=region.most_trips if region.counted else None,
        sizes={size.name: size for size in region.sizes},
        macros=frozenset(macros),
    )  # fmt: skip
