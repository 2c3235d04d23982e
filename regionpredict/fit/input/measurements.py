"""Reads the files of `regionpredict measure`: the time of each region over threads and sizes.

A file holds JSON lines: `kind` `campaign`, then `kind` `run` with `threads` and `regions`. Files of
one program at several sizes may be concatenated with `cat`. The iterations of a region per
execution then become the second parameter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, SeriesBuilder
from regionpredict.json_records import Record, json_record

SCHEMA = "regionpredict/measurements/"


class _Time(NamedTuple):
    """The time of a region in one run. `trips` and `seconds` are for one execution, and `at` is the
    line in the measurements file.

    `trips` is None if the program could not count the iterations.
    """

    file: str
    line: int
    function: str
    threads: int
    trips: float | None
    seconds: float
    at: int


def is_measurements(first: str) -> bool:
    """Returns whether the first line of a file is that of measurements.

    >>> is_measurements('{"kind": "campaign", "schema": "regionpredict/measurements/1"}')
    True
    """
    try:
        entry = json_record(first, "a line of measurements", "", "", 1)
    except InputError:
        return False
    return str(entry.value.get("schema", "")).startswith(SCHEMA)


def read_measurements(path: Path) -> Experiment:
    """Reads the time of one execution of each region in seconds, over `p` threads.

    If some region ran with several trip counts, all regions have the parameters `p` and `n`, the
    iterations of one execution. Regions without trip counts then become problems. Raises InputError
    for an invalid line, and if there is no run.
    """
    times = list(_read_times(path))
    if not times:
        raise InputError("it contains no run", remedy="measure again with --resume", path=str(path))
    sizes: dict[tuple[str, int, str], set[float]] = {}
    for region in times:
        if region.trips is not None:
            sizes.setdefault((region.file, region.line, region.function), set()).add(
                round(region.trips, 6)
            )
    several_sizes = any(len(team_sizes) > 1 for team_sizes in sizes.values())
    builder = SeriesBuilder(("p", "n") if several_sizes else ("p",))
    problems: dict[str, InputError] = {}
    top = _common_folder([region.file for region in times])
    for region in times:
        name = f"{os.path.relpath(region.file, top) if top else region.file}:{region.line}"
        name = f"{name} {region.function}".rstrip()
        if several_sizes and region.trips is None:
            problems.setdefault(
                name,
                InputError(
                    f"{name}: iterations were not counted, and other regions have several sizes",
                    remedy="fit each size by itself", path=str(path), line=region.at,
                ),
            )  # fmt: skip
            continue
        point = (
            (float(region.threads), region.trips or 0.0)
            if several_sizes
            else (float(region.threads),)
        )
        builder.add(name, "time", point, [region.seconds], region.at)
    return Experiment(builder.series(), tuple(problems.values()))


def _common_folder(files: list[str]) -> str:
    """Returns the common folder of all files, or "" if there is none."""
    folders = {str(Path(file).parent) for file in files}
    try:
        return os.path.commonpath(sorted(folders)) if "." not in folders else ""
    except ValueError:
        return ""


def _read_times(path: Path) -> Iterator[_Time]:
    """Yields each region of each valid run. An incomplete last line is ignored."""
    remedy = "give a file written by regionpredict measure"
    lines = read_text(path, remedy).split("\n")
    lines.pop()
    for number, line in enumerate(lines, 1):
        entry = json_record(line, "a line of measurements", path, remedy, number)
        if entry.text("kind") == "run" and not entry.truth_value("warm_up"):
            threads = entry.whole("threads", 1)
            yield from (
                _region_time(region, threads, number) for region in entry.inner_records("regions")
            )


def _region_time(region: Record, threads: int, number: int) -> _Time:
    counted = region.whole("counted")
    return _Time(
        file=region.text("file"),
        line=region.whole("line"),
        function=region.text("function"),
        threads=threads,
        trips=region.whole("trips") / counted if counted else None,
        seconds=region.number("total_s") / region.whole("executions", 1),
        at=number,
    )
