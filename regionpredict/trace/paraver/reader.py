"""`read_paraver`: converts the records of a Paraver trace to events.

An MPI call is the time from an event with an MPI type to its end (value 0). A state other than
*Running* outside MPI calls becomes a region with the state's name. Therefore, the remaining time of
a location is useful time as in the reference tools. Time without a state is *Idle* on locations
that have states, unless no location is ever *Running*. Instrumented functions, phases and callers
of MPI become regions around the calls. The send event of a message is at the start of the sending
call. The receive event is at the end of the call that completes the message.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.columns import release_file_memory
from regionpredict.trace.event_trace import (
    NONE,
    Communicator,
    Counter,
    EventTrace,
    Finding,
    Kind,
    Location,
    Paradigm,
    Region,
    Role,
)
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.paraver.call_stacks import StackRows, stack_rows
from regionpredict.trace.paraver.calls import Calls, calls_of
from regionpredict.trace.paraver.fast_order import by_location, distinct_values
from regionpredict.trace.paraver.labels import Labels, read_labels, read_thread_names
from regionpredict.trace.paraver.operations import (
    OperationColumns,
    operations_table,
    placed_operations,
)
from regionpredict.trace.paraver.records import NEVER, Header, Integers, Records, Rows, read_records
from regionpredict.trace.paraver.user_regions import (
    OUTLINED,
    Boundaries,
    boundaries_of,
    names_functions,
)

IDLE, RUNNING = 0, 1  # Paraver's states
WAITING = (IDLE, 2, 3, 5, 7, 8, 9)
"""Paraver's states of a thread that waits, is idle, or does not exist."""
_PARALLEL = 60000001  # Extrae's event type of parallel constructs; value 0 is the end
_BOUNDARY, _AROUND_BOUNDARY, _EMPTY_CALL = 1.5, 1.9, 1.95
"""Sort keys of events at the same time. These are for starts of functions and phases, for regions
entered again after them, and for calls without duration. A location starts with key 1, and calls
and states with key 2. Ends have negative keys: calls and states -2, locations -1.
"""
_LEAST_INCREASE = 0  # readings of counters with a smaller increase failed


def read_paraver(path: str | Path, kernels: Kernels, application: int | None = None) -> EventTrace:
    """Reads the trace in `path` (.prv or .prv.gz). Names come from the .pcf and .row files with the
    same base name.

    Raises InputError if the file cannot be read or is damaged. It is also raised if `application`
    is missing in a file with several applications, or does not exist.
    """
    path = Path(path)
    header, records = read_records(path, kernels, application)
    release_file_memory()
    stem = path.name.removesuffix(".gz").removesuffix(".prv")
    labels = read_labels(path.with_name(stem + ".pcf"))
    names = read_thread_names(path.with_name(stem + ".row"))[header.threads_before :]
    if header.application is not None:
        names = names[: sum(header.threads)]
        stem = f"{stem}, application {header.application}"
    return trace_of(header, records, labels, names, stem)


def trace_of(
    header: Header, records: Records, labels: Labels, names: tuple[str, ...], name: str
) -> EventTrace:
    """Converts the records to events. The outermost region of each thread is the application, from
    the thread's creation on.
    """
    threads = np.array(header.threads, dtype=np.int64)
    ranks = np.repeat(np.arange(len(threads)), threads)
    masters = (np.cumsum(threads) - threads)[ranks]
    thread_ids = [(rank, t) for rank, threads in enumerate(header.threads) for t in range(threads)]
    named = len(names) == len(thread_ids)
    locations = tuple(
        Location(rank, thread, names[i] if named else "")
        for i, (rank, thread) in enumerate(thread_ids)
    )
    findings: list[Finding] = []
    if records.skipped:
        text = "records of kind 4 (collective communication of old traces), skipped"
        findings.append(Finding(text, count=records.skipped))
    regions = [Region(name or "application", Paradigm.USER, Role.PROGRAM)]
    calls = calls_of(records.calls, labels, regions, findings)
    release_file_memory()
    lifetimes = _location_lifetimes(records, len(locations), header)
    release_file_memory()
    boundaries = boundaries_of(records.events, masters, lifetimes, calls, labels, regions, findings)
    functions = not names_functions(records.events)
    stacks = stack_rows(records.callers, calls, labels, regions, functions)
    release_file_memory()
    spans = np.concatenate(
        [
            lifetimes,
            _state_spans(
                records.states,
                masters,
                records.events,
                lifetimes,
                calls,
                boundaries,
                labels,
                regions,
            ),
            np.stack([calls.location, calls.begin, calls.end, calls.region], axis=1),
        ]
    )
    release_file_memory()
    depth = np.ones(len(spans), dtype=np.int64)
    depth[: len(lifetimes)] = 0
    communicators, known = _communicators_by_number(header)
    placed = placed_operations(records, ranks, calls, known, regions, findings)
    forks = _forks_and_joins(records.events, threads[ranks])
    release_file_memory()
    rows = _sorted_rows(spans, depth, placed, forks, calls, boundaries, stacks)
    starts = np.searchsorted(rows.location, np.arange(len(locations) + 1))
    begin = int(rows.time.min())
    counters = _assign_counters(records.readings, labels, rows)
    return EventTrace(
        locations=locations,
        regions=tuple(regions),
        communicators=communicators,
        ticks_per_second=header.ticks_per_second,
        starts=starts.astype(np.int64),
        time=rows.time - begin,
        kind=rows.kind,
        region=rows.region,
        operations=operations_table(rows.operation, placed),
        findings=tuple(findings),
        name=name,
        counters=counters,
    )


