"""What the past of a region's arrays costs it: page faults, and lines that other cores hold.

New memory: the kernel clears and maps a page when a thread first writes to it. Lines that another
core wrote last are fetched from its private cache, as long as they are still there; lines that
several threads write in turn (false sharing) move with every turn.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.balance import Schedule, piece
from regionpredict.analysis.groups import Nest
from regionpredict.analysis.history import History, LastWrite
from regionpredict.analysis.partition import (
    Part,
    fetched,
    parts_of,
    rank_of,
    slice_of,
    stays,
    strangers,
)
from regionpredict.analysis.traffic import CacheLevel, traffic
from regionpredict.machine import Machine
from regionpredict.predict.saturation_data import LINE, PAGE

RECYCLED = 128 << 10
"""Smaller blocks malloc takes from memory that the program has used before (mallopt(3),
M_MMAP_THRESHOLD); larger ones come new from the kernel."""
FIRST_CACHE_SHARE = 0.5
"""Share of the first cache whose lines cost `line_transfer` each; those beyond `bulk_transfer`."""
BORDER_TRANSFERS = 2.0
"""Malloc's blocks begin anywhere in a line. Each transfer takes what an update of one variable by
two threads in turn does, `atomic` on two."""


class _Array(NamedTuple):
    """One array: how its references are dealt out and what of it other cores have.

    `parts` is how threads share its references, `writes` those that write; `stride` the bytes
    between the elements of neighbouring iterations of the parallel loop, None where it stands
    still. `moved` is the number of dimensions of what others have (0: nothing); `whole`: a thread
    finds all of that with another, not as chance has it.
    """

    name: str
    parts: frozenset[Part]
    writes: frozenset[Part]
    stride: float | None
    moved: int
    whole: bool


class Past(NamedTuple):
    """Seconds of the busiest thread: for `pages` that are new, for `lines` of other cores.

    `exchange` are the few lines that threads hand each other at a region's begin and end, as much
    a cost of the synchronisation as the barrier itself; they are not among `lines`.
    """

    pages: float
    exchange: float
    lines: float


class PastCosts:
    """The costs of one region on any number of threads."""

    def __init__(
        self, facts: RegionFacts, nest: Nest, machine: Machine, schedule: Schedule,
        history: History,
    ) -> None:  # fmt: skip
        self.machine = machine
        self.schedule = schedule
        self.trips = max(1.0, nest.parallel[0].trips({}))
        self.arrays = _arrays(facts, nest, history)
        self.fresh = history.fresh if not facts.region.enclosing else frozenset()
        self.touched: dict[str, float] = {}
        if self._matters():
            self.touched = _touched(nest)

    def at(self, threads: int) -> Past:
        """The costs on `threads` threads."""
        border = self._border(threads)
        if not self.touched:
            return Past(0.0, border, 0.0)
        exchange, lines = self._lines(threads)
        return Past(self._pages(threads), border + exchange, lines)

    def _border(self, threads: int) -> float:
        """Where two neighbours' parts of a written array meet, the line goes there and back."""
        if threads < 2 or not any(a.writes and a.stride is not None for a in self.arrays):
            return 0.0
        return BORDER_TRANSFERS * self.machine.overheads.atomic.at(2) / self.machine.clock_hz

    def _matters(self) -> bool:
        """Whether pages or lines can cost anything; not so where the program's `main` is not seen,
        unless threads share lines.
        """
        cores = self.machine.cores
        return any(
            array.moved or (array.writes and array.name in self.fresh)
            or (array.writes and self._block(array, cores) < LINE)
            for array in self.arrays
        )  # fmt: skip

    def told(self, threads: int) -> str:
        """The costs on `threads` threads in words; empty where there are none."""
        past, parts = self.at(threads), []
        if past.pages:
            parts.append(f"new pages of {', '.join(self._new())}: {1e6 * past.pages:.3g} us")
        if past.lines + past.exchange:
            spent = 1e6 * (past.lines + past.exchange)
            parts.append(f"lines that other cores hold: {spent:.3g} us")
        return "; ".join(parts)

    def _new(self) -> list[str]:
        return [one.name for one in self.arrays
                if one.name in self.fresh and one.writes
                and self.touched.get(one.name, 0.0) >= RECYCLED]  # fmt: skip

    def _pages(self, threads: int) -> float:
        """Each thread takes the faults of its own pages; of those that all reach, all of them."""
        cycles = 0.0
        each = self.machine.overheads.first_touch
        new = self._new()
        for array in self.arrays:
            if array.name in new:
                crowded = threads > 1 and self._block(array, threads) < PAGE
                pages = self.touched[array.name] / PAGE / (1.0 if crowded else threads)
                cycles += pages * each.at(threads)
        return cycles / self.machine.clock_hz

    def _lines(self, threads: int) -> tuple[float, float]:
        """(exchange, lines) in seconds."""
        if threads < 2:
            return 0.0, 0.0
        moved, falsely, held = 0.0, 0.0, 0.0
        for array in self.arrays:
            lines = self.touched.get(array.name, 0.0) / LINE
            together = min(float(threads), LINE / self._block(array, threads))
            own = lines / threads * max(1.0, together) if array.stride is not None else lines
            held += own
            if array.writes and array.stride is not None and together > 1.0:
                falsely += own  # false sharing: the line has always just been with another
            else:
                part = slice_of(own, array.moved, array.parts) if array.moved else 0.0
                moved += part if array.whole else part * (1.0 - 1.0 / threads)
        # Only what the other core's private caches still hold comes from there.
        private = [c for c in self.machine.caches if c.shared_by_cores.whole == 1]
        room = max((c.size_bytes.value for c in private), default=0.0) / LINE
        there = min(1.0, room / held) if held else 1.0
        first = FIRST_CACHE_SHARE * self.machine.caches[0].size_bytes.value / LINE
        few = self.machine.overheads.line_transfer.at(threads) / self.machine.clock_hz
        many = self.machine.overheads.bulk_transfer.at(threads) / self.machine.clock_hz
        moved, falsely = there * moved, there * falsely
        latency = min(moved, first) * few
        beyond = max(0.0, moved - first) * many
        turns = min(falsely, first) * few + max(0.0, falsely - first) * many
        if moved > first:
            return 0.0, latency + beyond + turns
        return latency, turns

    def _block(self, array: _Array, threads: int) -> float:
        """Bytes next to each other that one thread has; infinite where nothing is dealt out."""
        if array.stride is None:
            return float("inf")
        return max(1.0, array.stride * max(1.0, piece(self.trips, threads, self.schedule)))


