"""Simulates the scheduling of a task graph on any number of threads, without contention.

The policy breadth-first has one first-in-first-out queue. The others have one queue per thread. A
thread runs its newest task, and idle threads steal the oldest one. With work-first, a thread runs
the task that it creates, and the creating task waits in the queue (Shudler 2018, sec. 5.3.1). With
help-first, the created task waits (Guo et al. 2009), as in LLVM's runtime.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from regionpredict.errors import UsageError
from regionpredict.tasks.task_graph import CHUNK, CONTINUE, CREATE, JOINED, TASK, TaskGraph

Policy = Literal["help-first", "work-first", "breadth-first"]
POLICIES: tuple[Policy, ...] = ("help-first", "work-first", "breadth-first")

SAME_TASK_EDGES = (CONTINUE, JOINED)
"""The kinds of edges to the next piece of the same task, directly or after waiting."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """The simulated time T_p of a task graph in seconds. `busy_s` is the time of all threads in
    tasks, and `overhead_s` the part of it for starting tasks.
    """

    threads: int
    seconds: float
    busy_s: float
    overhead_s: float


def started_nodes(graph: TaskGraph) -> np.ndarray:
    """Returns a mask of the nodes that a runtime must start: the first node of each task, and
    chunks.
    """
    continued = np.zeros(graph.nodes, dtype=bool)
    continued[graph.targets[graph.edge_kinds == CONTINUE]] = True
    created = np.zeros(graph.nodes, dtype=bool)
    created[graph.targets[graph.edge_kinds == CREATE]] = True
    chunk = graph.node_kinds == CHUNK
    result: np.ndarray = (graph.node_kinds == TASK) & (~continued | created) | chunk
    return result


def simulate(
    graph: TaskGraph, threads: int, policy: Policy = "help-first", overhead_s: float = 0.0
) -> Simulated:
    """Simulates the graph on this many threads. Starting a task takes `overhead_s` seconds.

    No policy leaves a thread idle while a task is ready. Therefore, with the overhead in the nodes,
    `T_inf <= T_p <= T_1/p + T_inf` (Graham 1969; Brent 1974). Raises UsageError if `threads` is
    below one.
    """
    if threads < 1:
        raise UsageError(f"{threads} threads run nothing", remedy="give at least one")
    start, edge = graph.successors
    starts, targets = start.tolist(), graph.targets[edge].tolist()
    kinds = graph.edge_kinds[edge].tolist()
    extra = np.where(started_nodes(graph), overhead_s, 0.0)
    seconds = (graph.seconds + extra).tolist()
    waiting = np.bincount(graph.targets, minlength=graph.nodes).tolist()
    own = policy != "breadth-first"
    last = policy == "help-first"
    queues: list[deque[int]] = [deque() for _ in range(threads if own else 1)]
    first = np.flatnonzero(np.array(waiting, dtype=np.int64) == 0).tolist()
    queues[0].extend(reversed(first) if policy == "work-first" else first)
    ready = len(first)
    idle = list(range(threads))  # a heap: the lowest number first
    running: list[tuple[float, int, int]] = []
    now = 0.0
    while True:
        while ready and idle:
            thread = heapq.heappop(idle)
            node = _next_node(queues, thread if own else 0)
            ready -= 1
            heapq.heappush(running, (now + seconds[node], thread, node))
        if not running:
            break
        now, thread, node = heapq.heappop(running)
        heapq.heappush(idle, thread)
        queue = queues[thread if own else 0]
        outgoing = range(starts[node], starts[node + 1])
        # The newest entry runs next: with help-first the next piece of the same task, with
        # work-first the created task.
        for at in (
            sorted(outgoing, key=lambda e: (kinds[e] in SAME_TASK_EDGES) == last)
            if own
            else outgoing
        ):
            target = targets[at]
            waiting[target] -= 1
            if not waiting[target]:
                queue.append(target)
                ready += 1
    return Simulated(
        threads=threads,
        seconds=now,
        busy_s=float(sum(seconds)),
        overhead_s=float(extra.sum()),
    )


def _next_node(queues: list[deque[int]], own: int) -> int:
    """Returns the next node of a thread: the newest in its queue, or the oldest in the queue of the
    next thread with tasks.
    """
    if len(queues) == 1:
        return queues[0].popleft()
    if queues[own]:
        return queues[own].pop()
    for step in range(1, len(queues)):
        queue = queues[(own + step) % len(queues)]
        if queue:
            return queue.popleft()
    raise AssertionError("a task is ready in no queue")
