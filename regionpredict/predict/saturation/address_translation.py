"""Computes the cost of address translation, mainly for data-dependent addresses.

A reference that misses the last TLB waits for a page walk, which reads the page-table entry from
the caches. The hit rates of LRU caches and TLBs for random accesses follow from Che's approximation
(Che, Tung and Wang 2002; Fricker, Robert and Roberts 2012).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.saturation.constants import (
    CHE_STEPS,
    LARGE_PAGE,
    PAGE_ENTRY,
)
from regionpredict.workload import Gather


class Spread(NamedTuple):
    """A set of `items` that are accessed with equal probability, at a total `rate`."""

    items: float
    rate: float


def walk_cycles(gathers: Sequence[Gather], machine: Machine, line_bytes: int) -> float:
    """Returns the cycles of one core's page walkers for all data-dependent references (`gathers`).

    Each walker processes one walk at a time, before the line itself is requested. The upper levels
    of the page table are assumed to be in the core's private caches.
    """
    gathers = [gather for gather in gathers if gather.accesses > 0.0]  # skips empty loops
    if not gathers:
        return 0.0
    page = float(machine.page_bytes)
    pages = [Spread(max(1.0, gather.extent / page), gather.accesses) for gather in gathers]
    shares = hit_rates(tlb_entries(machine), pages)
    if min(shares) == 1.0:
        return 0.0
    walks = [gather.accesses * (1.0 - share) for gather, share in zip(gathers, shares, strict=True)]
    tables = [Spread(max(1.0, pages_of.items * PAGE_ENTRY.value / line_bytes), walk)
              for pages_of, walk in zip(pages, walks, strict=True)]  # fmt: skip
    data = [Spread(max(1.0, gather.extent / line_bytes), gather.accesses) for gather in gathers]
    cycles, above = 0.0, [0.0] * len(gathers)
    for cache in machine.caches:
        held = hit_rates(cache.size_bytes.value / line_bytes, [*tables, *data])
        for at, walk in enumerate(walks):
            here = max(above[at], held[at])
            cycles += walk * (here - above[at]) * cache.latency_cycles.value
            above[at] = here
    far = machine.memory.latency_cycles.value
    cycles += sum(walk * (1.0 - share) * far for walk, share in zip(walks, above, strict=True))
    return _page_walk_cycles(cycles, machine)


def tlb_entries(machine: Machine) -> float:
    """Returns the number of entries of a core's last TLB, for the page size of the machine."""
    core = machine.processor
    large = machine.page_bytes >= LARGE_PAGE.value
    return (core.tlb_large_entries if large else core.tlb_entries).value


def table_line_bytes(machine: Machine, line_bytes: int) -> int:
    """Returns the bytes of data whose page-table entries share one cache line."""
    return machine.page_bytes * line_bytes // int(PAGE_ENTRY.value)


def strided_walk_cycles(walks: float, fetched: Sequence[float], machine: Machine) -> float:
    """Returns the cycles of one core's page walkers for `walks` page walks of strided accesses.

    `fetched` contains, for each cache, the number of page-table lines loaded from the next level.
    Each loaded line delays one walk.
    """
    latencies = [cache.latency_cycles.value for cache in machine.caches]
    latencies.append(machine.memory.latency_cycles.value)
    missed = [walks]
    for lines in fetched:
        missed.append(min(lines, missed[-1]))
    missed.append(0.0)
    there = [above - below for above, below in pairwise(missed)]
    cycles = sum(times * latency for times, latency in zip(there, latencies, strict=True))
    return _page_walk_cycles(cycles, machine)


def _page_walk_cycles(cycles: float, machine: Machine) -> float:
    """Converts the cycles of dependent loads of page-table entries to the cycles of a core's page
    walkers.
    """
    core = machine.processor
    return cycles * core.page_walk_factor.value / core.page_walkers.value


def hit_rates(capacity: float, spreads: Sequence[Spread]) -> list[float]:
    """Returns the hit rate of each set of items in `spreads` in an LRU cache of `capacity` items.

    An access hits if fewer than `capacity` other items were accessed since the last access to the
    item (Che's characteristic time).

    >>> hit_rates(100.0, [Spread(100.0, 1.0)])
    [1.0]
    >>> (share,) = hit_rates(100.0, [Spread(400.0, 3.0)])
    >>> f"{share:.6f}"
    '0.250000'
    >>> few, many = hit_rates(100.0, [Spread(10.0, 1.0), Spread(1e6, 1.0)])
    >>> 0.9998 < few < 1.0, 0.00008 < many < 0.0001
    (True, True)
    """
    if sum(spread.items for spread in spreads) <= capacity:
        return [1.0] * len(spreads)

    def filled(time: float) -> float:
        return sum(
            -spread.items * math.expm1(-spread.rate * time / spread.items) for spread in spreads
        )

    low, high = 0.0, capacity / max(spread.rate for spread in spreads)
    while filled(high) < capacity:
        high *= 2.0
    for _ in range(int(CHE_STEPS.value)):
        middle = (low + high) / 2.0
        low, high = (middle, high) if filled(middle) < capacity else (low, middle)
    return [-math.expm1(-spread.rate * high / spread.items) for spread in spreads]
