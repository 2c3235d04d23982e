"""Computes the value range of each variable of nested loops: trip count, extent, step and first
value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.workload.loop_nest import Cut, Env, LoopHeader

_NOWHERE: Env = {}


class Range(NamedTuple):
    """The values of a loop variable over all outer iterations: mean trip count and total extent."""

    trips: float
    extent: float  # steps between the smallest and the largest value, plus one
    depends: frozenset[str]
    step: int
    first: float  # the variable in the first iteration of all outer loops


Ranges = dict[str, Range]


def loop_ranges(
    chain: Sequence[LoopHeader], env: Env, pieces: Mapping[int, float], cut: Cut | None = None
) -> Ranges:
    """Returns the value range of each variable of the nested loops in `chain`, outermost first.

    `env` gives the values of variables outside the chain. `pieces` gives the iterations of one
    thread, by the index of a parallel loop. `cut` is the executed part of the first loop.
    """
    if not any(loop.depends for loop in chain):
        return _independent_ranges(chain, pieces, cut)
    middle = dict(env)
    first, low, high = middle.copy(), middle.copy(), middle.copy()
    ranges: Ranges = {}
    for loop in chain:
        length = pieces.get(loop.index)
        begin, trips = loop.section_of(middle, length, cut)
        start, step = begin, loop.step
        ends = (begin, begin + step * max(0.0, trips - 1))
        extent = trips
        depends = loop.depends.intersection(ranges)
        if depends:
            start, _ = loop.section_of(first, length, cut)
            all_ends = list(ends)
            for at in (low, high):
                begin_there, number = loop.section_of(at, length, cut)
                all_ends += [begin_there, begin_there + step * max(0.0, number - 1)]
            ends = (min(all_ends), max(all_ends))
            extent = max(trips, (ends[1] - ends[0]) / abs(step) + 1)
        variable = loop.variable
        ranges[variable] = Range(trips, extent, depends, step, start)
        first[variable] = start
        middle[variable] = begin + step * max(0.0, trips - 1) / 2
        low[variable], high[variable] = ends if ends[0] <= ends[1] else ends[::-1]
        cut = None
    return ranges


def _independent_ranges(
    chain: Sequence[LoopHeader], pieces: Mapping[int, float], cut: Cut | None
) -> Ranges:
    """Returns the value ranges of loops whose bounds contain no loop variables."""
    ranges: Ranges = {}
    for loop in chain:
        begin, trips = loop.section_of(_NOWHERE, pieces.get(loop.index), cut)
        ranges[loop.variable] = Range(trips, trips, frozenset(), loop.step, begin)
        cut = None
    return ranges
