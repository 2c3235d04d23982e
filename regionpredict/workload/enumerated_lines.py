"""Counts the distinct lines of an array by enumerating contiguous runs of addresses.

Closed forms count a lattice with separate rows, and triangles by their mean. Enumeration handles
overlapping rows (`a[2 * i + j][i]`), loop ranges that depend on another loop, and several groups in
an array. It is usually fast, because a contiguous run of elements is one step of any length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from regionpredict.workload.address_runs import FewRuns, Run, Runs, in_order, sorted_runs, together
from regionpredict.workload.constants import FEW_RUNS, MOST_RUNS, ROUNDING
from regionpredict.workload.line_overlap import Lines
from regionpredict.workload.loop_nest import Cut, Env, LoopHeader, ReferenceGroup

if TYPE_CHECKING:
    from regionpredict.workload.address_run_arrays import ManyRuns

Sections = dict[tuple[object, ...], tuple[float, float]]
"""The start and the number of iterations of a loop. The key is its index and the values that they
depend on.
"""


class Path(NamedTuple):
    """The active loops around groups, outermost first, and their constant properties.

    `asked` are the variables in the bounds of a loop. A loop that is `alone` does not depend on
    these loops. A loop `decides` if deeper loops depend on it. All loops inside a loop that is
    `last` are independent.
    """

    loops: tuple[LoopHeader, ...]
    positions: tuple[int, ...]
    variables: frozenset[str]
    asked: tuple[tuple[str, ...], ...]
    alone: tuple[bool, ...]
    decides: tuple[bool, ...]
    last: tuple[bool, ...]


def path_of(loops: Sequence[LoopHeader]) -> Path:
    """The path through these loops."""
    inside = frozenset([loop.variable for loop in loops])
    asked = frozenset[str]().union(*[loop.depends for loop in loops])
    alone = tuple([
        loop.variable not in asked and inside.isdisjoint(loop.depends) for loop in loops
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
        alone,
        tuple([loop.variable in below for loop, below in zip(loops, deeper, strict=True)]),
        tuple([all(alone[at + 1 :]) for at in range(number)]),
    )


class IndependentRanges(NamedTuple):
    """The ranges of the independent loops of a path, and the omitted fractions of iterations. Each
    range is (position in the path, first value, step, iterations). `loops` is None if one of them
    is empty.
    """

    loops: tuple[tuple[int, float, int, int], ...] | None
    fractions: frozenset[float]


class Walk(NamedTuple):
    """A group, the loops around it that run, and the distances between its threads: (bytes,
    threads).
    """

    group: ReferenceGroup
    path: Path
    team: tuple[tuple[float, float], ...]


class Shape(NamedTuple):
    """The accesses of a walk in compact form. `rows` are sorted. They are repeated by `levels` of
    (bytes, steps), narrowest first, by the threads, and by the offsets of the references.

    Many rows of plain numbers are stored as arrays.
    """

    rows: tuple[Run, ...] | ManyRuns
    levels: tuple[tuple[float, int], ...]
    team: tuple[tuple[float, float], ...]
    offsets: tuple[float, ...]
    written: tuple[float, ...]
    element: int


KnownLines = dict[tuple[object, ...], Lines | None]
"""The counted lines of arrays with or without alignment. The key is their accesses. The first shape
is moved to the first line, since an offset of whole lines does not change the result.
"""


class Rows(NamedTuple):
    """The positions that dependent loops reach, in order, and the omitted fractions of iterations.
    The positions are None if there are too many.
    """

    rows: tuple[Run, ...] | ManyRuns | None
    fractions: frozenset[float]


KnownRows = dict[tuple[object, ...], Rows]
"""The positions that loops reach. The key contains all values that they depend on."""


@dataclass(frozen=True, slots=True)
class Part:
    """The enumerated part of a nest for the values of outer loops in `env`.

    `pieces` are the iterations of one thread's piece. The key is the index of a parallel loop.
    `cut` is the part of the first loop that runs. `block` replaces both by the first iteration and
    their number. `aligned` says that arrays start on a line, at a known place of the part.
    `sections` and `alone` cache results for its loops (except the block). `known` caches the
    counted lines and `walked` the enumerated loops, for any part. The caller keeps these caches.
    """

    env: Env
    pieces: Mapping[int, float]
    cut: Cut | None
    line_bytes: float
    aligned: bool
    block: tuple[int, int] | None = None
    sections: Sections = field(default_factory=dict)
    alone: dict[tuple[tuple[int, ...], bool], IndependentRanges] = field(default_factory=dict)
    known: KnownLines = field(default_factory=dict)
    walked: KnownRows = field(default_factory=dict)


def distinct_lines(walks: Sequence[Walk], part: Part) -> Lines | None:
    """The number of different lines of the groups of one array. None if there are too many runs.

    On average, the piece of a thread may contain a fraction of an iteration. This fraction is the
    weight of the lines that another whole iteration adds. If there are several fractions, the
    largest is used.
    """
    fractions: set[float] = set()
    low = _lines(walks, part, fractions, up=False)
    if low is None or not fractions:
        return low
    high = _lines(walks, part, fractions, up=True)
    if high is None:
        return None
    more = max(fractions)
    return low.times(1.0 - more).plus(high.times(more))


def mean_of_blocks(
    walks: Sequence[Walk], part: Part, blocks: Sequence[tuple[int, int]]
) -> Lines | None:
    """The mean number of lines over blocks of iterations. None if there are too many runs.

    Blocks of the same length that have the same accesses, moved by whole lines, are counted only
    once.
    """
    total = Lines(0.0, 0.0)
    known: dict[tuple[float, int], Lines | None] = {}
    shift = _shift(walks, replace(part, block=blocks[0]))
    for begin, number in blocks:
        at = float(begin) if shift is None else begin * shift % part.line_bytes
        if (at, number) not in known:
            known[at, number] = distinct_lines(walks, replace(part, block=(begin, number)))
        lines = known[at, number]
        if lines is None:
            return None
        total = total.plus(lines)
    return total.times(1.0 / len(blocks))


def _shift(walks: Sequence[Walk], part: Part) -> float | None:
    """The number of bytes by which the next iteration of the outermost loop moves all accesses.
    None if it changes them in any other way, or if sums of bytes are rounded.
    """
    outermost = [walk.path.loops[0] for walk in walks]
    shifts = {
        walk.group.slopes.get(loop.variable, 0.0) * loop.step
        for walk, loop in zip(walks, outermost, strict=True)
    }
    if len(shifts) > 1 or not all(walk.path.alone[0] for walk in walks):
        return None
    shapes = [_Steps(walk, part, set(), up=False).shape() for walk in walks]
    known = [shape for shape in shapes if shape is not None]
    (shift,) = shifts
    whole = len(known) == len(shapes) and _are_plain_and_whole(known)[1]
    if not whole or type(shift) is not float or not shift.is_integer():
        return None
    # At an unknown place in a line, only the distances of accesses matter.
    return shift if part.aligned else 0.0


def _lines(
    walks: Sequence[Walk], part: Part, fractions: set[float], *, up: bool
) -> Lines | None:  # fmt: skip
    shapes = []
    for walk in walks:
        shape = _Steps(walk, part, fractions, up=up).shape()
        if shape is None:
            return None
        shapes.append(shape)
    plain, whole = _are_plain_and_whole(shapes)
    if not whole:
        return _lines_of_shapes(shapes, part, plain=plain)
    moved = _from_the_first_line(shapes, part.line_bytes)
    asked = (part.aligned, *map(_by_value, moved))
    if asked not in part.known:
        part.known[asked] = _lines_of_shapes(moved, part, plain=plain)
    return part.known[asked]


def _are_plain_and_whole(shapes: Sequence[Shape]) -> tuple[bool, bool]:
    """Whether all bytes of the shapes are plain numbers without expressions, and whether they are
    whole numbers. Sums of whole numbers are never rounded.
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


