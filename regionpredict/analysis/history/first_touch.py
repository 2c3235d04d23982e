"""Determines whether one thread or all threads write an array first (first touch).

Linux places a page in the NUMA domain of the thread that writes it first (first touch). An array
that a serial loop initializes is in one domain, and all threads share that domain's bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.analysis.history.first_writes import FirstWrite, WriteHistory
from regionpredict.ir import Program, Region, Span


class ArrayPlacement(NamedTuple):
    """The placement of one array. `kind` is 'parallel' or 'serial'. `reason` explains it, `assumed`
    says that it is an assumption, and `span` is the location of the first write if it is known.
    """

    array: str
    kind: str
    reason: str
    assumed: bool
    span: Span | None = None


class Placement(NamedTuple):
    """The placement of a region's arrays. `kind` is 'parallel', 'serial' or 'mixed' by first touch,
    or 'interleave'. `reason` explains it. `assumed` is true if no first write is visible. `arrays`
    gives the placement of each array. If `arrays` is empty, `kind` applies to all arrays. `domain`
    is the NUMA domain of serial pages, or None for the first thread's domain.
    """

    kind: str
    reason: str
    assumed: bool
    arrays: tuple[ArrayPlacement, ...] = ()
    domain: int | None = None

    @property
    def assumption_lines(self) -> tuple[str, ...]:
        """One line per kind of assumed placement."""
        if not self.arrays:
            return (f"pages placed by a {self.kind} first touch",) if self.assumed else ()
        lines = []
        for kind in ("parallel", "serial"):
            names = [
                placed.array for placed in self.arrays if placed.assumed and placed.kind == kind
            ]
            if names:
                lines.append(f"pages of {', '.join(names)} placed by a {kind} first touch")
        return tuple(lines)

    def is_serial(self, array: str) -> bool:
        """Whether the array's pages are in one NUMA domain."""
        if not self.arrays:
            return self.kind == "serial"
        return any(placed.array == array and placed.kind == "serial" for placed in self.arrays)


UNSEEN = Placement("parallel", "no first write of the arrays is visible", True)
INTERLEAVED = Placement("interleave", "pages of all domains in turn, as with numactl -i", False)


def first_touched(kind: str) -> Placement:
    """Returns the placement of all arrays after a 'parallel' or 'serial' first touch."""
    return Placement(kind, "as given", False)


def in_domain(domain: int) -> Placement:
    """Returns the placement of all pages in one NUMA domain, as set with numactl."""
    return Placement("serial", f"all pages in domain {domain}, as with numactl -m", False,
                     domain=domain)  # fmt: skip


def placements_of_regions(program: Program, followed: WriteHistory) -> tuple[Placement, ...]:
    """Returns the placement of every region's arrays, in the order of the regions.

    An array is serial if, on the path from `main` to the region, one thread writes it before a
    worksharing loop does. If several calls of the region differ, serial placement is assumed. If no
    write to an array is visible, its pages are assumed to be distributed.
    """
    visits = followed.first
    return tuple(
        _region_placement(region, visits.get(region.span, ())) for region in program.regions
    )


def _region_placement(region: Region, visits: Sequence[dict[str, FirstWrite | None]]) -> Placement:
    if not visits:
        return UNSEEN
    shared = [array.name for array in region.arrays if array.storage != "private"]
    memories = region.memories()
    arrays = tuple(
        _placement_of_array(
            name, visits, [other for other in shared if memories[other] == memories[name]]
        )
        for name in shared
    )
    if not arrays:
        return UNSEEN
    serial = [placed for placed in arrays if placed.kind == "serial"]
    kind = "parallel" if not serial else "serial" if len(serial) == len(arrays) else "mixed"
    return Placement(kind, _common_reason(arrays), any(placed.assumed for placed in arrays), arrays)


def _placement_of_array(
    name: str, visits: Sequence[dict[str, FirstWrite | None]], arrays_in_memory: Sequence[str]
) -> ArrayPlacement:
    """Returns the placement of an array. If its first write is unknown, the placement of another
    array in the same memory is used.
    """
    keys = [key.rstrip("'") for key in (name, *arrays_in_memory)]
    firsts = (next((write for key in keys if (write := visit.get(key))), None) for visit in visits)
    writes = [write for write in firsts if write is not None]
    if not writes:
        return ArrayPlacement(name, "parallel", "no first write is visible", True)
    serial = [write for write in writes if write.kind == "serial"]
    chosen = serial[0] if serial else writes[0]
    sure = chosen.sure and len(writes) == len(visits)
    reason = chosen.how
    if serial and len(serial) < len(visits):
        reason += f", in {len(serial)} of {len(visits)} runs of the region"
        sure = False
    return ArrayPlacement(name, chosen.kind, reason, not sure, chosen.span)


def _common_reason(arrays: Sequence[ArrayPlacement]) -> str:
    """Returns the reasons, each with all arrays that share it: `A, B: ... (assumed)`."""
    parts: dict[tuple[str, str, bool], list[str]] = {}
    for placed in arrays:
        parts.setdefault((placed.kind, placed.reason, placed.assumed), []).append(placed.array)
    return "; ".join(
        f"{', '.join(names)}: {kind}, {reason}" + (" (assumed)" if assumed else "")
        for (kind, reason, assumed), names in parts.items()
    )
