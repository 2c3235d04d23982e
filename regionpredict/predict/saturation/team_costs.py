"""Computes the cost of starting and synchronizing threads on several sockets.

The machine's tables give the costs within one socket. Each thread on another socket adds cache
lines that cross the link: one line at a barrier, and two at the start and end of a region.
"""

from __future__ import annotations

from regionpredict.machine import Machine
from regionpredict.machine.thread_places import thread_places
from regionpredict.predict.saturation.constants import FAR_ARRIVALS, FAR_STARTS

_LINES = {
    "fork_join": FAR_STARTS,
    "barrier": FAR_ARRIVALS,
    "reduction": FAR_ARRIVALS,
    "dynamic_chunk": FAR_ARRIVALS,
    "atomic": FAR_ARRIVALS,
    "critical": FAR_ARRIVALS,
}


def team_cost(machine: Machine, name: str, threads: int) -> float:
    """Returns the cycles of an OpenMP construct on `threads` threads. `name` is the name of a table
    in the section `openmp` of the machine file.
    """
    tables = machine.overheads
    table = getattr(tables, name)
    if machine.packages == 1 or table.x[-1] > machine.cores_per_package:
        return float(table.at(threads))
    placement = thread_places(machine, threads)
    lines = _LINES[name].value * placement.in_other_packages
    return float(table.at(placement.together)) + lines * tables.far_line.value
