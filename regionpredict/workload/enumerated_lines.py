"""Counts the distinct lines of an array by enumerating contiguous runs of addresses.

Closed forms are exact only for rows that do not overlap and for independent loops. Enumeration
handles overlapping rows (`a[2 * i + j][i]`), loop bounds that depend on another loop, and several
groups of one array. Enumeration is usually fast, because a contiguous run of elements is one step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from regionpredict.workload.address_runs import (
    FewRuns,
    Run,
    Runs,
    concatenated_runs,
    merged_runs,
    sorted_runs,
)
from regionpredict.workload.constants import FEW_RUNS, MOST_RUNS, ROUNDING
from regionpredict.workload.line_overlap import Lines
from regionpredict.workload.loop_nest import Cut, Env, LoopHeader, ReferenceGroup

if TYPE_CHECKING:
    from regionpredict.workload.address_run_arrays import ManyRuns

Sections = dict[tuple[object, ...], tuple[float, float]]
"""A cache of (first value, iterations) by loop index and by the values of outer variables."""


class Path(NamedTuple):
    """The active loops around reference groups, outermost first, and their properties.

    `bound_names` are the variables in the bounds of each loop. `independent` marks loops whose
    bounds depend on no loop of the path, and on which no bounds depend. `bounds_inner` marks loops
    on which bounds of deeper loops depend. `innermost_dependent` marks loops whose deeper loops are
    all independent.
    """

    loops: tuple[LoopHeader, ...]
    positions: tuple[int, ...]
    variables: frozenset[str]
    bound_names: tuple[tuple[str, ...], ...]
    independent: tuple[bool, ...]
    bounds_inner: tuple[bool, ...]
    innermost_dependent: tuple[bool, ...]


def path_of(loops: Sequence[LoopHeader]) -> Path:
    """Returns the path that consists of these loops, with its properties."""
    inside = frozenset([loop.variable for loop in loops])
    bound_names = frozenset[str]().union(*[loop.depends for loop in loops])
    independent = tuple([
        loop.variable not in bound_names and inside.isdisjoint(loop.depends) for loop in loops
    ])  # fmt: skip
    number = len(loops)
    deeper = [
        frozenset[str]().union(*[loop.depends for loop in loops[at + 1 :]]) for at in range(number)
    ]
    return Path(
        tuple(loops),
        tuple([loop.index for loop in loops]),
        inside,
        tuple([tuple(sorted(loop.depends)) for loop in loops]),
        independent,
        tuple([loop.variable in below for loop, below in zip(loops, deeper, strict=True)]),
        tuple([all(independent[at + 1 :]) for at in range(number)]),
    )


class IndependentRanges(NamedTuple):
    """The ranges of the independent loops of a path, and the fractional parts of trip counts.

    A range is (position in the path, first value, step, iterations). `loops` is None if a loop has
    no iterations.
    """

    loops: tuple[tuple[int, float, int, int], ...] | None
    fractions: frozenset[float]


class EnumeratedGroup(NamedTuple):
    """A reference group, the active loops around the group, and the distances between threads.
    `team` contains (distance in bytes, threads) for each thread level.
    """

    group: ReferenceGroup
    path: Path
    team: tuple[tuple[float, float], ...]


class AccessPattern(NamedTuple):
    """The accesses of a reference group in compact form.

    The sorted `rows` are repeated by the `levels` (bytes, steps), narrowest first, by the threads
    of `team`, and by the offsets of the references. Many rows of plain numbers are stored as
    arrays.
    """

    rows: tuple[Run, ...] | ManyRuns
    levels: tuple[tuple[float, int], ...]
    team: tuple[tuple[float, float], ...]
    offsets: tuple[float, ...]
    written: tuple[float, ...]
    element: int


KnownLines = dict[tuple[object, ...], Lines | None]
"""A cache of counted lines. The key contains the alignment and the accesses, moved by whole lines
to the start of the array.
"""


class Rows(NamedTuple):
    """The sorted address runs of the dependent loops, and the fractional parts of their trip
    counts. `rows` is None if there are too many runs.
    """

    rows: tuple[Run, ...] | ManyRuns | None
    fractions: frozenset[float]


KnownRows = dict[tuple[object, ...], Rows]
"""A cache of address runs. The key contains all values on which the runs depend."""


@dataclass(frozen=True, slots=True)
class Part:
    """The enumerated part of a nest, for the values of outer loop variables in `env`.

    `pieces` gives the iterations of one thread by the index of a parallel loop. `cut` is the
    executed part of the first loop. `block`, if given, replaces `pieces` and `cut` by (first
    iteration, number of iterations). `aligned` says that arrays start on a line. `sections` and
    `independent` cache the ranges of loops of this part. `known` caches counted lines and `walked`
    caches enumerated loops, both for all parts of a nest.
    """

    env: Env
    pieces: Mapping[int, float]
    cut: Cut | None
    line_bytes: float
    aligned: bool
    block: tuple[int, int] | None = None
    sections: Sections = field(default_factory=dict)
    independent: dict[tuple[tuple[int, ...], bool], IndependentRanges] = field(default_factory=dict)
    known: KnownLines = field(default_factory=dict)
    walked: KnownRows = field(default_factory=dict)


def distinct_lines(walks: Sequence[EnumeratedGroup], part: Part) -> Lines | None:
    """Returns the number of distinct lines that the groups of one array touch. None if there are
    too many runs.

    The mean piece of a thread may end with a fraction of an iteration. The result is interpolated
    between the lines without and with this last iteration. The largest fraction is the weight.
    """
    fractions: set[float] = set()
    low = _enumerate_lines(walks, part, fractions, round_up=False)
    if low is None or not fractions:
        return low
    high = _enumerate_lines(walks, part, fractions, round_up=True)
    if high is None:
        return None
    more = max(fractions)
    return low.times(1.0 - more).plus(high.times(more))


def mean_of_blocks(
    walks: Sequence[EnumeratedGroup], part: Part, blocks: Sequence[tuple[int, int]]
) -> Lines | None:
    """Returns the mean number of lines over blocks of iterations. None if there are too many runs.

    Blocks whose accesses differ only by an offset of whole lines are counted once.
    """
    total = Lines(0.0, 0.0)
    known: dict[tuple[float, int], Lines | None] = {}
    shift = _bytes_per_iteration(walks, replace(part, block=blocks[0]))
    for begin, number in blocks:
        at = float(begin) if shift is None else begin * shift % part.line_bytes
        if (at, number) not in known:
            known[at, number] = distinct_lines(walks, replace(part, block=(begin, number)))
        lines = known[at, number]
        if lines is None:
            return None
        total = total.plus(lines)
    return total.times(1.0 / len(blocks))


def _bytes_per_iteration(walks: Sequence[EnumeratedGroup], part: Part) -> float | None:
    """Returns the bytes by which each iteration of the outermost loop moves all accesses. None if
    accesses move differently, or if sums of bytes are rounded.
    """
    outermost = [walk.path.loops[0] for walk in walks]
    shifts = {
        walk.group.slopes.get(loop.variable, 0.0) * loop.step
        for walk, loop in zip(walks, outermost, strict=True)
    }
    if len(shifts) > 1 or not all(walk.path.independent[0] for walk in walks):
        return None
    shapes = [_GroupEnumeration(walk, part, set(), round_up=False).shape() for walk in walks]
    known = [shape for shape in shapes if shape is not None]
    (shift,) = shifts
    whole = len(known) == len(shapes) and _are_plain_and_whole(known)[1]
    if not whole or type(shift) is not float or not shift.is_integer():
        return None
    # If the start of the array in a line is unknown, the count depends only on distances.
    return shift if part.aligned else 0.0


def _enumerate_lines(
    walks: Sequence[EnumeratedGroup], part: Part, fractions: set[float], *, round_up: bool
) -> Lines | None:  # fmt: skip
    shapes = []
    for walk in walks:
        shape = _GroupEnumeration(walk, part, fractions, round_up=round_up).shape()
        if shape is None:
            return None
        shapes.append(shape)
    plain, whole = _are_plain_and_whole(shapes)
    if not whole:
        return _lines_of_patterns(shapes, part, plain=plain)
    moved = _moved_to_first_line(shapes, part.line_bytes)
    key = (part.aligned, *map(_pattern_key, moved))
    if key not in part.known:
        part.known[key] = _lines_of_patterns(moved, part, plain=plain)
    return part.known[key]


def _are_plain_and_whole(shapes: Sequence[AccessPattern]) -> tuple[bool, bool]:
    """Returns whether all addresses of the patterns are plain floats without expressions, and
    whether all addresses are integers. Sums of integers are never rounded.
    """
    places: list[float] = []
    whole = True
    for shape in shapes:
        if isinstance(shape.rows, tuple):
            for run in shape.rows:
                places += run
        else:
            whole = whole and shape.rows.whole
        places += [stride for stride, _ in shape.levels]
        places += [apart for apart, _ in shape.team]
        places += shape.offsets
    plain = set(map(type, places)) == {float}
    return plain, plain and whole and all(map(float.is_integer, places))


def _pattern_key(shape: AccessPattern) -> tuple[object, ...]:
    """Returns an access pattern as a hashable cache key."""
    rows = shape.rows
    return (rows if isinstance(rows, tuple) else rows.as_bytes(), *shape[1:])


def _moved_to_first_line(
    shapes: Sequence[AccessPattern], line_bytes: float
) -> tuple[AccessPattern, ...]:
    """Moves access patterns by whole lines, so that the first access is in the first line."""
    for shape in shapes:
        if shape.rows:
            begin = shape.rows[0][0] if isinstance(shape.rows, tuple) else shape.rows.first()[0]
            back = begin // line_bytes * line_bytes
            return tuple([each._replace(rows=_moved_rows(each.rows, -back)) for each in shapes])
    return tuple(shapes)


def _moved_rows(rows: tuple[Run, ...] | ManyRuns, distance: float) -> tuple[Run, ...] | ManyRuns:
    if isinstance(rows, tuple):
        return tuple([(begin + distance, end + distance) for begin, end in rows])
    return rows.repeated((distance,))


def _lines_of_patterns(shapes: Sequence[AccessPattern], part: Part, *, plain: bool) -> Lines | None:
    touched: list[Runs] = []
    written: list[Runs] = []
    stored = all(shape.written == shape.offsets for shape in shapes)
    for shape in shapes:
        runs = _repeated_rows(shape, part.line_bytes, plain=plain)
        if runs is None:
            return None
        team = [(apart, round(threads)) for apart, threads in shape.team]
        copies = len(shape.offsets) * math.prod(number for _, number in team)
        if runs.number * copies > MOST_RUNS.value:
            return None
        for apart, number in team:
            # The enumerated iterations are those of the middle thread.
            runs = runs.repeated([(turn - (number - 1) / 2) * apart for turn in range(number)])
        touched.append(runs.repeated(shape.offsets))
        if shape.written and not stored:
            written.append(runs.repeated(shape.written))
    element = float(min(shape.element for shape in shapes))
    lines = [
        runs.aligned_lines(part.line_bytes) if part.aligned
        else runs.lines(element, part.line_bytes)
        for runs in map(concatenated_runs, [touched, written] if written else [touched])
    ]  # fmt: skip
    return Lines(lines[0], lines[-1] if written or stored else 0.0)


def _repeated_rows(shape: AccessPattern, line_bytes: float, *, plain: bool) -> Runs | None:
    """Returns the address runs of the rows, repeated by all levels. None if there are too many
    runs.
    """
    runs: Runs
    if isinstance(shape.rows, tuple):
        runs = FewRuns(shape.rows, plain)
    else:
        runs = shape.rows if plain else FewRuns(shape.rows.one_by_one(), plain)
    near = line_bytes - shape.element
    for stride, number in shape.levels if shape.rows else ():
        runs = merged_runs(runs, near)
        reach = stride * (number - 1)
        if runs.number == 1:
            begin, end = runs.first()
            if abs(stride) <= end - begin + near:
                runs = FewRuns([(begin + min(0.0, reach), end + max(0.0, reach))], plain)
                continue
        if runs.number * number > MOST_RUNS.value:
            return None
        runs = runs.in_steps(stride, number)
    return runs


class _GroupEnumeration:
    """Enumerates the dependent loops around one reference group. Independent loops become levels
    that repeat the enumerated runs.
    """

    def __init__(
        self, walk: EnumeratedGroup, part: Part, fractions: set[float], *, round_up: bool
    ) -> None:
        self.walk = walk
        self.path = walk.path
        slopes = walk.group.slopes
        self.slopes = [slopes.get(loop.variable, 0.0) for loop in walk.path.loops]
        self.element = float(walk.group.element)
        self.part = part
        self.fractions = fractions
        self.round_up = round_up
        self.env = dict(part.env)
        self.runs: set[Run] = set()
        self.many: list[ManyRuns] = []
        self.left = int(MOST_RUNS.value)

    def shape(self) -> AccessPattern | None:
        """Returns the accesses of the reference group. None if there are too many rows."""
        path, group = self.path, self.walk.group
        inside = path.variables
        address = 0.0
        for name, slope in group.slopes.items():
            if name not in inside:
                address += slope * self.env[name]
        nothing = AccessPattern((), (), self.walk.team, group.offsets, group.written, group.element)
        independent = self._independent_loops()
        if independent is None:
            return nothing
        levels = []
        for at, begin, step, number in independent:
            slope = self.slopes[at]
            if slope:
                address += slope * begin
                levels.append((slope * step, number))
        if len(independent) < len(path.loops):
            known = self._dependent_rows(address)
            self.fractions |= known.fractions
            if known.rows is None:
                return None
            rows = known.rows
        else:
            rows = ((address, address + self.element),)
        levels.sort(key=_absolute_stride)
        return nothing._replace(rows=rows, levels=tuple(levels))

    def _dependent_rows(self, address: float) -> Rows:
        """Returns the address runs of the dependent loops. Results are cached by address."""
        part = self.part
        key = (
            self.path.positions, tuple(self.slopes), self.element, self.round_up, part.line_bytes,
            tuple(part.env.items()), tuple(part.pieces.items()), part.cut, part.block, address,
        )  # fmt: skip
        # Only plain numbers are cached, since equal numbers may have different expressions.
        plain = {type(address), *map(type, self.slopes)} == {float} and {
            *map(type, part.env.values())
        } <= {float, int}
        known = part.walked.get(key) if plain else None
        if known is None:
            outer, self.fractions = self.fractions, set()
            rows = self._sorted_runs() if self._add_runs(0, address) else None
            known = Rows(rows, frozenset(self.fractions))
            self.fractions = outer
            if plain:
                part.walked[key] = known
        return known

    def _sorted_runs(self) -> tuple[Run, ...] | ManyRuns:
        """Returns the runs, sorted and without duplicates."""
        if not self.many:
            return tuple(sorted_runs(self.runs))
        # Imported on demand, because most nests have too few runs for arrays.
        from regionpredict.workload.address_run_arrays import sorted_distinct_runs  # noqa: PLC0415

        runs = sorted_distinct_runs(self.many, self.runs)
        return runs if runs.number > FEW_RUNS.value else tuple(runs.one_by_one())

    def _independent_loops(self) -> Sequence[tuple[int, float, int, int]] | None:
        """Returns the position, first value, step and iterations of each independent loop. None if
        a loop has no iterations.
        """
        path, part = self.path, self.part
        block = part.block is not None and path.independent[0]
        known = part.independent.get((path.positions, self.round_up))
        if known is None:
            fractions = set[float]()
            loops: list[tuple[int, float, int, int]] = []
            runs = True
            for at in range(block, len(path.loops)):
                if path.independent[at]:
                    begin, number = self._whole_iterations(at, path.loops[at], fractions)
                    runs = number > 0
                    if not runs:
                        break
                    loops.append((at, begin, path.loops[at].step, number))
            known = IndependentRanges(tuple(loops) if runs else None, frozenset(fractions))
            part.independent[path.positions, self.round_up] = known
        self.fractions |= known.fractions
        if not block or known.loops is None:
            return known.loops
        begin, number = self._whole_iterations(0, path.loops[0], self.fractions)
        if number <= 0:
            return None
        return ((0, begin, path.loops[0].step, number), *known.loops)

    def _add_runs(self, at: int, address: float) -> bool:
        """Adds the address runs of the loops from depth `at` inwards. Returns False if there are
        too many runs.
        """
        path = self.path
        while at < len(path.loops) and path.independent[at]:
            at += 1
        if at == len(path.loops):
            self.runs.add((address, address + self.element))
            return True
        loop, slope = path.loops[at], self.slopes[at]
        begin, number = self._whole_iterations(at, loop, self.fractions)
        if number <= 0:
            return True
        self.env[loop.variable] = begin
        if not path.bounds_inner[at] and not slope:
            return self._add_runs(at + 1, address)
        stride, last = slope * loop.step, path.innermost_dependent[at]
        if last and abs(stride) <= self.part.line_bytes:
            single = address + slope * begin
            other = single + stride * (number - 1)
            self.runs.add((min(single, other), max(single, other) + self.element))
            self.left -= 1
            return self.left >= 0
        self.left -= number
        if self.left < 0:
            return False
        if not last:
            is_counted = self._add_runs_by_arrays(at, begin, number, address)
            if is_counted is not None:
                return is_counted
        values = [begin + loop.step * turn for turn in range(number)]
        if last:
            places = [address + slope * value for value in values]
            self.runs.update([(place, place + self.element) for place in places])
            return True
        for value in values:
            self.env[loop.variable] = value
            if not self._add_runs(at + 1, address + slope * value):
                return False
        return True

    def _add_runs_by_arrays(
        self, at: int, begin: float, number: int, address: float
    ) -> bool | None:
        """Adds the runs of two nested loops with array operations, if only the inner loop depends
        on the outer one.

        Returns False if there are too many runs, and None if array operations are impossible.
        """
        path = self.path
        inner = at + 1
        while path.independent[inner]:
            inner += 1
        loop, plain = path.loops[inner], {float, int}
        if (
            number <= FEW_RUNS.value
            or not path.innermost_dependent[inner]
            or loop.index in self.part.pieces
        ):
            return None
        if not {*map(type, self.slopes), type(begin), type(address)} <= plain:
            return None
        # Imported on demand, because most nests have too few runs for arrays.
        from regionpredict.workload.address_run_arrays import in_steps, inner_runs  # noqa: PLC0415

        around = path.loops[at]
        runs_inside = inner_runs(
            loop, self.slopes[inner], self.env, around.variable,
            begin + in_steps(around.step, number), address, self.slopes[at],
            element=self.element, line_bytes=self.part.line_bytes, round_up=self.round_up,
        )  # fmt: skip
        if runs_inside is None:
            return None
        self.left -= runs_inside.steps
        if self.left < 0:
            return False
        self.fractions |= runs_inside.fractions
        self.many.append(runs_inside.runs)
        return True

    def _whole_iterations(
        self, at: int, loop: LoopHeader, fractions: set[float]
    ) -> tuple[float, int]:
        """Returns the first value and the number of whole iterations of a loop.

        The remaining fraction of an iteration is added to `fractions`.
        """
        part, env = self.part, self.env
        first = at == 0
        if first and part.block is not None:
            return loop.begin(env) + loop.step * part.block[0], part.block[1]
        names = self.path.bound_names[at]
        key = (loop.index, tuple(map(env.get, names)), first)
        known = part.sections.get(key)
        if known is None:
            known = part.sections[key] = self._thread_piece(loop, first)
        begin, trips = known
        number = math.floor(trips + ROUNDING.value)
        if 0 < trips < 1.0:
            return begin, 1
        more = trips - number
        if more > ROUNDING.value:
            fractions.add(more)
            number += self.round_up
        return begin, number

    def _thread_piece(self, loop: LoopHeader, is_outermost: bool) -> tuple[float, float]:
        """Returns the first value and the number of iterations of one thread's piece of a loop."""
        part = self.part
        whole = loop.begin(self.env)
        begin, trips = loop.section_of(
            self.env, part.pieces.get(loop.index), part.cut if is_outermost else None
        )
        # The mean piece may start between two iterations. Its start is rounded.
        return whole + loop.step * round((begin - whole) / loop.step), trips


def _absolute_stride(level: tuple[float, int]) -> float:
    return abs(level[0])
