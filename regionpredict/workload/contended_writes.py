"""Writes of many threads to the same lines: rows by thread number, counts through an index."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.indirect_writes import indirect_updates
from regionpredict.ir import Access
from regionpredict.workload.false_sharing import bytes_between_threads
from regionpredict.workload.loop_nest import LoopNest, body_executions


class ContendedWrites(NamedTuple):
    """Writes to one array: `updates` of all threads in one run of the region.

    `apart` are the bytes between what neighbouring threads write, None where each may write
    anywhere in it.
    """

    array: str
    updates: float
    apart: float | None


def contended_writes(facts: RegionFacts, nest: LoopNest) -> tuple[ContendedWrites, ...]:
    """Those of one region, an array once."""
    anywhere = {access.array for access in indirect_updates(facts.region)}
    executions = body_executions(nest)
    memories = facts.region.memories()
    updates: dict[tuple[str, float | None], float] = {}
    for group in nest.groups():
        for access in group.accesses:
            if access.kind != "write":
                continue
            apart = _apart(facts, access)
            if apart is not None or access.array in anywhere:
                key = (memories[access.array], apart)
                updates[key] = updates.get(key, 0.0) + executions[group.loops[-1].index][1]
    return tuple(ContendedWrites(array, often, apart) for (array, apart), often in updates.items())


def _apart(facts: RegionFacts, access: Access) -> float | None:
    distance = bytes_between_threads(facts, access)
    return None if not distance else float(distance)
