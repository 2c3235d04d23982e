"""Memory waiting of phases of several programs on one path.

The closed queue of one program's cores (`memory_bandwidth.requesting_cores`), with the cores of
several programs. If M cores request at a time, each gets an M-th of the bandwidth for M cores with
its mix of reads and writes. The path is shared by cores, not by programs. The total traffic is the
mean of the bandwidths of the mixes, weighted by requests. Afzal, Hager and Wellein, "An analytic
performance model for overlapping execution of memory-bound loop kernels on multicore CPUs", 2020,
do the same, within 8 % on three processors. Two equal halves of a program take as long as the
program on all of their cores.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.predict.saturation.memory_bandwidth import rising_root


class PathCurve(NamedTuple):
    """B/s of a path by requesting cores, for one mix of reads and writes.

    `cores` are ascending, with at least one entry. Beyond the ends, the curve is constant.
    """

    cores: tuple[float, ...]
    bytes_per_s: tuple[float, ...]

    def at(self, requesting: float) -> float:
        """B/s for this many requesting cores."""
        right = bisect_left(self.cores, requesting)
        if right == 0:
            return self.bytes_per_s[0]
        if right == len(self.cores):
            return self.bytes_per_s[-1]
        low, high = self.cores[right - 1], self.cores[right]
        part = (requesting - low) / (high - low)
        return (1.0 - part) * self.bytes_per_s[right - 1] + part * self.bytes_per_s[right]

    def turn(self, requesting: float) -> float:
        """Seconds per byte for a core among this many."""
        return max(1.0, requesting) / self.at(requesting)


class Running(NamedTuple):
    """A phase on its cores: seconds undisturbed, including `fixed` seconds that never wait for
    memory. In the others, a core waits for `waiting` seconds in addition to its own work (the root
    of the sum of squares). `requesting` cores wait at a time, and get `bandwidth` B/s. `path` is
    the share among others, None without waiting.
    """

    seconds: float
    fixed: float = 0.0
    waiting: float = 0.0
    requesting: float = 0.0
    bandwidth: float = 0.0
    path: PathCurve | None = None

    @property
    def work(self) -> float:
        """The time for work and waiting, in seconds."""
        return self.seconds - self.fixed

    def beside(self, requesting: float) -> float:
        """Its `work` if this many cores request, at least its own."""
        slow = self._slower(requesting)
        return math.sqrt(max(0.0, self.work**2 + (slow**2 - 1.0) * self.waiting**2))

    def requests(self, requesting: float) -> float:
        """Its requesting cores if this many request in total: the share of its time in which it
        waits.
        """
        if self.waiting <= 0.0:
            return 0.0
        return self.requesting * self._slower(requesting) * self.work / self.beside(requesting)

    @property
    def most(self) -> float:
        """Its requesting cores if the others make it wait forever: all of them."""
        return self.requesting * self.work / self.waiting if self.waiting > 0.0 else 0.0

    def _slower(self, requesting: float) -> float:
        """The slowdown per byte."""
        if self.path is None:
            return 1.0
        undisturbed = max(1.0, self.requesting) / self.bandwidth
        return max(1.0, self.path.turn(max(requesting, self.requesting)) / undisturbed)


def seconds_together(phases: Sequence[Running]) -> list[float]:
    """The time of each phase while all of them run."""
    low, high = max(phase.requesting for phase in phases), sum(phase.most for phase in phases)

    def missing(requesting: float) -> float:
        return requesting - sum(phase.requests(requesting) for phase in phases)

    requesting = rising_root(missing, low, high, high)  # `high` if it is at most `low`
    return [phase.fixed + phase.beside(requesting) for phase in phases]
