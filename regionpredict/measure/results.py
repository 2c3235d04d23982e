"""The lines that a measured program writes -> the regions of one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from regionpredict.documents import parse_json
from regionpredict.errors import InputError
from regionpredict.measure.instrument import NOWAIT
from regionpredict.measure.records import EntrySize, RegionRun

_NS = 1e-9
Place = tuple[str, int, int]


class Results(NamedTuple):
    """What one run of a program wrote; `processes` is 0 where no measured process ended."""

    program: str
    compiler: str
    runtime: str
    processes: int
    regions: tuple[RegionRun, ...]


def read_results(lines: Iterable[str]) -> Results:
    """Reads the lines; one that is torn or not ours is left out.

    Instances of one region in a process (of a template, of a header in several files) add up. Of
    several processes (ranks) that ran the same region, the one that spent most time in it counts.
    """
    program = compiler = runtime = ""
    processes = 0
    by_region: dict[Place, dict[int, RegionRun]] = {}
    sizes: dict[Place, dict[str, EntrySize]] = {}
    for entry in result_entries(lines):
        try:
            if entry["kind"] == "run":
                program, compiler, runtime = entry["program"], entry["compiler"], entry["runtime"]
                processes += 1
                continue
            if entry["kind"] == "size":
                _add_size(sizes, entry)
                continue
            region, pid = _region(entry), int(entry["pid"])
        except (ValueError, KeyError, TypeError):
            continue
        by_process = by_region.setdefault(region.place, {})
        by_process[pid] = _sum(by_process[pid], region) if pid in by_process else region
    regions = [max(runs.values(), key=lambda run: run.total_s) for runs in by_region.values()]
    regions = [replace(one, sizes=tuple(sizes.get(one.place, {}).values())) for one in regions]
    regions.sort(key=lambda run: run.place)
    return Results(program, compiler, runtime, processes, tuple(regions))


def _add_size(sizes: dict[Place, dict[str, EntrySize]], entry: dict[str, Any]) -> None:
    """Adds a name's values to those of the region's other instances and processes."""
    size = EntrySize(
        str(entry["name"]), *(int(entry[key]) for key in ("entries", "first", "least", "most"))
    )
    of_region = sizes.setdefault((entry["file"], entry["line"], entry["ordinal"]), {})
    of_region[size.name] = joined_sizes(of_region.get(size.name), size)


def joined_sizes(first: EntrySize | None, second: EntrySize) -> EntrySize:
    """A name's values in two lots of entries as one."""
    if first is None:
        return second
    return EntrySize(
        first.name, first.entries + second.entries, first.first,
        min(first.least, second.least), max(first.most, second.most),
    )  # fmt: skip


def result_entries(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The JSON objects of the lines; a line that is torn or none of ours is left out."""
    for line in lines:
        try:
            entry = parse_json(line, "the results of a run", "measure again")
        except InputError:
            continue
        if isinstance(entry, dict):
            yield entry


def _region(entry: dict[str, Any]) -> RegionRun:
    return RegionRun(
        file=entry["file"],
        line=entry["line"],
        loop_line=entry["loop_line"],
        function=entry["function"],
        directive=entry["directive"],
        build=entry["build"],
        executions=entry["executions"],
        total_s=entry["total_ns"] * _NS,
        least_s=entry["least_ns"] * _NS,
        most_s=entry["most_ns"] * _NS,
        first_s=entry["first_ns"] * _NS,
        counted=entry["counted"],
        trips=entry["trips"],
        least_trips=entry["least_trips"],
        most_trips=entry["most_trips"],
        least_team=entry["least_team"],
        most_team=entry["most_team"],
        nowait=bool(entry["flags"] & NOWAIT),
        ordinal=entry.get("ordinal", 1),
        text=entry.get("text", ""),
        lines=entry.get("lines", 0),
    )


def _sum(first: RegionRun, second: RegionRun) -> RegionRun:
    """Two instances of a region as one."""
    counted = [run for run in (first, second) if run.counted]
    return RegionRun(
        first.file, first.line, first.loop_line, first.function, first.directive, first.build,
        executions=first.executions + second.executions,
        total_s=first.total_s + second.total_s,
        least_s=min(first.least_s, second.least_s),
        most_s=max(first.most_s, second.most_s),
        first_s=first.first_s,
        counted=first.counted + second.counted,
        trips=first.trips + second.trips,
        least_trips=min((run.least_trips for run in counted), default=0),
        most_trips=max((run.most_trips for run in counted), default=0),
        least_team=min(first.least_team, second.least_team),
        most_team=max(first.most_team, second.most_team),
        nowait=first.nowait,
        ordinal=first.ordinal,
        text=first.text,
        lines=first.lines,
    )  # fmt: skip
