"""The cost of starting and synchronizing threads on several packages.

A table for one package gives the costs within it. Each thread of another package adds lines that
cross the link: one for its arrival at a barrier, and two at a region, which also passes the work.
Cycles of the construct `name` (a table of `openmp`) on `threads`.
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
    """Cycles of the construct `name` (a table of `openmp` that threads meet at) on `threads`."""
    tables = machine.overheads
    table = getattr(tables, name)
    if machine.packages == 1 or table.x[-1] > machine.cores_per_package:
        return float(table.at(threads))
    placement = thread_places(machine, threads)
    lines = _LINES[name].value * placement.in_other_packages
    return float(table.at(placement.together)) + lines * tables.far_line.value
