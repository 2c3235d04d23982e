"""Two threads a core or one: the cores of the hinted packages with all their hardware threads.

A second thread fills issue slots and waits that the first leaves open, and takes half of the core's
caches. What both need of ports, pipes and buffers takes as long as it did.
"""

from __future__ import annotations

from dataclasses import replace

from regionpredict.machine import Machine
from regionpredict.predict.curve import Point
from regionpredict.predict.saturation.region_time import RegionTime


def all_hardware_threads(
    time: RegionTime, machine: Machine, packages: int, limit: int | None
) -> Point | None:
    """The time with every hardware thread of so many packages; None where cores have one each, or
    the region's `limit` allows no such team. Its speedup is over one thread.
    """
    each = machine.threads_per_core
    threads = packages * machine.cores_per_package * each
    if each == 1 or (limit is not None and limit < threads):
        return None
    node = replace(machine.node, packages=replace(machine.node.packages, value=packages))
    full = replace(machine, node=node)
    return time.on(full).points([1, threads])[-1]
