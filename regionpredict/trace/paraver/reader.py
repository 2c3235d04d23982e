"""`read_paraver`: the records of a Paraver trace as events.

Calls of MPI are the spans between an event of one of MPI's types and its end (value 0). A state
other than *Running* outside them becomes a region of the state's name, so that what is left of a
location's time is what the reference tools call useful. A message's events stand at the begin of
the call that sends and at the end of the call that completes it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

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
from regionpredict.trace.paraver.calls import Calls, calls_of
from regionpredict.trace.paraver.labels import Labels, read_labels, read_thread_names
from regionpredict.trace.paraver.operations import Placed, operations_table, placed_operations
from regionpredict.trace.paraver.records import Header, Integers, Records, read_records

RUNNING, NOT_CREATED = 1, 2  # Paraver's states
WAITING = (0, 3, 5, 7, 8, 9)  # Paraver's states of a thread that waits or has nothing to do
_PARALLEL = 60000001  # Extrae's type of parallel constructs; their end has the value 0
_FIRST_COUNTER, _LAST_COUNTER = 42000000, 42999999  # Extrae's types of hardware counters
_FAILED = 0  # a counter's increase is never negative: below this, the reading failed


def read_paraver(path: str | Path, application: int | None = None) -> EventTrace:
    """The trace in `path` (.prv or .prv.gz); names are read from the .pcf and .row beside it.

    Raises InputError where the file cannot be read, is damaged, holds several applications and none
    is chosen, or does not have the one that is.
    """
    path = Path(path)
    header, records = read_records(path, application)
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
    """The events of the records. A thread's first region is the application, from its creation."""
    first = np.concatenate([[0], np.cumsum(header.threads)]).astype(np.int64)
    thread_ids = [(rank, t) for rank, threads in enumerate(header.threads) for t in range(threads)]
    named = len(names) == len(thread_ids)
    locations = tuple(
        Location(rank, thread, names[i] if named else "")
        for i, (rank, thread) in enumerate(thread_ids)
    )
    findings: list[Finding] = []
    if len(records.passed_over):
        text = "records of kind 4 (collective communication of old traces), passed over"
        findings.append(Finding(text, count=len(records.passed_over)))
    regions = [Region(name or "application", Paradigm.USER, Role.PROGRAM)]
    where = first[records.events[:, 0]] + records.events[:, 1]
    calls = calls_of(records.events, where, labels, regions, findings)
    lifetimes = _lifetimes(records, first, len(locations), header)
    spans = np.concatenate(
        [
            lifetimes,
            _state_spans(records.states, first, calls, labels, regions),
            np.stack([calls.location, calls.begin, calls.end, calls.region], axis=1),
        ]
    )
    depth = np.ones(len(spans), dtype=np.int64)
    depth[: len(lifetimes)] = 0
    communicators, known = _communicators(header)
    placed = placed_operations(records, first, where, calls, known, regions, findings)
    forks = _forks(records.events, where, header)
    rows = _sorted_rows(spans, depth, placed, forks, len(calls))
    starts = np.searchsorted(rows.location, np.arange(len(locations) + 1))
    begin = int(rows.time.min())
    counters = _counters(records.events, where, labels, rows)
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


def _communicators(header: Header) -> tuple[tuple[Communicator, ...], dict[int, int]]:
    """The world first; and the rank of each by its number in the trace."""
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


def _lifetimes(records: Records, first: Integers, count: int, header: Header) -> Integers:
    """A row a location that has records: from its first that is not *Not created* to its last."""
    begin = np.full(count, header.ticks, dtype=np.int64)
    end = np.full(count, NONE, dtype=np.int64)
    alive = records.states[records.states[:, 4] != NOT_CREATED]
    for table, from_column, to_column in ((alive, 2, 3), (records.events, 2, 2)):
        location = first[table[:, 0]] + table[:, 1]
        np.minimum.at(begin, location, table[:, from_column])
        np.maximum.at(end, location, table[:, to_column])
    if len(alive):  # an event at time 0 of a thread that is not created yet is none of its life
        location = first[alive[:, 0]] + alive[:, 1]
        born = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(born, location, alive[:, 2])
        begin = np.where(born < np.iinfo(np.int64).max, born, begin)
    begin = np.minimum(begin, end)
    spans = np.stack([np.arange(count), begin, end, np.zeros(count, dtype=np.int64)], axis=1)
    return spans[end >= 0]


