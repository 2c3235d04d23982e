"""Predicts how much the memory traffic of concurrent pieces of work slows them down.

A piece with `b` bytes of memory traffic takes `t_1` alone, so `p` pieces request `p b / t_1`. If
the memory delivers less, each takes `t_p > t_1`. Shudler 2018, sec. 4.5, measures `t_p / t_1` as
the growth of task times from 1 to p threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.machine import Machine
from regionpredict.predict.saturation.ablation import ALL_PARTS
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.workload import Workload


@dataclass(frozen=True, slots=True)
class Contention:
    """A region's work on `threads` concurrent threads, relative to one thread.

    `asked` is the memory traffic in B/s that one piece would request alone. `share` is the total
    request divided by the bandwidth of the path. `growth` is the ratio of the times.
    """

    threads: int
    asked: float
    share: float
    growth: float


def contention(workload: Workload, machine: Machine, threads: int) -> Contention | None:
    """The time of the region's work on `threads` concurrent threads. None if it is unknown or
    zero."""
    execution = workload.execution
    if execution is None or workload.table.status != "complete":
        return None
    time = RegionTime(
        workload, execution, machine, contents=workload.contents, parts=ALL_PARTS
    ).loops
    alone, together = time.at(1).total, time.at(threads).total
    if not alone > 0:
        return None
    asked = time.traffic.at(threads).memory / alone
    return Contention(threads, asked, time.requested_load(asked, threads), together / alone)
