"""Computes bandwidth from measured curves, by the number of requesting cores and by the mix of
reads and writes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.quantity import Curve
from regionpredict.predict.saturation.constants import (
    MIX_DIGITS,
    SOLVER_INTERVAL,
    SOLVER_RESIDUAL,
    SOLVER_STEPS,
    TURNING_WRITES,
)


class MixedBandwidth:
    """The bandwidth in B/s by the number of requesting cores and the share of write-backs.

    Each measured kernel gives the bandwidth of one mix of reads and writes. Other mixes are
    interpolated. Mixes with few writes have the saturated bandwidth of the next writing kernel.
    """

    def __init__(
        self, curves: Mapping[str, Curve], write_allocate: float | Curve = 1.0
    ) -> None:  # fmt: skip
        """`write_allocate` is the share of stored lines that are read first. It may depend on the
        number of cores.
        """
        self._curves = curves
        self._write_allocate = write_allocate
        self._known: dict[float, Callable[[float], float]] = {}
        self._points: list[tuple[float, Curve]] = []
        self._by_share: dict[float, MixedBandwidth] = {}

    def bandwidth_at_writes(self, writes: float) -> Callable[[float], float]:
        """Returns the bandwidth in B/s as a function of the number of cores (at least 1). `writes`
        is the share of write-backs in the traffic, from 0 to 1.
        """
        curve = self._known.get(writes)
        if curve is None:
            share = self._write_allocate
            if isinstance(share, Curve):
                curve = self._interpolated_bandwidth(share, writes)
            else:
                self._points = self._points or _curves_by_mix(self._curves, share)
                curve = self._between(writes)
            self._known[writes] = curve
        return curve

    def _interpolated_bandwidth(self, share: Curve, writes: float) -> Callable[[float], float]:
        """Returns the bandwidth if the write-allocate share depends on the number of cores, by
        linear interpolation between the thread counts of all tables.
        """
        x = sorted({count for curve in (share, *self._curves.values()) for count in curve.x})
        y = tuple(self._at_share(share.at(count)).bandwidth_at_writes(writes)(count) for count in x)
        return Curve(tuple(x), y, "B/s", share.evidence, share.source).at

    def _at_share(self, part: float) -> MixedBandwidth:
        known = self._by_share.get(part)
        if known is None:
            known = self._by_share[part] = MixedBandwidth(self._curves, part)
        return known

    def _between(self, writes: float) -> Callable[[float], float]:
        points = self._points
        right = bisect_left([mix for mix, _ in points], writes)
        if right == 0:
            return points[0][1].at
        if right == len(points):
            return points[-1][1].at
        (low, below), (high, above) = points[right - 1], points[right]
        part = (writes - low) / (high - low)
        ceiling = above.peak if low == 0.0 and writes > TURNING_WRITES.value else math.inf
        rest, read, written = 1.0 - part, below.at, above.at

        def at(cores: float) -> float:
            rate = 1.0 / (rest / read(cores) + part / written(cores))
            return rate if rate < ceiling else ceiling

        return at


@cache
def memory_bandwidth(machine: Machine) -> MixedBandwidth:
    """Returns the cached memory bandwidth of a machine."""
    return MixedBandwidth(
        machine.memory.bandwidth,
        machine.memory.write_allocate or machine.processor.write_allocate.value,
    )


@cache
def cache_bandwidths(machine: Machine) -> tuple[MixedBandwidth, ...]:
    """Returns the cached bandwidth of each cache of a machine."""
    return tuple(MixedBandwidth(cache.bandwidth) for cache in machine.caches)


def _curves_by_mix(curves: Mapping[str, Curve], write_allocate: float) -> list[tuple[float, Curve]]:
    """Returns (share of write-backs, mean bandwidth of the kernels with this share), in ascending
    order of the share.
    """
    points: dict[float, list[tuple[Curve, float]]] = {}
    for name, curve in curves.items():
        kernel = KERNELS[name]
        moved = kernel.application + write_allocate * kernel.allocates
        points.setdefault(round(kernel.writes / moved, int(MIX_DIGITS.value)), []).append(
            (curve, moved / kernel.application)
        )
    by_mix = []
    for share, members in sorted(points.items()):
        first = members[0][0]
        x = tuple(sorted({count for curve, _ in members for count in curve.x}))
        y = tuple(sum(factor * curve.at(count) for curve, factor in members) / len(members)
                  for count in x)  # fmt: skip
        by_mix.append((share, Curve(x, y, "B/s", first.evidence, first.source)))
    return by_mix


class Overlap(NamedTuple):
    """The overlap of a core's work with its waiting for memory.

    The total is the root of the sum of squares. It is between full overlap (the maximum, Roofline)
    and no overlap (the sum, ECM's non-overlapping part). Without `partly`, the times are added.

    >>> Overlap(partly=True).total(3.0, 4.0), Overlap(partly=False).total(3.0, 4.0)
    (5.0, 7.0)
    """

    partly: bool = True

    def total(self, busy: float, waiting: float) -> float:
        """Returns the seconds of a core with `busy` seconds of work and `waiting` seconds of
        waiting for memory.
        """
        return math.hypot(busy, waiting) if self.partly else busy + waiting

    def waiting(self, total: float, busy: float) -> float:
        """Returns the seconds of waiting with which `busy` seconds of work take `total` seconds, at
        least 0.
        """
        if self.partly:
            return math.sqrt(max(0.0, total * total - busy * busy))
        return max(0.0, total - busy)

    def shares(self, busy: float, waiting: float) -> tuple[float, float]:
        """Divides the total time into (work, waiting), in proportion to the squares of `busy` and
        `waiting`.

        >>> busy, waiting = Overlap().shares(3.0, 4.0)
        >>> f"{busy:.1f} {waiting:.1f}"
        '1.8 3.2'
        """
        total = self.total(busy, waiting)
        if not self.partly or not total:
            return busy, waiting
        return busy * busy / total, waiting * waiting / total


PARTLY = Overlap()


def requesting_cores(
    cores: float,
    busy: float,
    data: float,
    bandwidth: Callable[[float], float],
    delay: float = 0.0,
    overlap: Overlap = PARTLY,
) -> float:
    """Returns the mean number m of `cores` that wait for memory (mean value of a closed queue).

    With m waiting cores, each gets its `data` bytes in w = m * data / b(m) seconds, and takes T =
    overlap.total(busy, w + delay) in total. The load is caused by n = T * b(m) / data cores. T *
    b(m) increases with m, so false position solves n = `cores`. `delay` is waiting time that does
    not depend on other traffic.
    """
    if data <= 0:
        return 0.0
    work, late = busy / data, delay / data
    alone = cores / overlap.total(work * bandwidth(1.0), 1.0 + late * bandwidth(1.0))
    if alone <= 1.0:
        return alone

    total = overlap.total

    def missing(m: float) -> float:
        rate = bandwidth(m)
        return total(work * rate, m + late * rate) - cores

    return rising_root(missing, 1.0, cores, cores)


def rising_root(missing: Callable[[float], float], low: float, high: float, scale: float) -> float:
    """Returns the zero of an increasing function by false position, or `high` if the function is
    not positive there.

    `scale` is the unit of the tolerances for the interval and the residual.
    """
    under, over = missing(low), missing(high)
    for _ in range(int(SOLVER_STEPS.value)):
        if over <= 0.0 or high - low <= SOLVER_INTERVAL.value * scale:
            break
        middle = low + (high - low) * under / (under - over)
        here = missing(middle)
        if abs(here) <= SOLVER_RESIDUAL.value * scale:
            return middle
        # Halving the value at the unchanged end makes both ends converge (Illinois method).
        if here < 0.0:
            low, under, over = middle, here, over / 2
        else:
            high, over, under = middle, here, under / 2
    return high
