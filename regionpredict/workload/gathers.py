"""References whose address is data: how often they run, and over how many bytes they spread."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.workload.loop_nest import LoopNest, body_executions


class Gather(NamedTuple):
    """All references to one `array` through data: `accesses` in the whole region, spread evenly
    over `extent` bytes.
    """

    array: str
    accesses: float
    extent: float


def gathers_of(nest: LoopNest) -> tuple[Gather, ...]:
    """One entry an array, in the order in which the nest meets them."""
    gathers: dict[str, Gather] = {}
    for loop, (_, executions) in zip(nest.loops, body_executions(nest), strict=True):
        for group in loop.groups:
            if group.irregular:
                known = gathers.get(group.array, Gather(group.array, 0.0, 0.0))
                gathers[group.array] = Gather(
                    group.array, known.accesses + executions, max(known.extent, group.extent)
                )
    return tuple(gathers.values())
