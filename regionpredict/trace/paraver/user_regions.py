"""Regions that a Paraver trace's events begin and end: functions that are instrumented, and phases.

Extrae notes instrumented functions as events of one type: a function's number where it begins, 0
where it ends. Phases are events of types that the program itself defines: a value other than 0
begins one, 0 or another value ends it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regionpredict.trace.event_trace import Finding, Kind, Region
from regionpredict.trace.paraver.calls import Calls
from regionpredict.trace.paraver.labels import Labels
from regionpredict.trace.paraver.records import Integers

_FUNCTION = 60000019  # Extrae's type of instrumented functions
_FUNCTION_LINE = 60000119  # the line of each
_FIRST_OF_RUNTIMES = 30000000  # Extrae's own types begin here; those below are the program's


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Begins and ends of regions in order of location and time, properly nested; columns of one
    length. `kind` is ENTER or LEAVE, `region` a row of the trace's regions."""

    location: Integers
    time: Integers
    kind: Integers
    region: Integers

    def __len__(self) -> int:
        return len(self.location)


def boundaries_of(
    events: Integers,
    location: Integers,
    lifetimes: Integers,
    calls: Calls,
    labels: Labels,
    regions: list[Region],
    findings: list[Finding],
) -> Boundaries:
    """The regions that events (n, 5) of `location` (n,) begin and end; adds them to `regions`.

    Those that still last at the location's end, which `lifetimes` has, end there. Events inside a
    call of MPI are left out.
    """
    types = [number for number in labels.values if 0 < number < _FIRST_OF_RUNTIMES]
    chosen = np.flatnonzero(np.isin(events[:, 3], [_FUNCTION, *types]))
    call = calls.at(location[chosen], events[chosen, 2])
    if len(calls):
        within = (call >= 0) & (calls.begin[call] < events[chosen, 2])
        chosen = chosen[~(within & (calls.end[call] > events[chosen, 2]))]
    chosen = chosen[np.lexsort((chosen, events[chosen, 2], location[chosen]))]
    ends = dict(zip(lifetimes[:, 0].tolist(), lifetimes[:, 2].tolist(), strict=True))
    names = _Names(labels, regions)
    rows: list[tuple[int, int, int, int]] = []
    unmatched = 0
    stack: list[tuple[int, int]] = []  # type and region, outermost first
    here = -1
    for row, where in zip(chosen.tolist(), location[chosen].tolist(), strict=True):
        time, kind, value = events[row, 2:5].tolist()
        if where != here:
            _close(rows, stack, here, ends.get(here, 0), 0)
            here = where
        if value and kind == _FUNCTION:
            region = names.of(kind, value)
            stack.append((kind, region))
            rows.append((where, time, int(Kind.ENTER), region))
            continue
        at = next((i for i in reversed(range(len(stack))) if stack[i][0] == kind), None)
        if at is None and not value:
            unmatched += 1
            continue
        # what a phase ends or begins in goes on in the next one
        place = at if at is not None else 0 if kind != _FUNCTION else len(stack)
        inner = stack[place + (at is not None) :]
        _close(rows, stack, where, time, place)
        if value:
            stack.append((kind, names.of(kind, value)))
            rows.append((where, time, int(Kind.ENTER), stack[-1][1]))
        for entry in inner:
            stack.append(entry)
            rows.append((where, time, int(Kind.ENTER), entry[1]))
    _close(rows, stack, here, ends.get(here, 0), 0)
    if unmatched:
        findings.append(Finding("an end of a function or phase without its begin", count=unmatched))
    table = np.array(_without_empty(rows), dtype=np.int64).reshape(-1, 4)
    return Boundaries(*table.T)


def _close(
    rows: list[tuple[int, int, int, int]],
    stack: list[tuple[int, int]],
    where: int,
    time: int,
    depth: int,
) -> None:
    while len(stack) > depth:
        rows.append((where, time, int(Kind.LEAVE), stack.pop()[1]))


def _without_empty(rows: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Without regions that end when they begin."""
    kept: list[tuple[int, int, int, int]] = []
    for row in rows:
        before = kept[-1] if kept else None
        if (
            before is not None
            and row[2] == Kind.LEAVE
            and before == (row[0], row[1], int(Kind.ENTER), row[3])
        ):
            kept.pop()
        else:
            kept.append(row)
    return kept


class _Names:
    """Regions by type and value, added when they are first asked for."""

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
        label = self._labels.values.get(kind, {}).get(value)
        return Region(label or f"{self._labels.types.get(kind, kind)}: {value}")
