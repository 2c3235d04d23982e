"""Computes the time with all hardware threads of the hinted sockets, for cores with several
hardware threads.

A second thread uses free issue slots and waiting times, but halves the cache per thread. Ports,
pipes and buffers do not get faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regionpredict.machine import BINDINGS, Machine
from regionpredict.predict.curve import Point
from regionpredict.predict.saturation.ablation import Parts
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.workload import CacheContents, TrafficCounter, Workload


def all_hardware_threads(
    workload: Workload, machine: Machine, packages: int, *, contents: CacheContents, parts: Parts,
    counters: Sequence[TrafficCounter] = (),
) -> Point | None:  # fmt: skip
    """Returns the time with all hardware threads of `packages` sockets, with the speedup over one
    thread.

    Returns None for cores with one thread, for different core types, and for explicit thread
    places. Also None if the region does not allow the threads, has too few iterations, or has its
    pages on another socket. `counters` have already counted some of the region's traffic.
    """
    each = machine.threads_per_core
    threads = packages * machine.cores_per_package * each
    limit = workload.team_limit
    if each == 1 or machine.node.core_speed is not None or machine.binding not in BINDINGS:
        return None
    if workload.execution is None or (limit is not None and limit < threads):
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