def _communicators_by_number(header: Header) -> tuple[tuple[Communicator, ...], dict[int, int]]:
    """Returns the communicators, MPI_COMM_WORLD first, and the index of each by its number in the
    trace file.
    """
    world = tuple(range(len(header.threads)))
    communicators = [Communicator("MPI_COMM_WORLD", world)]
    known: dict[int, int] = {}
    for number, members in sorted(header.communicators.items()):
        if members == world and 0 not in known.values():
            known[number] = 0
        else:
            known[number] = len(communicators)
            communicators.append(Communicator(f"communicator {number}", members))
    return tuple(communicators), known


def _location_lifetimes(records: Records, count: int, header: Header) -> Integers:
    """Returns the lifetime of each location with records: from its first state other than *Not
    created* to its last record.
    """
    # Events at time 0 of threads that are not created yet are ignored.
    begin = np.where(
        records.first_state < NEVER,
        records.first_state,
        np.minimum(records.first_event, header.ticks),
    )
    begin, end = np.minimum(begin, records.end), records.end
    spans = np.stack([np.arange(count), begin, end, np.zeros(count, dtype=np.int64)], axis=1)
    return spans[end >= 0]


def _state_spans(
    states: Rows,
    masters: Integers,
    events: Rows,
    lifetimes: Integers,
    calls: Calls,
    boundaries: Boundaries,
    labels: Labels,
    regions: list[Region],
) -> Integers:
    """Returns the spans in which a location is neither running nor in a call. The columns `(n, 4)`
    are location, start, end and region.

    Spans are split where calls or other regions begin or end in them. Time without a state is idle,
    unless the trace has no running state. `masters` has the first thread of each location's rank.
    Worker threads are idle outside the parallel constructs of that thread.
    """
    count = len(masters)
    workers, (forking, fork, opening) = _workers_and_constructs(events, masters)
    location, states_of, since, until = states.int64_columns(
        by_location(states.location, states.time)
    )
    points = [
        (location, since), (location, until),
        (calls.location, calls.begin), (calls.location, calls.end),
        (boundaries.location, boundaries.time),
        (lifetimes[:, 0], lifetimes[:, 1]), (lifetimes[:, 0], lifetimes[:, 2]),
        *((np.full(len(mine), worker), mine) for worker in workers.tolist()
          for mine in [fork[forking == masters[worker]]]),
    ]  # fmt: skip
    span = max(int(time.max(initial=0)) for _, time in points) + 1
    keys = np.sort(np.concatenate([where * span + time for where, time in points]))
    keys = keys[np.append(keys[1:] != keys[:-1], True)]
    begin, end = keys[:-1], keys[1:]
    where = begin // span
    within = where == end // span
    life = np.full((count, 2), -1, dtype=np.int64)
    life[lifetimes[:, 0]] = lifetimes[:, 1:3]
    within &= (begin % span >= life[where, 0]) & (end - where * span <= life[where, 1])
    within &= ~_is_covered(
        begin, calls.location * span + calls.begin, calls.location * span + calls.end
    )
    begin, end, where = begin[within], end[within], where[within]
    opens, closes = location * span + since, location * span + until
    row = np.searchsorted(opens, begin, side="right") - 1
    at = np.maximum(row, 0)
    has_states = np.zeros(count, dtype=bool)
    has_states[location] = True
    state_missing_is_idle = has_states[where] & (states.number == RUNNING).any()
    state = np.where(state_missing_is_idle & ~_is_covered(begin, opens, closes), IDLE, RUNNING)
    if len(states):
        here = (row >= 0) & (closes[at] > begin)
        state = np.where(here, states_of[at], state)
    if len(workers):
        master, time = masters[where], begin - where * span
        row = np.searchsorted(forking * span + fork, master * span + time, "right") - 1
        inside = (row >= 0) & (forking[row] == master) & (opening[row] != 0)
        state = np.where((state == RUNNING) & np.isin(where, workers) & ~inside, IDLE, state)
    kept = state != RUNNING
    numbers = np.zeros(int(state.max(initial=0)) + 1, dtype=np.int64)
    for number in np.unique(state[kept]).tolist():
        numbers[number] = len(regions)
        idle = number in WAITING
        regions.append(
            Region(
                labels.state(number),
                Paradigm.OPENMP if idle else Paradigm.OTHER,
                Role.IDLE if idle else Role.OTHER,
            )
        )
    columns = (where, begin - where * span, end - where * span, numbers[state])
    return np.stack([column[kept] for column in columns], axis=1)


