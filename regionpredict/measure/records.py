"""What was measured, as frozen values: a region in one run, a run, a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from regionpredict.measure.host_activity import Disturbance

SCHEMA = "regionpredict/measurements/1"


@dataclass(frozen=True, slots=True)
class EntrySize:
    """What a name was worth at the entries of a region: at the first, and at least and at most."""

    name: str
    entries: int
    first: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class EntryCase:
    """How many executions a region had with one trip count (None: not counted) and with one value
    of each name."""

    entries: int
    trips: int | None
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RegionRun:
    """One region in one run of the program.

    Times in seconds over `executions`; trip counts are 0 with `counted` 0 where the program could
    not evaluate them. Of a loop with `nowait` the times are the first thread's own share. `sizes`
    are the values of the names that it depends on; `text` is the digest of the `lines` lines of its
    source, empty where they were not there. A whole `parallel` is told in the same way, without
    trips; its `sizes` have those of the loops that its threads share by hand, by the loops' names.
    `cases` is the distribution of the executions over trip counts and values: all executions, or
    empty if there is one case only, or too many.
    """

    file: str
    line: int
    loop_line: int
    function: str
    directive: str
    build: str
    executions: int
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
    ordinal: int = 1
    text: str = ""
    lines: int = 0
    sizes: tuple[EntrySize, ...] = ()
    cases: tuple[EntryCase, ...] = ()

    @property
    def place(self) -> tuple[str, int, int]:
        """File, line and which of the line's regions it is, which name the region."""
        return self.file, self.line, self.ordinal

    @property
    def construct(self) -> tuple[str, int, int, str]:
        """The same with its directive, which tells a `parallel` from the loops on its line."""
        return *self.place, self.directive


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the program on `threads` threads; `load` is the host's load average before it, and
    `beside` what others did to the host during it, None where that is not known. `teams` are the
    `parallel` constructs without a loop of their own, whose times hold those of the regions inside.
    `exit_code` is the program's own, at most 128, and `said` its last lines where that is not 0.
    """

    threads: int
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
        """Whether others took so much of the host that its times are not the program's own."""
        return self.beside is not None and self.beside.much


@dataclass(frozen=True, slots=True)
class Host:
    """Where it was measured; two campaigns are of one host where all of this is the same."""

    name: str
    processor: str
    packages: int
    cores_per_package: int
    threads_per_core: int
    domains_per_package: int


@dataclass(frozen=True, slots=True)
class Campaign:
    """The runs of one program, with everything that has to be the same for all of them.

    `binding` holds OMP_PLACES, OMP_PROC_BIND and the CPUs that were allowed.
    """

    command: tuple[str, ...]
    host: Host
    binding: dict[str, Any]
    started: str
    runs: tuple[Run, ...] = ()

    @property
    def measured(self) -> tuple[Run, ...]:
        """The runs that count: all but the warm-ups."""
        return tuple(run for run in self.runs if not run.warm_up)

    @property
    def disturbed(self) -> tuple[Run, ...]:
        """The runs that would count, had others left the host alone."""
        return tuple(run for run in self.measured if run.disturbed)

    @property
    def undisturbed(self) -> Campaign:
        """The same without the runs that were disturbed."""
        return replace(self, runs=tuple(run for run in self.runs if not run.disturbed))

    @property
    def quietest(self) -> Campaign:
        """The same with the undisturbed runs of each thread count, or all of it that has none."""
        quiet = set(self.undisturbed.threads)
        return replace(
            self,
            runs=tuple(r for r in self.runs if not r.disturbed or r.threads not in quiet),
        )

    @property
    def threads(self) -> tuple[int, ...]:
        """The thread counts that were measured, ascending."""
        return tuple(sorted({run.threads for run in self.measured}))
