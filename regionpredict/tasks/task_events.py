"""Sorts the events of a recording by task, in the order in which they occurred in the task.

The result has one row per task and event, sorted by task and time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.tasks.recording import (
    CREATE,
    DEPENDENCE,
    DISPATCH,
    ID_BITS,
    IMPLICIT_BEGIN,
    IMPLICIT_END,
    PARALLEL_BEGIN,
    PARALLEL_END,
    SCHEDULE,
    SHARE,
    STEP,
    SYNC_BEGIN,
    SYNC_END,
    WAIT_BEGIN,
    WAIT_END,
    WORK_BEGIN,
    WORK_END,
    Recording,
)
from regionpredict.tasks.task_graph import BoolArray, IntArray, KindArray

MOST_DOUBLINGS = 64  # length of a chain of parents, which may be circular in a damaged recording
# Kinds that OpenMP 5.2, sec. 19.4.4, numbers.
TASKWAIT, TASKGROUP, REDUCTION = 5, 6, 7
LOOPS = (1, 2, 10, 11, 12, 13)  # worksharing loops and sections
LOOP_CHUNK = 3
CHUNKS = (2, LOOP_CHUNK)  # a section, a chunk of a worksharing loop
FULFILLED = (5, 6, 8)  # statuses of tasks that are not running then
STOPPED = SCHEDULE  # kind of the row for the task that a schedule event suspends
STARTED = 32  # kind of the row for the task that a schedule event starts or resumes


@dataclass(frozen=True, eq=False)
class TaskEvents:
    """`e` rows, sorted by task and time, and the data of the recording's `t` tasks.

    `task`, `kind`, `aux`, `site` and `other` have shape `(e,)`, as has `time` in ns. `other` is the
    second task, the region or a number in the event. By task, with shape `(t,)`: `parent` and
    `region` (-1: none), `explicit`, `initial`, `known` (started or created), `flags`, `body` (the
    site of its function, 0 if unknown) and `created` (the row of its creation, -1). By region, also
    with shape `(t,)`, since ids are shared: `team` (the number of threads). `dependences` has shape
    `(d, 3)`: task, address, type, in each thread's order. `counted` has shape `(e, c)`: the
    readings of each of the `c` counters. `waited`, with shape `(e,)`, is the time in ns until the
    event in which its thread was ready but had no processor. Readings of different threads cannot
    be compared.
    """

    task: IntArray
    kind: KindArray
    time: IntArray
    aux: IntArray
    site: IntArray
    other: IntArray
    parent: IntArray
    region: IntArray
    explicit: BoolArray
    initial: BoolArray
    flags: IntArray
    body: IntArray
    created: IntArray
    team: IntArray
    dependences: IntArray
    counted: IntArray
    waited: IntArray

    @cached_property
    def innermost(self) -> IntArray:
        """The innermost parallel region of each task, or -1, with shape `(t,)`."""
        region, above = self.region.copy(), self.parent.copy()
        for _ in range(MOST_DOUBLINGS):
            open_ = np.flatnonzero((region < 0) & (above >= 0))
            if not len(open_):
                break
            region[open_] = region[above[open_]]
            above[open_] = above[above[open_]]
        return region


def of_kinds(event_kinds: NDArray[np.integer[Any]], kinds: tuple[int, ...]) -> BoolArray:
    """Returns a mask of the values that are among `kinds`, which must be below 256."""
    table = np.zeros(256, dtype=bool)
    table[list(kinds)] = True
    chosen: BoolArray = table[np.minimum(event_kinds, 255)]
    return chosen


def task_events(recording: Recording, path: str) -> TaskEvents:
    """Sorts the events of a recording by task. Raises InputError if they refer to unknown tasks."""
    words = np.concatenate(recording.threads)
    kind = (words[:, 0] & np.uint64(255)).astype(np.uint8)
    aux = (words[:, 0] >> np.uint64(8) & np.uint64(0xFFFFFF)).astype(np.int64)
    site = (words[:, 0] >> np.uint64(32)).astype(np.int64)
    time = words[:, 1].astype(np.int64)
    index, count = _numbered_ids(words, kind, len(recording.threads), path)
    first, second = index

    schedule = kind == SCHEDULE
    runs = schedule & ~of_kinds(aux, FULFILLED)
    waits = of_kinds(kind, (SYNC_BEGIN, SYNC_END)) & (aux != REDUCTION)
    loops = of_kinds(kind, (WORK_BEGIN, WORK_END)) & of_kinds(aux, LOOPS)
    chunks = (kind == DISPATCH) & of_kinds(aux, CHUNKS)
    plain = of_kinds(
        kind,
        (PARALLEL_BEGIN, PARALLEL_END, IMPLICIT_BEGIN, IMPLICIT_END, CREATE, WAIT_BEGIN, WAIT_END,
         STEP, SHARE),
    )  # fmt: skip
    own = np.flatnonzero((plain | waits | loops | chunks | runs) & (first >= 0))
    started = np.flatnonzero(runs & (second >= 0))
    # A row of the recording can become two: first the stopped task, then the started one.
    rows = np.concatenate([own, started])
    task = np.concatenate([first[own], second[started]])
    kinds = np.concatenate([kind[own], np.full(len(started), STARTED, dtype=np.uint8)])
    order = np.argsort(rows, kind="stable")
    rows, task, kinds = rows[order], task[order], kinds[order]
    order = np.argsort(task, kind="stable")
    times = time[rows[order]]
    same = task[order][1:] == task[order][:-1]
    if bool((same & (times[1:] < times[:-1])).any()):  # tasks that moved to another thread
        order = np.lexsort((time[rows], task))
    rows, task, kinds = rows[order], task[order], kinds[order]

    parent = np.full(count, -1, dtype=np.int64)
    region, flags, created = parent.copy(), np.zeros(count, dtype=np.int64), parent.copy()
    team = np.ones(count, dtype=np.int64)
    explicit, initial = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    begun = np.flatnonzero((kind == IMPLICIT_BEGIN) & (first >= 0))
    region[first[begun]] = second[begun]
    initial[first[begun]] = second[begun] < 0
    inside = begun[second[begun] >= 0]
    team[second[inside]] = site[inside]
    creates = np.flatnonzero(kinds == CREATE)
    children = second[rows[creates]]
    good = children >= 0
    creates, children = creates[good], children[good]
    parent[children] = task[creates]
    explicit[children] = True
    flags[children] = aux[rows[creates]]
    body = np.zeros(count, dtype=np.int64)
    body[children] = site[rows[creates]] >> 16
    site = np.where(kind == CREATE, site & 0xFFFF, site)
    created[children] = creates
    numbers = of_kinds(kinds, (DISPATCH, STEP, SHARE))
    depends = np.flatnonzero((kind == DEPENDENCE) & (first >= 0))
    return TaskEvents(
        task=task,
        kind=kinds,
        time=time[rows],
        aux=aux[rows],
        site=site[rows],
        other=np.where(numbers, words[rows, 3].astype(np.int64), second[rows]),
        parent=parent,
        region=region,
        explicit=explicit,
        initial=initial,
        flags=flags,
        body=body,
        created=created,
        team=team,
        dependences=np.stack(
            [first[depends], words[depends, 3].astype(np.int64), aux[depends]], axis=1
        ),
        counted=(
            np.concatenate(recording.counted)[rows].astype(np.int64)
            if recording.counted
            else np.zeros((len(rows), 0), dtype=np.int64)
        ),
        waited=np.concatenate(recording.waited)[rows].astype(np.int64),
    )


def _numbered_ids(
    words: NDArray[np.uint64], kind: KindArray, threads: int, path: str
) -> tuple[tuple[IntArray, IntArray], int]:
    """Converts the ids in the third and fourth columns to consecutive numbers from 0, or -1 for no
    id. Also returns the count of numbers.
    """
    named = of_kinds(kind, (PARALLEL_BEGIN, PARALLEL_END, IMPLICIT_BEGIN, CREATE, SCHEDULE))
    tasks = named | of_kinds(kind,
        (IMPLICIT_END, SYNC_BEGIN, SYNC_END, WAIT_BEGIN, WAIT_END, WORK_BEGIN, WORK_END, DISPATCH,
         DEPENDENCE, STEP, SHARE),
    )  # fmt: skip
    columns = [np.where(tasks, words[:, 2], 0), np.where(named, words[:, 3], 0)]
    highest = np.zeros(threads, dtype=np.int64)
    split = []
    for column in columns:
        thread = (column >> np.uint64(ID_BITS)).astype(np.int64)
        number = (column & np.uint64((1 << ID_BITS) - 1)).astype(np.int64)
        if len(thread) and int(thread.max()) >= threads:
            raise InputError(
                "the recording names a thread whose events are missing",
                remedy="record it again", path=path,
            )  # fmt: skip
        np.maximum.at(highest, thread, number)
        split.append((thread, number))
    if int(highest.sum()) > 4 * len(words) + 64:
        raise InputError("the recording has invalid ids", remedy="record it again", path=path)
    offset = np.concatenate([[0], np.cumsum(highest)])
    first, second = (
        np.where(number > 0, offset[thread] + number - 1, -1) for thread, number in split
    )
    return (first, second), int(offset[-1])
