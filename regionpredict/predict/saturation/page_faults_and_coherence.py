"""Computes the cost of page faults in new memory, and of cache lines that move between cores.

In new memory, the kernel clears and maps a page at its first write. A line that another core wrote
last is loaded from that core's private cache if it is still there. Lines that several threads write
(false sharing) move with every write.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

from regionpredict.machine import NEW_BEYOND, NEW_IN_CACHE, Machine
from regionpredict.predict.saturation.constants import (
    BORDER_TRANSFERS,
    FIRST_CACHE_SHARE,
    FIRST_TOUCH_BYTES,
    KEPT_BLOCKS,
    LARGEST_KEPT_BLOCK,
    RECYCLED_BLOCK,
)
from regionpredict.predict.saturation.openmp_overheads import SpreadUpdates
from regionpredict.workload import (
    ArraySharing,
    Execution,
    TrafficCounter,
    Workload,
    piece_length,
)


class TransferTime(NamedTuple):
    """The seconds of the busiest thread for page faults in new `pages`, and for `lines` from other
    cores.

    `exchange` is the time for the few lines that threads exchange at the start and end of a region.
    It counts as overhead, and not as part of `lines`.
    """

    pages: float
    exchange: float
    lines: float


class DataTransfers:
    """The cost of page faults and of lines from other cores in a region, for any number of
    threads.
    """

    def __init__(
        self, workload: Workload, execution: Execution, counter: TrafficCounter, machine: Machine
    ) -> None:
        self.machine = machine
        self.line_bytes = workload.line_bytes
        self.schedule = workload.schedule
        self.trips = max(1.0, execution.work.nest.root.trips({}))
        self.arrays = execution.sharing
        self.contended = tuple(writes for writes in execution.contended if writes.apart != 0.0)
        self.in_one_line = tuple(writes for writes in execution.contended if writes.apart == 0.0)
        self.atomics = execution.synchronisation.spread
        self.fresh = workload.fresh
        self.repeats = workload.repeats
        self.touched = counter.touched() if self._has_cost() else {}

    def at(self, threads: int) -> TransferTime:
        """Returns the costs on `threads` threads."""
        border = self._border_seconds(threads)
        if not self.touched:
            return TransferTime(0.0, border, 0.0)
        exchange, lines = self._line_times(threads)
        lines += self._contended_wait(threads)
        return TransferTime(self._page_fault_seconds(threads), border + exchange, lines)

    def _border_seconds(self, threads: int) -> float:
        """Returns the seconds for the line at the border between two threads' parts of a written
        array, which moves to the other thread and back.
        """
        if threads < 2 or not any(a.written and a.stride is not None for a in self.arrays):
            return 0.0
        return BORDER_TRANSFERS.value * self.machine.overheads.atomic.at(2) / self.machine.clock_hz

    def _has_cost(self) -> bool:
        """Whether new pages or lines from other cores can have a cost."""
        cores = self.machine.cores
        return bool(self.contended or self.atomics) or any(
            array.held_rank or (array.written and array.name in self.fresh)
            or (array.written and self._block_bytes(array, cores) < self.line_bytes)
            for array in self.arrays
        )  # fmt: skip

    def summary(self, threads: int) -> str:
        """Returns the costs on `threads` threads as text, or an empty text without costs."""
        past, parts = self.at(threads), []
        if past.pages:
            parts.append(f"new pages of {', '.join(self._new_arrays)}: {1e6 * past.pages:.3g} µs")
        if self.contended and past.lines:
            names = ", ".join(sorted({writes.array for writes in self.contended}))
            parts.append(f"writes to {names} take the line from another thread")
        if self.in_one_line and threads > 1:
            names = ", ".join(writes.array for writes in self.in_one_line)
            parts.append(f"all threads write {names} in turn")
        if past.lines + past.exchange:
            spent = 1e6 * (past.lines + past.exchange)
            parts.append(f"lines that other cores hold: {spent:.3g} µs")
        return "; ".join(parts)

    @cached_property
    def _new_arrays(self) -> list[str]:
        """The arrays in new memory from the kernel.

        If a program frees and allocates memory repeatedly, malloc reuses freed memory up to
        `KEPT_BLOCKS` times the largest block.
        """
        new = {array.name: size for array in self.arrays
               if array.name in self.fresh and array.written
               and (size := self.touched.get(array.name, 0.0)) >= RECYCLED_BLOCK.value}  # fmt: skip
        most = max(new.values(), default=0.0)
        kept = self.repeats and most <= LARGEST_KEPT_BLOCK.value
        return [] if kept and sum(new.values()) <= KEPT_BLOCKS.value * most else list(new)

    def _page_fault_seconds(self, threads: int) -> float:
        """Returns the seconds of a thread for page faults. A page that all threads access causes a
        fault in each thread.
        """
        new = [array for array in self.arrays if array.name in self._new_arrays]
        each = self._page_cycles(sum(self.touched[array.name] for array in new), threads)
        cycles = 0.0
        for array in new:
            crowded = threads > 1 and self._block_bytes(array, threads) < self.machine.page_bytes
            pages = (
                self.touched[array.name] / FIRST_TOUCH_BYTES.value / (1.0 if crowded else threads)
            )
            cycles += pages * each
        return cycles / self.machine.clock_hz

    def _page_cycles(self, new_bytes: float, threads: int) -> float:
        """Returns the cycles of a thread for a page fault of 4 KiB, for a total of `new_bytes` of
        new memory.

        The machine has measured costs for two totals, relative to the last-level caches. Between
        these, the cost is linear in the logarithm of the total.
        """
        last, costs = self.machine.caches[-1], self.machine.overheads
        caches = max(1.0, threads / last.shared_by_cores.value)
        share = max(new_bytes / (caches * last.size_bytes.value), NEW_IN_CACHE)
        part = math.log(share / NEW_IN_CACHE) / math.log(NEW_BEYOND / NEW_IN_CACHE)
        near, beyond = costs.first_touch.at(threads), costs.first_touch_beyond.at(threads)
        return float(near + min(1.0, part) * (beyond - near))

    def _line_times(self, threads: int) -> tuple[float, float]:
        """Returns the seconds for `exchange` and for `lines` of `TransferTime`."""
        if threads < 2:
            return 0.0, 0.0
        moved, falsely, held = 0.0, 0.0, 0.0
        for array in self.arrays:
            lines = self.touched.get(array.name, 0.0) / self.line_bytes
            together = min(float(threads), self.line_bytes / self._block_bytes(array, threads))
            own = lines / threads * max(1.0, together) if array.stride is not None else lines
            held += own
            if array.written and array.stride is not None and together > 1.0:
                falsely += own  # false sharing: the line always comes from another thread
            else:
                part = array.held_lines(own) if array.held_rank else 0.0
                moved += part if array.held_whole else part * (1.0 - 1.0 / threads)
        if not held:
            return 0.0, 0.0
        # Only lines that are still in the other core's private caches come from there.
        there = min(1.0, self._private_lines / held)
        first = FIRST_CACHE_SHARE.value * self.machine.caches[0].size_bytes.value / self.line_bytes
        few = self.machine.overheads.line_transfer.at(threads) / self.machine.clock_hz
        many = self.machine.overheads.bulk_transfer.at(threads) / self.machine.clock_hz
        moved, falsely = there * moved, there * falsely
        latency = min(moved, first) * few
        beyond = max(0.0, moved - first) * many
        turns = min(falsely, first) * few + max(0.0, falsely - first) * many
        if moved > first:
            return 0.0, latency + beyond + turns
        return latency, turns

    def _contended_wait(self, threads: int) -> float:
        """Returns the seconds that a thread waits for lines that several threads write.

        A line is loaded from another thread's private cache if that thread wrote the line last and
        its cache still contains it.
        """
        cycles = 0.0
        for writes in self.contended:
            if writes.apart is not None:
                writers = min(float(threads), self.line_bytes / writes.apart)
                each = max(0.0, 1.0 - 1.0 / writers)
            else:
                each = self._is_with_another(writes.array, threads)
            cycles += writes.updates / threads * each * self._line_transfer_cycles(threads)
        return cycles / self.machine.clock_hz

    def spread_updates(self, threads: int) -> tuple[SpreadUpdates, ...]:
        """Returns the atomic updates of arrays, one entry per array."""
        return tuple(
            SpreadUpdates(
                atomic.text, atomic.updates, self._lines_of(atomic.array),
                atomic.updates * self._is_with_another(atomic.array, threads),
            )
            for atomic in self.atomics
        )  # fmt: skip

    def _is_with_another(self, array: str, threads: int) -> float:
        """Returns the probability that another thread's cache contains the line of an element, if
        threads write random elements of the array.
        """
        there = min(1.0, self._private_lines * threads / self._lines_of(array))
        return there * (1.0 - 1.0 / threads)

    def _lines_of(self, array: str) -> float:
        return max(1.0, self.touched.get(array, 0.0) / self.line_bytes)

    def _line_transfer_cycles(self, threads: int) -> float:
        return float(self.machine.overheads.line_transfer.at(threads))

    @cached_property
    def _private_lines(self) -> float:
        """The number of lines in a core's largest private cache."""
        private = [c for c in self.machine.caches if c.shared_by_cores.whole == 1]
        return max((c.size_bytes.value for c in private), default=0.0) / self.line_bytes

    def _block_bytes(self, array: ArraySharing, threads: int) -> float:
        """Returns the bytes of consecutive elements per thread. Infinite if the parallel loop does
        not move through the array.
        """
        if array.stride is None:
            return float("inf")
        return max(1.0, array.stride * max(1.0, piece_length(self.trips, threads, self.schedule)))
