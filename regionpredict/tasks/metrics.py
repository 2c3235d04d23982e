"""TaskGraph -> `GraphMetrics`: work, depth, average parallelism, concurrency, by source line."""

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
    """What the tasks, chunks or regions of one source line did.

    `count` is of tasks, chunks, or threads' parts of a region; `work_s` their time together,
    `path_s` how much of it lies on the critical path, `mean_s` and `most_s` are of one of them.
    `counters` is what hardware counters counted in all of them, by name, where they were read.
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
    """The metrics of Shudler 2018, sec. 4.1.1 and 4.3, times in seconds.

    `work_s` is T_1, `depth_s` T_inf, `path` the nodes of the critical path; `edge_kinds` counts the
    edges by kind; `tasks_s` is the part of the work that explicit tasks and chunks do, `counters`
    what hardware counters counted in them.
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
        """pi = T_1 / T_inf; None where nothing took any time."""
        return self.work_s / self.depth_s if self.depth_s > 0 else None


def measure_graph(graph: TaskGraph, *, concurrency: bool = True) -> GraphMetrics:
    """All metrics; `concurrency` can be left out, since its bounds take two passes more."""
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
        counters=_counted(graph, np.flatnonzero(of_tasks)),
    )


def _counted(graph: TaskGraph, nodes: IntArray) -> dict[str, float]:
    """What the counters counted in these nodes together."""
    if not graph.counters:
        return {}
    return dict(zip(graph.counters, graph.counted[nodes].sum(0).tolist(), strict=True))


def line_totals(graph: TaskGraph, path: IntArray) -> tuple[LineTotal, ...]:
    """What each source line's tasks and chunks did, the most work first; none without lines."""
    if not graph.places:
        return ()
    known = graph.lines >= 0
    key = graph.lines * len(NODE_KINDS) + graph.node_kinds
    on_path = np.zeros(graph.nodes, dtype=bool)
    on_path[path] = True
    # Chunks of one task are many grains; all pieces of a task are one.
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
                counters=_counted(graph, mine),
            )
        )
    return tuple(sorted(totals, key=lambda total: (-total.work_s, total.place)))
