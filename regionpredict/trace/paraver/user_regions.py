"""Creates regions from the events of a Paraver trace: instrumented functions, phases, and parallel
constructs of threads.

Extrae records instrumented functions as events of one type: the function's number at its start, and
0 at its end. Phases are events of types defined by the program. A value other than 0 begins a
phase, and 0 or another value ends it. A thread of a parallel construct executes the construct's
function, then its implicit barrier. The barrier ends when the first thread records the end of the
construct.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regionpredict.trace.event_trace import Finding, Kind, Paradigm, Region, Role
from regionpredict.trace.paraver.calls import Calls
from regionpredict.trace.paraver.labels import Labels
from regionpredict.trace.paraver.records import Integers, Rows

_FUNCTION = 60000019  # Extrae's type of instrumented functions
_FUNCTION_LINE = 60000119  # line of each function
_CONSTRUCT = 60000001  # type of parallel constructs, which a rank's first thread records
OUTLINED, _OUTLINED_LINE = 60000018, 60000118  # the constructs' functions, and their lines
_BARRIER = 60000005  # OpenMP's barriers
_IMPLICIT = 1 << 40  # the value of an implicit barrier
_NESTED = (_FUNCTION, OUTLINED, _BARRIER)  # types of regions that may be nested in their own type
_MOST_UNNAMED = 64  # values of a phase; types with more are measurements
_FIRST_OF_RUNTIMES = 30000000  # first event type of Extrae; smaller types belong to the program


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Starts and ends of regions in order of location and time, properly nested, as columns of
    equal length. `kind` is ENTER or LEAVE, and `region` is a row of the trace's regions.
    """

    location: Integers
    time: Integers
    kind: Integers
    region: Integers

    def __len__(self) -> int:
        return len(self.location)


def names_functions(events: Rows) -> bool:
    """Returns whether the trace has events of instrumented functions."""
    return bool((events.number == _FUNCTION).any())


