"""Converts a recorded run to a `TaskGraph` of pieces of tasks and their dependences.

A task is divided into pieces where it creates another task and where it ends a wait. The chunks of
a worksharing loop are parallel nodes, even if one thread executed several of them. The time of a
node excludes waiting and the execution of other tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from regionpredict.errors import InputError
from regionpredict.tasks.dependences import dependence_pairs
from regionpredict.tasks.joins import Barriers, barriers_of, joins_of
from regionpredict.tasks.recording import (
    CREATE,
    DISPATCH,
    IMPLICIT_BEGIN,
    IMPLICIT_END,
    PARALLEL_BEGIN,
    PARALLEL_END,
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
from regionpredict.tasks.task_events import (
    LOOP_CHUNK,
    STARTED,
    STOPPED,
    TASKGROUP,
    TaskEvents,
    of_kinds,
    task_events,
)
from regionpredict.tasks.task_graph import (
    CHUNK,
    CONTINUE,
    DEPENDENCE,
    IMPLICIT,
    JOIN,
    JOINED,
    SERIAL,
    TASK,
    BoolArray,
    FloatArray,
    IntArray,
    TaskGraph,
    check_acyclic,
    names_in_order,
)
from regionpredict.tasks.task_graph import (
    CREATE as CREATED,
)

UNDEFERRED = 1 << 8
TASKWAIT_FLAG = 0x10
_Edges = list[tuple[IntArray, IntArray, int]]


def recorded_graph(recording: Recording, path: str = "") -> TaskGraph:
    """Returns the task graph of one recorded run. Raises InputError if no parallel region ran."""
    events = task_events(recording, path)
    if not events.explicit.any() and not (events.region >= 0).any():
        raise InputError(
            "no parallel region ran", remedy="is it an OpenMP program, built with -fopenmp?",
            path=path,
        )  # fmt: skip
    begins = _starts_of_nodes(events)
    node = np.cumsum(begins) - 1
    first_rows = np.flatnonzero(begins)
    task = events.task[first_rows]
    first, last = _first_and_last_nodes(task, len(events.parent))
    barriers = barriers_of(events)

    edges: _Edges = []
    edges += _continue_edges(events, node, task, barriers)
    edges += _creation_edges(events, node, first)
    edges += _fork_edges(events, node, first, last)
    edges += joins_of(events, node, task, last, barriers)
    edges += _dependence_edges(events, node, first, last)
    edges += _undeferred_edges(events, node, last)

    running = _is_running(events)
    seconds, serial = _node_seconds(events, node, len(first_rows), events.initial[task], running)
    undivided_s = _undivided_seconds(events, node, task, seconds)
    kinds, sites = _kinds_and_sites(events, first_rows, task, recording.lines.keys())
    lines, places = _source_positions(
        recording, sites, np.where(kinds == TASK, events.body[task], 0)
    )
    count = len(first_rows) + barriers.count  # nodes of barriers follow the pieces of tasks
    pad = np.zeros(barriers.count)
    graph = TaskGraph(
        seconds=np.concatenate([seconds, pad]),
        node_kinds=np.concatenate([kinds, np.full(barriers.count, JOIN, dtype=np.uint8)]),
        tasks=np.concatenate([task, np.full(barriers.count, -1)]),
        lines=np.concatenate([lines, np.full(barriers.count, -1)]),
        places=places,
        sources=np.concatenate([source for source, _, _ in edges]),
        targets=np.concatenate([target for _, target, _ in edges]),
        edge_kinds=np.concatenate([np.full(len(s), k, dtype=np.uint8) for s, _, k in edges]),
        serial_s=serial,
        notes=_notes_about_recording(recording, undivided_s),
        counters=recording.counters,
        counted=_counter_increases(events, node, count, running, kinds == SERIAL),
        threads=int(events.team.max(initial=1)),
        iterations=_iteration_table(events, node, count),
        undivided_s=undivided_s,
    )
    assert count == graph.nodes
    check_acyclic(graph)
    return graph


def _source_positions(
    recording: Recording, sites: IntArray, bodies: IntArray
) -> tuple[IntArray, tuple[str, ...]]:
    """Returns the index of each node's source position (-1 if unknown), and the names of these
    positions. A name is the source line. Tasks with different bodies on one line are named by the
    lines of their bodies, or by addresses if these lines are equal.
    """
    pairs, number = np.unique(np.stack([sites, bodies], axis=1), axis=0, return_inverse=True)
    bodies_of = pairs[:, 1].tolist()
    names = [recording.lines.get(site, "") for site in pairs[:, 0].tolist()]
    names = _with_distinct_names(names, bodies_of, recording.lines.get)
    names = _with_distinct_names(
        names, bodies_of,
        lambda body, name: f"{name} ({recording.addresses[body] - 1:#x})" if name else "",
    )  # fmt: skip
    places: dict[str, int] = {}
    table = np.array([places.setdefault(name, len(places)) if name else -1 for name in names])
    return table[number.reshape(-1)], names_in_order(places)


def _with_distinct_names(
    names: list[str], bodies: list[int], better: Callable[[int, str], str]
) -> list[str]:
    """Returns the names, after replacing names that are missing or that several bodies share."""
    of_name: dict[str, set[int]] = {}
    for name, body in zip(names, bodies, strict=True):
        of_name.setdefault(name, set()).add(body)
    return [
        better(body, name) if body and (not name or len(of_name[name] - {0}) > 1) else name
        for name, body in zip(names, bodies, strict=True)
    ]


def _iteration_table(events: TaskEvents, node: IntArray, count: int) -> IntArray:
    """Returns the fields of the `IterationRange` of each of `count` nodes, with shape
    `(count, 5)`.
    """
    table = np.zeros((count, 5), dtype=np.int64)
    rows = np.flatnonzero((events.kind == DISPATCH) & (events.aux == LOOP_CHUNK))
    steps = _last_flagged_row(events, of_kinds(events.kind, (STEP, WORK_BEGIN)))[rows]
    stepped = (steps >= 0) & (events.kind[steps] == STEP)
    table[node[rows], 0] = events.other[rows]
    table[node[rows], 1] = table[node[rows], 2] = events.site[rows]
    table[node[rows], 4] = np.where(stepped, events.other[steps], 1)
    shares = np.flatnonzero(events.kind == SHARE)
    table[node[shares], 1] = events.site[shares]
    table[node[shares], 3] = events.other[shares]
    return table


def _notes_about_recording(recording: Recording, undivided_s: float) -> tuple[str, ...]:
    notes = []
    if recording.full:
        notes.append("the disk was full: events for which there was no room are missing")
    elif not recording.finished:
        notes.append(
            "the program did not end by itself, or ended by exec or _exit: the recording ends there"
        )
    if undivided_s > 0:
        notes.append(
            f"loops of {undivided_s:.3g} s ran whole, on one thread, so the graph lacks their "
            "parallelism. Static and guided loops have as many chunks as threads need. Record on "
            "the number of threads of interest"
        )
    return tuple(notes)


def _undivided_seconds(
    events: TaskEvents, node: IntArray, task: IntArray, seconds: FloatArray
) -> float:
    """Returns the seconds of loops that one thread executed as a whole. Such a loop is a single
    chunk, or has no recorded chunks and tasks, like gcc's static loops.
    """
    alone = (events.innermost >= 0) & (events.team[events.innermost] == 1)
    chunks = np.flatnonzero((events.kind == DISPATCH) & alone[events.task])
    opened = _last_flagged_row(events, events.kind == WORK_BEGIN)[chunks]
    _, loop, number = np.unique(opened, return_inverse=True, return_counts=True)
    whole = chunks[(number[loop] == 1) & (events.site[chunks] > 1)]
    divided = np.zeros(len(events.parent), dtype=bool)
    divided[events.task[of_kinds(events.kind, (CREATE, DISPATCH, PARALLEL_BEGIN))]] = True
    plain = (events.region >= 0) & alone & ~divided
    return float(seconds[node[whole]].sum() + seconds[plain[task]].sum())


def _starts_of_nodes(events: TaskEvents) -> BoolArray:
    """Returns a mask of the rows that start a node. These are the first row of each task, and rows
    at which the task may continue on another thread.
    """
    begins = of_kinds(events.kind, (CREATE, SYNC_END, PARALLEL_END, DISPATCH))
    begins[0] = True
    begins[1:] |= events.task[1:] != events.task[:-1]
    # After a loop with known chunks.
    ends = np.flatnonzero(events.kind == WORK_END)
    opened = _last_flagged_row(events, events.kind == WORK_BEGIN)[ends]
    chunk = _last_flagged_row(events, events.kind == DISPATCH)[ends]
    begins[ends[(opened >= 0) & (chunk > opened)]] = True
    return begins


def _last_flagged_row(events: TaskEvents, flag: BoolArray) -> IntArray:
    """Returns for each row the last row of the same task, up to this row, with the flag set,
    or -1.
    """
    if not flag.any():
        return np.full(len(flag), -1, dtype=np.int64)
    rows = np.arange(len(flag))
    last = np.maximum.accumulate(np.where(flag, rows, -1))
    start = np.maximum.accumulate(
        np.where(np.concatenate([[True], events.task[1:] != events.task[:-1]]), rows, 0)
    )
    return np.where(last >= start, last, -1)


def _first_and_last_nodes(task: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Returns the first and the last node of each task, or -1 for a task without recorded
    events.
    """
    first, last = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    numbers = np.arange(len(task))
    last[task] = numbers  # for repeated indices, the last assignment takes effect
    first[task[::-1]] = numbers[::-1]
    return first, last


