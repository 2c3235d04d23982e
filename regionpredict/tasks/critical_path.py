"""Finds the critical path of a task graph, and its depth (Shudler 2018, listing 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regionpredict.tasks.task_graph import TaskGraph


class CriticalPath(NamedTuple):
    """A critical path: the depth `T_inf` in seconds, and the nodes of a path of this length in
    order.
    """

    depth_s: float
    path: tuple[int, ...]


def critical_path(graph: TaskGraph) -> CriticalPath:
    """Returns the path with the largest sum of times."""
    if not graph.nodes:
        return CriticalPath(0.0, ())
    begin, level = graph.schedule.begin, graph.schedule.level
    ends = begin + graph.seconds
    order = np.argsort(graph.targets, kind="stable")
    sources, targets = graph.sources[order], graph.targets[order]
    node = int(np.argmax(ends))
    path = [node]
    while level[node]:
        first, last = np.searchsorted(targets, (node, node + 1))
        before = sources[first:last]
        # Even a node that starts at time 0 may have predecessors, which have no duration.
        node = int(before[np.argmax(ends[before])])
        path.append(node)
    return CriticalPath(float(ends.max()), tuple(reversed(path)))
