"""Which arrays' lines no hardware prefetcher foresees, and which are gone through in wide steps."""

from __future__ import annotations

from regionpredict.workload.line_lattice import lattice_lines
from regionpredict.workload.loop_nest import LoopNest, NestLoop, ReferenceGroup


def unforeseen_arrays(
    nest: LoopNest, *, line_bytes: int, stride_bytes: float, streams: float
) -> frozenset[str]:
    """Gathers, strides beyond the `stride_bytes` that a prefetcher follows, and all arrays of a
    loop that streams from more places at once than its `streams`.
    """
    unforeseen = set(strided_arrays(nest, stride_bytes))
    for loop in nest.loops:
        streaming = 0.0
        for group in loop.groups:
            stride = _stride(group, loop)
            if group.irregular:
                unforeseen.add(group.array)
            elif 0.0 < stride <= stride_bytes:
                streaming += lattice_lines((), group.offsets, group.element, line_bytes)
        if streaming > streams:
            unforeseen |= {group.array for group in loop.groups}
    return frozenset(unforeseen)


def strided_arrays(nest: LoopNest, stride_bytes: float) -> frozenset[str]:
    """The arrays with a reference that its own loop moves by more than `stride_bytes` at a time."""
    return frozenset(
        group.array
        for loop in nest.loops
        for group in loop.groups
        if not group.irregular and _stride(group, loop) > stride_bytes
    )


def _stride(group: ReferenceGroup, loop: NestLoop) -> float:
    """Bytes by which an iteration of its own loop moves a reference."""
    return abs(group.slopes.get(loop.variable, 0.0) * loop.step)
