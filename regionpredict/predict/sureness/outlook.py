"""What measured runs make of a predicted curve: the speed to expect, and how far off it may be.

A measured curve leaves the predicted one a little with every doubling of threads, by what the time
is then spent on: its logarithm is a random walk over the doublings, whose steps have the spreads of
`Fitted`, around a mean that creeps up where memory's bandwidth is the time and loses a share of the
predicted growth. One thread is what the others are compared with: of it nothing is uncertain.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from regionpredict.predict.curve import Point
from regionpredict.predict.sureness.fitted import SHIPPED, Fitted, Spreads


class Traits(NamedTuple):
    """What a fit knows of a number of threads.

    `speedup` is that over the first number, `grown` the logarithm of the largest so far;
    `doublings` are those of threads up to here, shared out by what the time is spent on.
    """

    threads: int
    speedup: float
    grown: float
    doublings: Spreads


class Expected(NamedTuple):
    """A number of threads: the speedup that is predicted, the logarithm of the one that is to be
    expected, and its variance, which is that of steps one after the other."""

    threads: int
    predicted: float
    gain: float
    variance: float


class Bounds(NamedTuple):
    """Between what a speedup lies."""

    low: float
    high: float


def traits_of(points: Sequence[Point]) -> tuple[Traits, ...]:
    """The traits of a curve, in the order of its numbers of threads."""
    made: list[Traits] = []
    for point in points:
        speedup = point.speedup / points[0].speedup
        if not made:
            made.append(Traits(point.threads, speedup, 0.0, Spreads(0.0, 0.0, 0.0, 0.0, 0.0)))
            continue
        before = made[-1]
        step = math.log2(point.threads / before.threads)
        shares = _shares(point)
        doublings = Spreads(
            *(so_far + step * share
              for so_far, share in zip(before.doublings, shares, strict=True))
        )  # fmt: skip
        grown = max(before.grown, math.log(speedup))
        made.append(Traits(point.threads, speedup, grown, doublings))
    return tuple(made)


def _shares(point: Point) -> Spreads:
    """The shares of the time, by what it is spent on."""
    total = sum(point.terms.values())
    if not total:
        return Spreads(core=1.0, cache=0.0, memory=0.0, gather=0.0, openmp=0.0)
    terms: Mapping[str, float] = point.terms
    core, cache, memory = (terms.get(name, 0.0) / total for name in
                           ("compute", "cache", "memory-bandwidth"))  # fmt: skip
    gather = min(cache, point.late / total)
    return Spreads(core, cache - gather, memory, gather, max(0.0, 1.0 - core - cache - memory))


def outlook_of(points: Sequence[Point], fitted: Fitted = SHIPPED) -> tuple[Expected, ...]:
    """What is to be expected of a curve."""
    return tuple(expected_of(trait, fitted) for trait in traits_of(points))


def expected_of(traits: Traits, fitted: Fitted = SHIPPED) -> Expected:
    """What is to be expected on one number of threads.

    >>> steps = Spreads(core=0.0, cache=0.0, memory=1.0, gather=0.0, openmp=0.0)
    >>> fitted = Fitted(0.05, 0.5, Spreads(0.3, 0.3, 0.1, 0.3, 0.3), 2.0, 1.0, 0.0, 1.0)
    >>> one = expected_of(Traits(2, 2.0, 0.6, steps), fitted)
    >>> f"{one.gain:.2f} {one.variance:.2f}"
    '0.44 0.01'
    """
    gain = (
        math.log(traits.speedup)
        + fitted.creep * traits.doublings.memory
        - fitted.lost * traits.grown
    )
    variance = sum(
        spread * spread * steps
        for spread, steps in zip(fitted.spreads, traits.doublings, strict=True)
    )
    return Expected(traits.threads, traits.speedup, gain, variance)


def asked_for(outlook: Sequence[Expected], threads: Collection[int]) -> tuple[Expected, ...]:
    """The part of an outlook with these numbers of threads; all of it where none is known."""
    return tuple(expected for expected in outlook if expected.threads in threads) or tuple(outlook)


def band_of(
    outlook: Sequence[Expected], *, assumed: bool, fitted: Fitted = SHIPPED
) -> tuple[Bounds, ...]:
    """Between what the speedup lies in four of five measurements; what is predicted is never
    outside. `assumed`: an assumption decides.
    """
    bounds = []
    for expected in outlook:
        off = fitted.reach * deviation(expected.variance, assumed=assumed, fitted=fitted)
        low, high = math.exp(expected.gain - off), math.exp(expected.gain + off)
        bounds.append(Bounds(min(expected.predicted, low), max(expected.predicted, high)))
    return tuple(bounds)


def deviation(variance: float, *, assumed: bool, fitted: Fitted = SHIPPED) -> float:
    """The standard deviation of a speed's logarithm."""
    return math.sqrt(variance) * (fitted.assumed if assumed else 1.0)
