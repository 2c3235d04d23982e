"""Finds the iterations of a run from repeated MPI calls, or from a region that marks them.

The calls of rank 0 form a sequence of symbols: function, partner, and number of bytes. The period
is the number of calls per iteration that gives the longest repetition. Each iteration ends with the
same call. If an iteration contains a collective operation of all ranks, the iterations of all ranks
end with it, so that no message crosses the boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError, plural
from regionpredict.trace.bursts import bursts_of
from regionpredict.trace.event_trace import (
    NONE,
    EventTrace,
    Kind,
)

Rows = NDArray[np.int64]
_FEWEST = 3  # minimum number of iterations
_CANDIDATES = 200  # maximum number of tried periods


@dataclass(frozen=True, slots=True)
class Iterations:
    """The n iterations of a run. `bounds` has shape (locations, n + 1) and contains the rows after
    which the iterations of each location start and end. `duration_s` has the seconds of each
    iteration on rank 0. `period` is the number of MPI calls per iteration on rank 0, or None for
    marked iterations.
    """

    bounds: Rows
    duration_s: NDArray[np.float64]
    period: int | None

    @property
    def count(self) -> int:
        """The number of iterations."""
        return len(self.duration_s)

    @property
    def noise(self) -> float:
        """The relative standard deviation of the durations."""
        return float(self.duration_s.std() / self.duration_s.mean())

    def cleanest_range(self) -> tuple[int, int]:
        """Returns the range (first, last + 1) of consecutive iterations, half of all, with the
        shortest time.
        """
        half = max(1, self.count // 2)
        total = np.concatenate([[0.0], np.cumsum(self.duration_s)])
        first = int(np.argmin(total[half:] - total[:-half]))
        return first, first + half


def iterations_of(trace: EventTrace, mark: str | None = None) -> Iterations:
    """Finds the iterations of a run. `mark` is the region that starts an iteration, if known.

    Raises InputError if the calls do not repeat, or if some rank enters `mark` fewer than three
    times.
    """
    if not np.diff(trace.starts).all():
        unused = trace.locations[int(np.argmin(np.diff(trace.starts)))]
        raise InputError(
            f"{trace.name}: location {unused} has no events, so no part of an iteration",
            remedy="take the whole run",
        )
    if mark is not None:
        return _marked_iterations(trace, mark)
    opens, ends = _outermost_calls(trace, 0)
    symbols = _call_symbols(trace, opens, ends)
    pattern = _longest_repetition(symbols)
    if pattern is None:
        raise InputError(
            f"{trace.name}: no iterations are found: the calls of rank 0 do not repeat",
            remedy="name the region that begins one with --mark, or take the whole run",
        )
    first, period, count = pattern
    return _iterations_of_ranks(trace, opens, ends, first, period, count)


def _outermost_calls(trace: EventTrace, location: int) -> tuple[Rows, Rows]:
    """Returns the rows that begin and end a location's outermost MPI calls."""
    depth = bursts_of(trace).depth[trace.starts[location] : trace.starts[location + 1]]
    before = np.concatenate([[0], depth[:-1]])
    opens = np.flatnonzero((depth > 0) & (before == 0)) + trace.starts[location]
    ends = np.flatnonzero((depth == 0) & (before > 0)) + trace.starts[location]
    return opens, ends


def _call_symbols(trace: EventTrace, opens: Rows, ends: Rows) -> Rows:
    operations = trace.operations
    low, high = np.searchsorted(operations.event, opens), np.searchsorted(operations.event, ends)
    has = high > low
    at = np.where(has, low, 0)
    columns = [trace.region[opens].astype(np.int64)]
    if len(operations):
        columns += [
            np.where(has, column[at], NONE)
            for column in (operations.partner, operations.tag, operations.sent)
        ]
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)