def _by_value(shape: Shape) -> tuple[object, ...]:
    """The values of a shape as a key."""
    rows = shape.rows
    return (rows if isinstance(rows, tuple) else rows.as_bytes(), *shape[1:])


def _from_the_first_line(shapes: Sequence[Shape], line_bytes: float) -> tuple[Shape, ...]:
    """The shapes moved by whole lines, so that the first access is in the first line."""
    for shape in shapes:
        if shape.rows:
            begin = shape.rows[0][0] if isinstance(shape.rows, tuple) else shape.rows.first()[0]
            back = begin // line_bytes * line_bytes
            return tuple([each._replace(rows=_moved(each.rows, -back)) for each in shapes])
    return tuple(shapes)


def _moved(rows: tuple[Run, ...] | ManyRuns, by: float) -> tuple[Run, ...] | ManyRuns:
    if isinstance(rows, tuple):
        return tuple([(begin + by, end + by) for begin, end in rows])
    return rows.repeated((by,))


def _lines_of_shapes(shapes: Sequence[Shape], part: Part, *, plain: bool) -> Lines | None:
    touched: list[Runs] = []
    written: list[Runs] = []
    stored = all(shape.written == shape.offsets for shape in shapes)
    for shape in shapes:
        runs = _repeated(shape, part.line_bytes, plain=plain)
        if runs is None:
            return None
        team = [(apart, round(threads)) for apart, threads in shape.team]
        copies = len(shape.offsets) * math.prod(number for _, number in team)
        if runs.number * copies > MOST_RUNS.value:
            return None
        for apart, number in team:
            # The enumerated piece is that of the middle thread.
            runs = runs.repeated([(turn - (number - 1) / 2) * apart for turn in range(number)])
        touched.append(runs.repeated(shape.offsets))
        if shape.written and not stored:
            written.append(runs.repeated(shape.written))
    element = float(min(shape.element for shape in shapes))
    lines = [
        runs.aligned_lines(part.line_bytes) if part.aligned
        else runs.lines(element, part.line_bytes)
        for runs in map(together, [touched, written] if written else [touched])
    ]  # fmt: skip
    return Lines(lines[0], lines[-1] if written or stored else 0.0)


