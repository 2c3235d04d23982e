"""Combines nodes of a task graph into boxes for drawing, and finds the edges between boxes.

A task that only creates other tasks is one box. Edges implied by other edges are omitted.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import CHUNK, CONTINUE, IntArray, TaskGraph

_MOMENT = 1e-9
"""The share of the depth below which a time counts as zero."""


def narrow_end(graph: TaskGraph, metrics: GraphMetrics, few: int) -> float:
    """Returns the share of the critical path, at its end, in which at most `few` tasks run on
    unlimited threads.
    """
    begin = graph.schedule.begin
    times = np.concatenate([begin, begin + graph.seconds])
    change = np.repeat([1, -1], graph.nodes)[np.argsort(times, kind="stable")]
    times = np.sort(times, kind="stable")
    wide = (np.cumsum(change)[:-1] > few) & (np.diff(times) > metrics.depth_s * _MOMENT)
    last = np.flatnonzero(wide)
    return 1.0 - float(times[last[-1] + 1]) / metrics.depth_s if len(last) else 1.0


def task_counts(graph: TaskGraph, member: IntArray, count: int) -> IntArray:
    """Returns the number of tasks or chunks in each box."""
    grain = graph.tasks.copy()
    chunks = np.flatnonzero(graph.node_kinds == CHUNK)
    grain[chunks] = int(graph.tasks.max(initial=0)) + 1 + np.arange(len(chunks))
    pairs = np.unique(np.stack([member, grain], axis=1), axis=0)
    return np.bincount(pairs[:, 0], minlength=count)


def whole_tasks(graph: TaskGraph) -> IntArray:
    """Returns the number of each node's box. A piece that waits only for the previous piece of its
    task is in the same box, which cannot cause a cycle.
    """
    single = np.bincount(graph.targets, minlength=graph.nodes) == 1
    chunk = graph.node_kinds == CHUNK  # each chunk is a separate box
    joined = (graph.edge_kinds == CONTINUE) & single[graph.targets]
    joined &= ~chunk[graph.targets] & ~chunk[graph.sources]
    before = np.arange(graph.nodes)
    before[graph.targets[joined]] = graph.sources[joined]
    while True:  # doubles the distance in each pass
        further = before[before]
        if (further == before).all():
            break
        before = further
    member: IntArray = np.unique(before, return_inverse=True)[1]
    return member


def box_edges(
    graph: TaskGraph, metrics: GraphMetrics, member: IntArray, count: int
) -> list[tuple[int, int, int, bool, bool]]:
    """Returns the edges between boxes without redundant ones, as (upper box, lower box, number of
    edges, on the critical path, upwards). Edges lead upwards only between alternating boxes.
    """
    level = np.full(count, graph.nodes, dtype=np.int64)
    np.minimum.at(level, member, graph.schedule.level)
    ends = np.stack([member[graph.sources], member[graph.targets]], axis=1)
    pairs, numbers = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0, return_counts=True)
    boxes = [int(member[node]) for node in metrics.path]
    path = set(pairwise(boxes))
    oriented: dict[tuple[int, int], tuple[int, bool, bool]] = {}
    for (source, target), number in zip(pairs.tolist(), numbers.tolist(), strict=True):
        turned = (level[source], source) > (level[target], target)
        key = (target, source) if turned else (source, target)
        other = oriented.get(key)
        marked = (source, target) in path
        if other is None:
            oriented[key] = (number, marked, turned)
        else:
            oriented[key] = (other[0] + number, other[1] or marked, False)
    kept = _transitive_reduction(count, list(oriented), level)
    return [
        (*key, number, marked, turned)
        for key, (number, marked, turned) in oriented.items()
        if key in kept or marked
    ]


def _transitive_reduction(
    count: int, edges: list[tuple[int, int]], level: IntArray
) -> set[tuple[int, int]]:
    """Returns the edges that other paths do not imply: the transitive reduction (Aho, Garey and
    Ullman 1972).
    """
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        after[source].append(target)
    order = sorted(range(count), key=lambda box: (level[box], box))
    reached = [0] * count  # for each box, the set of boxes reachable from it, as bits
    kept = set()
    place = {box: number for number, box in enumerate(order)}
    for box in reversed(order):
        mask = 0
        for target in sorted(after[box], key=place.__getitem__):
            if not mask >> target & 1:
                kept.add((box, target))
                mask |= reached[target] | 1 << target
        reached[box] = mask
    return kept
