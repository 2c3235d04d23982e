"""Reads the events of threads in recorded processes: functions, parallel regions, barriers and
locks.

The input is the output of `measure/runtime/ompt_record.c` at its level `trace`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

import numpy as np

from regionpredict.documents import whole_number
from regionpredict.file_presence import path_exists
from regionpredict.measure.ompt_runtime import has_fixed_address

_RECORD = np.dtype([("head", "<u8"), ("time", "<u8"), ("a", "<u8"), ("b", "<u8")])
# Numbers as in ompt_record.c.
_HEADER, _PARALLEL_BEGIN, _PARALLEL_END, _IMPLICIT_BEGIN, _IMPLICIT_END, _CREATE = range(1, 7)
_SYNC_BEGIN, _SYNC_END, _WORK_BEGIN, _WORK_END = 8, 9, 10, 11
_COUNTERS, _ACQUIRE, _ACQUIRED, _RELEASED, _FUNCTION_ENTER, _FUNCTION_EXIT = 17, 18, 19, 20, 21, 22
# Numbers of OpenMP 5.2 (ompt_sync_region_t, ompt_work_t, ompt_mutex_t).
_IMPLICIT_BARRIERS, _EXPLICIT_BARRIERS = (2, 8, 9), (3, 4)
_LAST_BARRIER = 9  # of a parallel region
_WORK = {1: "loop", 2: "sections", 3: "single", 10: "loop", 11: "loop", 12: "loop", 13: "loop"}
_LOCKS, _TESTED_LOCKS, _CRITICAL = (1, 3), (2, 4), 5
_SECONDS = 60


class PlaceKind(Enum):
    """The kind of a function or OpenMP construct in the code."""

    FUNCTION = "function"
    MPI = "mpi"
    PARALLEL = "parallel"
    LOOP = "loop"
    SECTIONS = "sections"
    SINGLE = "single"
    BARRIER = "barrier"
    IMPLICIT_BARRIER = "implicit barrier"
    LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Place:
    """A function or construct in the code, which becomes a region of the trace. `line` is 0 and
    `file` "" if unknown.
    """

    name: str
    file: str = ""
    line: int = 0
    kind: PlaceKind = PlaceKind.FUNCTION


class StepKind(Enum):
    """The kind of an event of a thread."""

    ENTER = "enter"
    LEAVE = "leave"
    FORK = "fork"
    JOIN = "join"
    ACQUIRE = "acquire"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a thread. `time` is in nanoseconds. `place` is the entered code, and `number`
    the number of forked threads or of the lock. `counters` has the counter readings, if any.
    """

    time: int
    what: StepKind
    place: Place | None = None
    number: int = 0
    counters: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessEvents:
    """The events of the threads of a process by thread number, the first thread first.

    `nested` is the number of nested parallel regions, whose events are omitted. `tasks` says
    whether the process created explicit tasks, whose events are omitted, too. `full` are the
    threads that reached the size limit of the recording.
    """

    threads: Mapping[int, tuple[Step, ...]]
    nested: int
    tasks: bool = False
    full: frozenset[int] = frozenset()


@dataclass(slots=True)
class _ParallelRegions:
    """The parallel regions of a process that are not nested: `outermost` has their site and number
    of threads, `ends` the time of their end. `nested` counts the others.
    """

    outermost: dict[int, tuple[int, int]] = field(default_factory=dict)  # site, threads
    ends: dict[int, int] = field(default_factory=dict)
    nested: int = 0


def thread_events(folder: Path) -> dict[int, ProcessEvents]:
    """Reads the events of all processes of a recording, by process number."""
    files: dict[int, dict[int, Path]] = {}
    for path in folder.glob("events-*-*"):
        _, process, thread = path.name.rsplit("-", 2)
        files.setdefault(int(process), {})[int(thread)] = path
    return {
        process: _read_process(folder, process, dict(sorted(paths.items())))
        for process, paths in sorted(files.items())
    }


def _read_process(folder: Path, process: int, paths: Mapping[int, Path]) -> ProcessEvents:
    threads = []
    for path in paths.values():
        records = np.fromfile(path, dtype=_RECORD)
        unused = np.flatnonzero(records["head"] == 0)  # unused part of the last window
        threads.append(records[: unused[0] if len(unused) else len(records)].tolist())
    teams = _parallel_regions(threads)
    places = _CodePlaces(folder, process)
    steps = {
        number: tuple(_events_of_thread(records, teams, places))
        for number, records in zip(paths, threads, strict=True)
    }
    used = {number: thread for number, thread in steps.items() if thread or not number}
    tasks = any(head & 0xFF == _CREATE for records in threads for head, *_ in records)
    full = {int(path.name.rsplit("-", 1)[1]) for path in folder.glob(f"limit-{process}-*")}
    return ProcessEvents(used, teams.nested, tasks, frozenset(full))