def _repeated(shape: Shape, line_bytes: float, *, plain: bool) -> Runs | None:
    """The rows with the copies of all levels. None if there are too many."""
    runs: Runs
    if isinstance(shape.rows, tuple):
        runs = FewRuns(shape.rows, plain)
    else:
        runs = shape.rows if plain else FewRuns(shape.rows.one_by_one(), plain)
    near = line_bytes - shape.element
    for stride, number in shape.levels if shape.rows else ():
        runs = in_order(runs, near)
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


class _Steps:
    """Enumerates the dependent loops around one reference. Other loops only contribute their
    numbers of copies.
    """

    def __init__(self, walk: Walk, part: Part, fractions: set[float], *, up: bool) -> None:
        self.walk = walk
        self.path = walk.path
        slopes = walk.group.slopes
        self.slopes = [slopes.get(loop.variable, 0.0) for loop in walk.path.loops]
        self.element = float(walk.group.element)
        self.part = part
        self.fractions = fractions
        self.up = up
        self.env = dict(part.env)
        self.runs: set[Run] = set()
        self.many: list[ManyRuns] = []
        self.left = int(MOST_RUNS.value)

    def shape(self) -> Shape | None:
        """The accesses of the walk. None if there are too many rows."""
        path, group = self.path, self.walk.group
        inside = path.variables
        address = 0.0
        for name, slope in group.slopes.items():
            if name not in inside:
                address += slope * self.env[name]
        nothing = Shape((), (), self.walk.team, group.offsets, group.written, group.element)
        alone = self._independent_loops()
        if alone is None:
            return nothing
        levels = []
        for at, begin, step, number in alone:
            slope = self.slopes[at]
            if slope:
                address += slope * begin
                levels.append((slope * step, number))
        if len(alone) < len(path.loops):
            known = self._rows(address)
            self.fractions |= known.fractions
            if known.rows is None:
                return None
            rows = known.rows
        else:
            rows = ((address, address + self.element),)
        levels.sort(key=_width)
        return nothing._replace(rows=rows, levels=tuple(levels))

    def _rows(self, address: float) -> Rows:
        """The positions that dependent loops reach. They are enumerated once for each address."""
        part = self.part
        asked = (
            self.path.positions, tuple(self.slopes), self.element, self.up, part.line_bytes,
            tuple(part.env.items()), tuple(part.pieces.items()), part.cut, part.block, address,
        )  # fmt: skip
        # Other numbers have an expression, and equal numbers may have different expressions.
        plain = {type(address), *map(type, self.slopes)} == {float} and {
            *map(type, part.env.values())
        } <= {float, int}
        known = part.walked.get(asked) if plain else None
        if known is None:
            outer, self.fractions = self.fractions, set()
            rows = self._in_order() if self._visit(0, address) else None
            known = Rows(rows, frozenset(self.fractions))
            self.fractions = outer
            if plain:
                part.walked[asked] = known
        return known

    def _in_order(self) -> tuple[Run, ...] | ManyRuns:
        """The runs, sorted and without duplicates."""
        if not self.many:
            return tuple(sorted_runs(self.runs))
        # As with runs: most nests never need arrays.
        from regionpredict.workload.address_run_arrays import in_order_once  # noqa: PLC0415

        runs = in_order_once(self.many, self.runs)
        return runs if runs.number > FEW_RUNS.value else tuple(runs.one_by_one())

    def _independent_loops(self) -> Sequence[tuple[int, float, int, int]] | None:
        """The position, first value, step and iterations of each independent loop. None if a loop
        has no iterations.
        """
        path, part = self.path, self.part
        block = part.block is not None and path.alone[0]
        known = part.alone.get((path.positions, self.up))
        if known is None:
            fractions = set[float]()
            loops: list[tuple[int, float, int, int]] = []
            runs = True
            for at in range(block, len(path.loops)):
                if path.alone[at]:
                    begin, number = self._section(at, path.loops[at], fractions)
                    runs = number > 0
                    if not runs:
                        break
                    loops.append((at, begin, path.loops[at].step, number))
            known = IndependentRanges(tuple(loops) if runs else None, frozenset(fractions))
            part.alone[path.positions, self.up] = known
        self.fractions |= known.fractions
        if not block or known.loops is None:
            return known.loops
        begin, number = self._section(0, path.loops[0], self.fractions)
        if number <= 0:
            return None
        return ((0, begin, path.loops[0].step, number), *known.loops)

    def _visit(self, at: int, address: float) -> bool:
        """Adds the runs of the loops at and inside a depth. Returns False if there are too many."""
        path = self.path
        while at < len(path.loops) and path.alone[at]:
            at += 1
        if at == len(path.loops):
            self.runs.add((address, address + self.element))
            return True
        loop, slope = path.loops[at], self.slopes[at]
        begin, number = self._section(at, loop, self.fractions)
        if number <= 0:
            return True
        self.env[loop.variable] = begin
        if not path.decides[at] and not slope:
            return self._visit(at + 1, address)
        stride, last = slope * loop.step, path.last[at]
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
            is_counted = self._all_at_once(at, begin, number, address)
            if is_counted is not None:
                return is_counted
        values = [begin + loop.step * turn for turn in range(number)]
        if last:
            places = [address + slope * value for value in values]
            self.runs.update([(place, place + self.element) for place in places])
            return True
        for value in values:
            self.env[loop.variable] = value
            if not self._visit(at + 1, address + slope * value):
                return False
        return True

    def _all_at_once(self, at: int, begin: float, number: int, address: float) -> bool | None:
        """Like `_visit`, for a loop on which only one loop depends. Returns None if this is
        impossible.
        """
        path = self.path
        inner = at + 1
        while path.alone[inner]:
            inner += 1
        loop, plain = path.loops[inner], {float, int}
        if number <= FEW_RUNS.value or not path.last[inner] or loop.index in self.part.pieces:
            return None
        if not {*map(type, self.slopes), type(begin), type(address)} <= plain:
            return None
        # As with runs: most nests never need arrays.
        from regionpredict.workload.address_run_arrays import in_steps, inner_runs  # noqa: PLC0415

        around = path.loops[at]
        runs_inside = inner_runs(
            loop, self.slopes[inner], self.env, around.variable,
            begin + in_steps(around.step, number), address, self.slopes[at],
            element=self.element, line_bytes=self.part.line_bytes, up=self.up,
        )  # fmt: skip
        if runs_inside is None:
            return None
        self.left -= runs_inside.steps
        if self.left < 0:
            return False
        self.fractions |= runs_inside.fractions
        self.many.append(runs_inside.runs)
        return True

    def _section(self, at: int, loop: LoopHeader, fractions: set[float]) -> tuple[float, int]:
        """The first value of a loop, and its number of whole iterations.

        `fractions` receives the remaining fraction of an iteration.
        """
        part, env = self.part, self.env
        first = at == 0
        if first and part.block is not None:
            return loop.begin(env) + loop.step * part.block[0], part.block[1]
        names = self.path.asked[at]
        asked = (loop.index, tuple(map(env.get, names)), first)
        known = part.sections.get(asked)
        if known is None:
            known = part.sections[asked] = self._piece(loop, first)
        begin, trips = known
        number = math.floor(trips + ROUNDING.value)
        if 0 < trips < 1.0:
            return begin, 1
        more = trips - number
        if more > ROUNDING.value:
            fractions.add(more)
            number += self.up
        return begin, number

    def _piece(self, loop: LoopHeader, first: bool) -> tuple[float, float]:
        """The first value of a loop, and its iterations."""
        part = self.part
        whole = loop.begin(self.env)
        begin, trips = loop.section(
            self.env, part.pieces.get(loop.index), part.cut if first else None
        )
        # A mean piece starts at an iteration.
        return whole + loop.step * round((begin - whole) / loop.step), trips


def _width(level: tuple[float, int]) -> float:
    return abs(level[0])
