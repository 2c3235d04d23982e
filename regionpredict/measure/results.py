"""Parses the lines that a measured program writes to the regions of one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from regionpredict.documents import parse_json
from regionpredict.errors import InputError
from regionpredict.json_records import MOST_WHOLE, Record
from regionpredict.measure.instrument import NOWAIT
from regionpredict.measure.records import EntryCase, EntrySize, RegionRun
from regionpredict.measure.store import read_case

_NS = 1e-9
_LEAST = -MOST_WHOLE
_ABSENT = {"ordinal": 1, "text": "", "lines": 0}
"""The directive for lines of an older library, which do not contain a directive."""
Place = tuple[str, int, int]


class Results(NamedTuple):
    """The output of one run of a program. `processes` is 0 if no measured process ended.

    `teams` are the `parallel` constructs measured as a whole.
    """

    program: str
    compiler: str
    runtime: str
    processes: int
    regions: tuple[RegionRun, ...]
    teams: tuple[RegionRun, ...] = ()


class _Measured:
    """Collects regions (or parallel regions) by place and process, with the values of their
    names.
    """

    def __init__(self) -> None:
        self.by_place: dict[Place, dict[int, RegionRun]] = {}
        self.sizes: dict[Place, dict[str, EntrySize]] = {}
        self.cases: dict[tuple[Place, int], list[EntryCase]] = {}

    def add(self, region: RegionRun, pid: int) -> None:
        """Adds another instance of a region."""
        by_process = self.by_place.setdefault(region.place, {})
        by_process[pid] = _add_instances(by_process[pid], region) if pid in by_process else region

    def runs(self) -> tuple[RegionRun, ...]:
        """Returns for each region the process that spent most time in it, in the order of source
        lines.
        """
        chosen = [max(runs.items(), key=lambda item: item[1].total_s)
                  for runs in self.by_place.values()]  # fmt: skip
        regions = [
            replace(
                region, sizes=tuple(self.sizes.get(region.place, {}).values()),
                cases=_distribution_of(self.cases.get((region.place, pid), ()), region.executions),
            )
            for pid, region in chosen
        ]  # fmt: skip
        return tuple(sorted(regions, key=lambda run: run.place))


def _distribution_of(cases: Sequence[EntryCase], executions: int) -> tuple[EntryCase, ...]:
    """Returns the cases of all instances. Empty if they are incomplete, or all equal."""
    if sum(case.entries for case in cases) != executions:
        return ()
    joined: dict[tuple[int | None, frozenset[tuple[str, int]]], EntryCase] = {}
    for case in cases:
        key = case.trips, frozenset(case.values.items())
        before = joined.get(key)
        joined[key] = replace(case, entries=case.entries + (before.entries if before else 0))
    return tuple(joined.values()) if len(joined) > 1 else ()


def read_results(lines: Iterable[str]) -> Results:
    """Parses the output lines of a measured program. Truncated or foreign lines are left out.

    Instances of a region in one process (from a template, or a header in several files) are added.
    If several processes (ranks) ran a region, the one that spent most time in it counts.
    """
    program = compiler = runtime = ""
    processes = 0
    regions, teams = _Measured(), _Measured()
    for entry in result_entries(lines):
        record = Record({**_ABSENT, **entry}, "a line of results", "", "measure again")
        try:
            kind = record.text("kind")
            if kind == "run":
                program, compiler, runtime = map(record.text, ("program", "compiler", "runtime"))
                processes += 1
                continue
            measured = teams if kind.startswith("team") else regions
            if kind.endswith("size"):
                _add_size(measured.sizes, record)
                continue
            if kind.endswith("case"):
                place = record.text("file"), record.whole("line"), record.whole("ordinal")
                own = measured.cases.setdefault((place, record.whole("pid")), [])
                own.append(read_case(record))
                continue
            region, pid = _parse_region(record), record.whole("pid")
        except InputError:
            continue  # incomplete, or from another program
        measured.add(region, pid)
    return Results(program, compiler, runtime, processes, regions.runs(), teams.runs())


def _add_size(sizes: dict[Place, dict[str, EntrySize]], entry: Record) -> None:
    """Merges a name's values with those of other instances and processes."""
    first, least, most = (entry.whole(key, _LEAST) for key in ("first", "least", "most"))
    size = EntrySize(entry.text("name"), entry.whole("entries"), first, least, most)
    place = entry.text("file"), entry.whole("line"), entry.whole("ordinal")
    of_region = sizes.setdefault(place, {})
    of_region[size.name] = joined_sizes(of_region.get(size.name), size)


def joined_sizes(first: EntrySize | None, second: EntrySize) -> EntrySize:
    """Merges the values of a name in two groups of entries."""
    if first is None:
        return second
    return EntrySize(
        first.name, first.entries + second.entries, first.first,
        min(first.least, second.least), max(first.most, second.most),
    )  # fmt: skip


def result_entries(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Parses the JSON objects in the lines. Truncated or foreign lines are left out."""
    for line in lines:
        try:
            entry = parse_json(line, "the results of a run", "measure again")
        except InputError:
            continue
        if isinstance(entry, dict):
            yield entry


def _parse_region(entry: Record) -> RegionRun:
    return RegionRun(
        file=entry.text("file"),
        line=entry.whole("line"),
        loop_line=entry.whole("loop_line"),
        function=entry.text("function"),
        directive=entry.text("directive"),
        build=entry.text("build"),
        executions=entry.whole("executions"),
        total_s=entry.whole("total_ns") * _NS,
        least_s=entry.whole("least_ns") * _NS,
        most_s=entry.whole("most_ns") * _NS,
        first_s=entry.whole("first_ns") * _NS,
        counted=entry.whole("counted"),
        trips=entry.whole("trips", _LEAST),
        least_trips=entry.whole("least_trips", _LEAST),
        most_trips=entry.whole("most_trips", _LEAST),
        least_team=entry.whole("least_team"),
        most_team=entry.whole("most_team"),
        nowait=bool(entry.whole("flags") & NOWAIT),
        ordinal=entry.whole("ordinal"),
        text=entry.text("text"),
        lines=entry.whole("lines"),
    )


def _add_instances(first: RegionRun, second: RegionRun) -> RegionRun:
    """Adds two instances of a region."""
    counted = [run for run in (first, second) if run.counted]
    return replace(
        first,
        executions=first.executions + second.executions,
        total_s=first.total_s + second.total_s,
        least_s=min(first.least_s, second.least_s),
        most_s=max(first.most_s, second.most_s),
        counted=first.counted + second.counted,
        trips=first.trips + second.trips,
        least_trips=min((run.least_trips for run in counted), default=0),
        most_trips=max((run.most_trips for run in counted), default=0),
        least_team=min(first.least_team, second.least_team),
        most_team=max(first.most_team, second.most_team),
    )