def _is_running(events: TaskEvents) -> BoolArray:
    """Returns for each row whether its task ran until the task's next row, instead of waiting or
    being suspended.
    """
    kind = events.kind
    ours = of_kinds(kind, (STARTED, IMPLICIT_BEGIN)).astype(np.int64)
    ours -= of_kinds(kind, (STOPPED, IMPLICIT_END))
    group = events.aux == TASKGROUP
    waiting = (((kind == SYNC_BEGIN) & ~group) | (kind == WAIT_BEGIN)).astype(np.int64)
    waiting += kind == PARALLEL_BEGIN
    waiting -= ((kind == SYNC_END) & ~group) | (kind == WAIT_END)
    waiting -= kind == PARALLEL_END
    starts = np.concatenate([[True], events.task[1:] != events.task[:-1]])
    scheduled, held = _cumulative_by_task(ours, starts), _cumulative_by_task(waiting, starts)
    result: BoolArray = (scheduled > 0) & (held <= 0) & ~np.append(starts[1:], True)
    return result


def _node_seconds(
    events: TaskEvents, node: IntArray, count: int, initial: BoolArray, running: BoolArray
) -> tuple[np.ndarray, float]:
    """Returns the seconds in which each node ran, and the total outside parallel regions. Nodes
    outside parallel regions get 0 seconds.
    """
    length = np.zeros(len(running))
    ran = np.diff(events.time) - np.diff(events.waited)
    length[:-1] = np.where(running[:-1], np.maximum(ran, 0), 0)
    seconds = np.bincount(node, weights=length, minlength=count) / 1e9
    serial = float(seconds[initial].sum())
    seconds[initial] = 0.0
    return seconds, serial


