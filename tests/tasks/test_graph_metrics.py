"""Work, depth, parallelism and concurrency: known answers, brute force, and laws."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from drawn_graphs import KNOWN, drawn, graphs, reachable
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.tasks import TaskGraph, graph_of_tasks, measure_graph, simulate
from regionpredict.tasks import task_graph as task_graph_module
from regionpredict.tasks.concurrency import max_concurrency
from regionpredict.tasks.scheduler import POLICIES
from regionpredict.tasks.task_graph import CONTINUE, CREATE, JOINED


@pytest.mark.parametrize(("times", "edges", "known"), KNOWN)
def test_known_answers(times, edges, known):
    metrics = measure_graph(drawn(times, edges))
    work, depth, concurrency = known
    assert metrics.work_s == work
    assert metrics.depth_s == depth
    assert metrics.average_parallelism == work / depth
    assert (metrics.concurrency.low, metrics.concurrency.high) == (concurrency, concurrency)


def test_the_critical_path_itself():
    times, edges, _ = KNOWN[0]
    graph = drawn(times, edges)
    assert [graph.names[node] for node in measure_graph(graph).path] == ["a", "c", "h"]


def longest(graph: TaskGraph) -> float:
    """By all paths."""
    after: dict[int, list[int]] = {v: [] for v in range(graph.nodes)}
    for source, target in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
        after[source].append(target)

    def walk(node: int) -> float:
        return graph.seconds[node] + max((walk(target) for target in after[node]), default=0)

    return max(walk(node) for node in range(graph.nodes))


def widest(graph: TaskGraph) -> int:
    """By all sets of nodes."""
    behind = reachable(graph)
    for size in range(graph.nodes, 0, -1):
        for chosen in combinations(range(graph.nodes), size):
            if all(b not in behind[a] and a not in behind[b] for a, b in combinations(chosen, 2)):
                return size
    return 0


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_metrics_by_brute_force(graph):
    metrics = measure_graph(graph)
    assert metrics.work_s == sum(graph.seconds)
    assert metrics.depth_s == longest(graph)
    assert metrics.concurrency.low == metrics.concurrency.high == widest(graph)
    edges = set(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    assert sum(graph.seconds[v] for v in metrics.path) == metrics.depth_s
    assert all(pair in edges for pair in zip(metrics.path, metrics.path[1:], strict=False))
    if metrics.average_parallelism is not None:
        assert metrics.average_parallelism <= metrics.concurrency.low + 1e-12


@given(graphs())
@settings(max_examples=80, deadline=None)
def test_bounds_of_the_concurrency_hold_where_it_is_not_computed(graph):
    bounds = max_concurrency(graph, exact_nodes=0)
    assert bounds.low <= widest(graph) <= bounds.high


@given(graphs())
@settings(max_examples=80, deadline=None)
def test_node_by_node_is_level_by_level(graph):
    plain = task_graph_module.earliest_run(graph)
    given_ = pytest.MonkeyPatch()
    given_.setattr(task_graph_module, "NARROW_LEVELS", 0)
    try:
        followed = task_graph_module.earliest_run(graph)
    finally:
        given_.undo()
    assert np.array_equal(plain.begin, followed.begin)
    assert np.array_equal(plain.level, followed.level)
    place = {int(node): at for at, node in enumerate(followed.order)}
    for source, target in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
        assert place[source] < place[target]


@given(graphs(14), st.integers(1, 6), st.sampled_from(POLICIES), st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_simulated_times_keep_to_the_laws(graph, threads, policy, overhead):
    run = simulate(graph, threads, policy, float(overhead))
    loaded = graph_of_tasks(
        (graph.seconds + overhead).tolist(),
        list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)),
    )
    metrics = measure_graph(loaded)
    work, depth = metrics.work_s, metrics.depth_s
    assert depth <= run.seconds <= work
    assert run.seconds <= work / threads + depth * (threads - 1) / threads + 1e-9
    if threads == 1:
        assert run.seconds == work


def test_policies_differ_as_their_definitions_say():
    # One thread, a makes b and c: breadth-first runs b before what b makes; stealing starts with
    # the newest. On two threads behind a: {b: 1 then d: 5} and c: 3. First in, first out begins b
    # and c, then d: 1 + 5. The newest first does the same here, as b ends first.
    graph = graph_of_tasks([1, 1, 3, 5], [(0, 1), (0, 2), (1, 3)])
    for policy in POLICIES:
        assert simulate(graph, 2, policy).seconds == 7
    # Behind a three tasks 1, 2, 6 in this order on two threads: first in, first out runs 1 and 2,
    # then 6 behind the 1: 1 + 1 + 6. The newest first runs 6 and steals the oldest, 1, then 2.
    graph = graph_of_tasks([1, 1, 2, 6], [(0, 1), (0, 2), (0, 3)])
    assert simulate(graph, 2, "breadth-first").seconds == 8
    assert simulate(graph, 2, "work-first").seconds == simulate(graph, 2, "help-first").seconds == 7


def test_a_creator_that_goes_on_leaves_its_first_task_to_others():
    """Pieces a, b, c of a task create tasks of 1, 2 and 6 in this order; then it waits for all.

    On two threads, help-first: the creator goes on and then runs its newest, 6, while the other
    thread runs 1 and 2. Work-first: the creator runs 1, and the other thread goes on with b and
    runs 2. At time 1 the creator goes on with c and runs 6.
    """
    kinds = [CREATE, CONTINUE, CREATE, CONTINUE, CREATE, CONTINUE, JOINED, JOINED, JOINED]
    pairs = [(0, 3), (0, 1), (1, 4), (1, 2), (2, 5), (2, 6), (3, 6), (4, 6), (5, 6)]
    graph = dataclasses.replace(
        graph_of_tasks([0, 0, 0, 1, 2, 6, 0], pairs), edge_kinds=np.array(kinds, dtype=np.uint8)
    )
    assert simulate(graph, 2, "help-first").seconds == 6
    assert simulate(graph, 2, "work-first").seconds == 7


def test_a_cycle_is_named():
    with pytest.raises(InputError, match=r"there is a cycle: (1 -> 2 -> 1|2 -> 1 -> 2)"):
        graph_of_tasks([1, 1, 1], [(0, 1), (1, 2), (2, 1)])


@pytest.mark.parametrize("seconds", [[-1.0], [float("nan")], [float("inf")]])
def test_times_are_times(seconds):
    with pytest.raises(InputError, match="no time"):
        graph_of_tasks(seconds, [])