def _parallel_regions(threads: list[list[tuple[int, int, int, int]]]) -> _ParallelRegions:
    """Collects the parallel regions that start outside any other parallel region."""
    teams = _ParallelRegions()
    sizes: dict[int, int] = {}
    for records in threads:
        inside = 0
        implicit: list[bool] = []
        for head, time, _, region in records:
            what = head & 0xFF
            if what == _PARALLEL_BEGIN:
                if inside:
                    teams.nested += 1
                else:
                    teams.outermost[region] = (head >> 32, 0)
            elif what == _PARALLEL_END:
                teams.ends[region] = time
            elif what == _IMPLICIT_BEGIN:
                implicit.append(region != 0)
                inside += region != 0
                sizes[region] = head >> 32
            elif what == _IMPLICIT_END and implicit:
                inside -= implicit.pop()
    for region, (site, _) in teams.outermost.items():
        teams.outermost[region] = (site, sizes.get(region, 1))
    return teams


def _events_of_thread(
    records: list[tuple[int, int, int, int]], teams: _ParallelRegions, places: _CodePlaces
) -> list[Step]:
    """Converts the records of one thread to events. Events of a worker end with the parallel
    region, since a worker leaves the last barrier only at the next region.
    """
    steps: list[Step] = []
    open_teams: list[int] = []  # 0 for omitted parallel regions and the initial task
    latest = 2**63

    def add(time: int, step_kind: StepKind, place: Place | None = None, number: int = 0) -> None:
        steps.append(Step(min(time, latest), step_kind, place, number))

    before, counted = 0, 0
    for head, time, a, b in records:
        if head & 0xFF == _COUNTERS:
            for at in range(counted, len(steps)):
                steps[at] = replace(steps[at], counters=(time, a, b))
            continue
        counted = len(steps)
        what, kind, site = head & 0xFF, head >> 8 & 0xFFFFFF, head >> 32
        after_work, before = before == _WORK_END, what
        if what == _FUNCTION_ENTER:
            add(time, StepKind.ENTER, places.function(site))
        elif what == _FUNCTION_EXIT:
            add(time, StepKind.LEAVE)
        elif what == _PARALLEL_BEGIN and b in teams.outermost:
            add(time, StepKind.FORK, number=teams.outermost[b][1])
        elif what == _PARALLEL_END and b in teams.outermost:
            add(time, StepKind.JOIN)
        elif what == _IMPLICIT_BEGIN:
            known = b in teams.outermost
            open_teams.append(b if known else 0)
            if known:
                latest = teams.ends.get(b, latest)
                add(
                    time,
                    StepKind.ENTER,
                    places.construct(teams.outermost[b][0], PlaceKind.PARALLEL),
                )
        elif what == _IMPLICIT_END and open_teams:
            if open_teams.pop():
                add(time, StepKind.LEAVE)
                latest = 2**63
        elif not open_teams or not open_teams[-1]:
            continue  # constructs outside parallel regions do not affect other threads
        elif what == _SYNC_BEGIN and kind in (*_IMPLICIT_BARRIERS, *_EXPLICIT_BARRIERS):
            # In gcc programs, barriers have no kind, and a barrier after a loop is implicit.
            explicit = kind in _EXPLICIT_BARRIERS and not after_work
            barrier = PlaceKind.BARRIER if explicit else PlaceKind.IMPLICIT_BARRIER
            team = teams.outermost[open_teams[-1]]
            # The last barrier is named by its parallel region, as only one thread has its site.
            named = team[0] if kind == _LAST_BARRIER else site or team[0]
            add(time, StepKind.ENTER, places.construct(named, barrier))
        elif what == _SYNC_END and kind in (*_IMPLICIT_BARRIERS, *_EXPLICIT_BARRIERS):
            add(time, StepKind.LEAVE)
        elif what in (_WORK_BEGIN, _WORK_END) and kind in _WORK:
            if what == _WORK_BEGIN:
                add(time, StepKind.ENTER, places.construct(site, PlaceKind(_WORK[kind])))
            else:
                add(time, StepKind.LEAVE)
        else:
            for done, place, lock in _lock_events(what, kind, site, a, places):
                add(time, done, place, lock)
    return steps


