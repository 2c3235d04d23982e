"""Reconstructs the order in which a program executes its regions, from the number of times that
each region follows another.

A timeline is a list of visits: consecutive executions of one region. The next region is the
successor with the largest remaining share of changes. Successors from which no remaining changes
lead back are visited last. If a program makes too many visits, one visit represents several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from regionpredict.predict.constants import TIMELINE_VISITS


class Visit(NamedTuple):
    """Several consecutive executions of a region (`runs`), with their `share` of the region's time.
    `visits` is the number of equal visits that this one represents.
    """

    region: str
    share: float
    runs: float
    visits: float


def timeline_of(
    runs: Mapping[str, float], changes: Mapping[tuple[str, str], float],
    most: int = int(TIMELINE_VISITS.value),
) -> tuple[Visit, ...]:  # fmt: skip
    """Returns the visits of a program to its regions. `runs` gives the executions of each region,
    in program order.

    `changes` counts, for each pair of regions, how often the second region follows the first one.
    The shares of a region add up to 1. A region without a predecessor is visited once.

    >>> [visit.region for visit in timeline_of({"a": 2, "b": 2, "c": 1},
    ...                                        {("a", "b"): 2, ("b", "a"): 1, ("b", "c"): 1})]
    ['a', 'b', 'a', 'b', 'c']
    """
    known = {pair: often for pair, often in changes.items()
             if often > 0 and pair[0] != pair[1] and set(pair) <= runs.keys()}  # fmt: skip
    total = sum(known.values())
    shrink = max(1.0, total / most)
    left = {pair: max(1, round(often / shrink)) for pair, often in known.items()}
    order: list[str] = []
    whole = dict(left)
    for here in runs:
        if here not in order or any(pair[0] == here for pair in left):
            _follow_successors(here, left, whole, order)
    counts = {name: order.count(name) for name in runs}
    entered = {name: max(1.0, sum(often for pair, often in known.items() if pair[1] == name))
               for name in runs}  # fmt: skip
    return tuple(
        Visit(name, 1.0 / counts[name], max(1.0, runs[name] / counts[name]),
              max(1.0, entered[name] / counts[name]))
        for name in order
    )  # fmt: skip


def _follow_successors(
    region: str, left: dict[tuple[str, str], int], whole: Mapping[tuple[str, str], int],
    order: list[str],
) -> None:  # fmt: skip
    """Appends a path of successors, starting at the region `region`, to `order`. The used changes
    are removed from `left`.
    """
    order.append(region)
    while following := [pair for pair in left if pair[0] == region]:
        returning = [pair for pair in following if _leads_to(pair[1], region, left)]
        chosen = max(returning or following, key=lambda pair: (left[pair] - 0.5) / whole[pair])
        left[chosen] -= 1
        if not left[chosen]:
            del left[chosen]
        region = chosen[1]
        order.append(region)


def _leads_to(start: str, end: str, left: Mapping[tuple[str, str], int]) -> bool:
    """Whether the remaining changes lead from one region to another."""
    seen, ahead = {start}, [start]
    while ahead:
        here = ahead.pop()
        for first, then in left:
            if first == here and then not in seen:
                if then == end:
                    return True
                seen.add(then)
                ahead.append(then)
    return False
