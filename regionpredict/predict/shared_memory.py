"""Computes how long concurrent phases of several programs wait for memory on one shared path.

The model is the closed queue of one program's cores (`memory_bandwidth.requesting_cores`), extended
to the cores of several programs. If M cores request at the same time, each core gets 1/M of the
bandwidth of M cores with its mix of reads and writes. The total traffic is the mean of the
bandwidths of all mixes, weighted by requests. Afzal, Hager and Wellein 2020 use the same weights
("An analytic performance model for overlapping execution of memory-bound loop kernels on multicore
CPUs"). Their error is within 8 % on three processors.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.predict.saturation.memory_bandwidth import rising_root


class PathCurve(NamedTuple):
    """The bandwidth of a memory path in B/s by number of requesting cores, for one mix of reads and
    writes.

    `cores` are ascending, with at least one entry. The curve is constant beyond both ends.
    """

    cores: tuple[float, ...]
    bytes_per_s: tuple[float, ...]

    def at(self, requesting: float) -> float:
        """Returns the bandwidth of this number of requesting cores in B/s."""
        right = bisect_left(self.cores, requesting)
        if right == 0:
            return self.bytes_per_s[0]
        if right == len(self.cores):
            return self.bytes_per_s[-1]
        low, high = self.cores[right - 1], self.cores[right]
        part = (requesting - low) / (high - low)
        return (1.0 - part) * self.bytes_per_s[right - 1] + part * self.bytes_per_s[right]

    def seconds_per_byte(self, requesting: float) -> float:
        """Returns the seconds per byte of each of this number of requesting cores."""
        return max(1.0, requesting) / self.at(requesting)


class Running(NamedTuple):
    """The load of a phase on a memory path.

    `seconds` is the time without other programs, including `fixed` seconds without memory requests.
    The remaining time is the root of the sum of squares of core work and `waiting` for memory. On
    average, `requesting` cores wait at the same time, and together get `bandwidth` B/s. `path` is
    the bandwidth curve for the phase, or None if the phase does not wait for memory.
    """

    seconds: float
    fixed: float = 0.0
    waiting: float = 0.0
    requesting: float = 0.0
    bandwidth: float = 0.0
    path: PathCurve | None = None

    @property
    def work(self) -> float:
        """The time for core work and waiting in seconds."""
        return self.seconds - self.fixed

    def working_seconds_with(self, requesting: float) -> float:
        """Returns the time for core work and waiting in seconds if `requesting` cores of all
        programs wait for memory.
        """
        slow = self._slowdown_per_byte(requesting)
        return math.sqrt(max(0.0, self.work**2 + (slow**2 - 1.0) * self.waiting**2))

    def requests(self, requesting: float) -> float:
        """Returns the mean number of the phase's cores that wait for memory, if `requesting` cores
        of all programs wait.
        """
        if self.waiting <= 0.0:
            return 0.0
        return (
            self.requesting
            * self._slowdown_per_byte(requesting)
            * self.work
            / self.working_seconds_with(requesting)
        )

    @property
    def most(self) -> float:
        """The largest possible number of the phase's requesting cores, which is the number of all
        its cores.
        """
        return self.requesting * self.work / self.waiting if self.waiting > 0.0 else 0.0

    def _slowdown_per_byte(self, requesting: float) -> float:
        """Returns the ratio of the seconds per byte with and without other programs."""
        if self.path is None:
            return 1.0
        undisturbed = max(1.0, self.requesting) / self.bandwidth
        return max(1.0, self.path.seconds_per_byte(max(requesting, self.requesting)) / undisturbed)


def seconds_together(phases: Sequence[Running]) -> list[float]:
    """Returns the time of each phase in seconds if all phases run at the same time."""
    low, high = max(phase.requesting for phase in phases), sum(phase.most for phase in phases)

    def missing(requesting: float) -> float:
        return requesting - sum(phase.requests(requesting) for phase in phases)

    requesting = rising_root(missing, low, high, high)  # `high` if it is at most `low`
    return [phase.fixed + phase.working_seconds_with(requesting) for phase in phases]
