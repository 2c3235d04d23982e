"""`region_splits` computes the losses of threads in each parallel region of the source.

`D` is the duration of an execution of a region from fork to join, and `u_t` the useful time of
thread t in this execution. The sums are over all executions and ranks:

    scheduling   = sum(max_t u_t) / sum(D)
    load balance = sum(mean_t u_t) / sum(max_t u_t)

The product is the used share of the threads' time. The factors do not include work that is slower
because threads share memory, since slow work is useful, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regionpredict.trace.bursts import Bursts
from regionpredict.trace.event_trace import EventTrace, Kind, Role
from regionpredict.trace.thread_dependencies import construct_rows


@dataclass(frozen=True, slots=True)
class RegionSplit:
    """The losses in one parallel region. `threads` is the maximum number of threads. `executions`
    and `seconds` are sums over all ranks. Factors are from 0 to 1. `file` is "" and `line` None if
    unknown.
    """

    name: str
    file: str
    line: int | None
    threads: int
    executions: int
    seconds: float
    scheduling: float
    load_balance: float

    @property
    def efficiency(self) -> float:
        """The efficiency of the parallel region: the product of both factors."""
        return self.scheduling * self.load_balance


def region_splits(trace: EventTrace, bursts: Bursts) -> tuple[RegionSplit, ...]:
    """Returns the losses in all recorded parallel regions, the region with the longest time
    first.
    """
    parallel = np.array([region.role is Role.PARALLEL for region in trace.regions] + [False])
    useful = np.concatenate([[0], np.cumsum(np.where(bursts.useful, bursts.length, 0))])
    by_rank: dict[int, list[int]] = {}
    for number, location in enumerate(trace.locations):
        by_rank.setdefault(location.rank, []).append(number)
    # By region: threads, executions, durations, largest and mean useful times.
    sums: dict[int, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for numbers in by_rank.values():
        fork, join = construct_rows(trace, numbers[0])
        if not len(fork):
            continue
        a, b = trace.starts[numbers[0]], trace.starts[numbers[0] + 1]
        entered = np.flatnonzero(parallel[trace.region[a:b]] & (trace.kind[a:b] == Kind.ENTER)) + a
        at = np.searchsorted(entered, fork)
        matched = at < len(entered)
        matched[matched] = entered[at[matched]] < join[matched]
        fork, join, region = fork[matched], join[matched], trace.region[entered[at[matched]]]
        own = np.zeros((len(numbers), len(fork)))
        participates = np.zeros((len(numbers), len(fork)), dtype=bool)
        for row, number in enumerate(numbers):
            first, last = trace.starts[number], trace.starts[number + 1]
            times = trace.time[first:last]
            low = first + np.searchsorted(times, trace.time[fork], side="left")
            high = first + np.searchsorted(times, trace.time[join], side="right") - 1
            participates[row] = high > low
            own[row] = useful[np.maximum(high, low)] - useful[low]
        team = np.maximum(participates.sum(axis=0), 1)
        duration = trace.time[join] - trace.time[fork]
        for number in np.unique(region).tolist():
            mine = region == number
            sum_ = sums.setdefault(number, np.zeros(5))
            sum_[0] = max(sum_[0], float(team[mine].max()))
            sum_[1:] += (
                np.count_nonzero(mine),
                duration[mine].sum(),
                own[:, mine].max(axis=0).sum(),
                (own[:, mine].sum(axis=0) / team[mine]).sum(),
            )
    rows = []
    for number, (threads, count, duration_sum, largest, mean) in sums.items():
        place = trace.regions[number]
        if duration_sum > 0 and largest > 0:
            rows.append(
                RegionSplit(
                    place.name, place.file, place.line, int(threads), int(count),
                    float(duration_sum) / trace.ticks_per_second,
                    float(largest / duration_sum), float(mean / largest),
                )
            )  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (-row.seconds, row.name)))
