"""Computes the figures of a machine file from samples, and remarks on suspicious values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import prod

from regionpredict.errors import percent
from regionpredict.machine.calibrate.core_figures import core_figures
from regionpredict.machine.calibrate.plan import (
    ALONE,
    CLOCK,
    CORE_OPERATIONS,
    FORESEEN,
    LIBRARY,
    MEMORY_LEVEL,
    TOGETHER,
    UNFORESEEN,
    Measurement,
)
from regionpredict.machine.calibrate.samples import (
    ENOUGH,
    has_converged,
    relative_interval,
    typical,
)
from regionpredict.machine.calibrate.spread import spreads
from regionpredict.machine.detect.topology import Topology, core_kinds
from regionpredict.machine.writer import Figures

FALL = 0.1
"""The decrease of a bandwidth with more cores, as a share, above which a remark is written."""
SHARED_PATH = 1.3
"""The ratio of the bandwidths of all sockets and of one socket, below which sockets are assumed to
share one memory path.
"""
CLOCK_STEP = 0.02
"""The relative difference below which clocks count as equal: one step of 100 MHz at 5 GHz."""
KIND = 0.2
"""The relative difference of measured speeds up to which two cores count as one core type."""
SHARED_CORE = 1.3
"""The slowdown of two concurrent virtual CPUs above which they are assumed to share a core.
Hardware threads of one core take 1.5 to 2 times as long.
"""
CLEARLY = 1.15
"""The minimum ratio of the load bandwidths of a working set and of memory, for a cached working
set.
"""
NAMED_UNSTEADY = 6


def figures(
    topology: Topology, plan: tuple[Measurement, ...], samples: Mapping[str, list[float]]
) -> Figures:
    """Computes the figures of a machine from the samples. Figures without samples are omitted.

    Times are converted to cycles of the measured clock. Without a clock, the result contains only
    bandwidths.
    """
    typical_samples = {key: typical(kept) for key, kept in samples.items() if kept}
    # cycles per ns
    clock = 1.0 / typical_samples[CLOCK] if typical_samples.get(CLOCK, 0.0) > 0 else None
    latency: dict[int, float] = {}
    bandwidth: dict[int, dict[str, dict[int, float]]] = {}
    operations: dict[str, tuple[float, float]] = {}
    openmp: dict[str, dict[int, float]] = {}
    llvm: dict[str, dict[int, float]] = {}
    sweeps: dict[int, dict[int, float]] = {}
    for key, value in typical_samples.items():
        kind, *arguments = key.split("/")
        if kind == "bandwidth":
            level, kernel, count = int(arguments[0]), arguments[1], int(arguments[2])
            bandwidth.setdefault(level, {}).setdefault(kernel, {})[count] = value
        elif kind == "capacity":
            sweeps.setdefault(int(arguments[0]), {})[int(arguments[1])] = value
        elif clock is None:
            continue
        elif kind == "latency":
            latency[int(arguments[0])] = value * clock
        elif kind == "openmp":
            openmp.setdefault(arguments[0], {})[int(arguments[1])] = max(value * clock, 0.1)
        elif kind == "llvm":
            llvm.setdefault(arguments[0], {})[int(arguments[1])] = max(value * clock, 0.1)
        elif kind == "operation" and arguments[1] == "latency":
            throughput = typical_samples.get(f"operation/{arguments[0]}/throughput")
            if throughput is not None:
                # A measured chain of calls may appear too fast. It is never faster than independent
                # calls.
                least = throughput if arguments[0] in LIBRARY else 0.0
                operations[arguments[0]] = (max(value, least) * clock, throughput * clock)
    measured = Figures(
        clock_hz=clock * 1e9 if clock is not None else None,
        turbo_hz=turbo(_clocks(typical_samples)),
        core_speed=_core_speed(samples),
        vcpus_per_core=_vcpus_per_core(samples),
        latency=latency,
        bandwidth={level: _starting_at_one(tables) for level, tables in bandwidth.items()},
        operations=operations,
        openmp=_starting_at_one(openmp),
        by_runtime={"llvm": of_llvm} if (of_llvm := _starting_at_one(llvm)) else {},
        node_traffic_gbps=_shared_path(topology, typical_samples),
        link_gbps=_link(topology, typical_samples),
        latency_factor=_latency_factor(typical_samples),
        processor={key: made.value for key, made in core_figures(topology, samples).items()},
        spread=spreads(topology, samples),
        capacity=_capacities(sweeps, bandwidth.get(MEMORY_LEVEL, {}).get("load", {}).get(1)),
    )
    remarks = (*_convergence_remarks(plan, samples), *suspicious(measured))
    return replace(measured, remarks=remarks)


def _clocks(typical_samples: Mapping[str, float]) -> dict[int, float]:
    """Returns the measured clock in Hz by the number of active cores."""
    keys = {1: CLOCK}
    for key in typical_samples:
        if key.startswith(f"{CLOCK}/"):
            keys[int(key.removeprefix(f"{CLOCK}/"))] = key
    return {
        count: 1e9 / typical_samples[key]
        for count, key in keys.items()
        if typical_samples.get(key, 0.0) > 0
    }


def turbo(clocks: Mapping[int, float]) -> dict[int, float]:
    """Returns the turbo clock by the number of active cores. Empty for a constant clock.

    More active cores never raise the clock. Measured clocks are therefore made nonincreasing, with
    the clock of one core as the maximum.

    >>> turbo({1: 3.0e9, 2: 2.9e9, 4: 2.6e9, 8: 2.8e9})
    {1: 3000000000.0, 2: 2900000000.0, 4: 2800000000.0, 8: 2800000000.0}
    >>> turbo({1: 3.0e9, 2: 2.98e9})
    {}
    """
    if 1 not in clocks:
        return {}
    reached: dict[int, float] = {}
    best = 0.0
    for count in sorted(clocks, reverse=True):
        best = max(best, clocks[count])
        reached[count] = min(best, clocks[1])
    if min(reached.values()) > (1.0 - CLOCK_STEP) * clocks[1]:
        return {}
    return {count: reached[count] for count in sorted(reached)}


def _core_speed(samples: Mapping[str, list[float]]) -> dict[int, float]:
    """Returns the speed of each core type relative to the first core, by the first core of the
    type. Empty if unknown.

    The shortest sample is used, because other processes can only lengthen a time.
    """
    rates: dict[int, float] = {}
    for key in samples:
        kind, *arguments = key.split("/")
        if kind == "core":
            kept = [samples.get(f"core/{arguments[0]}/{one}") for one in CORE_OPERATIONS]
            if all(kept):
                times = [min(values) for values in kept if values]
                rates[int(arguments[0])] = prod(times) ** (-1.0 / len(times))
    cores = sorted(rates)
    if cores[:1] != [1]:
        return {}
    kinds = core_kinds([rates[core] for core in cores], KIND) or {}
    return {cores[place - 1]: speed for place, speed in kinds.items()}


def _vcpus_per_core(samples: Mapping[str, list[float]]) -> int | None:
    """Returns 2 if two virtual CPUs are hardware threads of one core, else None."""
    alone, together = samples.get(ALONE), samples.get(TOGETHER)
    return 2 if alone and together and min(together) > SHARED_CORE * min(alone) else None


def _latency_factor(typical_samples: Mapping[str, float]) -> float | None:
    """Returns the rate of independent misses without prefetching, relative to the rate with
    prefetching, at most 1.
    """
    foreseen, unforeseen = typical_samples.get(FORESEEN), typical_samples.get(UNFORESEEN)
    if foreseen is None or unforeseen is None:
        return None
    return min(1.0, foreseen / unforeseen)


def _capacities(sweeps: Mapping[int, Mapping[int, float]], memory: float | None) -> dict[int, int]:
    """Returns the effective capacity of each cache level for one core in bytes, from the bandwidth
    by working set and the bandwidth of `memory`.
    """
    if memory is None:
        return {}
    sizes = {level: capacity(sweep, memory) for level, sweep in sweeps.items() if sweep}
    return {level: size for level, size in sizes.items() if size is not None}


def capacity(sweep: Mapping[int, float], memory: float) -> int | None:
    """Returns the largest working set whose load bandwidth exceeds the geometric mean of the
    bandwidths of cache and memory.

    Returns None if even the smallest working set is slower.

    >>> capacity({4: 30.0, 8: 29.0, 16: 28.0, 32: 18.0}, memory=17.0)
    16
    """
    middle = (max(sweep.values()) * memory) ** 0.5
    held = None
    for size in sorted(sweep):
        if sweep[size] < max(middle, CLEARLY * memory):
            break
        held = size
    return held


def suspicious(measured: Figures) -> tuple[str, ...]:
    """Returns remarks on suspicious values, such as a latency below that of the previous level, or
    a bandwidth that decreases with more cores.
    """
    remarks: list[str] = []
    order = [level for level in sorted(measured.latency) if level] + [0] * (0 in measured.latency)
    for above, level in pairwise(order):
        if measured.latency[level] <= measured.latency[above]:
            remarks.append(
                f"suspicious: {_level(level)} answers in {_cycles(measured.latency[level])} "
                f"cycles, no slower than {_level(above)} in {_cycles(measured.latency[above])}"
            )
    for level, tables in sorted(measured.bandwidth.items()):
        for kernel, curve in tables.items():
            best = 0.0
            for count in sorted(curve):
                if curve[count] < (1 - FALL) * best:
                    remarks.append(
                        f"suspicious: {kernel} from {_level(level)} falls to {curve[count]:.3g} "
                        f"GB/s on {count} cores, from {best:.3g} on fewer"
                    )
                    break
                best = max(best, curve[count])
    for name, threads in measured.openmp.items():
        for few, many in pairwise(sorted(threads)):
            if threads[many] < 0.5 * threads[few]:
                remarks.append(
                    f"suspicious: {name} costs {_cycles(threads[many])} cycles on {many} threads, "
                    f"{_cycles(threads[few])} on {few}"
                )
                break
    for kind, (latency, throughput) in measured.operations.items():
        if throughput > 1.1 * latency:
            remarks.append(f"suspicious: {kind} has a throughput above its latency")
    return tuple(remarks)


def _starting_at_one(tables: Mapping[str, dict[int, float]]) -> dict[str, dict[int, float]]:
    """Removes tables that do not start at one core or thread, as the schema requires."""
    return {name: curve for name, curve in tables.items() if 1 in curve}


def _shared_path(topology: Topology, typical_samples: Mapping[str, float]) -> float | None:
    """Returns the bandwidth of a memory path that all sockets share, in GB/s. None if all sockets
    together get more than one socket.
    """
    one_package = typical_samples.get(f"node/load/{topology.cores_per_package}")
    all_packages = typical_samples.get(f"node/load/{topology.cores}")
    if topology.packages == 1 or one_package is None or all_packages is None:
        return None
    return all_packages if all_packages < SHARED_PATH * one_package else None


def _link(topology: Topology, typical_samples: Mapping[str, float]) -> float | None:
    """Returns the bandwidth of one socket from another socket's memory in GB/s. None if all sockets
    share one memory path.
    """
    return (
        None
        if _shared_path(topology, typical_samples) is not None
        else typical_samples.get("link/load")
    )


def _convergence_remarks(
    plan: tuple[Measurement, ...], samples: Mapping[str, list[float]]
) -> tuple[str, ...]:
    missing = [m.key for m in plan if not samples.get(m.key)]
    loose = [m.key for m in plan if samples.get(m.key) and not has_converged(samples[m.key])]
    remarks: list[str] = []
    if missing:
        remarks.append(f"not measured within the budget: {_listed_keys(missing)}")
    if loose:
        worst = max(min(relative_interval(samples[key]), 9.99) for key in loose)
        remarks.append(
            f"95 % interval wider than {percent(ENOUGH)} of the mean (up to {percent(worst)}): "
            f"{_listed_keys(loose)}"
        )
    return tuple(remarks)


def _listed_keys(keys: list[str]) -> str:
    more = len(keys) - NAMED_UNSTEADY
    return ", ".join(keys[:NAMED_UNSTEADY]) + (f" and {more} more" if more > 0 else "")


def _level(level: int) -> str:
    return f"L{level}" if level else "memory"


def _cycles(number: float) -> str:
    """Formats a number of cycles with three digits, without an exponent.

    >>> _cycles(0.4463), _cycles(1712.3)
    ('0.446', '1712')
    """
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"