def _counter_increases(
    events: TaskEvents, node: IntArray, count: int, running: BoolArray, serial: BoolArray
) -> FloatArray:
    """Returns the increase of each of `c` hardware counters in each of `count` nodes, with shape
    `(count, c)`. Nodes outside parallel regions get 0.
    """
    result = np.zeros((count, events.counted.shape[1]))
    for place, read in enumerate(events.counted.T):
        step = np.zeros(len(running))
        step[:-1] = np.where(running[:-1], read[1:] - read[:-1], 0)
        result[:, place] = np.bincount(node, weights=step, minlength=count)
    result[: len(serial)][serial] = 0.0
    return result


def _cumulative_by_task(change: IntArray, starts: BoolArray) -> IntArray:
    """Returns cumulative sums that restart at the first row of each task."""
    total = np.cumsum(change)
    heads = np.flatnonzero(starts)
    before = total[heads] - change[heads]
    return total - np.repeat(before, np.diff(np.append(heads, len(change))))


def _kinds_and_sites(
    events: TaskEvents, first_rows: IntArray, task: IntArray, known: Collection[int]
) -> tuple[np.ndarray, IntArray]:
    """Returns the kind of each node, and the site of its construct (0 if unknown). `known` are the
    sites with known source lines.
    """
    kinds = np.full(len(task), IMPLICIT, dtype=np.uint8)
    kinds[events.explicit[task]] = TASK
    kinds[events.initial[task]] = SERIAL
    of_task = np.zeros(len(events.parent), dtype=np.int64)
    made = events.created >= 0
    of_task[made] = events.site[events.created[made]]
    forks = np.flatnonzero(events.kind == PARALLEL_BEGIN)
    of_region = np.zeros(len(events.parent), dtype=np.int64)
    of_region[events.other[forks]] = events.site[forks]
    implicit = events.region >= 0
    of_task[implicit] = of_region[events.region[implicit]]
    sites = of_task[task]
    opened = _last_flagged_row(events, events.kind == WORK_BEGIN)[first_rows]
    closed = _last_flagged_row(events, events.kind == WORK_END)[first_rows]
    chunk = _last_flagged_row(events, events.kind == DISPATCH)[first_rows]
    inside = (opened >= 0) & (chunk > opened) & (closed < opened)
    kinds[inside] = CHUNK
    of_loop = _loop_sites(events, np.fromiter(known, dtype=np.int64))[opened[inside]]
    sites[inside] = np.where(of_loop > 0, of_loop, sites[inside])
    return kinds, sites


