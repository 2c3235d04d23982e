"""`team_split` computes the losses of threads in parallel constructs and in serial parts of their
rank.

`A_0 = n * T` is the time of a rank's `n` threads while the rank is outside MPI. The remaining time
is

    A_1 = S + n * sum(D_r)         outside constructs only one thread computes
    A_2 = S + n * sum(max_t u_rt)  in construct r, of duration D_r, no thread computes all the time
    A_3 = S + sum(u_rt)            and not all threads as much as the busiest

where `S` is the time outside constructs and `u_rt` the useful time of thread t in construct r. The
factors are the quotients of consecutive values. Their product is the used share, A_3 / A_0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regionpredict.trace.bursts import Bursts
from regionpredict.trace.event_trace import EventTrace
from regionpredict.trace.thread_dependencies import construct_rows


@dataclass(frozen=True, slots=True)
class TeamSplit:
    """The efficiency factors of threads over all ranks, from 0 to 1: `serial` (A_1/A_0),
    `scheduling` (A_2/A_1: forks, joins, dispatch and locks) and `load_balance` (A_3/A_2). `threads`
    is the maximum per rank, `constructs` is the sum over ranks, and `serial_s` are seconds outside
    constructs, summed over ranks.
    """

    threads: int
    constructs: int
    serial: float
    scheduling: float
    load_balance: float
    serial_s: float

    @property
    def efficiency(self) -> float:
        """The efficiency of the threads: the product of the three factors."""
        return self.serial * self.scheduling * self.load_balance


def team_split(trace: EventTrace, bursts: Bursts) -> TeamSplit | None:
    """Returns the efficiency factors of the threads of all ranks. The result is None if no rank has
    several threads, or there are no parallel constructs.
    """
    by_rank: dict[int, list[int]] = {}
    for number, location in enumerate(trace.locations):
        by_rank.setdefault(location.rank, []).append(number)
    useful = np.concatenate([[0], np.cumsum(np.where(bursts.useful, bursts.length, 0))])
    outside = np.concatenate([[0], np.cumsum(np.where(bursts.mpi, 0, bursts.length))])
    parts = np.zeros(4)
    serial = 0.0
    count = 0
    for numbers in by_rank.values():
        fork, join = construct_rows(trace, numbers[0])
        count += len(fork)
        first, last = trace.starts[numbers[0]], trace.starts[numbers[0] + 1]
        whole = float(outside[last] - outside[first])
        duration = (outside[join] - outside[fork]).astype(float)
        own = np.zeros((len(numbers), len(fork)))
        for row, number in enumerate(numbers):
            a, b = trace.starts[number], trace.starts[number + 1]
            low = a + np.searchsorted(trace.time[a:b], trace.time[fork], side="left")
            high = a + np.searchsorted(trace.time[a:b], trace.time[join], side="right") - 1
            own[row] = useful[np.maximum(high, low)] - useful[low]
        alone = whole - float(duration.sum())
        n = len(numbers)
        serial += alone
        parts += (
            n * whole,
            alone + n * float(duration.sum()),
            alone + n * float(own.max(0).sum() if len(fork) else 0.0),
            alone + float(own.sum()),
        )
    widest = max(map(len, by_rank.values()), default=1)
    if widest < 2 or not count or not parts.all():
        return None
    share = parts[1:] / parts[:-1]
    return TeamSplit(
        threads=widest,
        constructs=count,
        serial=float(share[0]),
        scheduling=float(share[1]),
        load_balance=float(share[2]),
        serial_s=serial / trace.ticks_per_second,
    )
