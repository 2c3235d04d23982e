"""Where the pages lie: did one thread or all of them write an array first, where one can see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.ir import Region


class Placement(NamedTuple):
    """`kind` is 'parallel' or 'serial'; `reason` says why, `assumed` whether nothing was seen."""

    kind: str
    reason: str
    assumed: bool


def placement_of(region: Region, regions: Sequence[Region]) -> Placement:
    """The placement of a region's arrays by the other regions of the same program.

    A region that writes an array before any region reads it (in the order of the sources) and
    shares the work statically spreads its pages. Nothing seen: taken to be spread.
    """
    names = {array.name for array in region.arrays}
    for other in regions:
        if other.id == region.id or other.nest is None:
            continue
        written: set[str] = set()
        read: set[str] = set()
        for statement, _ in other.statements():
            for access in statement.accesses:
                (written if access.kind == "write" else read).add(access.array)
        first = (written - read) & names
        clause = other.clause("schedule")
        static = clause is None or (clause.text or "").strip().startswith("static")
        if first and static:
            return Placement(
                "parallel", f"{sorted(first)[0]} is first written at line {other.span.line}", False
            )
    return Placement("parallel", "no first write of the arrays seen", True)