def _state_spans(
    states: Integers, first: Integers, calls: Calls, labels: Labels, regions: list[Region]
) -> Integers:
    """(n, 4): location, begin, end, region, where a location neither runs nor is in a call."""
    states = states[~np.isin(states[:, 4], (RUNNING, NOT_CREATED)) & (states[:, 3] > states[:, 2])]
    location = first[states[:, 0]] + states[:, 1]
    call = calls.at(location, states[:, 2])
    inside = (call >= 0) & (calls.end[call] > states[:, 2]) if len(calls) else call >= 0
    states, location = states[~inside], location[~inside]
    order = np.lexsort((states[:, 2], location))
    states, location = states[order], location[order]
    begin, end = states[:, 2], states[:, 3].copy()
    later = calls.following(location, begin)  # a call within the state ends it
    end = np.minimum(end, later)
    if len(end) > 1:  # so does the next state
        same = location[1:] == location[:-1]
        end[:-1] = np.where(same, np.minimum(end[:-1], begin[1:]), end[:-1])
    numbers = {}
    for number in np.unique(states[:, 4]).tolist():
        numbers[number] = len(regions)
        idle = number in WAITING
        regions.append(
            Region(
                labels.state(number),
                Paradigm.OPENMP if idle else Paradigm.OTHER,
                Role.IDLE if idle else Role.OTHER,
            )
        )
    region = np.array([numbers[number] for number in states[:, 4].tolist()], dtype=np.int64)
    spans = np.stack([location, begin, end, region], axis=1)
    return spans[end > begin]


def _forks(events: Integers, location: Integers, header: Header) -> Integers:
    """(n, 4): location, time, `Kind`, number of threads, of parallel constructs."""
    chosen = np.flatnonzero(events[:, 3] == _PARALLEL)
    opens = events[chosen, 4] != 0
    threads = np.array(header.threads)[events[chosen, 0]]
    kind = np.where(opens, int(Kind.FORK), int(Kind.JOIN))
    size = np.where(opens, threads, NONE)
    return np.stack([location[chosen], events[chosen, 2], kind, size], axis=1)


class _Rows:
    """Events in their order; `operation` is the row of the operations, or -1."""

    def __init__(self, columns: Integers) -> None:
        self.location, self.time = columns[:, 0], columns[:, 1]
        self.kind = columns[:, 2].astype(np.uint8)
        self.region = columns[:, 3].astype(np.int32)
        self.operation = columns[:, 4]


def _sorted_rows(
    spans: Integers, depth: Integers, placed: Placed, forks: Integers, calls: int
) -> _Rows:
    """Enters, leaves and operations, so that they nest: at one time, first what ends, innermost
    first, then what is empty, then what begins, outermost first."""
    n = len(spans)
    empty = (spans[:, 2] == spans[:, 1]) & (depth > 0)
    order = np.arange(n)
    enter_phase = np.where(empty, 0, 1 + depth)
    leave_phase = np.where(empty, 0, -1 - depth)
    # an operation has the key of its call's begin, just after it, or of its end, just before it
    span = placed.call + n - calls
    at_end = placed.at_end
    time = np.where(at_end, spans[span, 2], spans[span, 1])
    phase = np.where(at_end, leave_phase[span], enter_phase[span])
    none = np.full(n, NONE)
    columns = np.concatenate(
        [
            np.stack([spans[:, 0], spans[:, 1], none * 0 + Kind.ENTER, spans[:, 3], none], axis=1),
            np.stack([spans[:, 0], spans[:, 2], none * 0 + Kind.LEAVE, spans[:, 3], none], axis=1),
            np.stack(
                [
                    spans[span, 0],
                    time,
                    placed.kind,
                    np.full(len(span), NONE),
                    np.arange(len(span)),
                ],
                axis=1,
            ),
            np.stack(
                [
                    forks[:, 0],
                    forks[:, 1],
                    forks[:, 2],
                    np.full(len(forks), NONE),
                    -2 - forks[:, 3],
                ],
                axis=1,
            ),
        ]
    )
    phases = np.concatenate([enter_phase, leave_phase, phase, np.full(len(forks), 0)])
    serial = np.concatenate([order, order, span, np.full(len(forks), -1)])
    step = np.concatenate(
        [np.zeros(n), np.full(n, 3), np.where(at_end, 2, 1), np.zeros(len(forks))]
    )
    # at equal keys of a location: by span, then enter, begin's operations, end's, leave
    key = np.lexsort((np.arange(len(step)), step, serial, phases, columns[:, 1], columns[:, 0]))
    return _Rows(columns[key])


def _counters(
    events: Integers, location: Integers, labels: Labels, rows: _Rows
) -> tuple[Counter, ...]:
    """The hardware counters; the n-th reading at a time belongs to the n-th event then."""
    columns = []
    span = int(max(rows.time.max(initial=0), events[:, 2].max(initial=0))) + 1
    keys = rows.location * span + rows.time
    counters = (events[:, 3] >= _FIRST_COUNTER) & (events[:, 3] <= _LAST_COUNTER)
    for number in np.unique(events[counters, 3]).tolist():
        chosen = np.flatnonzero((events[:, 3] == number) & (events[:, 4] >= _FAILED))
        wanted = location[chosen] * span + events[chosen, 2]
        order = np.argsort(wanted, kind="stable")
        at = np.searchsorted(keys, wanted[order])
        last = np.searchsorted(keys, wanted[order], side="right") - 1
        # a call without length has two readings at one time: of its begin, and of its end
        first = np.searchsorted(wanted[order], wanted[order])
        at = np.clip(at + np.arange(len(order)) - first, at, np.maximum(last, at))
        name = labels.types.get(number, f"counter {number}").split(" ")[0]
        columns.append(Counter(name, at, events[chosen[order], 4]))
    return tuple(columns)