def _touched(nest: Nest) -> dict[str, float]:
    """Bytes of each array that the whole region touches."""
    (whole,) = traffic(nest, [CacheLevel(float("inf"), 1)], 1, Schedule("static", None))
    touched: dict[str, float] = {}
    for one in whole.arrays:
        touched[one.array] = touched.get(one.array, 0.0) + one.read
    return touched


def _arrays(facts: RegionFacts, nest: Nest, history: History) -> tuple[_Array, ...]:
    """The arrays that threads share."""
    private = {one.name for one in facts.region.arrays if one.storage == "private"}
    reads, writes = parts_of(facts.region, "read"), parts_of(facts.region, "write")
    outer = nest.parallel[0]
    strides: dict[str, float] = {}
    for group in nest.groups():
        slope = abs(group.slopes.get(outer.variable, 0.0) * outer.step)
        if slope:
            strides[group.array] = min(slope, strides.get(group.array, slope))
    found = []
    for name in sorted({*reads, *writes} - private):
        own = writes.get(name, frozenset())
        parts = reads.get(name, frozenset()) | own
        last = history.last.get(name) if name not in history.fresh else None
        moved, whole = _moved(parts, own, last) if last is not None else (0, False)
        found.append(_Array(name, parts, own, strides.get(name), moved, whole))
    return tuple(found)


def _moved(parts: frozenset[Part], writes: frozenset[Part], last: LastWrite) -> tuple[int, bool]:
    """(dimensions of what is, or is shared, with another core; whether all of it surely is)."""
    readers = strangers(last.since, writes)
    if writes and readers:
        return rank_of(readers), False  # others hold it to read: they have to give it up
    if last.since and fetched(parts, last.since):
        return 0, False
    if last.parts is None:
        return 1, True  # one thread between two regions: a vector, or a row of a matrix
    if stays(parts, last.parts):
        return 0, False
    return rank_of(last.parts), False
