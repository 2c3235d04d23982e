"""The records of results: a metric's value on one call path at one location."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import Location

SECONDS = "s"


@dataclass(frozen=True, slots=True)
class Record:
    """`location` is None where a value is the whole run's."""

    metric: str
    callpath: str
    location: Location | None
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Balance:
    """A sum that must hold: what is on either side, in seconds, and what it is made of.

    The two sides are equal but for rounding where nothing is wrong.
    """

    name: str
    left: float
    right: float
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Equal to nine digits of the larger side, or to a picosecond."""
        return abs(self.left - self.right) <= 1e-9 * max(abs(self.left), abs(self.right), 1e-3)


@dataclass(frozen=True, slots=True)
class Instance:
    """One occurrence of a wait: `seconds` of all that waited together, `longest_s` of one of them,
    which was in `callpath` and had what it waited for at `time_s` of the trace that is analysed.
    `late` is whom they waited for, None where that is not known."""

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
    """Seconds that all locations wait in each part of the run, by kind of wait; each part lasts
    `part_s` seconds."""

    part_s: float
    seconds: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class TraceResult:
    """What one command tells of a trace.

    `totals` are the sums of the records of each metric, `counts` the instances of wait states.
    `sources` has `file:line` of call paths, as far as known, `worst` the worst instances of waits,
    `severity` when there are how many of them.
    """

    records: tuple[Record, ...]
    totals: Mapping[str, float]
    counts: Mapping[str, int]
    balances: tuple[Balance, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    worst: tuple[Instance, ...] = ()
    severity: Severity | None = None


class Collector:
    """Takes tables (locations x call paths) and makes records of what is in them."""

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
        """Records of every location for the call paths where any has a value."""
        used = np.flatnonzero(np.any(values != 0, axis=0))
        if not len(used):
            return
        self.totals[metric] = float(np.sum(values))
        for node in used:
            for at, location in enumerate(self._locations):
                value = float(values[at, node])
                self._records.append(Record(metric, self._names[int(node)], location, value, unit))

    def whole(self, metric: str, values: NDArray[np.float64]) -> None:
        """Records of call paths that belong to no location."""
        if not np.any(values):
            return
        self.totals[metric] = float(np.sum(values))
        for node in np.flatnonzero(values):
            name = self._names[int(node)]
            self._records.append(Record(metric, name, None, float(values[node]), SECONDS))

    def result(
        self, counts: Mapping[str, int] | None = None, balances: Iterable[Balance] = ()
    ) -> TraceResult:
        """All records so far."""
        return TraceResult(
            tuple(self._records),
            dict(self.totals),
            dict(counts or {}),
            tuple(balances),
            self._sources,
        )
