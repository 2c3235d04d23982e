"""The longest path by time: depth and critical path (Shudler 2018, listing 2)."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.tasks.task_graph import TaskGraph


class CriticalPath(NamedTuple):
    """The depth `T_inf` in seconds, and the nodes of one path that takes it, first to last."""

    depth_s: float
    path: tuple[int, ...]


def critical_path(graph: TaskGraph) -> CriticalPath:
    """The path of the largest sum of times; of several one that begins earliest."""
    if not graph.nodes:
        return CriticalPath(0.0, ())
    start, edge = graph.successors
    starts, targets = start.tolist(), graph.targets[edge].tolist()
    seconds = graph.seconds.tolist()
    begin = [0.0] * graph.nodes
    before = [-1] * graph.nodes
    last, depth = 0, -1.0
    for node in graph.order:
        end = begin[node] + seconds[node]
        if end > depth:
            last, depth = node, end
        for target in targets[starts[node] : starts[node + 1]]:
            if end > begin[target] or before[target] < 0:
                begin[target] = end
                before[target] = node
    path = [last]
    while before[path[-1]] >= 0:
        path.append(before[path[-1]])
    return CriticalPath(depth, tuple(reversed(path)))
