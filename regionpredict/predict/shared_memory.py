"""How phases of several programs on one path wait for memory.

This is the closed queue of one program's cores (`memory_bandwidth.requesting_cores`), extended to
the cores of several programs. If M cores request at the same time, each gets an M-th of the
bandwidth of M cores with its mix of reads and writes. Cores share the path, not programs. The total
traffic is the mean of the bandwidths of the mixes, weighted by requests. Afzal, Hager and Wellein,
"An analytic performance model for overlapping execution of memory-bound loop kernels on multicore
CPUs", 2020, do the same. The error is within 8 % on three processors. Two equal halves of a program
take as long as the program on all of their cores.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.predict.saturation.memory_bandwidth import rising_root


class PathCurve(NamedTuple):
    """The B/s of a path by number of requesting cores, for one mix of reads and writes.

    `cores` are ascending, with at least one entry. Beyond both ends, the curve is constant.
    """

    cores: tuple[float, ...]
    bytes_per_s: tuple[float, ...]

    def at(self, requesting: float) -> float:
        """The B/s for this number of requesting cores."""
        right = bisect_left(self.cores, requesting)
        if right == 0:
            return self.bytes_per_s[0]
        if right == len(self.cores):
            return self.bytes_per_s[-1]
        low, high = self.cores[right - 1], self.cores[right]
        part = (requesting - low) / (high - low)
        return (1.0 - part) * self.bytes_per_s[right - 1] + part * self.bytes_per_s[right]

    def seconds_per_byte(self, requesting: float) -> float:
        """The seconds per byte for one of this number of cores."""
        return max(1.0, requesting) / self.at(requesting)


class Running(NamedTuple):
    """A phase on its cores. `seconds` is its time without other programs, including `fixed` seconds
    in which it never waits for memory. In the remaining time, a core waits for `waiting` seconds in
    addition to its own work (the root of the sum of squares). `requesting` cores wait at the same
    time, and get `bandwidth` B/s. `path` is its share of the path, or None if it does not wait.
    """

    seconds: float
    fixed: float = 0.0
    waiting: float = 0.0
    requesting: float = 0.0
    bandwidth: float = 0.0
    path: PathCurve | None = None

    @property
    def work(self) -> float:
        """The time for work and waiting in seconds."""
        return self.seconds - self.fixed

    def work_with(self, requesting: float) -> float:
        """The `work` if this number of cores request memory. It is not less than the work alone."""
        slow = self._slowdown_per_byte(requesting)
        return math.sqrt(max(0.0, self.work**2 + (slow**2 - 1.0) * self.waiting**2))

    def requests(self, requesting: float) -> float:
        """The mean number of the phase's cores that request memory, if this number of cores request
        in total. It depends on how long the phase waits.
        """
        if self.waiting <= 0.0:
            return 0.0
        return (
            self.requesting
            * self._slowdown_per_byte(requesting)
            * self.work
            / self.work_with(requesting)
        )

    @property
    def most(self) -> float:
        """The largest number of the phase's requesting cores, if the others make it wait forever.
        It is the number of all its cores.
        """
        return self.requesting * self.work / self.waiting if self.waiting > 0.0 else 0.0

    def _slowdown_per_byte(self, requesting: float) -> float:
        """The slowdown per byte."""
        if self.path is None:
            return 1.0
        undisturbed = max(1.0, self.requesting) / self.bandwidth
        return max(1.0, self.path.seconds_per_byte(max(requesting, self.requesting)) / undisturbed)


def seconds_together(phases: Sequence[Running]) -> list[float]:
    """The time of each phase while all of them run."""
    low, high = max(phase.requesting for phase in phases), sum(phase.most for phase in phases)

    def missing(requesting: float) -> float:
        return requesting - sum(phase.requests(requesting) for phase in phases)

    requesting = rising_root(missing, low, high, high)  # `high` if it is at most `low`
    return [phase.fixed + phase.work_with(requesting) for phase in phases]
