"""Reads the sizes recorded in one measured run: each region's executions, trip counts and values of
names.

Input: a file of `regionpredict measure`, or the output of a measured program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from regionpredict.documents import read_bytes
from regionpredict.errors import InputError, one_line
from regionpredict.measure.records import EntryCase, EntrySize, RegionRun, Run
from regionpredict.measure.results import Results, read_results
from regionpredict.measure.store import read_campaign

_REMEDY = "give a file of regionpredict measure"


@dataclass(frozen=True, slots=True)
class RecordedRegion:
    """A region in a recorded run.

    `least_trips` and `most_trips` are None if the program could not count. `macros` are the `-D`
    and `-U` of its compilation. `text` is the digest of its `lines` source lines. A whole
    `parallel` has the same data without trips. Manually shared loops are in `sizes`. `cases` is the
    distribution over sizes. It is empty if unknown, or if all executions are equal.
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
    cases: tuple[EntryCase, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """The regions and `parallel` constructs of one run, and the file from which they were read."""

    path: str
    regions: tuple[RecordedRegion, ...]
    teams: tuple[RecordedRegion, ...] = ()


def read_recording(path: Path) -> Recording:
    """Reads the run with the smallest number of threads in a file, the first of several.

    Some loops run only on several threads. A region missing in this run is taken from the next run
    that has it. Raises InputError if the file cannot be read, has no run, or is not a measurements
    file.
    """
    written = _written_by_a_program(path)
    runs: Sequence[Results | Run]
    if written is not None:
        runs = [written]
    else:
        runs = sorted(read_campaign(path).runs, key=attrgetter("threads"))
        if not runs:
            raise InputError("it contains no run", remedy="measure one", path=one_line(str(path)))
    return Recording(
        one_line(str(path)),
        _first_of_each(region for run in runs for region in run.regions),
        _first_of_each(team for run in runs for team in run.teams),
    )


def _first_of_each(regions: Iterable[RegionRun]) -> tuple[RecordedRegion, ...]:
    first: dict[tuple[str, int, int, str], RegionRun] = {}
    for region in regions:
        first.setdefault(region.construct, region)
    return tuple(map(_to_recorded, first.values()))


def together(recordings: Sequence[Recording]) -> Recording:
    """Merges several runs of one program. A region in several runs occurs once, with the range of
    all its sizes.
    """
    return Recording(
        recordings[0].path,
        _merge_regions(region for recording in recordings for region in recording.regions),
        _merge_regions(team for recording in recordings for team in recording.teams),
    )


def _merge_regions(regions: Iterable[RecordedRegion]) -> tuple[RecordedRegion, ...]:
    known: dict[tuple[str, int, int, int, str], RecordedRegion] = {}
    for region in regions:
        key = (region.file, region.line, region.loop_line, region.ordinal, region.text)
        known[key] = _merge_pair(known[key], region) if key in known else region
    return tuple(known.values())


def _merge_pair(first: RecordedRegion, second: RecordedRegion) -> RecordedRegion:
    """Merges a region of two runs, with the executions of the first run."""
    sizes = dict(first.sizes)
    for name, size in second.sizes.items():
        own = sizes.get(name, size)
        sizes[name] = replace(own, least=min(own.least, size.least), most=max(own.most, size.most))
    if first.least_trips is None or first.most_trips is None:
        trips = second.least_trips, second.most_trips
    elif second.least_trips is None or second.most_trips is None:
        trips = first.least_trips, first.most_trips
    else:
        trips = (min(first.least_trips, second.least_trips),
                 max(first.most_trips, second.most_trips))  # fmt: skip
    return replace(
        first, sizes=sizes, least_trips=trips[0], most_trips=trips[1],
        macros=first.macros & second.macros,
        cases=first.cases if first.cases == second.cases else (),
    )  # fmt: skip


def _written_by_a_program(path: Path) -> Results | None:
    """Returns the content of a file written to REGIONPREDICT_OUTPUT. None for other files."""
    text = read_bytes(path, _REMEDY).decode("utf-8", "replace")
    if not text.startswith('{"kind":"run","pid":'):
        return None
    return read_results(text.splitlines())


def _to_recorded(region: RegionRun) -> RecordedRegion:
    macros = [word for word in region.build.split() if word.startswith(("-D", "-U"))]
    return RecordedRegion(
        region.file, region.line, region.loop_line, region.ordinal, region.text, region.lines,
        executions=region.executions,
        least_trips=region.least_trips if region.counted else None,
        most_trips=region.most_trips if region.counted else None,
        sizes={size.name: size for size in region.sizes},
        macros=frozenset(macros),
        cases=region.cases,
    )  # fmt: skip
