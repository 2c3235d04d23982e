"""Two threads a core or one: the cores of the hinted packages with all their hardware threads.

A second thread fills issue slots and waits that the first leaves open, and takes half of the core's
caches. What both need of ports, pipes and buffers takes as long as it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regionpredict.machine import Machine
from regionpredict.predict.curve import Point
from regionpredict.predict.saturation.ablation import Parts
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.workload import CacheContents, TrafficCounter, Workload


def all_hardware_threads(
    workload: Workload, machine: Machine, packages: int, *, contents: CacheContents, parts: Parts,
    counters: Sequence[TrafficCounter] = (),
) -> Point | None:  # fmt: skip
    """The time with every hardware thread of so many packages. Its speedup is over one thread.

    None where cores have one each, the region allows no such team or has fewer iterations than it
    has threads, or its pages lie in a domain of another package. `counters` are those that have
    counted some of the region's traffic.
    """
    each = machine.threads_per_core
    threads = packages * machine.cores_per_package * each
    limit = workload.team_limit
    if each == 1 or workload.execution is None or (limit is not None and limit < threads):
        return None
    iterations = workload.table.iterations
    if iterations is not None and iterations < threads:
        return None
    node = replace(machine.node, packages=replace(machine.node.packages, value=packages))
    full = replace(machine, node=node)
    if (workload.placement.domain or 0) >= full.domains:
        return None
    time = RegionTime(
        workload, workload.execution, full, contents=contents, parts=parts, counters=counters
    )
    return time.points([1, threads])[-1]
