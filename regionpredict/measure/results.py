"""The lines that a measured program writes -> the regions of one run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from regionpredict.measure.instrument import NOWAIT
from regionpredict.measure.records import RegionRun

_NS = 1e-9


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
    found: dict[tuple[str, int, int], dict[int, RegionRun]] = {}
    for line in lines:
        try:
            entry = json.loads(line)
            if entry["kind"] == "run":
                program, compiler, runtime = entry["program"], entry["compiler"], entry["runtime"]
                processes += 1
                continue
            region, pid = _region(entry), int(entry["pid"])
        except (ValueError, KeyError, TypeError):
            continue
        of_process = found.setdefault(region.place, {})
        of_process[pid] = _added(of_process[pid], region) if pid in of_process else region
    regions = [max(by.values(), key=lambda one: one.total_s) for by in found.values()]
    regions.sort(key=lambda one: one.place)
    return Results(program, compiler, runtime, processes, tuple(regions))


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
    )


def _added(one: RegionRun, other: RegionRun) -> RegionRun:
    both = [part for part in (one, other) if part.counted]
    return RegionRun(
        one.file, one.line, one.loop_line, one.function, one.directive, one.build,
        executions=one.executions + other.executions,
        total_s=one.total_s + other.total_s,
        least_s=min(one.least_s, other.least_s),
        most_s=max(one.most_s, other.most_s),
        first_s=one.first_s,
        counted=one.counted + other.counted,
        trips=one.trips + other.trips,
        least_trips=min((part.least_trips for part in both), default=0),
        most_trips=max((part.most_trips for part in both), default=0),
        least_team=min(one.least_team, other.least_team),
        most_team=max(one.most_team, other.most_team),
        nowait=one.nowait,
        ordinal=one.ordinal,
    )  # fmt: skip
