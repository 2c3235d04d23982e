"""Distinct lines of an array whose references are gone through, run of addresses by run.

Closed forms count a lattice whose rows lie apart, and triangles by their mean. Where rows lie
within each other (`a[2 * i + j][i]`), where the range of a loop changes with another's place, and
where several groups meet in an array, the addresses are few enough more often than not: a run of
neighbouring elements is one step, whatever its length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from regionpredict.workload.constants import MOST_RUNS, ROUNDING
from regionpredict.workload.line_overlap import Lines
from regionpredict.workload.loop_nest import Cut, Env, LoopHeader, ReferenceGroup

Run = tuple[float, float]
"""Bytes of an array that are touched one behind the other: the first, and one past the last."""
Sections = dict[tuple[object, ...], tuple[float, float]]
"""The begin and the iterations of a loop, by its index and the values of what changes them."""


class Walk(NamedTuple):
    """A group, the loops around it that run, and how its threads stand: (bytes apart, threads)."""

    group: ReferenceGroup
    chain: tuple[LoopHeader, ...]
    team: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a nest that is gone through, the loops around it at `env`.

    `pieces` are the iterations of one thread's piece by the index of a parallel loop, `cut` the
    part of the first loop that runs; `block` has the first iteration and the number of those of the
    first loop that run, in place of both. `aligned`: arrays begin with a line, and it is known
    where in them the part lies. `sections` is what has been asked of its loops.
    """

    env: Env
    pieces: Mapping[int, float]
    cut: Cut | None
    line_bytes: float
    aligned: bool = False
    block: tuple[int, int] | None = None
    sections: Sections = field(default_factory=dict)


