"""Finds the construct that waits for each task: taskwait, taskgroup, barrier, or the end of the
parallel region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regionpredict.tasks.recording import PARALLEL_END, SYNC_BEGIN, SYNC_END
from regionpredict.tasks.task_events import (
    MOST_DOUBLINGS,
    TASKGROUP,
    TASKWAIT,
    TaskEvents,
)
from regionpredict.tasks.task_graph import JOINED, IntArray

_NONE = -1
_BEYOND = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Barriers:
    """The rows at which threads reach a barrier, and the number of the barrier, which all threads
    share. `count` is the number of barriers.
    """

    rows: IntArray
    instances: IntArray
    count: int


def barriers_of(events: TaskEvents) -> Barriers:
    """Returns the barriers of all parallel regions. All threads of a region reach the same barriers
    in the same order.
    """
    kinds = (events.kind == SYNC_BEGIN) & (events.aux != TASKWAIT) & (events.aux != TASKGROUP)
    rows = np.flatnonzero(kinds & (events.region[events.task] >= 0))
    if not len(rows):
        return Barriers(rows, rows, 0)
    task = events.task[rows]
    starts = np.concatenate([[True], task[1:] != task[:-1]])
    heads = np.flatnonzero(starts)
    ordinal = np.arange(len(rows)) - np.repeat(heads, np.diff(np.append(heads, len(rows))))
    key = events.region[task] * (int(ordinal.max()) + 1) + ordinal
    unique, instances = np.unique(key, return_inverse=True)
    return Barriers(rows, instances.astype(np.int64), len(unique))


def joins_of(
    events: TaskEvents,
    node: IntArray,
    task: IntArray,
    last: IntArray,
    barriers: Barriers,
) -> list[tuple[IntArray, IntArray, int]]:
    """Returns an edge from the end of each explicit task to the first construct that waits for the
    task.

    A taskwait waits for children, a taskgroup and a barrier for all descendants (OpenMP 5.2, sec.
    15.3 and 15.5).
    """
    children = np.flatnonzero((events.created >= 0) & (last >= 0))
    rows = events.created[children]
    waits = (events.kind == SYNC_BEGIN) & (events.aux == TASKWAIT)
    by_wait = _next_mark_in_task(events, np.flatnonzero(waits), rows)
    by_group = _group_ends(events, rows)
    barrier_rows = _next_mark_in_task(events, barriers.rows, rows)

    # `scope` is the row that waits for all descendants of a task: the end of its taskgroup, a
    # barrier of its thread, or the row that waits for its parent.
    count = len(events.parent)
    scope = np.full(count, _BEYOND, dtype=np.int64)
    scope[children] = np.minimum(by_group, barrier_rows)
    resolved = np.ones(count, dtype=bool)
    resolved[children] = (scope[children] != _BEYOND) | ~events.explicit[events.parent[children]]
    above = np.where(resolved, np.arange(count), events.parent)
    for _ in range(MOST_DOUBLINGS):
        if bool(resolved.all()):
            break
        scope = np.where(resolved, scope, scope[above])
        resolved = resolved | resolved[above]
        above = above[above]
    joiner = np.minimum(np.minimum(by_wait, by_group), barrier_rows)
    joiner = np.where(joiner == _BEYOND, scope[children], joiner)

    target = np.full(len(children), _NONE, dtype=np.int64)
    joined = joiner != _BEYOND
    at = joiner[joined]
    instance = np.full(len(events.task), _NONE, dtype=np.int64)
    instance[barriers.rows] = barriers.instances
    at_barrier = instance[at] >= 0
    # A taskwait is represented by the row of its start, which the next node follows, and a
    # taskgroup by the row of its end.
    following = node[at] + (events.kind[at] == SYNC_BEGIN)
    in_same_task = following < len(task)
    in_same_task[in_same_task] = task[following[in_same_task]] == events.task[at[in_same_task]]
    target[joined] = np.where(
        at_barrier, len(task) + instance[at], np.where(in_same_task, following, _NONE)
    )
    at_end = _region_ends(events, node, children[~joined])
    target[~joined] = at_end
    good = target >= 0
    return [(last[children[good]], target[good], JOINED)]


def _next_mark_in_task(events: TaskEvents, marks: IntArray, rows: IntArray) -> IntArray:
    """Returns for each row the next row of `marks` in the same task, or `_BEYOND`."""
    at = np.searchsorted(marks, rows)
    array = at < len(marks)
    nearest = np.full(len(rows), _BEYOND, dtype=np.int64)
    nearest[array] = marks[at[array]]
    nearest[array] = np.where(
        events.task[marks[at[array]]] == events.task[rows[array]], nearest[array], _BEYOND
    )
    return nearest


def _group_ends(events: TaskEvents, rows: IntArray) -> IntArray:
    """Returns for each row the end of the innermost enclosing taskgroup of its task, or
    `_BEYOND`.
    """
    ends = np.full(len(rows), _BEYOND, dtype=np.int64)
    group = events.aux == TASKGROUP
    marks = np.flatnonzero(group & ((events.kind == SYNC_BEGIN) | (events.kind == SYNC_END)))
    if not len(marks):
        return ends
    closed: dict[int, int] = {}
    open_: list[int] = []
    inner: list[int] = []  # the group that is open after each mark, by the row of its start
    of_task, is_begin = events.task[marks].tolist(), (events.kind[marks] == SYNC_BEGIN).tolist()
    for position, row in enumerate(marks.tolist()):
        if position and of_task[position] != of_task[position - 1]:
            open_.clear()
        if is_begin[position]:
            open_.append(row)
        elif open_:
            closed[open_.pop()] = row
        inner.append(open_[-1] if open_ else _NONE)
    at = np.searchsorted(marks, rows) - 1
    begun = np.where(at >= 0, np.array(inner)[np.maximum(at, 0)], _NONE)
    inside = (begun >= 0) & (events.task[begun] == events.task[rows])
    ends[inside] = [closed.get(row, _BEYOND) for row in begun[inside].tolist()]
    return ends


def _region_ends(events: TaskEvents, node: IntArray, children: IntArray) -> IntArray:
    """Returns for each task the node after its parallel region, or -1."""
    region = events.innermost
    ends = np.full(len(events.parent), _NONE, dtype=np.int64)
    rows = np.flatnonzero((events.kind == PARALLEL_END) & (events.other >= 0))
    ends[events.other[rows]] = node[rows]
    mine = region[children]
    return np.where(mine >= 0, ends[mine], _NONE)
