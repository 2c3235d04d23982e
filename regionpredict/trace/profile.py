"""Defines the results of trace analyses: values of metrics by call path and location."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import Location

SECONDS = "s"


@dataclass(frozen=True, slots=True)
class Record:
    """The value of a metric for a call path and a location. `location` is None for a value of the
    whole run.
    """

    metric: str
    callpath: str
    location: Location | None
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Balance:
    """A consistency check of an analysis: two sums in seconds that must be equal. `parts` are their
    summands.

    Without errors, both sides are equal up to rounding.
    """

    name: str
    left: float
    right: float
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether both sides agree to nine digits of the larger side, or to a picosecond."""
        return abs(self.left - self.right) <= 1e-9 * max(abs(self.left), abs(self.right), 1e-3)


@dataclass(frozen=True, slots=True)
class Instance:
    """One occurrence of a wait. `seconds` is the sum over all waiting locations, and `longest_s`
    the longest wait. The longest wait was in `callpath` and ended at `time_s` of the analyzed
    trace. `late` is the location that was waited for, or None if it is unknown.
    """

    metric: str
    seconds: float
    longest_s: float
    time_s: float
    callpath: str
    waiting: tuple[Location, ...]
    late: Location | None
    late_callpath: str | None


@dataclass(frozen=True, slots=True)
class Severity:
    """The waiting time over the run. The run is divided into parts of `part_s` seconds. `seconds`
    has the waiting time of all locations in each part, by wait state.
    """

    part_s: float
    seconds: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class RegionTotal:
    """The totals of a region over all call paths and locations. `seconds` is the exclusive time,
    and `waiting_s` the part of it that is waiting. `kind` is MPI, OpenMP, user, other (run-time
    systems) or idle. `instructions_per_cycle` is None without counters of both.
    """

    region: str
    kind: str
    seconds: float
    visits: int
    waiting_s: float
    instructions_per_cycle: float | None = None


@dataclass(frozen=True, slots=True)
class TraceResult:
    """The result of one command on a trace.

    `totals` are the sums of the records by metric, and `counts` the numbers of waits by wait state.
    `sources` has `file:line` of call paths if known. `worst` are the longest waits, and `severity`
    is the waiting time over the run. `regions` is the flat profile.
    """

    records: tuple[Record, ...]
    totals: Mapping[str, float]
    counts: Mapping[str, int]
    balances: tuple[Balance, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    worst: tuple[Instance, ...] = ()
    severity: Severity | None = None
    regions: tuple[RegionTotal, ...] = ()


class Collector:
    """Collects tables (locations x call paths) and converts them to records."""

    def __init__(
        self, locations: tuple[Location, ...], names: tuple[str, ...], sources: Mapping[str, str]
    ) -> None:
        self._locations = locations
        self._names = names
        self._sources = sources
        self._records: list[Record] = []
        self.totals: dict[str, float] = {}

    def table(
        self, metric: str, values: NDArray[np.float64] | NDArray[np.int64], unit: str = SECONDS
    ) -> None:
        """Adds records of all locations for the call paths with a nonzero value."""
        used = np.flatnonzero(np.any(values != 0, axis=0))
        if not len(used):
            return
        self.totals[metric] = float(np.sum(values))
        for node in used:
            for at, location in enumerate(self._locations):
                value = float(values[at, node])
                self._records.append(Record(metric, self._names[int(node)], location, value, unit))

    def whole(self, metric: str, values: NDArray[np.float64]) -> None:
        """Adds records of the whole run for the call paths with a nonzero value."""
        if not np.any(values):
            return
        self.totals[metric] = float(np.sum(values))
        for node in np.flatnonzero(values):
            name = self._names[int(node)]
            self._records.append(Record(metric, name, None, float(values[node]), SECONDS))

    def result(
        self, counts: Mapping[str, int] | None = None, balances: Iterable[Balance] = ()
    ) -> TraceResult:
        """Returns the result with all collected records."""
        return TraceResult(
            tuple(self._records),
            dict(self.totals),
            dict(counts or {}),
            tuple(balances),
            self._sources,
        )
