"""Analyzes the distribution of work over locations, and its change over time (Boehme 2014, sections
3.2 and 3.3).

The workload `w_p(c)` of a location `p` is its time on the call path `c` without waits. With `P`
locations,

    delta_p = w_p - mean(w)      workload deviation
    I_t     = max_p(delta_p)     gain in run time if work were even and ranks waited only at the end
    I_T     = P I_t              the same in allocated time

The whole run's workload is its useful time, without MPI, other run-time systems and waits.

*Patterns* follow section 3.3.2. There is one group of locations, or several groups in which a
minority has more or less work. Sorted workloads are split into groups at gaps that are much wider
than all others.

*Change over time* (section 3.3.4): the sum of `I_t` over iterations is the cost of imbalance if all
locations synchronize in each iteration. A profile shows `I_t` of the sums. The quotient of both is
1 if the same locations have too much work in each iteration (static). It is close to 0 if the
excess moves between locations (dynamic).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from regionpredict.constant import Constant
from regionpredict.errors import InputError
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.bursts import bursts_of, by_location
from regionpredict.trace.call_paths import nodes_after
from regionpredict.trace.event_trace import EventTrace, Location
from regionpredict.trace.iterations import Iterations, iterations_of
from regionpredict.trace.recorded_replay import recorded_run

_Values = NDArray[np.float64]

EVEN = Constant(
    0.02,
    "1",
    "assumed",
    "a largest deviation up to this share of the mean is noise: runs of one program on quiet "
    "machines differ by a percent or two",
)
GAP = Constant(
    4.0,
    "1",
    "assumed",
    "gaps between groups are at least this many times as wide as any other gap, and this many "
    "standard deviations of the groups: of 300 sets of 16 to 1000 normal or evenly spread numbers "
    "less than one in 100 has such a gap, of 8 numbers one in 20, of 4 one in 5",
)


_MOST_GROUPS = 8


class Pattern(str, Enum):
    """The pattern of workloads over locations."""

    EVEN = "even"
    SPREAD = "spread"  # one group: normal, or any other without gaps
    OVERLOADED_MINORITY = "overloaded minority"
    UNDERLOADED_MINORITY = "underloaded minority"
    GROUPS = "groups"


class Course(str, Enum):
    """The change of an imbalance over iterations."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Group:
    """A group of locations with similar workloads. `locations` is their number, and `mean_s` their
    mean workload in seconds.
    """

    locations: int
    mean_s: float


@dataclass(frozen=True, slots=True)
class Evolution:
    """The change of an imbalance over the iterations of a run. `imbalance_s` has `I_t` of each
    iteration. `persistent` is `I_t` of the sums over iterations, divided by the sum of `I_t`.
    `growth` is the mean of the last third minus that of the first third, divided by the overall
    mean.
    """

    imbalance_s: tuple[float, ...]
    persistent: float
    growth: float

    @property
    def course(self) -> Course:
        """The course is `static` if at least 80 % of the imbalance stay on the same locations,
        `dynamic` if at most 20 % stay, and otherwise `mixed`.
        """
        if self.persistent >= 0.8:
            return Course.STATIC
        return Course.DYNAMIC if self.persistent <= 0.2 else Course.MIXED


@dataclass(frozen=True, slots=True)
class Imbalance:
    """The imbalance of one call path, or of the run's useful time if `callpath` is "". `workload_s`
    is in seconds by location.

    `pattern` is None with fewer than three locations. `evolution` is None if no iterations are
    known, or if the call path has no cost in them.
    """

    callpath: str
    workload_s: tuple[float, ...]
    pattern: Pattern | None
    groups: tuple[Group, ...]
    evolution: Evolution | None

    @property
    def mean_s(self) -> float:
        """The mean workload."""
        return float(np.mean(self.workload_s))

    @property
    def deviation_s(self) -> tuple[float, ...]:
        """The workload deviation delta_p of each location."""
        return tuple((np.array(self.workload_s) - self.mean_s).tolist())

    @property
    def runtime_impact_s(self) -> float:
        """The impact on the run time, I_t."""
        return max((*self.deviation_s, 0.0))

    @property
    def allocation_impact_s(self) -> float:
        """The impact on the allocated time, I_T = P I_t."""
        return len(self.workload_s) * self.runtime_impact_s

    @property
    def most_loaded_location(self) -> int:
        """The index of the location with the largest workload."""
        return int(np.argmax(self.workload_s))


@dataclass(frozen=True, slots=True)
class ImbalanceStudy:
    """The imbalance of the whole run, and of its call paths sorted by descending I_t.

    `iterations` is None if the run has no known iterations, and `note` gives the reason.
    """

    locations: tuple[Location, ...]
    whole: Imbalance
    callpaths: tuple[Imbalance, ...]
    iterations: Iterations | None
    note: str


