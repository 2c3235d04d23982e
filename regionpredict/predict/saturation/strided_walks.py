"""Computes the cost of address translation for references with wide strides.

With a stride of more than half a page, as in a column of a matrix, every step or two reaches
another page. The pages are counted like lines, with the TLB as the cache. Page-table lines compete
with the data in the caches.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.machine import Machine
from regionpredict.machine.thread_places import threads_on_a_core
from regionpredict.predict.saturation.address_translation import (
    strided_walk_cycles,
    table_line_bytes,
    tlb_entries,
)
from regionpredict.predict.saturation.constants import (
    PREFETCHED_STRIDE,
    TABLE_SHARE,
    WALKED_STRIDE,
)
from regionpredict.workload import (
    CacheContents,
    CacheLevel,
    LevelTraffic,
    TrafficCounter,
    strided_arrays,
)


class StridedWalks:
    """The page walks for wide strides of one region on one machine."""

    def __init__(self, counter: TrafficCounter, machine: Machine, contents: CacheContents) -> None:
        """`counter` counts the region's lines. `contents` are the initial contents of the caches
        and the TLB.
        """
        self.machine = machine
        self.contents = contents
        self.line_bytes = counter.line_bytes
        self.arrays = strided_arrays(counter.nest, WALKED_STRIDE.value * machine.page_bytes)
        self._counter = counter

    def seconds(self, threads: int, caches: Sequence[CacheLevel]) -> float:
        """Returns the seconds of one core for all page walks, with `threads` threads and these
        `caches`.
        """
        walks = self._page_walks(threads) if self.arrays else 0.0
        if not walks:
            return 0.0
        covered = table_line_bytes(self.machine, self.line_bytes)
        tables = self._counter.page_counter(covered)
        share = TABLE_SHARE.value * covered / self.line_bytes
        levels = [level._replace(size=share * level.size) for level in caches]
        fetched = tables.traffic(levels, threads, contents=self.contents)
        lines = [self._strided_bytes(level) / covered for level in fetched]
        return strided_walk_cycles(walks, lines, self.machine) / self.machine.clock_hz

    def _page_walks(self, threads: int) -> float:
        """Returns the number of page accesses with wide strides that miss the core's TLB."""
        page = self.machine.page_bytes
        tlb = CacheLevel(page * tlb_entries(self.machine), threads_on_a_core(self.machine, threads))
        pages = self._counter.page_counter(page)
        (missed,) = pages.traffic([tlb], threads, contents=self.contents)
        return self._strided_bytes(missed) / page

    def _strided_bytes(self, level: LevelTraffic) -> float:
        """Returns the bytes that a cache level loads of the arrays with wide strides."""
        return sum(moved.read for moved in level.arrays if moved.array in self.arrays)


def widest_step(machine: Machine) -> float:
    """Returns the widest stride in bytes that the machine's prefetcher can follow."""
    return PREFETCHED_STRIDE.value * machine.processor.prefetch_block.value
