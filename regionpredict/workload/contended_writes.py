"""Finds writes of many threads to the same lines: shared variables, rows by thread number, and
counters through an index.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.conflicts import contended_scalars
from regionpredict.analysis.dependence import CONDITIONAL_OPERATORS, carried_dependence
from regionpredict.analysis.indirect_writes import arrays_updated_anywhere
from regionpredict.ir import Access, Branch, Loop, Node, Region, Statement
from regionpredict.ir.once_a_region import once_a_region
from regionpredict.workload.false_sharing import bytes_between_threads
from regionpredict.workload.loop_nest import LoopNest, body_executions


class ContendedWrites(NamedTuple):
    """The writes of several threads to the same lines of one array, `updates` per execution of the
    region.

    `apart` is the distance in bytes between the elements of neighboring threads. It is 0 for a
    common element, and None if each thread may write anywhere in the array. For shared scalars,
    `array` lists all names. Scalars that one loop body sets count as one line.
    """

    array: str
    updates: float
    apart: float | None


def contended_writes(facts: RegionFacts, nest: LoopNest) -> tuple[ContendedWrites, ...]:
    """Returns the contended writes of a region, one entry per array and distance. `nest` is the
    region's nest with numeric bounds.
    """
    anywhere = arrays_updated_anywhere(facts.region)
    executions = body_executions(nest)
    memories = facts.region.memories()
    one_place = _common_element(facts.region)
    updates: dict[tuple[str, float | None], float] = {}
    for group in nest.groups():
        for access in group.accesses:
            if access.kind != "write":
                continue
            apart = (
                0.0
                if _element_key(access) == one_place
                else _distance_between_threads(facts, access)
            )
            if apart is not None or access.array in anywhere:
                key = (memories[access.array], apart)
                updates[key] = updates.get(key, 0.0) + executions[group.loops[-1].index][1]
    arrays = [ContendedWrites(array, often, apart) for (array, apart), often in updates.items()]
    return (*arrays, *_contended_scalars(facts, [trips for trips, _ in executions]))


_Place = tuple[object, ...]


def _element_key(access: Access) -> _Place:
    return access.array, access.subscripts, access.member


@once_a_region
def _common_element(region: Region) -> _Place:
    """Returns the element that every iteration updates, or an empty tuple."""
    dependence = carried_dependence(region, None)
    if dependence is None or dependence.distance:
        return ()
    moving = {loop.variable for loop in region.loops()}
    write = dependence.write
    swept = any(not subscript.names.isdisjoint(moving) for subscript in write.subscripts)
    return () if swept else _element_key(write)


def _contended_scalars(facts: RegionFacts, trips: Sequence[float]) -> list[ContendedWrites]:
    """Returns the writes to shared scalars that every iteration sets. Together, the scalars occupy
    one line.
    """
    names, nest = contended_scalars(facts.region), facts.region.nest
    if not names or nest is None:
        return []
    bodies = _SettingBodies(names, trips)
    bodies.add_body(nest, 1.0)
    array = ", ".join(sorted(names))
    return [ContendedWrites(array, bodies.runs, 0.0)] if bodies.runs else []


class _SettingBodies:
    """Counts the executions of loop bodies that certainly set one of the variables `names`.

    `trips` gives the trip count of each loop of the nest, in source order.
    """

    def __init__(self, names: Collection[str], trips: Sequence[float]) -> None:
        self.runs = 0.0
        self._names = names
        self._trips = iter(trips)

    def add_body(self, loop: Loop, times: float) -> None:
        """Adds the body executions of a loop that runs `times` times, and of all loops inside."""
        times *= next(self._trips)
        if self._sets_variable(loop.body, times) or loop.variable in self._names:
            self.runs += times

    def _sets_variable(self, nodes: Sequence[Node], times: float) -> bool:
        """Whether one of the nodes certainly sets one of the variables. `times` is 0 for
        conditional code.
        """
        sets = False
        for node in nodes:
            if isinstance(node, Statement):
                plain = not any(sign in node.text for sign in CONDITIONAL_OPERATORS)
                sets = sets or (plain and not node.writes.isdisjoint(self._names))
            elif isinstance(node, Loop):
                self.add_body(node, times)
            elif isinstance(node, Branch):
                for side in node.sides:
                    self._sets_variable(side, 0.0)
            else:
                self._sets_variable(node.body, 0.0)
        return sets


def _distance_between_threads(facts: RegionFacts, access: Access) -> float | None:
    distance = bytes_between_threads(facts, access)
    return None if not distance else float(distance)
