"""How far what is assumed of a machine is off: of the shipped machines that tell the figure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, pstdev

import pytest

from regionpredict.constant import Constant
from regionpredict.machine import Machine, load, shipped_names
from regionpredict.machine.quantity import Curve, Quantity
from regionpredict.machine.reader import defaults
from regionpredict.predict.saturation.constants import (
    BANDWIDTH_SPREAD,
    CACHE_SPREAD,
    CORE_SPREAD,
    LATENCY_SPREAD,
    LINK_SPREAD,
    OPENMP_SPREAD,
)

MACHINES = [load(name) for name in shipped_names()]


def told(figure: Quantity | Curve | None) -> bool:
    return figure is not None and figure.evidence != "assumed"


def root_mean_square(values: list[float]) -> float:
    return math.sqrt(fmean(value * value for value in values))


def of_barriers(machine: Machine) -> Iterator[float]:
    """The barrier of several threads against the formula that stands in for it."""
    table = machine.overheads.barrier
    latency = machine.memory.latency_cycles.value
    t = defaults.line_transfer_cycles(machine.node, machine.caches, latency)
    if told(table):
        for threads, cycles in zip(table.x, table.y, strict=True):
            if threads > 1:
                yield cycles / (t * (threads + 4))


def of_operations(machine: Machine) -> Iterator[float]:
    for kind, operation in machine.operations.items():
        latency, throughput = defaults.OPERATION_CYCLES[kind]
        if told(operation.latency_cycles):
            yield operation.latency_cycles.value / latency
        if told(operation.throughput_cycles):
            yield operation.throughput_cycles.value / throughput


def of_caches(machine: Machine) -> Iterator[float]:
    for cache in machine.caches[1:]:
        if told(cache.bytes_per_cycle):
            yield cache.bytes_per_cycle.value / defaults.LEVEL_BYTES_PER_CYCLE[cache.level]


def of_latency(machine: Machine) -> Iterator[float]:
    if told(machine.memory.latency_cycles):
        nanoseconds = machine.memory.latency_cycles.value / machine.clock_hz * 1e9
        yield nanoseconds / defaults.MEMORY_LATENCY_NS


def of_links(machine: Machine) -> Iterator[float]:
    link = machine.memory.link_bytes_per_s
    if link is not None and told(link):
        own = machine.domains_per_package * max(c.peak for c in machine.memory.bandwidth.values())
        yield link.value / (defaults.LINK_SHARE * own)


@pytest.mark.parametrize(
    ("spread", "factors"),
    [
        (OPENMP_SPREAD, of_barriers),
        (CORE_SPREAD, of_operations),
        (CACHE_SPREAD, of_caches),
        (LATENCY_SPREAD, of_latency),
        (LINK_SPREAD, of_links),
    ],
)
def test_how_far_defaults_are_from_what_machines_tell(spread: Constant, factors) -> None:  # type: ignore[no-untyped-def]
    """Each machine alike, however many figures it tells."""
    off = [[math.log(factor) for factor in factors(machine)] for machine in MACHINES]
    each = [root_mean_square(of_machine) for of_machine in off if of_machine]
    assert spread.value == pytest.approx(root_mean_square(each), abs=0.006)


def test_how_far_machines_are_from_each_other() -> None:
    """Of memory nothing stands in for a table: a guess is taken from other machines' shares of the
    peak."""
    tables = [(machine.memory.bandwidth.get("load"), machine.memory.peak_bytes_per_s)
              for machine in MACHINES]  # fmt: skip
    known = [(table, peak) for table, peak in tables if table is not None and told(table)]
    shares = [math.log(table.peak / peak.value) for table, peak in known if peak is not None]
    assert BANDWIDTH_SPREAD.value == pytest.approx(pstdev(shares), abs=0.006)
