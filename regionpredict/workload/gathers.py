"""Counts references with data-dependent addresses, and finds the ranges of their addresses."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.workload.line_lattice import lattice_lines
from regionpredict.workload.loop_nest import LoopNest, body_executions


class Gather(NamedTuple):
    """All data-dependent references to one array. The whole region makes `accesses` page accesses
    that are evenly distributed over `extent` bytes.
    """

    array: str
    accesses: float
    extent: float


def gathers_of(nest: LoopNest, page_bytes: int) -> tuple[Gather, ...]:
    """Returns the data-dependent references of each array, in the order of the nest. References to
    members of one element on the same page of `page_bytes` count once.
    """
    gathers: dict[str, Gather] = {}
    for loop, (_, executions) in zip(nest.loops, body_executions(nest), strict=True):
        for group in loop.groups:
            if group.irregular:
                known = gathers.get(group.array, Gather(group.array, 0.0, 0.0))
                pages = lattice_lines((), group.offsets, group.element, page_bytes)
                gathers[group.array] = Gather(
                    group.array, known.accesses + executions * pages,
                    max(known.extent, group.extent),
                )  # fmt: skip
    return tuple(gathers.values())