def _longest_repetition(symbols: Rows) -> tuple[int, int, int] | None:
    """Returns the first call, the period, and the number of repetitions. The result is None if no
    sequence repeats three times.
    """
    n = len(symbols)
    if n < _FEWEST:
        return None
    # Each symbol gets a random sign, so equal symbols at a distance add up and others cancel.
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(8, int(symbols.max()) + 1))
    size = 1 << (2 * n - 1).bit_length()
    power = sum(np.abs(np.fft.rfft(row[symbols], size)) ** 2 for row in signs)
    alike = np.fft.irfft(power, size)[: n // _FEWEST + 1] / (8.0 * n)
    order = [lag for lag in np.argsort(-alike).tolist() if lag > 0][:_CANDIDATES]
    best: tuple[int, int, int] | None = None
    most = 0
    for lag in sorted(order):
        same = np.concatenate([[False], symbols[lag:] == symbols[:-lag], [False]])
        edges = np.flatnonzero(same[1:] != same[:-1])
        if not len(edges):
            continue
        lengths = edges[1::2] - edges[::2]
        longest = int(np.argmax(lengths))
        count = (int(lengths[longest]) + lag) // lag
        # A longer period must cover more calls, since multiples of a period repeat, too.
        if count >= _FEWEST and count * lag > 1.1 * most:
            most = count * lag
            best = (int(edges[2 * longest]), lag, count)
    return best


def _iterations_of_ranks(
    trace: EventTrace, opens: Rows, ends: Rows, first: int, period: int, count: int
) -> Iterations:
    every = _collective_ends(trace)
    chosen = None
    if every is not None:
        # Find the first call of the period that is collective on all ranks in each repetition.
        place = np.searchsorted(every[0], ends)
        inside = (place < every.shape[1]) & (
            every[0][np.minimum(place, every.shape[1] - 1)] == ends
        )
        for offset in range(period):
            calls = first + offset + period * np.arange(count)
            calls = calls[calls < len(ends)]
            if inside[calls].all() and len(calls) >= _FEWEST:
                chosen = every[:, place[calls]]
                break
    if chosen is None:
        edge = ends[first + period - 1 : first + period * count : period]
        times = trace.time[edge]
        chosen = np.stack(
            [
                a + np.searchsorted(trace.time[a:b], times, side="right") - 1
                for a, b in pairwise(trace.starts.tolist())
            ]
        )
        chosen = np.maximum(chosen, trace.starts[:-1, None])
    return _with_durations(trace, chosen, period)


def _collective_ends(trace: EventTrace) -> Rows | None:
    """Returns the rows that end collective calls of all ranks, with shape (locations, n), or None.

    The result is None if a rank has several threads, since only the first thread makes collective
    calls.
    """
    operations = trace.operations
    location = trace.locations_of(operations.event)
    world = np.array([c.members == trace.ranks for c in trace.communicators] + [False], dtype=bool)
    kind = trace.kind[operations.event]
    rows = np.flatnonzero((kind == Kind.COLLECTIVE_END) & world[operations.communicator])
    counts = np.bincount(location[rows], minlength=len(trace.locations))
    if not counts.all() or counts.min() != counts.max():
        return None
    array = np.empty((len(trace.locations), int(counts[0])), dtype=np.int64)
    for number in range(len(trace.locations)):
        _, ends = _outermost_calls(trace, number)
        events = operations.event[rows[location[rows] == number]]
        array[number] = ends[np.searchsorted(ends, events)]
    return array


def _marked_iterations(trace: EventTrace, mark: str) -> Iterations:
    named = np.array([region.name == mark for region in trace.regions] + [False])
    enters = np.flatnonzero(named[trace.region] & (trace.kind == Kind.ENTER))
    by_location = [enters[(enters >= a) & (enters < b)] for a, b in pairwise(trace.starts.tolist())]
    counts = [len(rows) for rows in by_location]
    fewest = min(counts)
    if fewest < _FEWEST:
        place = trace.locations[counts.index(fewest)]
        raise InputError(
            f"{trace.name}: location {place} enters '{mark}' {plural(fewest, 'time')}",
            remedy="name a region that every process enters at least three times",
        )
    # The bound is the previous row, since the start of the region belongs to the iteration.
    return _with_durations(trace, np.stack([rows[:fewest] - 1 for rows in by_location]), None)


def _with_durations(trace: EventTrace, bounds: Rows, period: int | None) -> Iterations:
    times = trace.time[np.maximum(bounds[0], 0)]
    return Iterations(bounds, np.diff(times) / trace.ticks_per_second, period)