def _lock_events(
    event_kind: int, kind: int, site: int, lock: int, places: _CodePlaces
) -> list[tuple[StepKind, Place | None, int]]:
    """Returns the events of a lock record. Lock routines and critical regions become regions, in
    which the lock is acquired or released.
    """
    if kind not in (*_LOCKS, *_TESTED_LOCKS, _CRITICAL):
        return []
    if event_kind == _ACQUIRE and kind not in _TESTED_LOCKS:
        return [(StepKind.ENTER, places.construct(site, PlaceKind.LOCK), 0)]
    if event_kind == _ACQUIRED:
        taken: list[tuple[StepKind, Place | None, int]] = [
            (StepKind.ACQUIRE, None, places.lock(lock))
        ]
        return [*taken, (StepKind.LEAVE, None, 0)] if kind in _LOCKS else taken
    if event_kind == _RELEASED:
        freed: list[tuple[StepKind, Place | None, int]] = [
            (StepKind.RELEASE, None, places.lock(lock))
        ]
        return [*freed, (StepKind.LEAVE, None, 0)] if kind == _CRITICAL else freed
    return []


class _CodePlaces:
    """The functions and constructs in the code of one process, by site number."""

    def __init__(self, folder: Path, process: int) -> None:
        self._names: dict[int, str] = {}
        self._sites: dict[int, tuple[int, int, str]] = {}
        self._known: dict[tuple[int, bool], tuple[str, str, int]] = {}
        self._locks: dict[int, int] = {}
        for line in _read_lines(folder / f"names-{process}"):
            number, _, name = line.partition(" ")
            self._names[int(number)] = name
        for line in _read_lines(folder / f"sites-{process}"):
            fields = line.split(" ", 3)
            if len(fields) == 4 and (site := whole_number(fields[0])) is not None:
                self._sites[site] = (int(fields[1], 16), int(fields[2], 16), fields[3])
        self._look_up()

    def function(self, site: int) -> Place:
        """Returns the function that begins at a site, or the region that the program named."""
        if site in self._names:
            return Place(self._names[site])
        name, file, line = self._known.get((site, True), ("", "", 0))
        return Place(name or f"function {site}", file, line)

    def construct(self, site: int, kind: PlaceKind) -> Place:
        """Returns the OpenMP construct with the return address of a site."""
        _, file, line = self._known.get((site, False), ("", "", 0))
        where = f" @{Path(file).name}:{line}" if line else ""
        return Place(f"{kind.value}{where}", file, line, kind)

    def lock(self, which: int) -> int:
        """Returns the number of a lock. Locks are numbered from 0 in the order of their first
        use.
        """
        return self._locks.setdefault(which, len(self._locks))

    def _look_up(self) -> None:
        """Looks up all sites of a file with one call of addr2line, as function entries and as
        return addresses.
        """
        modules: dict[str, list[tuple[int, bool, int]]] = {}
        for site, (offset, address, module) in self._sites.items():
            at = address if has_fixed_address(Path(module)) else offset
            modules.setdefault(module, []).extend([(site, True, at), (site, False, at - 1)])
        for module, asked in modules.items():
            lines = _addr2line(module, [f"{at:x}" for _, _, at in asked])
            for (site, begin, at), (name, file, line) in zip(asked, lines, strict=True):
                known = name or f"{Path(module).name}+0x{at:x}"
                self._known[site, begin] = (known, file, line)


def _read_lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _addr2line(file: str, offsets: list[str]) -> list[tuple[str, str, int]]:
    """Returns the function, file and line of each offset in a file, if known."""
    nothing = [("", "", 0)] * len(offsets)
    program = shutil.which("addr2line")
    if program is None or not path_exists(file):
        return nothing
    try:
        done = subprocess.run(
            [program, "-f", "-C", "-e", file, *offsets],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return nothing
    lines = done.stdout.splitlines()
    if len(lines) != 2 * len(offsets):
        return nothing
    places = []
    for name, place in zip(lines[::2], lines[1::2], strict=True):
        source, _, line = place.split(" ")[0].rpartition(":")
        number = whole_number(line) or 0
        places.append(("" if name == "??" else name, source if number else "", number))
    return places
