"""Derives the call paths of a Paraver trace: the callers of MPI by line, and the code between two
calls.

Extrae records the callers of an MPI call. Event types from 70000001 on are the function at each
level, the innermost first. Types from 80000001 on are the line in that function. No event is
recorded between two calls, but the lines of both calls are known. Therefore, the functions common
to both calls contain the time between them. This time is assigned to a region `file:from-to` in the
innermost common function. If there is no common function, as for deep stacks, the region is
`function:from-function:to`. An MPI call is inside the functions that call it and a region
`file:line`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from regionpredict.trace.event_trace import Kind, Region
from regionpredict.trace.paraver.calls import Calls
from regionpredict.trace.paraver.fast_order import distinct_values
from regionpredict.trace.paraver.labels import Labels
from regionpredict.trace.paraver.records import Integers, Rows

_CALLER, _LINE = 70000000, 80000000  # Extrae's types, by level from 1 on
_UNKNOWN = ("Unresolved", "_NOT_Found", "End")

Frame = tuple[int, int]  # numbers of a function and of a line in it
Path = tuple[int, ...]  # rows of the trace's regions, outermost first


@dataclass(frozen=True, slots=True)
class StackRows:
    """The starts and ends of regions around MPI calls, as columns of equal length.

    `call` is the call of each row. `before` says whether the row is before the start of the call or
    after its end, and `order` sorts the rows on either side.
    """

    call: Integers
    before: Integers
    order: Integers
    kind: Integers
    region: Integers
    between: list[Path]
    after_call: Integers

    def __len__(self) -> int:
        return len(self.call)


def stack_rows(
    events: Rows, calls: Calls, labels: Labels, regions: list[Region], functions: bool
) -> StackRows:
    """Returns the starts and ends of regions around MPI calls, and adds the regions to `regions`.
    Without `functions`, only source lines become regions, since other events record the functions.

    `between[after_call[i]]` is the path of a location after call `i`.
    """
    stacks, of_call = _distinct_stacks(events, calls, labels)
    if len(stacks) == 1:  # only the empty stack
        none = np.zeros(0, dtype=np.int64)
        return StackRows(none, none, none, none, none, [()], np.zeros(len(calls), dtype=np.int64))
    deepest = max(map(len, stacks))
    roots = frozenset(stack[0][0] for stack in stacks if 0 < len(stack) < deepest)
    stacks = _complete_stacks(stacks)
    paths = _PathRegions(labels, regions, functions, roots)
    count = len(calls)
    next_stack = np.zeros(count, dtype=np.int64)  # 0 is the empty stack
    same = calls.location[1:] == calls.location[:-1]
    next_stack[:-1] = np.where(same, of_call[1:], 0)
    pairs, after_call = distinct_values(of_call * len(stacks) + next_stack)
    between = [
        paths.between(stacks[pair // len(stacks)], stacks[pair % len(stacks)])
        for pair in pairs.tolist()
    ]
    around = [paths.around(stack) for stack in stacks]
    # Before the first call of each location, the call path is empty.
    between.append(())
    previous = np.full(count, len(between) - 1, dtype=np.int64)
    previous[1:] = np.where(same, after_call[:-1], len(between) - 1)
    begins = _path_changes(previous, of_call, between, around)
    ends = _path_changes(of_call, after_call, around, between)
    table = np.concatenate([np.insert(begins, 1, 1, axis=1), np.insert(ends, 1, 0, axis=1)])
    call, before, order, kind, region = table.T
    return StackRows(call, before, order, kind, region, between, after_call)


def _path_changes(
    from_path: Integers, to_path: Integers, sources: Sequence[Path], targets: Sequence[Path]
) -> Integers:
    """Returns the exits and entries that lead from one call path to the next. The columns `(n, 4)`
    are the row of `from_path`, order, kind and region.
    """
    pairs, inverse = distinct_values(from_path * len(targets) + to_path)
    steps = [
        _exits_and_entries(sources[pair // len(targets)], targets[pair % len(targets)])
        for pair in pairs.tolist()
    ]
    lengths = np.array([len(step) for step in steps], dtype=np.int64)
    flat = np.array([one for step in steps for one in step], dtype=np.int64).reshape(-1, 2)
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    counts = lengths[inverse]
    row = np.repeat(np.arange(len(from_path)), counts)
    order = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = flat[np.repeat(starts[inverse], counts) + order]
    return np.column_stack([row, order, chosen])


def _exits_and_entries(source: Path, target: Path) -> list[tuple[int, int]]:
    """Returns the kind and region of each exit and entry that lead from one call path to
    another.
    """
    common = _common_prefix_length(source, target)
    leaves = [(int(Kind.LEAVE), region) for region in reversed(source[common:])]
    return leaves + [(int(Kind.ENTER), region) for region in target[common:]]


def _common_prefix_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Returns the length of the common prefix of two sequences."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


def _distinct_stacks(
    events: Rows, calls: Calls, labels: Labels
) -> tuple[list[tuple[Frame, ...]], Integers]:
    """Returns all different call stacks, the empty stack first, and the stack of each call. The
    outermost function of a stack is first.
    """
    of_call = np.zeros(len(calls), dtype=np.int64)
    if not len(events):
        return [()], of_call
    where, number, time, value = events.int64_columns()
    is_line = number > _LINE
    level = number - np.where(is_line, _LINE, _CALLER)
    call = calls.at(where, time)
    depth = int(level.max())
    table = np.zeros((len(calls), 2 * depth), dtype=np.int64)
    known = call >= 0
    table[call[known], (2 * (depth - level) + is_line)[known]] = value[known]
    # A hash identifies each row, which is ten times as fast as comparing rows.
    weights = np.random.default_rng(1).integers(1, 2**62, size=2 * depth, dtype=np.int64) | 1
    _, first, inverse = np.unique(table @ weights, return_index=True, return_inverse=True)
    unknown = {
        value
        for number in range(_CALLER + 1, _CALLER + depth + 1)
        for value, name in labels.values.get(number, {}).items()
        if name in _UNKNOWN
    } | {0}
    numbers: dict[tuple[Frame, ...], int] = {(): 0}
    of_row = np.array(
        [
            numbers.setdefault(
                tuple(
                    (row[at], row[at + 1])
                    for at in range(0, 2 * depth, 2)
                    if row[at] not in unknown
                ),
                len(numbers),
            )
            for row in table[first].tolist()
        ],
        dtype=np.int64,
    )
    return list(numbers), of_row[inverse.reshape(-1)]


def _complete_stacks(stacks: Sequence[tuple[Frame, ...]]) -> list[tuple[Frame, ...]]:
    """Completes truncated call stacks, for traces with a limited number of levels.

    The missing callers of a function are known if all other stacks have the same caller.
    """
    callers: dict[int, set[Frame]] = {}
    for stack in stacks:
        for outer, inner in pairwise(stack):
            callers.setdefault(inner[0], set()).add(outer)
    deepest = max(map(len, stacks))
    completed = []
    for stack in stacks:
        full = stack
        if len(stack) == deepest:
            seen = {frame[0] for frame in full}
            while len(above := callers.get(full[0][0], set())) == 1:
                (caller,) = above
                if caller[0] in seen:
                    break
                seen.add(caller[0])
                full = (caller, *full)
        completed.append(full)
    return completed


class _PathRegions:
    """The regions of functions, lines and ranges of lines, created on demand.

    `roots` are the outermost functions of complete stacks.
    """

    def __init__(
        self, labels: Labels, regions: list[Region], functions: bool, roots: frozenset[int]
    ) -> None:
        self._labels, self._regions, self._functions = labels, regions, functions
        self._roots = roots
        self._known: dict[Region, int] = {}

    def around(self, stack: Sequence[Frame]) -> Path:
        """Returns the call path of an MPI call: its functions, and the line of the call."""
        if not stack:
            return ()
        file, line = self._line_of_frame(stack[-1])
        site = (
            ()
            if line is None
            else (self._row_of_region(Region(f"{file}:{line}", file=file, line=line)),)
        )
        return (*self._path_of_stack(stack), *site)

    def between(self, before: Sequence[Frame], after: Sequence[Frame]) -> Path:
        """Returns the call path of the code between two MPI calls: their common functions, and the
        range of lines.
        """
        common = _common_prefix_length(
            [frame[0] for frame in before], [frame[0] for frame in after]
        )
        same = _common_prefix_length(before, after)
        # If the line of the call differs, the called function is another execution.
        depth = min(common, same + 1)
        if not depth:
            return self._between_without_common_function(before, after)
        file, first = self._line_of_frame(before[depth - 1])
        last = self._line_of_frame(after[depth - 1])[1]
        path = self._path_of_stack(before[:depth])
        if first is None or last is None:
            return path
        return (*path, self._row_of_region(Region(f"{file}:{first}-{last}", file=file, line=first)))

    def _between_without_common_function(
        self, before: Sequence[Frame], after: Sequence[Frame]
    ) -> Path:
        """Returns the region between two calls without recorded common functions.

        For a truncated stack, the outermost line is closest to the other call.
        """
        if not before or not after:
            return ()
        frames = [stack[-1 if stack[0][0] in self._roots else 0] for stack in (before, after)]
        ends = [self._line_of_frame(frame) for frame in frames]
        if any(line is None for _, line in ends):
            return ()
        name = "-".join(
            f"{self._labels.function(_CALLER + 1, function)}:{line}"
            for (function, _), (_, line) in zip(frames, ends, strict=True)
        )
        return (self._row_of_region(Region(name, file=ends[1][0], line=ends[1][1])),)

    def _path_of_stack(self, stack: Sequence[Frame]) -> Path:
        if not self._functions:
            return ()
        rows = []
        for function, line in stack:
            file = self._line_of_frame((function, line))[0]
            rows.append(
                self._row_of_region(Region(self._labels.function(_CALLER + 1, function), file=file))
            )
        return tuple(rows)

    def _line_of_frame(self, frame: Frame) -> tuple[str, int | None]:
        return self._labels.line(_LINE + 1, frame[1])

    def _row_of_region(self, region: Region) -> int:
        number = self._known.get(region)
        if number is None:
            number = self._known[region] = len(self._regions)
            self._regions.append(region)
        return number