def _loop_sites(events: TaskEvents, known: IntArray) -> IntArray:
    """Returns the site of the loop for each row that starts a worksharing loop. A site without a
    source line, for example in the runtime, is replaced by the site that another thread recorded
    for the same loop.
    """
    sites = np.zeros(len(events.kind), dtype=np.int64)
    rows = np.flatnonzero(events.kind == WORK_BEGIN)
    if not len(rows):
        return sites
    task = events.task[rows]
    heads = np.flatnonzero(np.concatenate([[True], task[1:] != task[:-1]]))
    ordinal = np.arange(len(rows)) - np.repeat(heads, np.diff(np.append(heads, len(rows))))
    loop = events.innermost[task] * (int(ordinal.max()) + 1) + ordinal
    known_sites = np.where(np.isin(events.site[rows], known), events.site[rows], 0)
    _, numbers = np.unique(loop, return_inverse=True)
    best = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    np.maximum.at(best, numbers, known_sites)
    sites[rows] = np.where(known_sites > 0, known_sites, best[numbers])
    return sites


def _continue_edges(
    events: TaskEvents, node: IntArray, task: IntArray, barriers: Barriers
) -> _Edges:
    """Returns edges from each piece to the next piece of its task. Chunks of loops and barriers are
    inserted between the pieces.
    """
    source = np.flatnonzero(task[1:] == task[:-1])
    keep = np.ones(len(task), dtype=bool)
    more: _Edges = []
    # A loop: edges from the node before it to each chunk, and from each chunk to the node after it.
    chunks = np.flatnonzero(events.kind == DISPATCH)
    opened = _last_flagged_row(events, events.kind == WORK_BEGIN)[chunks]
    chunks, opened = chunks[opened >= 0], opened[opened >= 0]
    before, here = node[opened], node[chunks]
    later = here - 1 != before  # not the first chunk
    keep[here[later] - 1] = False
    more.append((before[later], here[later], CONTINUE))
    ends = np.flatnonzero(events.kind == WORK_END)
    at = np.searchsorted(ends, chunks[later])
    inside = at < len(ends)
    after_loop = ends[at[inside]]
    same = events.task[after_loop] == events.task[chunks[later][inside]]
    more.append((here[later][inside][same] - 1, node[after_loop[same]], CONTINUE))
    # A barrier: edges from all to all.
    offset = len(task)
    rows, instance = barriers.rows, barriers.instances
    keep[node[rows]] = False
    more.append((node[rows], offset + instance, JOINED))
    after = node[rows] + 1
    good = after < len(task)
    good[good] = task[after[good]] == events.task[rows[good]]
    more.append((offset + instance[good], after[good], JOINED))
    source = source[keep[source]]
    return [(source, source + 1, CONTINUE), *more]


