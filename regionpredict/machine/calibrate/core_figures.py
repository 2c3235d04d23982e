"""Figures of the core that loads tell: what a store hands on to them, misses at a time, and walks.

Loads of lines that all lie on pages of their own, beside loads of as many lines on few pages: what
they take longer is the translation of their addresses.
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
"""Of a table of pages, on all processors of 64 bits."""

Samples = Mapping[str, list[float]]


class Measured(NamedTuple):
    """A time in ns, and half of its 95 % interval in ns."""

    value: float
    half: float

    def less(self, other: Measured) -> Measured:
        """The difference: as unsure as both together."""
        return Measured(self.value - other.value, self.half + other.half)

    def over(self, other: Measured) -> Measured:
        """The quotient: its share is as wide as both together."""
        value = self.value / other.value
        return Measured(value, value * (self.half / self.value + other.half / other.value))


def core_figures(topology: Topology, samples: Samples) -> dict[str, Measured]:
    """What the samples tell, by its key in the section `processor`; the rest is left out."""
    makers: dict[str, Callable[[], Measured | None]] = {
        "store_forward": lambda: _store_forward(samples),
        "outstanding_misses": lambda: _outstanding_misses(samples),
        "tlb_entries": lambda: _tlb_entries(samples),
        "page_walkers": lambda: _page_walkers(samples),
        "page_walk_factor": lambda: _page_walk_factor(topology, samples),
    }
    made = {key: maker() for key, maker in makers.items()}
    return {key: measured for key, measured in made.items() if measured is not None}


def _store_forward(samples: Samples) -> Measured | None:
    """Cycles from a store to the load that finds its value; the clock has its own interval."""
    each, clock = _of(samples, STORE_FORWARD), _of(samples, CLOCK)
    if each is None or clock is None:
        return None
    return each.over(Measured(clock.value, 0.0))


def _outstanding_misses(samples: Samples) -> Measured | None:
    """Lines of memory that one core waits for at once: one by one they take a latency each, and
    side by side, in an order that no prefetcher knows, a part of it (Little's law)."""
    latency, each = _of(samples, f"latency/{MEMORY_LEVEL}"), _of(samples, UNFORESEEN)
    return _count(latency.over(each)) if latency is not None and each is not None else None


def _tlb_entries(samples: Samples) -> Measured | None:
    """Pages of the most lines whose loads wait for less than half of a walk each."""
    walk = _walk(samples, WALKED, FOUND)
    if walk is None:
        return None
    held = None
    for count in TLB_COUNTS:
        walked, hit = (_of(samples, f"tlb/{count}/{how}") for how in ("walked", "found"))
        if walked is None or hit is None or walked.less(hit).value > walk.value / 2:
            break
        held = Measured(float(count), 0.0)
    return held


def _page_walkers(samples: Samples) -> Measured | None:
    """Walks at a time: one after the other, over side by side."""
    alone = _walk(samples, WALKED, FOUND)
    beside = _walk(samples, WALKED_BESIDE, FOUND_BESIDE)
    return _count(alone.over(beside)) if alone is not None and beside is not None else None


def _page_walk_factor(topology: Topology, samples: Samples) -> Measured | None:
    """How many times as long a walk takes as a load of an entry of the table of pages.

    The entries lie in the first cache that holds them beside the lines that are loaded.
    """
    walk = _walk(samples, WALKED, FOUND)
    line = next((cache.line for cache in topology.caches if cache.line), 64)
    needed = SCATTERED_LINES * (line + TABLE_ENTRY_BYTES)
    levels = [cache.level for cache in topology.caches if cache.size >= needed]
    entry = _of(samples, f"latency/{levels[0] if levels else MEMORY_LEVEL}")
    if walk is None or entry is None:
        return None
    # The entry's latency is a figure of its own, with its own interval.
    return walk.over(Measured(entry.value, 0.0))


def _walk(samples: Samples, walked: str, hit: str) -> Measured | None:
    """What a load waits for its translation; None where that is nothing."""
    long, short = _of(samples, walked), _of(samples, hit)
    if long is None or short is None or long.value <= short.value:
        return None
    return long.less(short)


def _count(measured: Measured) -> Measured:
    """A figure that has no fractions, and is never none: within half of one it is known."""
    return Measured(float(max(1, round(measured.value))), max(0.0, measured.half - 0.5))


def _of(samples: Samples, key: str) -> Measured | None:
    kept = samples.get(key)
    if not kept:
        return None
    value = typical(kept)
    return Measured(value, relative_interval(kept) * value) if value > 0.0 else None