def _workers_and_constructs(events: Rows, masters: Integers) -> tuple[Integers, Integers]:
    """Returns the worker threads, which execute constructs of the first thread of their rank, and
    the starts and ends of constructs. The latter have the rows `(3, n)` location, time and value.
    The value is 0 at an end.
    """
    location, _, time, value = events.int64_columns(events.number == _PARALLEL)
    order = by_location(location, time)
    workers, _ = distinct_values(events.location[events.number == OUTLINED])
    workers = workers[(masters[workers] != workers) & np.isin(masters[workers], location)]
    return workers, np.stack([location, time, value])[:, order]


def _is_covered(times: Integers, begins: Integers, ends: Integers) -> NDArray[np.bool_]:
    """Returns for each time whether it is inside a span. Spans are sorted by their starts."""
    if not len(begins):
        return np.zeros(len(times), dtype=bool)
    row = np.searchsorted(begins, times, side="right") - 1
    last = np.maximum.accumulate(ends)
    return (row >= 0) & (last[np.maximum(row, 0)] > times)


def _forks_and_joins(events: Rows, threads: Integers) -> Integers:
    """Returns the forks and joins of parallel constructs. The columns `(n, 4)` are location, time,
    `Kind` and number of threads. `threads` has the number of threads of each location's rank.
    """
    location, _, time, value = events.int64_columns(events.number == _PARALLEL)
    kind = np.where(value != 0, int(Kind.FORK), int(Kind.JOIN))
    size = np.where(value != 0, threads[location], NONE)
    return np.stack([location, time, kind, size], axis=1)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The events in order, as columns. `operation` is the row of the event's operation, or -1.
    `noted` is False for events that were created for the callers of MPI.
    """

    location: Integers
    time: Integers
    kind: NDArray[np.uint8]
    region: NDArray[np.int32]
    operation: Integers
    noted: NDArray[np.bool_]


def _sorted_rows(
    spans: Integers,
    depth: Integers,
    placed: OperationColumns,
    forks: Integers,
    calls: Calls,
    boundaries: Boundaries,
    stacks: StackRows,
) -> _Rows:
    """Sorts entries, exits and operations so that regions are properly nested. At equal times, ends
    come first, the innermost first. Calls without duration follow. Starts come last, the outermost
    first.
    """
    n = len(spans)
    empty = (spans[:, 2] == spans[:, 1]) & (depth > 0)
    order = np.arange(n)
    enter_phase = np.where(empty, _EMPTY_CALL, 1.0 + depth)
    leave_phase = np.where(empty, _EMPTY_CALL, -1.0 - depth)
    none = np.full(n, NONE)
    # Operations are sorted just after the start or just before the end of their calls. Regions
    # around a call start just before it and end just after it.
    span = placed.call + n - len(calls)
    around = stacks.call + n - len(calls)
    before = stacks.before.astype(bool)
    changes = _caller_changes_at_boundaries(calls, boundaries, stacks)
    birth = np.full(int(spans[:, 0].max(initial=0)) + 1, NONE)
    birth[spans[depth == 0, 0]] = spans[depth == 0, 1]
    parts: list[tuple[Any, ...]] = [
        (spans[:, 0], spans[:, 1], enter_phase, order, 0, Kind.ENTER, spans[:, 3], none, 1),
        (spans[:, 0], spans[:, 2], leave_phase, order, 3, Kind.LEAVE, spans[:, 3], none, 1),
        (
            spans[span, 0],
            np.where(placed.at_end, spans[span, 2], spans[span, 1]),
            np.where(placed.at_end, leave_phase[span], enter_phase[span]),
            span, np.where(placed.at_end, 2, 1), placed.kind, NONE, np.arange(len(span)), 1,
        ),
        (forks[:, 0], forks[:, 1], 0.0, -1, 0, forks[:, 2], NONE, -2 - forks[:, 3], 1),
        (
            spans[around, 0],
            np.where(before, spans[around, 1], spans[around, 2]),
            np.where(before, enter_phase[around], leave_phase[around]),
            around, np.where(before, stacks.order - (1 << 20), stacks.order + 4),
            stacks.kind, stacks.region, NONE, 0,
        ),
        (
            boundaries.location, boundaries.time,
            np.where(boundaries.time == birth[boundaries.location], _BOUNDARY, -_BOUNDARY),
            np.arange(len(boundaries)), 0, boundaries.kind, boundaries.region, NONE, 1,
        ),
        (
            changes[:, 0], changes[:, 1],
            np.where(changes[:, 3] == Kind.ENTER, _AROUND_BOUNDARY, -_AROUND_BOUNDARY),
            changes[:, 2], 0, changes[:, 3], changes[:, 4], NONE, 0,
        ),
    ]  # fmt: skip
    lengths = [len(part[0]) for part in parts]

    def column(at: int, kind: type[np.generic]) -> NDArray[Any]:
        joined = np.empty(sum(lengths), dtype=kind)
        for part, n, end in zip(parts, lengths, np.cumsum(lengths).tolist(), strict=True):
            joined[end - n : end] = part[at]
        return joined

    # Events of a location with equal keys are sorted by span. Within a span, the order is enter,
    # operations at the start, operations at the end, leave.
    key = np.lexsort(
        (column(4, np.int64), column(3, np.int64), column(2, np.float64), column(1, np.int64),
         column(0, np.int32))
    )  # fmt: skip
    kinds = (np.int64, np.int64, np.uint8, np.int32, np.int64, np.bool_)
    chosen = zip((0, 1, 5, 6, 7, 8), kinds, strict=True)
    return _Rows(*(column(at, kind)[key] for at, kind in chosen))


def _caller_changes_at_boundaries(
    calls: Calls, boundaries: Boundaries, stacks: StackRows
) -> Integers:
    """Returns the exits and entries of the regions between two calls around the start or end of a
    function or phase. The columns `(n, 5)` are location, time, order, kind and region.
    """
    if not len(boundaries) or not any(stacks.between):
        return np.zeros((0, 5), dtype=np.int64)
    places = np.unique(np.stack([boundaries.location, boundaries.time], axis=1), axis=0)
    call = calls.before(places[:, 0], places[:, 1])
    rows = []
    for (where, time), number in zip(places.tolist(), call.tolist(), strict=True):
        path = stacks.between[stacks.after_call[number]] if number >= 0 else ()
        rows += [(where, time, at, int(Kind.LEAVE), r) for at, r in enumerate(reversed(path))]
        rows += [(where, time, at, int(Kind.ENTER), r) for at, r in enumerate(path)]
    return np.array(rows, dtype=np.int64).reshape(-1, 5)


def _assign_counters(readings: Rows, labels: Labels, rows: _Rows) -> tuple[Counter, ...]:
    """Returns the hardware counters. The n-th reading at a time belongs to the n-th event at that
    time.

    Events created for the callers of MPI have no reading.
    """
    columns = []
    span = int(max(rows.time.max(initial=0), readings.time.max(initial=0))) + 1
    noted = np.flatnonzero(rows.noted)
    keys = (rows.location * span + rows.time)[noted]
    before = np.zeros(0, dtype=np.int64)
    order = event = before
    for number in distinct_values(readings.number)[0].tolist():
        location, _, time, value = readings.int64_columns(
            (readings.number == number) & (readings.value >= _LEAST_INCREASE)
        )
        wanted = location * span + time
        if not np.array_equal(wanted, before):  # counters are usually read together
            before, order = wanted, by_location(location, time)
            wanted = wanted[order]
            at = np.searchsorted(keys, wanted)
            # A call without duration has two readings at the same time, one for each end.
            again = np.flatnonzero(wanted[1:] == wanted[:-1]) + 1
            if len(again):
                last = np.searchsorted(keys, wanted[again], side="right") - 1
                nth = again - np.searchsorted(wanted, wanted[again])
                at[again] = np.clip(at[again] + nth, at[again], np.maximum(last, at[again]))
            event = noted[np.minimum(at, len(noted) - 1)]
        name = labels.types.get(number, f"counter {number}").split(" ")[0]
        columns.append(Counter(name, event, value[order]))
    return tuple(columns)
