"""Computes the expected speedup and its uncertainty for a predicted curve.

The logarithm of a measured speedup deviates from the prediction like a random walk. Each doubling
of threads, sockets or threads per core is one step, with the standard deviations of `FittedCurves`.
The mean increases if memory bandwidth determines the time, and loses a share of the predicted
growth. One thread is the reference without uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from regionpredict.machine import Machine, thread_places
from regionpredict.predict.curve import Point
from regionpredict.predict.uncertainty.fitted import SHIPPED, FittedCurves, Spreads


class Traits(NamedTuple):
    """The inputs of the fit for one number of threads.

    `speedup` is relative to the first number, and `grown` is the logarithm of the largest speedup
    so far. `doublings` counts the doublings of threads, and of used sockets times threads per core.
    `streamed` is the number of thread doublings, weighted by the share of memory bandwidth in the
    time.
    """

    threads: int
    speedup: float
    grown: float
    doublings: Spreads
    streamed: float


class ExpectedSpeedup(NamedTuple):
    """The predicted speedup at one number of threads, the logarithm of the expected speedup
    (`gain`), and the variance of this logarithm.
    """

    threads: int
    predicted: float
    gain: float
    variance: float


class Bounds(NamedTuple):
    """The lower and the upper bound of a speedup."""

    low: float
    high: float


def traits_of(points: Sequence[Point], machine: Machine) -> tuple[Traits, ...]:
    """Returns the inputs of the fit for each point of a curve on a machine."""
    made: list[Traits] = []
    for point in points:
        speedup = point.speedup / points[0].speedup
        if not made:
            made.append(Traits(point.threads, speedup, 0.0, Spreads(0.0, 0.0), 0.0))
            continue
        before = made[-1]
        threads = math.log2(point.threads / before.threads)
        place_doublings = math.log2(
            _used_places(machine, point.threads) / _used_places(machine, before.threads)
        )
        doublings = Spreads(before.doublings.threads + threads,
                            before.doublings.places + place_doublings)  # fmt: skip
        grown = max(before.grown, math.log(speedup))
        streamed = before.streamed + threads * _streamed_share(point)
        made.append(Traits(point.threads, speedup, grown, doublings, streamed))
    return tuple(made)


def _used_places(machine: Machine, threads: int) -> int:
    """Returns the number of used sockets times the number of threads per core."""
    placement = thread_places(machine, threads)
    return placement.packages * placement.on_a_core


def _streamed_share(point: Point) -> float:
    """Returns the share of the time that is limited by memory bandwidth."""
    total = sum(point.terms.values())
    return point.terms.get("memory-bandwidth", 0.0) / total if total else 0.0


def outlook_of(
    points: Sequence[Point], machine: Machine, fitted: FittedCurves = SHIPPED
) -> tuple[ExpectedSpeedup, ...]:
    """Returns the expected speedup for all points of a curve on a machine."""
    return tuple(expected_of(trait, fitted) for trait in traits_of(points, machine))


def expected_of(traits: Traits, fitted: FittedCurves = SHIPPED) -> ExpectedSpeedup:
    """Returns the expected speedup for one number of threads.

    >>> fitted = FittedCurves(0.05, 0.5, Spreads(0.1, 0.2), 1.0, 0.0, 1.0, 1.0)
    >>> two = expected_of(Traits(2, 2.0, 0.6, Spreads(threads=1.0, places=1.0), 1.0), fitted)
    >>> f"{two.gain:.2f} {two.variance:.2f}"
    '0.44 0.05'
    """
    gain = math.log(traits.speedup) + fitted.creep * traits.streamed - fitted.lost * traits.grown
    variance = sum(
        spread * spread * steps
        for spread, steps in zip(fitted.spreads, traits.doublings, strict=True)
    )
    return ExpectedSpeedup(traits.threads, traits.speedup, gain, variance)


def at_threads(
    outlook: Sequence[ExpectedSpeedup], threads: Collection[int]
) -> tuple[ExpectedSpeedup, ...]:
    """Returns the expected speedups for these numbers of threads, or all if none is known."""
    return tuple(expected for expected in outlook if expected.threads in threads) or tuple(outlook)


def band_of(
    outlook: Sequence[ExpectedSpeedup], fitted: FittedCurves = SHIPPED
) -> tuple[Bounds, ...]:
    """Returns the 80 % interval of measured speedups, which always includes the prediction."""
    bounds = []
    for expected in outlook:
        off = fitted.reach * math.sqrt(expected.variance)
        low, high = math.exp(expected.gain - off), math.exp(expected.gain + off)
        bounds.append(Bounds(min(expected.predicted, low), max(expected.predicted, high)))
    return tuple(bounds)


def wider_band(band: Sequence[Bounds], other: Sequence[Bounds]) -> tuple[Bounds, ...]:
    """Returns the union of the intervals of two possible curves.

    >>> wider_band([Bounds(2.0, 4.0)], [Bounds(1.0, 3.0)])
    (Bounds(low=1.0, high=4.0),)
    """
    return tuple(
        Bounds(min(one.low, two.low), max(one.high, two.high))
        for one, two in zip(band, other, strict=True)
    )
