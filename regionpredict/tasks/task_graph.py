"""`TaskGraph`: what must come before what in a run, and how long each part took.

A node is a piece of a task that runs without creating or waiting for another; an edge says that
its target cannot begin before its source has ended (Shudler 2018, sec. 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
KindArray = NDArray[np.uint8]

NODE_KINDS = ("task", "implicit", "chunk", "join", "serial")
"""task: of an explicit task; implicit: of what a thread does in a parallel region beside them;
chunk: of a worksharing loop; join: no work, where all meet; serial: outside parallel regions, its
time does not count."""
TASK, IMPLICIT, CHUNK, JOIN, SERIAL = range(5)

EDGE_KINDS = ("dependence", "create", "continue", "join")
"""dependence: by depend clauses, or what a file says; create: to a new task; continue: to the same
task's next piece; join: from a task's end to who waited for it."""
DEPENDENCE, CREATE, CONTINUE, JOINED = range(4)


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """A directed acyclic graph of `n` nodes and `m` edges.

    `seconds` is `(n,)`; `node_kinds` `(n,)` counts in `NODE_KINDS`; `tasks` `(n,)` is the number of
    the task that a node is a piece of; `lines` `(n,)` is the place in `places` of the source line
    that made it, -1 where not known; `sources` and `targets` `(m,)` are numbers of nodes,
    `edge_kinds` `(m,)` counts in `EDGE_KINDS`. `names` are the nodes' names where they have some.
    `serial_s` is the time outside parallel regions, `notes` what to know before trusting it.
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

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.seconds)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.sources)

    @cached_property
    def task_count(self) -> int:
        """How many explicit tasks there are."""
        return len(np.unique(self.tasks[self.node_kinds == TASK]))

    @cached_property
    def successors(self) -> tuple[IntArray, IntArray]:
        """`(start, edge)`: the edges that leave node `v` are `edge[start[v]:start[v + 1]]`."""
        order = np.argsort(self.sources, kind="stable")
        start = np.zeros(self.nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.sources, minlength=self.nodes), out=start[1:])
        return start, order

    @cached_property
    def order(self) -> list[int]:
        """The nodes so that each comes behind all its predecessors; those of cycles are left out."""
        start, edge = self.successors
        starts, targets = start.tolist(), self.targets[edge].tolist()
        missing = np.bincount(self.targets, minlength=self.nodes)
        order: list[int] = np.flatnonzero(missing == 0).tolist()
        waiting = missing.tolist()
        for node in order:  # grows meanwhile
            for target in targets[starts[node] : starts[node + 1]]:
                waiting[target] -= 1
                if not waiting[target]:
                    order.append(target)
        return order

    def name(self, node: int) -> str:
        """A node as a person reads it."""
        if self.names:
            return self.names[node]
        place = self.places[self.lines[node]] if self.lines[node] >= 0 else "?"
        return f"{NODE_KINDS[self.node_kinds[node]]} {self.tasks[node]} ({place})"


def task_graph(
    seconds: Sequence[float], edges: Sequence[tuple[int, int]], names: Sequence[str] = ()
) -> TaskGraph:
    """A graph of which each node is a task of so many seconds; an edge given twice counts once.

    Raises InputError where a time is none, an edge leads nowhere, or there is a cycle.

    >>> task_graph([2.0, 1.0], [(0, 1)]).edges
    1
    """
    count = len(seconds)
    times = np.asarray(seconds, dtype=np.float64).reshape(count)
    pairs = list(dict.fromkeys(edges))
    for source, target in pairs:
        if not (0 <= source < count and 0 <= target < count):
            raise InputError(f"the edge {source} -> {target} leads to no node")
    bad = np.flatnonzero(~(np.isfinite(times) & (times >= 0)))
    if len(bad):
        shown = names[bad[0]] if names else str(bad[0])
        raise InputError(f"node '{shown}' has no time of zero or more seconds")
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
    """Raises InputError with the nodes of a cycle, where there is one."""
    order = graph.order
    if len(order) == graph.nodes:
        return
    left = np.ones(graph.nodes, dtype=bool)
    left[order] = False
    inside = left[graph.sources] & left[graph.targets]
    # Each node that is left has a predecessor that is left: walking back, one comes twice.
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


def numbered(names: Mapping[str, int]) -> tuple[str, ...]:
    """Names in the order of their numbers."""
    return tuple(sorted(names, key=names.__getitem__))
