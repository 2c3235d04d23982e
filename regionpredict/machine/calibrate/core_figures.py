"""Computes figures of the core from timed loads: store forwarding, outstanding misses and page
walks.

The time of address translation is the difference between loads on different pages and the same
number of loads on few pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from regionpredict.machine.calibrate.plan import (
    CLOCK,
    FOUND,
    FOUND_BESIDE,
    MEMORY_LEVEL,
    SCATTERED_LINES,
    STORE_FORWARD,
    TLB_COUNTS,
    UNFORESEEN,
    WALKED,
    WALKED_BESIDE,
)
from regionpredict.machine.calibrate.samples import relative_interval, typical
from regionpredict.machine.detect.topology import Topology

TABLE_ENTRY_BYTES = 8
"""The size of a page-table entry in bytes on all 64-bit processors."""

Samples = Mapping[str, list[float]]


class MeasuredTime(NamedTuple):
    """A measured time or ratio, and half of its 95 % interval. Times are in ns."""

    value: float
    half: float

    def minus(self, other: MeasuredTime) -> MeasuredTime:
        """Returns the difference. The intervals of both operands are added."""
        return MeasuredTime(self.value - other.value, self.half + other.half)

    def divided_by(self, other: MeasuredTime) -> MeasuredTime:
        """Returns the quotient. The relative intervals of both operands are added."""
        value = self.value / other.value
        return MeasuredTime(value, value * (self.half / self.value + other.half / other.value))


def core_figures(topology: Topology, samples: Samples) -> dict[str, MeasuredTime]:
    """Computes figures of the core from the samples, by key in the section `processor`. Figures
    without samples are omitted.
    """
    makers: dict[str, Callable[[], MeasuredTime | None]] = {
        "store_forward": lambda: _store_forward(samples),
        "outstanding_misses": lambda: _outstanding_misses(samples),
        "tlb_entries": lambda: _tlb_entries(samples),
        "page_walkers": lambda: _page_walkers(samples),
        "page_walk_factor": lambda: _page_walk_factor(topology, samples),
    }
    made = {key: maker() for key, maker in makers.items()}
    return {key: measured for key, measured in made.items() if measured is not None}


def _store_forward(samples: Samples) -> MeasuredTime | None:
    """Returns the cycles from a store to the load of its value, without the uncertainty of the
    clock.
    """
    each, clock = _measured_time(samples, STORE_FORWARD), _measured_time(samples, CLOCK)
    if each is None or clock is None:
        return None
    return each.divided_by(MeasuredTime(clock.value, 0.0))


def _outstanding_misses(samples: Samples) -> MeasuredTime | None:
    """Returns the number of concurrent line misses of one core by Little's law. It is the time of
    dependent loads divided by the time of independent loads without prefetching.
    """
    latency, each = (
        _measured_time(samples, f"latency/{MEMORY_LEVEL}"),
        _measured_time(samples, UNFORESEEN),
    )
    return _count(latency.divided_by(each)) if latency is not None and each is not None else None


def _tlb_entries(samples: Samples) -> MeasuredTime | None:
    """Returns the largest number of pages for which a load waits less than half a page walk."""
    walk = _walk_time(samples, WALKED, FOUND)
    if walk is None:
        return None
    held = None
    for count in TLB_COUNTS:
        walked, hit = (_measured_time(samples, f"tlb/{count}/{how}") for how in ("walked", "found"))
        if walked is None or hit is None or walked.minus(hit).value > walk.value / 2:
            break
        held = MeasuredTime(float(count), 0.0)
    return held


def _page_walkers(samples: Samples) -> MeasuredTime | None:
    """Returns the number of concurrent page walks: the time of dependent walks divided by the time
    of independent walks.
    """
    alone = _walk_time(samples, WALKED, FOUND)
    beside = _walk_time(samples, WALKED_BESIDE, FOUND_BESIDE)
    return _count(alone.divided_by(beside)) if alone is not None and beside is not None else None


def _page_walk_factor(topology: Topology, samples: Samples) -> MeasuredTime | None:
    """Returns the time of a page walk relative to the load of a page-table entry.

    The entries are assumed to be in the first cache that can hold them and the loaded lines.
    """
    walk = _walk_time(samples, WALKED, FOUND)
    line = next((cache.line for cache in topology.caches if cache.line), 64)
    needed = SCATTERED_LINES * (line + TABLE_ENTRY_BYTES)
    levels = [cache.level for cache in topology.caches if cache.size >= needed]
    entry = _measured_time(samples, f"latency/{levels[0] if levels else MEMORY_LEVEL}")
    if walk is None or entry is None:
        return None
    # The uncertainty of the cache latency belongs to another figure.
    return walk.divided_by(MeasuredTime(entry.value, 0.0))


def _walk_time(samples: Samples, walked: str, hit: str) -> MeasuredTime | None:
    """Returns the time that a load waits for address translation. None if it is not positive."""
    long, short = _measured_time(samples, walked), _measured_time(samples, hit)
    if long is None or short is None or long.value <= short.value:
        return None
    return long.minus(short)


def _count(measured: MeasuredTime) -> MeasuredTime:
    """Rounds a figure to an integer of at least 1. An interval within one half becomes 0."""
    return MeasuredTime(float(max(1, round(measured.value))), max(0.0, measured.half - 0.5))


def _measured_time(samples: Samples, key: str) -> MeasuredTime | None:
    kept = samples.get(key)
    if not kept:
        return None
    value = typical(kept)
    return MeasuredTime(value, relative_interval(kept) * value) if value > 0.0 else None
