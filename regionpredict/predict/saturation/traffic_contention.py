"""`contention`: what pieces of work that run at once take from each other, by their traffic.

With `b` bytes that pass between memory and one core's piece, and `t_1` its time alone, `p` pieces
ask for `p b / t_1`. Where memory gives less, they wait: each takes `t_p > t_1`, and `t_p / t_1` is
what Shudler 2018, sec. 4.5, measures as the growth of the times of tasks from 1 to p threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.machine import Machine
from regionpredict.predict.saturation.ablation import ALL_PARTS
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.workload import Workload


@dataclass(frozen=True, slots=True)
class Contention:
    """A region's work on `threads` threads at once, against one.

    `asked` is the traffic in B/s that one of them would ask memory for if it had it alone, by the
    traffic that it has beside the others; `share` what all that share a path ask for, of what the
    path gives; `growth` how many times as long the work takes each.
    """

    threads: int
    asked: float
    share: float
    growth: float


def contention(workload: Workload, machine: Machine, threads: int) -> Contention | None:
    """What the region's work takes on `threads` threads at once; None where it is not understood,
    or takes no time."""
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
    return Contention(threads, asked, time.share_asked(asked, threads), together / alone)
