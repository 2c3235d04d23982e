"""Computes the metrics of a `TaskGraph`: work, depth, average parallelism, concurrency, and totals
by source line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from regionpredict.tasks.concurrency import Concurrency, max_concurrency
from regionpredict.tasks.critical_path import critical_path
from regionpredict.tasks.task_graph import (
    CHUNK,
    EDGE_KINDS,
    NODE_KINDS,
    TASK,
    IntArray,
    TaskGraph,
)


@dataclass(frozen=True, slots=True)
class LineTotal:
    """The totals of the tasks, chunks or regions of one source line.

    `count` is the number of tasks, chunks, or threads' parts of a region. `work_s` is their total
    time, and `path_s` their time on the critical path. `mean_s` and `most_s` are the mean and
    maximum time of one of them. `counters` are the totals of hardware counters by name, if they
    were read.
    """

    place: str
    kind: str
    count: int
    work_s: float
    path_s: float
    mean_s: float
    most_s: float
    counters: dict[str, float]


@dataclass(frozen=True, slots=True)
class GraphMetrics:
    """The metrics of a task graph (Shudler 2018, sec. 4.1.1 and 4.3), with times in seconds.

    `work_s` is T_1, `depth_s` is T_inf, and `path` are the nodes of the critical path. `edge_kinds`
    counts the edges by kind. `tasks_s` is the work of explicit tasks and chunks, and `counters` are
    the totals of hardware counters in them.
    """

    tasks: int
    nodes: int
    edges: int
    edge_kinds: dict[str, int]
    work_s: float
    tasks_s: float
    depth_s: float
    path: tuple[int, ...]
    concurrency: Concurrency | None
    lines: tuple[LineTotal, ...]
    counters: dict[str, float]

    @property
    def average_parallelism(self) -> float | None:
        """The average parallelism pi = T_1 / T_inf, or None if the depth is zero."""
        return self.work_s / self.depth_s if self.depth_s > 0 else None


def measure_graph(graph: TaskGraph, *, concurrency: bool = True) -> GraphMetrics:
    """Computes all metrics of a task graph. `concurrency` is optional, since its bounds need two
    additional passes.
    """
    longest = critical_path(graph)
    counts = np.bincount(graph.edge_kinds, minlength=len(EDGE_KINDS)).tolist()
    of_tasks = (graph.node_kinds == TASK) | (graph.node_kinds == CHUNK)
    return GraphMetrics(
        tasks=graph.task_count,
        nodes=graph.nodes,
        edges=graph.edges,
        edge_kinds=dict(zip(EDGE_KINDS, counts, strict=True)),
        work_s=math.fsum(graph.seconds.tolist()),
        tasks_s=math.fsum(graph.seconds[of_tasks].tolist()),
        depth_s=longest.depth_s,
        path=longest.path,
        concurrency=max_concurrency(graph) if concurrency else None,
        lines=line_totals(graph, np.array(longest.path, dtype=np.int64)),
        counters=_counter_totals(graph, np.flatnonzero(of_tasks)),
    )


def _counter_totals(graph: TaskGraph, nodes: IntArray) -> dict[str, float]:
    """Returns the totals of the hardware counters in these nodes."""
    if not graph.counters:
        return {}
    return dict(zip(graph.counters, graph.counted[nodes].sum(0).tolist(), strict=True))


def line_totals(graph: TaskGraph, path: IntArray) -> tuple[LineTotal, ...]:
    """Returns the totals of each source line, sorted by work. The result is empty if the lines are
    unknown.
    """
    if not graph.places:
        return ()
    known = graph.lines >= 0
    key = graph.lines * len(NODE_KINDS) + graph.node_kinds
    on_path = np.zeros(graph.nodes, dtype=bool)
    on_path[path] = True
    # Each chunk is a grain. All pieces of a task form one grain.
    grain = graph.tasks.copy()
    chunks = np.flatnonzero(graph.node_kinds == CHUNK)
    grain[chunks] = int(graph.tasks.max(initial=0)) + 1 + np.arange(len(chunks))
    totals = []
    for line_key in np.unique(key[known]).tolist():
        place, kind = divmod(line_key, len(NODE_KINDS))
        mine = np.flatnonzero(known & (key == line_key))
        seconds = graph.seconds[mine]
        _, inverse = np.unique(grain[mine], return_inverse=True)
        each = np.bincount(inverse, weights=seconds)
        work = float(seconds.sum())
        if not work:
            continue
        totals.append(
            LineTotal(
                place=graph.places[place],
                kind=NODE_KINDS[kind],
                count=len(each),
                work_s=work,
                path_s=float(seconds[on_path[mine]].sum()),
                mean_s=work / len(each),
                most_s=float(each.max()),
                counters=_counter_totals(graph, mine),
            )
        )
    return tuple(sorted(totals, key=lambda total: (-total.work_s, total.place)))
