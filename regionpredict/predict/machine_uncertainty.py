"""Computes the effect of uncertain machine figures on a speedup curve.

Each figure scales one term of the time. An error of the figure changes the logarithm of the time in
proportion to the term's share. If the term has equal shares on two numbers of threads, the choice
between them does not change. Only different shares make the choice uncertain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.predict.curve import Point
from regionpredict.predict.limiting_factors import RESOURCES

Moves = Mapping[int, Mapping[str, float]]
"""The standard deviation of the time due to each term's figures, relative to the time, by number of
threads and term.
"""
NO_MOVES: Moves = {}


class UncertainLoop(NamedTuple):
    """The times of a loop, the standard deviation of the logarithm of machine figures by term
    (`spreads`), and the number of executions.
    """

    points: Sequence[Point]
    spreads: Mapping[str, float]
    runs: float = 1.0


def moves_of(loops: Sequence[UncertainLoop], points: Sequence[Point]) -> Moves:
    """Returns the effect of uncertain figures on the times `points` of all loops together.

    A figure has the same error in all loops, so the effects on a term add up.

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
    """Returns the seconds that are proportional to a term. Waiting due to load imbalance counts in
    proportion to the term's share of the work.
    """
    own = point.terms.get(term, 0.0)
    waited = point.terms.get("imbalance", 0.0)
    if not waited or term not in RESOURCES:
        return own
    work = sum(point.terms.get(name, 0.0) for name in RESOURCES)
    return own * (1.0 + waited / work) if work else own


def quotient_deviation(moves: Moves, threads: int, others: int) -> float:
    """Returns the standard deviation of the logarithm of the ratio of the times on two numbers of
    threads.

    >>> moves = {1: {"compute": 0.4, "overhead": 0.0}, 2: {"compute": 0.1, "overhead": 0.4}}
    >>> quotient_deviation(moves, 1, 2)
    0.5
    """
    own, rival = moves.get(threads, {}), moves.get(others, {})
    return math.hypot(*(own.get(term, 0.0) - rival.get(term, 0.0) for term in {*own, *rival}))