def _creation_edges(events: TaskEvents, node: IntArray, first: IntArray) -> _Edges:
    children = np.flatnonzero((events.created >= 0) & (first >= 0))
    rows = events.created[children]
    before = node[rows] - 1
    good = (rows > 0) & (events.task[rows - 1] == events.task[rows])
    return [(before[good], first[children[good]], CREATED)]


def _fork_edges(events: TaskEvents, node: IntArray, first: IntArray, last: IntArray) -> _Edges:
    """Returns the fork and join edges of parallel regions. They connect the node before a region,
    the first and last nodes of its threads, and the node after it.
    """
    forks = np.full(len(events.parent), -1, dtype=np.int64)
    rows = np.flatnonzero((events.kind == PARALLEL_BEGIN) & (events.other >= 0))
    forks[events.other[rows]] = rows
    ends = np.full(len(events.parent), -1, dtype=np.int64)
    rows = np.flatnonzero((events.kind == PARALLEL_END) & (events.other >= 0))
    ends[events.other[rows]] = rows
    threads = np.flatnonzero((events.region >= 0) & (first >= 0))
    fork, end = forks[events.region[threads]], ends[events.region[threads]]
    began, ended = fork >= 0, end >= 0
    return [
        (node[fork[began]], first[threads[began]], CREATED),
        (last[threads[ended]], node[end[ended]], JOINED),
    ]


def _dependence_edges(
    events: TaskEvents, node: IntArray, first: IntArray, last: IntArray
) -> _Edges:
    table = events.dependences
    table = table[events.created[table[:, 0]] >= 0]
    if not len(table):
        return []
    table = table[np.argsort(events.created[table[:, 0]], kind="stable")]
    parents = events.parent[table[:, 0]].tolist()
    waits = frozenset(
        np.flatnonzero(events.explicit & ((events.flags & TASKWAIT_FLAG) > 0)).tolist()
    )
    pairs = np.array(
        list(
            dependence_pairs(
                zip(parents, *(table[:, k].tolist() for k in range(3)), strict=True), waits
            )
        ),
        dtype=np.int64,
    ).reshape(-1, 2)
    source = last[pairs[:, 0]]
    # A taskwait with depend clauses is recorded as a task that never runs: its parent waits
    # instead.
    waiting = np.isin(pairs[:, 1], list(waits))
    target = np.where(waiting, node[events.created[pairs[:, 1]]], first[pairs[:, 1]])
    good = (source >= 0) & (target >= 0)
    return [(source[good], target[good], DEPENDENCE)]


def _undeferred_edges(events: TaskEvents, node: IntArray, last: IntArray) -> _Edges:
    """Returns edges from tasks with a false if clause, and from final tasks, to the next piece of
    their creator.

    On one thread, the runtime marks every task as undeferred, so the mark is ignored.
    """
    region = events.innermost
    alone = (region < 0) | (events.team[region] == 1)
    children = np.flatnonzero(
        events.explicit & ((events.flags & UNDEFERRED) > 0) & ~alone & (last >= 0)
    )
    return [(last[children], node[events.created[children]], JOINED)]
