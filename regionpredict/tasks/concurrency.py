"""Computes the maximum degree of concurrency: the largest number of nodes without a path between
any two of them (Shudler 2018, sec. 4.3.2).

By Dilworth's theorem, it equals the smallest number of chains that cover the partial order. A
maximum matching on the transitive closure gives this number (Fulkerson 1956). The closure of a
large graph does not fit into memory, so two bounds are computed, which are often equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regionpredict.tasks.task_graph import CONTINUE, JOIN, SERIAL, BoolArray, IntArray, TaskGraph

EXACT_NODES = 8_000
"""The maximum number of nodes of a graph whose transitive closure is computed. At this size it has
up to 32 million pairs.
"""
EXACT_PAIRS = 16_000_000
PATHS_NODES = 200_000
"""The maximum number of nodes for the greedy cover by paths, which takes seconds for larger graphs.
In larger graphs, each task is a separate path.
"""


class Concurrency(NamedTuple):
    """The maximum degree of concurrency, as bounds from `low` to `high`. Equal bounds are exact."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        """Whether the number is exact."""
        return self.low == self.high


def max_concurrency(
    graph: TaskGraph, *, exact_nodes: int = EXACT_NODES, exact_pairs: int = EXACT_PAIRS
) -> Concurrency:
    """Computes the maximum number of nodes with work that can run at once, exactly or as two
    bounds.
    """
    counted = (graph.node_kinds != JOIN) & (graph.node_kinds != SERIAL)
    if not counted.any():
        return Concurrency(0, 0)
    low = _lower_bound(graph, counted)
    if graph.nodes > PATHS_NODES:
        return Concurrency(low, _paths_along_tasks(graph, counted))
    order = graph.schedule.order.tolist()
    bounds = Concurrency(low, _paths_greedily(graph, order, counted))
    if bounds.exact or graph.nodes > exact_nodes:
        return bounds
    pairs = _transitive_closure(graph, order, counted)
    if sum(map(len, pairs)) > exact_pairs:
        return bounds
    exact = _smallest_cover(pairs)
    return Concurrency(exact, exact)


def _lower_bound(graph: TaskGraph, counted: BoolArray) -> int:
    """Returns the largest number of nodes at one level, or at one time of the earliest run.

    No path connects any two of these nodes.
    """
    begins = graph.schedule.begin
    level = int(np.bincount(graph.schedule.level[counted]).max())
    lasting = counted & (graph.seconds > 0)
    times = np.concatenate([begins[lasting], (begins + graph.seconds)[lasting]])
    change = np.repeat(np.array([1, -1]), int(lasting.sum()))
    running = np.cumsum(change[np.lexsort((change, times))])
    return max(level, int(running.max(initial=1)))


def _paths_along_tasks(graph: TaskGraph, counted: BoolArray) -> int:
    """Returns the number of paths that cover the counted nodes if each path follows one task."""
    kept = (graph.edge_kinds == CONTINUE) & counted[graph.sources] & counted[graph.targets]
    _, first = np.unique(graph.sources[kept], return_index=True)
    return int(counted.sum()) - len(np.unique(graph.targets[kept][first]))


def _paths_greedily(graph: TaskGraph, order: list[int], counted: BoolArray) -> int:
    """Returns the number of paths that cover the counted nodes if each path takes the first free
    successor.
    """
    start, edge = graph.successors
    starts, targets = start.tolist(), graph.targets[edge].tolist()
    taken = [False] * graph.nodes
    paths = 0
    # Paths continue after an uncounted node, and `waiting` is the number of paths that reach it.
    waiting = [0] * graph.nodes
    for node in order:
        here = waiting[node]
        if counted[node]:
            if not taken[node]:
                paths += 1
            here = 1
        for target in targets[starts[node] : starts[node + 1]]:
            if not here:
                break
            if not counted[target]:
                waiting[target] += here
                here = 0
            elif not taken[target]:
                taken[target] = True
                here -= 1
    return paths


def _transitive_closure(graph: TaskGraph, order: list[int], counted: BoolArray) -> list[IntArray]:
    """Returns for each counted node the counted nodes that are reachable from it."""
    start, edge = graph.successors
    starts, targets = start.tolist(), graph.targets[edge].tolist()
    reachable: list[int] = [0] * graph.nodes
    number = (np.cumsum(counted) - 1).tolist()
    is_counted = counted.tolist()
    for node in reversed(order):
        bits = 0
        for target in targets[starts[node] : starts[node + 1]]:
            bits |= reachable[target]
            if is_counted[target]:
                bits |= 1 << number[target]
        reachable[node] = bits
    size = (int(counted.sum()) + 7) // 8
    return [
        np.flatnonzero(
            np.unpackbits(
                np.frombuffer(reachable[node].to_bytes(size, "little"), dtype=np.uint8),
                bitorder="little",
            )
        )
        for node in np.flatnonzero(counted).tolist()
    ]


def _smallest_cover(pairs: list[IntArray]) -> int:
    from scipy.sparse import csr_matrix  # noqa: PLC0415 (slow to import)
    from scipy.sparse.csgraph import maximum_bipartite_matching  # noqa: PLC0415

    count = len(pairs)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in pairs])])
    columns = np.concatenate([*pairs, np.empty(0, dtype=np.int64)]).astype(np.int32)
    matrix = csr_matrix(
        (np.ones(len(columns), dtype=np.int8), columns, starts.astype(np.int32)),
        shape=(count, count),
    )
    matched = maximum_bipartite_matching(matrix, perm_type="column")
    return count - int((matched >= 0).sum())
