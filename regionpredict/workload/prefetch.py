"""Which arrays' lines no hardware prefetcher foresees."""

from __future__ import annotations

from regionpredict.workload.line_lattice import lattice_lines
from regionpredict.workload.loop_nest import LoopNest


def unforeseen_arrays(
    nest: LoopNest, *, line_bytes: int, stride_bytes: float, streams: float
) -> frozenset[str]:
    """Gathers, strides beyond the `stride_bytes` that a prefetcher follows, and all arrays of a
    loop that streams from more places at once than its `streams`.
    """
    unforeseen: set[str] = set()
    for loop in nest.loops:
        streaming = 0.0
        for group in loop.groups:
            stride = abs(group.slopes.get(loop.variable, 0.0) * loop.step)
            if group.irregular or stride > stride_bytes:
                unforeseen.add(group.array)
            elif stride:
                streaming += lattice_lines((), group.offsets, group.element, line_bytes)
        if streaming > streams:
            unforeseen |= {group.array for group in loop.groups}
    return frozenset(unforeseen)
