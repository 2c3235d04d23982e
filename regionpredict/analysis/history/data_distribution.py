"""Determines the distribution of arrays among threads: which thread accesses which part.

If two loops distribute an array in the same way, each thread finds its part in its own caches.
Otherwise, a loop waits for cache lines from other cores.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.analysis.schedule import Schedule, schedule_of
from regionpredict.ir import Access, Expr, Loop, Region


class Part(NamedTuple):
    """The distribution of an array: the dimension that changes with the parallel loop, and its
    factor.

    `dimension` is None if every thread accesses the same data. `slope` is the factor of the loop
    variable in the subscript, as text. `schedule` is the schedule of the loop. `rank` is the number
    of dimensions that change with any loop.
    """

    dimension: int | None
    slope: str
    schedule: Schedule
    rank: int

    @property
    def thread_distribution(self) -> tuple[int | None, str, Schedule]:
        """The distribution of the dimension among threads. Two arrays with equal values have the
        same parts per thread.
        """
        return (self.dimension, self.slope, self.schedule)


def parts_of(region: Region, kind: str) -> dict[str, frozenset[Part]]:
    """Maps each array to the distribution of its references of one kind ('read' or 'write')."""
    if region.nest is None:
        return {}
    schedule = schedule_of(region)
    parts: dict[str, set[Part]] = {}
    for statement, loops in region.statements():
        for access in statement.accesses:
            if access.kind == kind:
                parts.setdefault(access.array, set()).add(_part_of_access(access, loops, schedule))
    return {array: frozenset(parts) for array, parts in parts.items()}


def _part_of_access(access: Access, loops: tuple[Loop, ...], schedule: Schedule) -> Part:
    moving = {loop.variable for loop in loops}
    rank = sum(not moving.isdisjoint(subscript.names) for subscript in access.subscripts)
    for dimension, subscript in enumerate(access.subscripts):
        slope = factor_of(subscript, loops[0].variable)
        if slope is not None:
            return Part(dimension, slope, schedule, rank)
    return Part(None, "", schedule, rank)


def factor_of(subscript: Expr, variable: str) -> str | None:
    """The factor of a variable in a subscript as text. None if the variable does not occur.

    >>> i, n = Expr.name("i"), Expr.name("n")
    >>> factor_of(n - 1 - i, "i"), factor_of(i * n, "i"), factor_of(n, "i")
    ('-1', 'n', None)
    """
    if variable not in subscript.names:
        return None
    factor = subscript.coefficient(variable)
    return "curved" if factor is None else str(factor)
