"""The effect of uncertain machine figures on a curve.

A figure scales a term of the time. If the figure is wrong by a factor, the term is wrong by the
same factor. The logarithm of the time then changes by the share of the term. If two thread counts
have equal shares, their times change together, and the choice between them does not change. Only
the difference of the shares makes the choice doubtful.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.predict.curve import Point
from regionpredict.predict.limiting_factors import RESOURCES

Moves = Mapping[int, Mapping[str, float]]
"""The standard deviation of a term's figures as a share of the time, by number of threads and
term.
"""
NO_MOVES: Moves = {}


class UncertainLoop(NamedTuple):
    """A loop with uncertain figures: its times, the standard deviation of the figures' logarithm by
    term, and its number of executions.
    """

    points: Sequence[Point]
    spreads: Mapping[str, float]
    runs: float = 1.0


def moves_of(loops: Sequence[UncertainLoop], points: Sequence[Point]) -> Moves:
    """The effect of uncertain figures of some loops on the times `points` of all loops together.

    An error of a figure is the same for all loops, so the seconds of a term are added up.

    >>> half = Point(2, 4.0, 1.0, "", {"compute": 2.0, "overhead": 2.0}, 0.0, 0.0)
    >>> moves_of([UncertainLoop([half], {"overhead": 0.4})], [half])
    {2: {'overhead': 0.2}}
    """
    unsure = [loop for loop in loops if loop.spreads]
    if not unsure:
        return NO_MOVES
    curves = [({point.threads: point for point in loop.points}, loop) for loop in unsure]
    moves: dict[int, dict[str, float]] = {}
    for total in points:
        moved = moves[total.threads] = {}
        for curve, loop in curves:
            point = curve[total.threads]
            for term, spread in loop.spreads.items():
                part = loop.runs * spread * _seconds(point, term)
                moved[term] = moved.get(term, 0.0) + (part / total.seconds if part else 0.0)
    return moves


def _seconds(point: Point, term: str) -> float:
    """The part of the time that is proportional to a term. Waiting for the thread with the most
    work counts as that work.
    """
    own = point.terms.get(term, 0.0)
    waited = point.terms.get("imbalance", 0.0)
    if not waited or term not in RESOURCES:
        return own
    work = sum(point.terms.get(name, 0.0) for name in RESOURCES)
    return own * (1.0 + waited / work) if work else own


def quotient_deviation(moves: Moves, threads: int, others: int) -> float:
    """The standard deviation of the ratio of the times of two numbers of threads, in logarithms.

    >>> moves = {1: {"compute": 0.4, "overhead": 0.0}, 2: {"compute": 0.1, "overhead": 0.4}}
    >>> quotient_deviation(moves, 1, 2)
    0.5
    """
    own, rival = moves.get(threads, {}), moves.get(others, {})
    return math.hypot(*(own.get(term, 0.0) - rival.get(term, 0.0) for term in {*own, *rival}))
