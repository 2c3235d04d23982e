"""Finds arrays whose lines no hardware prefetcher predicts, and arrays with wide strides."""

from __future__ import annotations

from regionpredict.workload.line_lattice import lattice_lines
from regionpredict.workload.loop_nest import LoopNest, NestLoop, ReferenceGroup


def unprefetched_arrays(
    nest: LoopNest, *, line_bytes: int, stride_bytes: float, streams: float
) -> frozenset[str]:
    """The arrays with gathers or with strides beyond `stride_bytes`. If a loop has more than
    `streams` streams, all of its arrays.
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
    """The arrays with a reference whose stride in its own loop exceeds `stride_bytes`."""
    return frozenset(
        group.array
        for loop in nest.loops
        for group in loop.groups
        if not group.irregular and _stride(group, loop) > stride_bytes
    )


def _stride(group: ReferenceGroup, loop: NestLoop) -> float:
    """The stride of a reference in its own loop, in bytes."""
    return abs(group.slopes.get(loop.variable, 0.0) * loop.step)
