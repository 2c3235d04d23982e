"""Predicts how much the memory traffic of concurrent pieces of work slows them down.

A piece of work with `b` bytes of memory traffic takes the time `t_1` alone, so `p` concurrent
pieces request the bandwidth `p b / t_1`. If the memory delivers less, each piece takes `t_p > t_1`.
Shudler 2018, sec. 4.5, measures `t_p / t_1` as the growth of task times from 1 to p threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.machine import Machine
from regionpredict.predict.saturation.ablation import ALL_PARTS
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.workload import Workload


@dataclass(frozen=True, slots=True)
class Contention:
    """The slowdown of a region's work if `threads` threads execute it at the same time.

    `asked` is the bandwidth in B/s that one thread requests alone. `share` is the bandwidth that
    all threads request, relative to the bandwidth of the memory path. `growth` is the ratio of the
    times.
    """

    threads: int
    asked: float
    share: float
    growth: float


def contention_slowdown(workload: Workload, machine: Machine, threads: int) -> Contention | None:
    """Returns the slowdown of the region's work on `threads` concurrent threads. None if the time
    is unknown or zero.
    """
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
