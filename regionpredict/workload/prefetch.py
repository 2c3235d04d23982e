"""Which arrays' lines no hardware prefetcher foresees."""

from __future__ import annotations

from regionpredict.workload.constants import FORESEEN_STRIDE
from regionpredict.workload.line_lattice import lattice_lines
from regionpredict.workload.loop_nest import LoopNest


def unforeseen_arrays(
    nest: LoopNest, *, line_bytes: int, page_bytes: int, streams: float
) -> frozenset[str]:
    """Gathers, walks by more than half a page, and all arrays of a loop that streams from more
    places at once than the `streams` that a prefetcher follows.
    """
    unforeseen: set[str] = set()
    for loop in nest.loops:
        streaming = 0.0
        for group in loop.groups:
            stride = abs(group.slopes.get(loop.variable, 0.0) * loop.step)
            if group.irregular or stride > FORESEEN_STRIDE.value * page_bytes:
                unforeseen.add(group.array)
            elif stride:
                streaming += lattice_lines((), group.offsets, group.element, line_bytes)
        if streaming > streams:
            unforeseen |= {group.array for group in loop.groups}
    return frozenset(unforeseen)
