"""`TaskGraph`: the pieces of tasks in a run with their times and dependences.

A node is a piece of a task that runs without creating another task or waiting. An edge means that
its target cannot start before its source has ended (Shudler 2018, sec. 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.tasks.iteration_range import IterationRange

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
KindArray = NDArray[np.uint8]
BoolArray = NDArray[np.bool_]

NODE_KINDS = ("task", "implicit", "chunk", "join", "serial")
"""task: a piece of an explicit task; implicit: other work of a thread in a parallel region; chunk:
a chunk of a worksharing loop; join: a synchronization point without work; serial: outside parallel
regions, where time does not count.
"""
TASK, IMPLICIT, CHUNK, JOIN, SERIAL = range(5)

EDGE_KINDS = ("dependence", "create", "continue", "join")
"""dependence: by depend clauses, or in a file; create: to a new task; continue: to the same task's
next piece; join: from a task's end to the construct that waits for it.
"""
DEPENDENCE, CREATE, CONTINUE, JOINED = range(4)


class EarliestRun(NamedTuple):
    """The schedule with the earliest start of each node. `order` is a topological order without
    nodes in cycles. For each node, `begin` is in seconds, and `level` is the maximum number of
    edges on a path to it.
    """

    order: IntArray
    begin: FloatArray
    level: IntArray


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """A directed acyclic graph of `n` nodes and `m` edges.

    `seconds` has shape `(n,)`. `node_kinds` `(n,)` are indices into `NODE_KINDS`, and `tasks`
    `(n,)` is the number of each node's task. `lines` `(n,)` is the index in `places` of its source
    line, or -1. `sources` and `targets` `(m,)` are numbers of nodes, and `edge_kinds` `(m,)` are
    indices into `EDGE_KINDS`. `names` are the names of the nodes, or empty. `serial_s` is the time
    outside parallel regions, and `notes` are warnings. `counted` has shape `(n, c)`: the counts of
    each of the hardware `counters` in each node. `threads` is the maximum number of threads in the
    run, or None for a graph without a run. `iterations` has shape `(n, 5)`, the fields of each
    node's `IterationRange`. It is `(0, 5)` if no node has one, and a node without one has the total
    0. `undivided_s` is the work of loops that one thread executed as a whole. Their parallelism is
    not in the graph.
    """

    seconds: FloatArray
    node_kinds: KindArray
    tasks: IntArray
    lines: IntArray
    places: tuple[str, ...]
    sources: IntArray
    targets: IntArray
    edge_kinds: KindArray
    names: tuple[str, ...] = ()
    serial_s: float = 0.0
    notes: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    counted: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    threads: int | None = None
    iterations: IntArray = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64))
    undivided_s: float = 0.0

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.seconds)

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self.sources)

    @cached_property
    def task_count(self) -> int:
        """The number of explicit tasks."""
        tasks = self.tasks[self.node_kinds == TASK]
        return int(np.count_nonzero(np.bincount(tasks))) if len(tasks) else 0

    @cached_property
    def successors(self) -> tuple[IntArray, IntArray]:
        """`(start, edge)`: the edges that leave node `v` are `edge[start[v]:start[v + 1]]`."""
        order = np.argsort(self.sources, kind="stable")
        start = np.zeros(self.nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.sources, minlength=self.nodes), out=start[1:])
        return start, order

    @cached_property
    def schedule(self) -> EarliestRun:
        """The earliest start of each node, with an unlimited number of threads."""
        return earliest_run(self)

    def name(self, node: int) -> str:
        """Returns a readable name of a node."""
        if self.names:
            return self.names[node]
        place = self.places[self.lines[node]] if self.lines[node] >= 0 else "?"
        return f"{self.label(node)} ({place})"

    def node_text(self, node: int) -> str:
        """Returns the name of a node, or its task and `file:line` without folders."""
        if self.names:
            return self.names[node]
        place = self.places[self.lines[node]] if self.lines[node] >= 0 else "?"
        return f"{self.label(node)} of {PurePath(place).name}"

    def label(self, node: int) -> str:
        """Describes a node without its line: a chunk by its iterations, other nodes by their
        task.
        """
        known = self.iterations_of(node)
        return f"{NODE_KINDS[self.node_kinds[node]]} {self.tasks[node] if known is None else known}"

    def iterations_of(self, node: int) -> IterationRange | None:
        """Returns the iterations of a node, or None if the node is not a chunk of a loop."""
        if len(self.iterations) <= node or not self.iterations[node, 1]:
            return None
        return IterationRange(*self.iterations[node].tolist())


LONGEST_S = 1e18
"""The longest time of a node. Sums and products of such times are finite."""


def graph_of_tasks(
    seconds: Sequence[float], edges: Sequence[tuple[int, int]], names: Sequence[str] = ()
) -> TaskGraph:
    """Creates a graph in which each node is a task with a time in seconds. Duplicate edges count
    once.

    Raises InputError for an invalid time, an edge to an unknown node, or a cycle.

    >>> graph_of_tasks([2.0, 1.0], [(0, 1)]).edges
    1
    """
    count = len(seconds)
    times = np.asarray(seconds, dtype=np.float64).reshape(count)
    pairs = list(dict.fromkeys(edges))
    for source, target in pairs:
        if not (0 <= source < count and 0 <= target < count):
            raise InputError(f"the edge {source} -> {target} leads to no node")
    bad = np.flatnonzero(~((times >= 0) & (times <= LONGEST_S)))
    if len(bad):
        shown = names[bad[0]] if names else str(bad[0])
        raise InputError(f"node '{shown}' has no time from 0 to {LONGEST_S:g} seconds")
    ends = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    graph = TaskGraph(
        seconds=times,
        node_kinds=np.full(count, TASK, dtype=np.uint8),
        tasks=np.arange(count, dtype=np.int64),
        lines=np.full(count, -1, dtype=np.int64),
        places=(),
        sources=ends[:, 0],
        targets=ends[:, 1],
        edge_kinds=np.full(len(pairs), DEPENDENCE, dtype=np.uint8),
        names=tuple(names),
    )
    check_acyclic(graph)
    return graph


def check_acyclic(graph: TaskGraph) -> None:
    """Raises InputError with the nodes of a cycle if there is one."""
    order = graph.schedule.order
    if len(order) == graph.nodes:
        return
    left = np.ones(graph.nodes, dtype=bool)
    left[order] = False
    inside = left[graph.sources] & left[graph.targets]
    # Each remaining node has a remaining predecessor, so walking back finds a cycle.
    before = dict(zip(graph.targets[inside].tolist(), graph.sources[inside].tolist(), strict=True))
    node, seen = next(iter(before)), dict[int, None]()
    while node not in seen:
        seen[node] = None
        node = before[node]
    walked = list(seen)
    cycle = [*walked[walked.index(node) :], node][::-1]
    names = [graph.names[v] if graph.names else str(v) for v in cycle]
    shown = " -> ".join(names if len(names) <= 8 else [*names[:4], "...", *names[-2:]])
    raise InputError(f"there is a cycle: {shown}", remedy="a task graph has none; remove an edge")


def names_in_order(names: Mapping[str, int]) -> tuple[str, ...]:
    """Returns the names in the order of their numbers."""
    return tuple(sorted(names, key=names.__getitem__))


NARROW = 64
NARROW_LEVELS = 500
"""The number of successive levels with fewer than `NARROW` nodes after which a graph is traversed
node by node, which is faster.
"""


def earliest_run(graph: TaskGraph) -> EarliestRun:
    """Computes the earliest start of each node, level by level while levels are wide."""
    start, edge = graph.successors
    targets = graph.targets[edge]
    waiting = np.bincount(graph.targets, minlength=graph.nodes)
    begin, level = np.zeros(graph.nodes), np.zeros(graph.nodes, dtype=np.int64)
    stamp = np.zeros(graph.nodes, dtype=np.int64)
    front = np.flatnonzero(waiting == 0)
    fronts: list[IntArray] = []
    narrow = 0
    while len(front) and narrow < NARROW_LEVELS:
        narrow = narrow + 1 if len(front) < NARROW else 0
        level[front] = len(fronts)
        fronts.append(front)
        first, count = start[front], start[front + 1] - start[front]
        total = int(count.sum())
        edges = np.repeat(first - np.cumsum(count) + count, count) + np.arange(total)
        reached = targets[edges]
        ends = np.repeat(begin[front] + graph.seconds[front], count)
        np.maximum.at(begin, reached, ends)
        np.subtract.at(waiting, reached, 1)
        ready = reached[waiting[reached] == 0]
        numbers = np.arange(len(ready))
        stamp[ready] = numbers  # the last assignment counts
        front = ready[stamp[ready] == numbers]
    tail = _traverse_by_node(graph, front.tolist(), waiting, begin, level, len(fronts))
    order = np.concatenate([*fronts, np.array(tail, dtype=np.int64)])
    return EarliestRun(order, begin, level)


def _traverse_by_node(
    graph: TaskGraph, order: list[int], waiting: IntArray, begin: FloatArray, level: IntArray,
    at: int,
) -> list[int]:  # fmt: skip
    """Returns the rest of the topological order, starting with the nodes at level `at`. Sets the
    remaining entries of `begin` and `level`.
    """
    if not order:
        return order
    start, edge = graph.successors
    starts, targets = start.tolist(), graph.targets[edge].tolist()
    seconds, missing = graph.seconds.tolist(), waiting.tolist()
    begins, levels = begin.tolist(), level.tolist()
    for node in order:
        levels[node] = at
    for node in order:  # grows during the loop
        end, deeper = begins[node] + seconds[node], levels[node] + 1
        for target in targets[starts[node] : starts[node + 1]]:
            begins[target] = max(begins[target], end)
            levels[target] = max(levels[target], deeper)
            missing[target] -= 1
            if not missing[target]:
                order.append(target)
    begin[:], level[:] = begins, levels
    return order
