"""Bandwidth by requesting cores and by the mix of reads and writes, from measured curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from regionpredict.machine import Machine
from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.quantity import Curve

PARALLEL_MISSES = 10.0
"""Misses of one core that are on their way at once where no prefetcher helps (line fill buffers
of cores since Nehalem: 10 to 12)."""


def mixed_bandwidth(curves: Mapping[str, Curve], cores: float, writes: float) -> float:
    """Traffic in B/s of `cores` cores whose traffic is `writes` (0..1) write-backs.

    Measured kernels stand at their own mix, the rest is read off between neighbours. Between a
    kernel that only loads and the first that writes, few cores wait for reads (the write-backs
    run beside), but a bus that must turn round saturates as with the writing kernel.
    """
    points: dict[float, list[Curve]] = {}
    for name, curve in curves.items():
        kernel = KERNELS[name]
        share = kernel.writes / (kernel.application + kernel.allocates)
        points.setdefault(round(share, 4), []).append(
            Curve(curve.x, tuple(y * kernel.traffic_factor for y in curve.y), "B/s",
                  curve.evidence, curve.source)
        )  # fmt: skip
    mixes = sorted(points)

    def at(mix: float) -> float:
        found = points[mix]
        return sum(curve.at(max(1.0, cores)) for curve in found) / len(found)

    if writes <= mixes[0]:
        return at(mixes[0])
    if writes >= mixes[-1]:
        return at(mixes[-1])
    right = next(mix for mix in mixes if mix >= writes)
    left = mixes[mixes.index(right) - 1]
    part = (writes - left) / (right - left)
    mixed = 1.0 / ((1 - part) / at(left) + part / at(right))
    if left == 0.0 and writes > 0.02:
        ceiling = sum(curve.peak for curve in points[right]) / len(points[right])
        return min(mixed, ceiling)
    return mixed


def together(busy: float, waiting: float) -> float:
    """Seconds of a core that works for `busy` and waits for memory for `waiting` seconds.

    Between full overlap (the larger: Roofline) and none (the sum: the non-overlapping part of the
    ECM model): the root of the sum of the squares.

    >>> together(3.0, 4.0)
    5.0
    """
    return math.hypot(busy, waiting)


def requesting_cores(
    cores: float, busy: float, data: float, bandwidth: Callable[[float], float]
) -> float:
    """How many of `cores` wait for memory on average: the m whose traffic the cores ask for.

    With m cores asking, each gets its `data` bytes in m * data / b(m) seconds and takes T =
    together(busy, that) in all, so that n = T * b(m) / data cores are needed to ask so much (mean
    value of a closed queue). T * b(m) rises with m: bisection.
    """
    if data <= 0:
        return 0.0
    low, high = 0.0, cores
    for _ in range(30):
        middle = (low + high) / 2
        rate = bandwidth(middle) if middle >= 1 else middle * bandwidth(1.0)
        if together(busy, middle * data / rate) * rate / data > cores:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def domain_bandwidth(machine: Machine, cores: float, writes: float) -> float:
    """Traffic of one NUMA domain with `cores` requesting cores, in B/s."""
    known = machine.memory.bandwidth
    found = mixed_bandwidth(known, cores, writes)
    peak = machine.memory.peak_bytes_per_s
    return min(found, peak.value) if peak is not None else found