def boundaries_of(
    events: Rows,
    masters: Integers,
    lifetimes: Integers,
    calls: Calls,
    labels: Labels,
    regions: list[Region],
    findings: list[Finding],
) -> Boundaries:
    """Returns the starts and ends of the regions that events define. New regions are added to
    `regions`.

    `masters` has the first location of each location's task. Regions without an end event end with
    the location, as given by `lifetimes`. Events inside an MPI call are left out.
    """
    types = _phase_types(events, labels)
    where, kind, time, value = events.int64_columns(
        np.isin(events.number, [_FUNCTION, _BARRIER, *types])
    )
    table = np.concatenate(
        [np.column_stack([where, time, kind, value]), _construct_boundaries(events, masters)]
    )
    call = calls.at(table[:, 0], table[:, 1])
    if len(calls):
        within = (call >= 0) & (calls.begin[call] < table[:, 1])
        table = table[~(within & (calls.end[call] > table[:, 1]))]
    table = table[np.lexsort((np.arange(len(table)), table[:, 1], table[:, 0]))]
    ends = dict(zip(lifetimes[:, 0].tolist(), lifetimes[:, 2].tolist(), strict=True))
    names = _EventRegions(labels, regions)
    rows: list[tuple[int, int, int, int]] = []
    unmatched = 0
    stack: list[tuple[int, int]] = []  # type and region, outermost first
    here = -1
    for where, time, kind, value in table.tolist():
        if where != here:
            _close_regions(rows, stack, here, ends.get(here, 0), 0)
            here = where
        if value and kind in _NESTED:
            region = names.of(kind, value)
            stack.append((kind, region))
            rows.append((where, time, int(Kind.ENTER), region))
            continue
        at = next((i for i in reversed(range(len(stack))) if stack[i][0] == kind), None)
        if at is None and not value:
            unmatched += 1
            continue
        # Regions that are open at a phase boundary are entered again in the next phase.
        place = at if at is not None else 0 if kind not in _NESTED else len(stack)
        inner = stack[place + (at is not None) :]
        _close_regions(rows, stack, where, time, place)
        if value:
            stack.append((kind, names.of(kind, value)))
            rows.append((where, time, int(Kind.ENTER), stack[-1][1]))
        for entry in inner:
            stack.append(entry)
            rows.append((where, time, int(Kind.ENTER), entry[1]))
    _close_regions(rows, stack, here, ends.get(here, 0), 0)
    if unmatched:
        findings.append(Finding("an end of a function or phase without its start", count=unmatched))
    return Boundaries(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def _phase_types(events: Rows, labels: Labels) -> list[int]:
    """Returns the event types that the program uses for phases. Their values have names, or they
    have ends and few values.
    """
    types = [number for number in labels.values if 0 < number < _FIRST_OF_RUNTIMES]
    own = (events.number > 0) & (events.number < _FIRST_OF_RUNTIMES)
    _, numbers, _, values = events.int64_columns(own & ~np.isin(events.number, types))
    for number in np.unique(numbers).tolist():
        seen = np.unique(values[numbers == number])
        if 0 in seen and len(seen) <= _MOST_UNNAMED:
            types.append(number)
    return types


def _construct_boundaries(events: Rows, masters: Integers) -> Integers:
    """Returns the points at which threads begin a construct's function, reach its implicit barrier,
    and leave both. The columns `(n, 4)` are location, time, type and value. The first thread of a
    rank records the end of the construct.
    """
    span = int(events.time.max(initial=0)) + 1
    location, _, time, value = events.int64_columns(events.number == _CONSTRUCT)
    first = masters[location] == location
    keys = location[first] * span + time[first]
    order = np.argsort(keys, kind="stable")
    keys, opens = keys[order], value[first][order] != 0
    location, _, time, value = events.int64_columns(events.number == OUTLINED)
    wanted = masters[location] * span + time
    row = np.searchsorted(keys, wanted, side="right") - 1
    ends = value == 0
    # A function that ends at the same time as its construct belongs to the construct.
    row -= ends & (row > 0) & ~opens[np.maximum(row, 0)] & (keys[np.maximum(row, 0)] == wanted)
    after = np.minimum(row + 1, len(keys) - 1)
    inside = (row >= 0) & opens[np.maximum(row, 0)] & ~opens[after] if len(keys) else ends & False
    inside &= keys[after] // span == masters[location] if len(keys) else inside
    order = np.argsort(time, kind="stable")
    order = order[inside[order]]
    row, ends = row[order], ends[order]
    execution = location[order] * max(len(keys), 1) + row  # key of a construct on a thread
    of_begins, begun = np.unique(execution[~ends], return_index=True)
    of_ends, ended = np.unique(execution[ends][::-1], return_index=True)
    _, at, of = np.intersect1d(of_begins, of_ends, assume_unique=True, return_indices=True)
    begin, end = order[~ends][begun[at]], order[ends][::-1][ended[of]]
    where, join = location[begin], keys[row[~ends][begun[at]] + 1] % span
    steps = [
        (time[begin], OUTLINED, value[begin]),
        (np.minimum(time[end], join), _BARRIER, _IMPLICIT),
        (join, _BARRIER, 0),
        (join, OUTLINED, 0),
    ]
    columns = [
        np.stack(np.broadcast_arrays(where, time, kind, value), axis=1)
        for time, kind, value in steps
    ]
    return np.stack(columns, axis=1).reshape(-1, 4).astype(np.int64)


def _close_regions(
    rows: list[tuple[int, int, int, int]],
    stack: list[tuple[int, int]],
    where: int,
    time: int,
    depth: int,
) -> None:
    while len(stack) > depth:
        rows.append((where, time, int(Kind.LEAVE), stack.pop()[1]))


class _EventRegions:
    """The regions of event types and values, created on demand."""

    def __init__(self, labels: Labels, regions: list[Region]) -> None:
        self._labels, self._regions = labels, regions
        self._known: dict[tuple[int, int], int] = {}

    def of(self, kind: int, value: int) -> int:
        number = self._known.get((kind, value))
        if number is None:
            number = self._known[kind, value] = len(self._regions)
            self._regions.append(self._region(kind, value))
        return number

    def _region(self, kind: int, value: int) -> Region:
        if kind == _FUNCTION:
            file, line = self._labels.line(_FUNCTION_LINE, value)
            return Region(self._labels.function(kind, value), file=file, line=line)
        if kind == OUTLINED:
            file, line = self._labels.line(_OUTLINED_LINE, value)
            name = self._labels.function(kind, value)
            return Region(name, Paradigm.OPENMP, Role.PARALLEL, file, line)
        if kind == _BARRIER:
            implicit = value == _IMPLICIT
            role = Role.IMPLICIT_BARRIER if implicit else Role.BARRIER
            return Region("implicit barrier" if implicit else "barrier", Paradigm.OPENMP, role)
        label = self._labels.values.get(kind, {}).get(value)
        return Region(label or f"{self._labels.types.get(kind, kind)}: {value}")