def compute_imbalance(analysis: Analysis, mark: str | None = None) -> ImbalanceStudy:
    """Computes the imbalance of a run and of its call paths. `mark` is the region that starts each
    iteration.

    Raises InputError for a mark that some location enters fewer than three times.
    """
    trace = analysis.trace
    iterations, note = None, ""
    try:
        iterations = iterations_of(trace, mark)
    except InputError as error:
        if mark is not None:
            raise
        note = str(error)
    tick = 1.0 / trace.ticks_per_second
    bursts = bursts_of(trace)
    useful = np.where(bursts.useful, bursts.length, 0)
    whole = _imbalance_of_call_path(
        "",
        trace.seconds(by_location(trace, useful)),
        _seconds_by_iteration(trace, useful, iterations, tick),
    )
    work = recorded_run(trace, analysis.matches).work
    node = nodes_after(trace, analysis.paths)
    by_name: dict[str, list[int]] = {}
    for at, name in enumerate(analysis.names):
        by_name.setdefault(name, []).append(at)
    rows = []
    for name, nodes in by_name.items():
        mine = np.where(np.isin(node, nodes), work, 0)
        workload = trace.seconds(by_location(trace, mine))
        if workload.max(initial=0.0) <= workload.mean():
            continue
        rows.append(
            _imbalance_of_call_path(
                name, workload, _seconds_by_iteration(trace, mine, iterations, tick)
            )
        )
    rows.sort(key=lambda row: (-row.runtime_impact_s, row.callpath))
    return ImbalanceStudy(trace.locations, whole, tuple(rows), iterations, note)


def pattern_of(workload: _Values) -> tuple[Pattern | None, tuple[Group, ...]]:
    """Returns the pattern of the workloads, and their groups in ascending order."""
    count, mean = len(workload), float(workload.mean())
    ordered = np.sort(workload)
    if count < 3 or mean <= 0:
        return None, ()
    if ordered[-1] - mean <= EVEN.value * mean and mean - ordered[0] <= EVEN.value * mean:
        return Pattern.EVEN, (Group(count, mean),)
    groups = _split_into_groups(ordered)
    clusters = tuple(Group(len(part), float(part.mean())) for part in groups)
    if len(groups) == 1:
        return Pattern.SPREAD, clusters
    largest = max(range(len(groups)), key=lambda at: len(groups[at]))
    if 2 * len(groups[largest]) > count:
        if largest == 0:
            return Pattern.OVERLOADED_MINORITY, clusters
        if largest == len(groups) - 1:
            return Pattern.UNDERLOADED_MINORITY, clusters
    return Pattern.GROUPS, clusters


def _split_into_groups(ordered: _Values) -> list[_Values]:
    """Splits the numbers at their widest gaps, if these are much wider than all others.

    The number of groups is at most half the number of workloads (two for three workloads), and at
    most eight.
    """
    gaps = np.diff(ordered)
    widest = np.argsort(-gaps, kind="stable")
    noise = EVEN.value * float(ordered.mean())
    arrays = [ordered]
    for cuts in range(1, min(max(2, len(ordered) // 2), _MOST_GROUPS)):
        gap = gaps[widest[cuts - 1]]
        following = gaps[widest[cuts]] if cuts < len(gaps) else 0.0
        parts = np.split(ordered, np.sort(widest[:cuts]) + 1)
        squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
        inside = float(np.sqrt(squares / (len(ordered) - len(parts))))
        if gap >= max(GAP.value * max(following, inside), noise):
            arrays = parts
    return arrays


def _imbalance_of_call_path(callpath: str, workload: _Values, parts: _Values | None) -> Imbalance:
    pattern, groups = pattern_of(workload)
    return Imbalance(
        callpath, tuple(workload.tolist()), pattern, groups, _evolution_of_imbalance(parts)
    )


def _evolution_of_imbalance(parts: _Values | None) -> Evolution | None:
    """Computes the imbalance over iterations from the work in each. `parts` has shape (locations,
    iterations) and is in seconds.
    """
    if parts is None or not parts.any():
        return None
    each = parts.max(axis=0) - parts.mean(axis=0)
    total = float(each.sum())
    sums = parts.sum(axis=1)
    third = max(len(each) // 3, 1)
    rise = float(each[-third:].mean() - each[:third].mean())
    return Evolution(
        tuple(each.tolist()),
        float(sums.max() - sums.mean()) / total if total else 1.0,
        rise / (total / len(each)) if total else 0.0,
    )


def _seconds_by_iteration(
    trace: EventTrace, ticks: NDArray[np.int64], iterations: Iterations | None, tick: float
) -> _Values | None:
    """Returns the sums of the times after events, in seconds, by location and iteration."""
    if iterations is None:
        return None
    sums = np.concatenate([[0], np.cumsum(ticks)])
    edges = np.maximum(iterations.bounds, trace.starts[:-1, None])
    return np.asarray(np.diff(sums[edges], axis=1) * tick, dtype=np.float64)
