"""Finds the machine figures that determine a prediction.

A figure is decisive if its term of the predicted time is the bottleneck, or takes a large part of
the hinted threads' time. Only decisive figures that are assumed are listed, and they lower the
confidence (`machine_uncertainty.py`). Figures that did not converge count like assumed figures.
If the bottleneck is load imbalance, no figure is decisive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.machine import Machine, assumed_figures, assumed_keys, unconverged_figures
from regionpredict.predict.curve import Point
from regionpredict.predict.saturation.constants import (
    BANDWIDTH_SPREAD,
    CACHE_SPREAD,
    CORE_SPREAD,
    DECIDING_SHARE,
    INTERVAL_95,
    LATENCY_SPREAD,
    LINK_SPREAD,
    OPENMP_SPREAD,
)
from regionpredict.predict.saturation.region_time import RegionTime


def deciding_figures(time: RegionTime, point: Point, bottleneck: str) -> tuple[str, ...]:
    """Returns the keys of the machine figures that scale the `bottleneck` and the large terms of a
    point.
    """
    terms = deciding_terms(time, point, bottleneck)
    return tuple(dict.fromkeys(key for keys in terms.values() for key in keys))


def deciding_terms(time: RegionTime, point: Point, bottleneck: str) -> dict[str, list[str]]:
    """Returns the keys of the decisive machine figures by the term of the time that they scale."""
    if bottleneck == "imbalance":
        return {}
    enough = DECIDING_SHARE.value * sum(point.terms.values())
    terms = [bottleneck, *(name for name, part in point.terms.items() if part >= enough)]
    return {term: _figures_of(term, time, point.threads) for term in dict.fromkeys(terms)}


def spreads_of(machine: Machine, terms: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Returns the standard deviation of the logarithm of the least certain figure of each term, for
    terms with an assumed or unconverged figure.
    """
    unconverged = {figure.key: figure.spread for figure in unconverged_figures(machine)}
    keys = [key for figures in terms.values() for key in figures]
    known = {key: _spread_of(key) for key in assumed_keys(machine, keys)}
    known |= {key: unconverged[key] / INTERVAL_95.value for key in keys if key in unconverged}
    spreads = {
        term: max((known[key] for key in figures if key in known), default=0.0)
        for term, figures in terms.items()
    }
    return {term: spread for term, spread in spreads.items() if spread}


def _spread_of(key: str) -> float:
    """Returns the standard deviation of an assumed figure, by its section of the machine file."""
    return next(spread.value for start, spread in _SPREADS.items() if key.startswith(start))


_SPREADS = {
    "openmp.": OPENMP_SPREAD,
    "caches[0].": CORE_SPREAD,
    "caches[": CACHE_SPREAD,
    "memory.bandwidth.": BANDWIDTH_SPREAD,
    "memory.shared_path.": BANDWIDTH_SPREAD,
    "memory.latency": LATENCY_SPREAD,
    "memory.": LINK_SPREAD,
    "": CORE_SPREAD,
}
"""The standard deviation of assumed figures by the prefix of their key, longest prefix first."""


def assumed_groups(machine: Machine, keys: Sequence[str]) -> tuple[str, ...]:
    """Returns a line of text per section of the machine file with assumed figures among `keys`.

    >>> from regionpredict.machine import load
    >>> machine = load("a64fx")
    >>> print(*assumed_groups(machine, ["memory.latency", "memory.remote_latency"]), sep="\\n")
    memory.latency = 252 cycles (assumed: usual for the part; no source confirms it), and 1 more
    """
    groups: dict[str, list[str]] = {}
    for line in assumed_figures(machine, keys):
        groups.setdefault(line.split(".")[0].split("[")[0], []).append(line)
    return tuple(
        first if not others else f"{first}, and {len(others)} more"
        for first, *others in groups.values()
    )


def unconverged_lines(machine: Machine, keys: Sequence[str]) -> tuple[str, ...]:
    """Returns a line of text per figure among `keys` that did not converge in the calibration."""
    spreads = {figure.key: figure.spread for figure in unconverged_figures(machine)}
    return tuple(
        f"{key} did not converge (±{100 * spreads[key]:.0f} %)"
        for key in dict.fromkeys(keys) if key in spreads
    )  # fmt: skip


def _figures_of(term: str, time: RegionTime, threads: int) -> list[str]:
    memory, synchronisation = time.machine.memory, time.synchronisation
    if term == "compute":
        node = time.machine.node
        speeds = {"node.turbo": node.turbo, "node.core_speed": node.core_speed}
        return [*time.core.figures, *(key for key, curve in speeds.items() if curve is not None)]
    if term == "memory-bandwidth":
        keys = [f"memory.bandwidth.{kernel}" for kernel in memory.bandwidth]
        if memory.shared_path is not None:
            keys.append("memory.shared_path.traffic")
        return [*keys, "memory.remote_latency", "memory.link"] if time.far else keys
    if term == "cache":
        return _cache_figures(time, threads)
    if term == "overhead":
        named = {
            "fork_join": synchronisation.forks,
            "barrier": synchronisation.explicit_barriers
            or (synchronisation.waits and not synchronisation.forks),
            "reduction": synchronisation.reductions,
            "critical": synchronisation.tasks,
            "dynamic_chunk": time.schedule.kind != "static" and not synchronisation.tasks,
            "first_touch": time.transfers.at(threads).pages,
            "first_touch_beyond": time.transfers.at(threads).pages,
        }
        return [f"openmp.{name}" for name, used in named.items() if used]
    if term == "serialization":
        named = {
            "critical": synchronisation.serial_bodies,
            "atomic": synchronisation.atomics or bool(time.transfers.in_one_line),
        }
        return [f"openmp.{name}" for name, used in named.items() if used]
    return []


def _cache_figures(time: RegionTime, threads: int) -> list[str]:
    """Returns the keys of the figures that scale the largest part of the cache term. The parts are
    lines from caches, lines from memory without prefetching, and lines from other cores.
    """
    work = time.loops.at(threads)
    _, cached, _ = work.terms(1.0 / threads)
    late, moved = work.late / threads, time.transfers.at(threads).lines
    if moved >= max(late, cached - late):
        return ["openmp.line_transfer", "openmp.bulk_transfer"]
    if late >= cached - late:
        return ["memory.latency", "processor.outstanding_misses"]
    keys = []
    for level in time.traffic.sources(threads):
        cache = time.machine.caches[level]
        own = [f"caches[{level}].bandwidth.{kernel}" for kernel in cache.bandwidth]
        keys += own or [f"caches[{level}].bytes_per_cycle"]
    return keys
