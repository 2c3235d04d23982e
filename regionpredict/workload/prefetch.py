"""Finds arrays that hardware prefetchers do not prefetch, and arrays with wide strides."""

from __future__ import annotations

from regionpredict.workload.line_lattice import lattice_lines
from regionpredict.workload.loop_nest import LoopNest, NestLoop, ReferenceGroup


def unprefetched_arrays(
    nest: LoopNest, *, line_bytes: int, stride_bytes: float, streams: float
) -> frozenset[str]:
    """Returns the arrays without prefetching: arrays with data-dependent addresses or strides
    beyond `stride_bytes`, and all arrays of loops with more than `streams` streams.
    """
    unforeseen = set(strided_arrays(nest, stride_bytes))
    for loop in nest.loops:
        streaming = 0.0
        for group in loop.groups:
            stride = _stride_in_bytes(group, loop)
            if group.irregular:
                unforeseen.add(group.array)
            elif 0.0 < stride <= stride_bytes:
                streaming += lattice_lines((), group.offsets, group.element, line_bytes)
        if streaming > streams:
            unforeseen |= {group.array for group in loop.groups}
    return frozenset(unforeseen)


def strided_arrays(nest: LoopNest, stride_bytes: float) -> frozenset[str]:
    """Returns the arrays with a reference whose stride in its innermost loop exceeds
    `stride_bytes`.
    """
    return frozenset(
        group.array
        for loop in nest.loops
        for group in loop.groups
        if not group.irregular and _stride_in_bytes(group, loop) > stride_bytes
    )


def _stride_in_bytes(group: ReferenceGroup, loop: NestLoop) -> float:
    """Returns the stride of a reference in its innermost loop in bytes."""
    return abs(group.slopes.get(loop.variable, 0.0) * loop.step)
