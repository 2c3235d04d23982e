"""The cost of starting and synchronizing threads on several packages.

A table for one package gives the costs within the package. Each thread on another package adds
lines that cross the link: one when it arrives at a barrier, and two in a region, which also passes
the work.
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
    """The cycles of the construct `name` on `threads`. Its costs are a table of `openmp`, and
    threads synchronize in it.
    """
    tables = machine.overheads
    table = getattr(tables, name)
    if machine.packages == 1 or table.x[-1] > machine.cores_per_package:
        return float(table.at(threads))
    placement = thread_places(machine, threads)
    lines = _LINES[name].value * placement.in_other_packages
    return float(table.at(placement.together)) + lines * tables.far_line.value