def lines_gone_through(walks: Sequence[Walk], part: Part) -> Lines | None:
    """The lines of groups of one array, each once; None where the runs are too many.

    A part of an iteration, as a mean piece has it, is so much of the difference that a whole one
    makes.
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
    """The mean over blocks of iterations of the lines in each; None where runs are too many."""
    total = Lines(0.0, 0.0)
    for block in blocks:
        found = lines_gone_through(walks, replace(part, block=block, sections={}))
        if found is None:
            return None
        total = total.plus(found)
    return total.times(1.0 / len(blocks))


def _lines(
    walks: Sequence[Walk], part: Part, fractions: set[float], *, up: bool
) -> Lines | None:  # fmt: skip
    touched: list[Run] = []
    written: list[Run] = []
    for walk in walks:
        runs = _Steps(walk, part, fractions, up=up).runs()
        if runs is None:
            return None
        group = walk.group
        for apart, threads in walk.team:
            if len(runs) * threads > MOST_RUNS.value:
                return None
            number = round(threads)
            # The piece gone through is the middle one of the team's.
            places = [(turn - (number - 1) / 2) * apart for turn in range(number)]
            runs = [(begin + place, end + place) for begin, end in runs for place in places]
        if len(runs) * len(group.offsets) > MOST_RUNS.value:
            return None
        for offset in group.offsets:
            moved = [(begin + offset, end + offset) for begin, end in runs]
            touched += moved
            if offset in group.written:
                written += moved
    if part.aligned:
        return Lines(aligned_lines(touched, part.line_bytes),
                     aligned_lines(written, part.line_bytes))  # fmt: skip
    element = float(min(walk.group.element for walk in walks))
    return Lines(
        lines_of_runs(touched, element, part.line_bytes),
        lines_of_runs(written, element, part.line_bytes),
    )


def aligned_lines(runs: Iterable[Run], line_bytes: float) -> float:
    """Lines that runs of elements touch where the array begins with a line.

    >>> aligned_lines([(0.0, 8.0), (56.0, 72.0), (4800.0, 4808.0)], 64.0)
    3.0
    """
    lines = 0.0
    last = -math.inf
    for begin, end in sorted(runs):
        first, beyond = begin // line_bytes, -(-end // line_bytes)
        lines += max(0.0, beyond - max(first, last))
        last = max(last, beyond)
    return lines


def lines_of_runs(runs: Iterable[Run], element: float, line_bytes: float) -> float:
    """Lines that runs of elements touch, at an unknown position within a line.

    >>> lines_of_runs([(0.0, 8.0), (8.0, 72.0), (4800.0, 4808.0)], 8.0, 64.0)
    3.0
    """
    whole = joined(runs, line_bytes - element)
    return sum(1.0 + (end - begin - element) / line_bytes for begin, end in whole)


def joined(runs: Iterable[Run], near: float) -> list[Run]:
    """The runs in order, those joined between which no line fits: less than `near` bytes.

    >>> joined([(64.0, 72.0), (0.0, 16.0), (200.0, 208.0)], 56.0)
    [(0.0, 72.0), (200.0, 208.0)]
    """
    whole: list[Run] = []
    for first, last in sorted(runs):
        if whole and first - whole[-1][1] < near:
            begin, end = whole[-1]
            whole[-1] = (begin, max(end, last))
        else:
            whole.append((first, last))
    return whole


class _Steps:
    """Goes through the loops around one reference whose ranges hang on each other, and adds the
    others, each as so many copies of what there is.
    """

    def __init__(self, walk: Walk, part: Part, fractions: set[float], *, up: bool) -> None:
        self.chain = walk.chain
        self.element = float(walk.group.element)
        self.part = part
        self.fractions = fractions
        self.up = up
        self.slopes = [walk.group.slopes.get(loop.variable, 0.0) for loop in walk.chain]
        inside = {loop.variable for loop in walk.chain}
        asked = frozenset[str]().union(*(loop.depends for loop in walk.chain))
        self.alone = [
            loop.variable not in asked and inside.isdisjoint(loop.depends) for loop in walk.chain
        ]
        self.origin = sum(
            slope * part.env.get(name, 0.0)
            for name, slope in walk.group.slopes.items()
            if name not in inside
        )
        self.env = dict(part.env)
        self.found: set[Run] = set()
        self.left = int(MOST_RUNS.value)

    def runs(self) -> list[Run] | None:
        """The runs of all loops; None where they are too many."""
        levels = []
        address = self.origin
        for at, loop in enumerate(self.chain):
            if self.alone[at]:
                begin, number = self._section(at, loop)
                if number <= 0:
                    return []
                address += self.slopes[at] * begin
                levels.append((self.slopes[at] * loop.step, number))
        if not self._visit(0, address):
            return None
        runs = list(self.found)
        near = self.part.line_bytes - self.element
        for stride, number in sorted(levels, key=lambda level: abs(level[0])):
            if not stride or number == 1:
                continue
            runs = joined(runs, near)
            reach = stride * (number - 1)
            if len(runs) == 1 and abs(stride) <= runs[0][1] - runs[0][0] + near:
                begin, end = runs[0]
                runs = [(begin + min(0.0, reach), end + max(0.0, reach))]
                continue
            if len(runs) * number > MOST_RUNS.value:
                return None
            runs = [
                (begin + turn * stride, end + turn * stride)
                for begin, end in runs
                for turn in range(number)
            ]
        return runs

    def _visit(self, at: int, address: float) -> bool:
        """Adds the runs of the loops from a depth on; False where they are too many."""
        while at < len(self.chain) and self.alone[at]:
            at += 1
        if at == len(self.chain):
            self.found.add((address, address + self.element))
            return True
        loop, slope = self.chain[at], self.slopes[at]
        begin, number = self._section(at, loop)
        if number <= 0:
            return True
        self.env[loop.variable] = begin
        stride = slope * loop.step
        deeper = self.chain[at + 1 :]
        hangs = any(loop.variable in inner.depends for inner in deeper)
        if not hangs and not slope:
            return self._visit(at + 1, address)
        last = all(self.alone[at + 1 :])
        if last and abs(stride) <= self.part.line_bytes:
            one = address + slope * begin
            other = one + stride * (number - 1)
            self.found.add((min(one, other), max(one, other) + self.element))
            self.left -= 1
            return self.left >= 0
        self.left -= number
        if self.left < 0:
            return False
        for turn in range(number):
            value = begin + loop.step * turn
            self.env[loop.variable] = value
            if not self._visit(at + 1, address + slope * value):
                return False
        return True

    def _section(self, at: int, loop: LoopHeader) -> tuple[float, int]:
        """The first value of a loop, and how many whole iterations run."""
        part = self.part
        first = at == 0
        around = tuple([self.env.get(name, 0.0) for name in sorted(loop.depends)])
        asked = (loop.index, around, first)
        known = part.sections.get(asked)
        if known is None:
            if first and part.block is not None:
                known = (loop.begin(self.env) + loop.step * part.block[0], float(part.block[1]))
            else:
                whole = loop.begin(self.env)
                begin, trips = loop.section(
                    self.env, part.pieces.get(loop.index), part.cut if first else None
                )
                # A mean piece begins with an iteration, not between two.
                begin = whole + loop.step * round((begin - whole) / loop.step)
                known = (begin, trips)
            part.sections[asked] = known
        begin, trips = known
        number = math.floor(trips + ROUNDING.value)
        more = trips - number
        if 0 < trips < 1.0:
            return begin, 1
        if more > ROUNDING.value:
            self.fractions.add(more)
            number += self.up
        return begin, number
