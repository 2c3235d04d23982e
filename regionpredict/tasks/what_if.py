"""Derives task graphs of hypothetical changes of a program, for simulation or replay.

The question is which part of a program would shorten the run if it were parallel or faster.
OMP-WhIP (Boushehrinejadmoradi, Yoga and Nagarakatte 2018) and TASKPROF (Yoga and Nagarakatte 2017)
answer the same question.
"""

from __future__ import annotations

import dataclasses
from typing import Literal, NamedTuple

import numpy as np

from regionpredict.tasks.metrics import GraphMetrics
from regionpredict.tasks.task_graph import (
    CHUNK,
    CREATE,
    TASK,
    IntArray,
    TaskGraph,
)

PARTS = 2
FASTER = 0.5
MOST_LINES = 4
"""The maximum number of source lines that are made faster, one by one. They are the lines with the
most time on the critical path.
"""
MOST_CUT_OFFS = 4


class Change(NamedTuple):
    """`split`: the piece `node` of the largest task on the critical path is divided into `PARTS`
    parallel parts. `faster`: the line `place` takes `FASTER` of its time. `cut-off`: tasks created
    more than `depth` levels below the first are executed by their creators.
    """

    kind: Literal["split", "faster", "cut-off"]
    graph: TaskGraph
    node: int | None = None
    place: str | None = None
    depth: int | None = None


def possible_changes(graph: TaskGraph, metrics: GraphMetrics) -> list[Change]:
    """Returns the changes that are possible for the graph."""
    found = []
    tasks = [v for v in metrics.path if graph.node_kinds[v] in (TASK, CHUNK) and graph.seconds[v]]
    if tasks:
        largest = max(tasks, key=lambda v: float(graph.seconds[v]))
        found.append(Change("split", split_node(graph, largest), node=largest))
    on_path = np.zeros(graph.nodes, dtype=bool)
    on_path[list(metrics.path)] = True
    of_lines = np.bincount(
        graph.lines[graph.lines >= 0], weights=(graph.seconds * on_path)[graph.lines >= 0],
        minlength=len(graph.places),
    )  # fmt: skip
    for line in np.argsort(-of_lines, kind="stable")[:MOST_LINES].tolist():
        if of_lines[line] > 0:
            seconds = np.where(graph.lines == line, FASTER * graph.seconds, graph.seconds)
            faster = dataclasses.replace(graph, seconds=seconds)
            found.append(Change("faster", faster, place=graph.places[line]))
    level = task_levels(graph)
    deepest = int(level.max(initial=0))
    # The finest changes first, since the coarsest affect most tasks.
    depths = np.unique(np.linspace(1, deepest - 1, MOST_CUT_OFFS).round()) if deepest > 1 else ()
    found += [
        Change("cut-off", cut, depth=int(depth))
        for depth in depths
        if (cut := cut_off(graph, level, int(depth))) is not None
    ]
    return found


def split_node(graph: TaskGraph, node: int, parts: int = PARTS) -> TaskGraph:
    """Returns the graph with a node divided into `parts` parallel nodes with equal shares of its
    time.
    """
    copies = np.arange(graph.nodes, graph.nodes + parts - 1)
    edges = np.flatnonzero((graph.sources == node) | (graph.targets == node))
    sources, targets, kinds = [graph.sources], [graph.targets], [graph.edge_kinds]
    for copy in copies.tolist():
        ends = (graph.sources[edges], graph.targets[edges])
        sources.append(np.where(ends[0] == node, copy, ends[0]))
        targets.append(np.where(ends[1] == node, copy, ends[1]))
        # A part is a separate task, so it has a creator, independent of the node's predecessors.
        kinds.append(np.where(ends[1] == node, CREATE, graph.edge_kinds[edges]))
    order = np.concatenate([np.arange(graph.nodes), np.full(parts - 1, node)])
    seconds = graph.seconds[order]
    seconds[[node, *copies.tolist()]] = graph.seconds[node] / parts
    tasks = graph.tasks[order]
    tasks[copies] = tasks.max() + 1 + np.arange(parts - 1)
    return dataclasses.replace(
        _select_nodes(graph, order),
        seconds=seconds,
        tasks=tasks,
        sources=np.concatenate(sources),
        targets=np.concatenate(targets),
        edge_kinds=np.concatenate(kinds),
        names=(*graph.names, *(f"{graph.names[node]}, part {k + 2}" for k in range(parts - 1)))
        if graph.names
        else (),
    )


def task_levels(graph: TaskGraph) -> IntArray:
    """Returns the number of nested explicit tasks around each node. It is 0 outside of all tasks,
    and 1 in a task that no other task created.
    """
    size = int(graph.tasks.max(initial=-1)) + 1
    parent = np.full(size, -1, dtype=np.int64)
    explicit = np.zeros(size, dtype=bool)
    of_task = (graph.node_kinds == TASK) & (graph.tasks >= 0)
    explicit[graph.tasks[of_task]] = True
    created = (graph.edge_kinds == CREATE) & of_task[graph.targets]
    parent[graph.tasks[graph.targets[created]]] = graph.tasks[graph.sources[created]]
    level = explicit.astype(np.int64)
    above = np.where(explicit, parent, -1)
    while (above >= 0).any():
        inside = above >= 0
        level[inside] += explicit[above[inside]]
        above[inside] = np.where(explicit[above[inside]], parent[above[inside]], -1)
    return np.where(of_task, level[np.where(of_task, graph.tasks, 0)], 0)


def cut_off(graph: TaskGraph, level: IntArray, depth: int) -> TaskGraph | None:
    """Returns the graph in which tasks below `depth` levels are executed immediately by their
    creators. Their time is added to the previous piece of the creator. The result is None if their
    dependences do not permit that.
    """
    below = level > depth
    created = np.flatnonzero((graph.edge_kinds == CREATE) & below[graph.targets])
    into = np.arange(graph.nodes)
    creator = np.full(int(graph.tasks.max(initial=-1)) + 1, -1, dtype=np.int64)
    creator[graph.tasks[graph.targets[created]]] = graph.sources[created]
    own = np.flatnonzero(below)
    into[own] = creator[graph.tasks[own]]
    if (into < 0).any():
        return None
    while True:
        further = into[into]
        if (further == into).all():
            break
        into = further
    kept = np.flatnonzero(~below)
    number = np.full(graph.nodes, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    sources, targets = number[into[graph.sources]], number[into[graph.targets]]
    edges = np.flatnonzero(sources != targets)
    seconds = np.zeros(len(kept))
    np.add.at(seconds, number[into], graph.seconds)
    cut = dataclasses.replace(
        _select_nodes(graph, kept),
        seconds=seconds,
        sources=sources[edges],
        targets=targets[edges],
        edge_kinds=graph.edge_kinds[edges],
        names=tuple(graph.names[node] for node in kept.tolist()) if graph.names else (),
    )
    return cut if len(cut.schedule.order) == cut.nodes else None


def _select_nodes(graph: TaskGraph, order: IntArray) -> TaskGraph:
    """Returns the graph with the per-node data of the selected nodes. Hardware counters are
    omitted.
    """
    iterations = graph.iterations[order] if len(graph.iterations) else graph.iterations
    return dataclasses.replace(
        graph,
        seconds=graph.seconds[order],
        node_kinds=graph.node_kinds[order],
        tasks=graph.tasks[order],
        lines=graph.lines[order],
        iterations=iterations,
        counters=(),
        counted=np.zeros((0, 0)),
    )
