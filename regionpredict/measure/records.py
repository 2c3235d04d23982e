"""Defines measurements as frozen values: a region in one run, a run, a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from regionpredict.json_records import Positive, Signed
from regionpredict.measure.host_activity import Disturbance

SCHEMA = "regionpredict/measurements/1"


@dataclass(frozen=True, slots=True)
class EntrySize:
    """The values of a name at the entries of a region: the first, the smallest and the largest
    value.
    """

    name: str
    entries: Positive
    first: Signed
    least: Signed
    most: Signed


@dataclass(frozen=True, slots=True)
class EntryCase:
    """The number of executions of a region with one trip count (None if it was not counted) and one
    value of each name.
    """

    entries: int
    trips: int | None
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RegionRun:
    """One region in one run of the program.

    Times are in seconds over all `executions`. Trip counts are 0 with `counted` 0 if the program
    could not evaluate them. For a loop with `nowait`, the times are those of the first thread.
    `sizes` are the values of the names that it depends on. `text` is the digest of the `lines`
    lines of its source, or empty if these were missing. A whole `parallel` has the same data
    without trips. Its `sizes` include those of manually shared loops, by the loops' names. `cases`
    is the distribution of the executions over trip counts and values. It has all executions, or is
    empty for a single case or too many.
    """

    file: str
    line: int
    loop_line: int
    function: str
    directive: str
    build: str
    executions: Positive
    total_s: float
    least_s: float
    most_s: float
    first_s: float
    counted: int
    trips: int
    least_trips: int
    most_trips: int
    least_team: int
    most_team: int
    nowait: bool = False
    ordinal: Positive = 1
    text: str = ""
    lines: int = 0
    sizes: tuple[EntrySize, ...] = ()
    cases: tuple[EntryCase, ...] = ()

    @property
    def place(self) -> tuple[str, int, int]:
        """Returns the file, line and number on the line, which identify the region."""
        return self.file, self.line, self.ordinal

    @property
    def construct(self) -> tuple[str, int, int, str]:
        """Returns the place with the directive, which distinguishes a `parallel` from the loops on
        its line.
        """
        return *self.place, self.directive


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the program on `threads` threads. `load` is the host's load average before it, and
    `beside` the load of other processes during it (None if unknown). `teams` are the `parallel`
    constructs without their own loop. Their times include those of the regions inside. `exit_code`
    is the program's, at most 128. `said` are its last lines if it is not 0.
    """

    threads: Positive
    repetition: int
    warm_up: bool
    wall_s: float
    started: str
    load: float
    program: str
    compiler: str
    runtime: str
    regions: tuple[RegionRun, ...]
    beside: Disturbance | None = None
    teams: tuple[RegionRun, ...] = ()
    exit_code: int = 0
    said: tuple[str, ...] = ()

    @property
    def disturbed(self) -> bool:
        """Whether the load of other processes distorts the run's times."""
        return self.beside is not None and self.beside.much


@dataclass(frozen=True, slots=True)
class Host:
    """The measured host. Two campaigns belong to the same host if all fields are equal."""

    name: str
    processor: str
    packages: Positive
    cores_per_package: Positive
    threads_per_core: Positive
    domains_per_package: Positive


@dataclass(frozen=True, slots=True)
class Campaign:
    """The runs of one program, with the properties that are equal for all of them. `binding` has
    OMP_PLACES, OMP_PROC_BIND and the allowed CPUs.
    """

    command: tuple[str, ...]
    host: Host
    binding: dict[str, Any]
    started: str
    runs: tuple[Run, ...] = ()

    @property
    def measured(self) -> tuple[Run, ...]:
        """Returns all runs except warm-ups."""
        return tuple(run for run in self.runs if not run.warm_up)

    @property
    def disturbed(self) -> tuple[Run, ...]:
        """Returns the disturbed runs, except warm-ups."""
        return tuple(run for run in self.measured if run.disturbed)

    @property
    def undisturbed(self) -> Campaign:
        """Returns the campaign without disturbed runs."""
        return replace(self, runs=tuple(run for run in self.runs if not run.disturbed))

    @property
    def quietest(self) -> Campaign:
        """Returns the campaign with the undisturbed runs of each thread count, or with all its runs
        if there are none.
        """
        quiet = set(self.undisturbed.threads)
        return replace(
            self,
            runs=tuple(r for r in self.runs if not r.disturbed or r.threads not in quiet),
        )

    @property
    def threads(self) -> tuple[int, ...]:
        """Returns the measured thread counts, in ascending order."""
        return tuple(sorted({run.threads for run in self.measured}))
