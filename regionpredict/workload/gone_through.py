"""Distinct lines of an array whose references are gone through, run of addresses by run.

Closed forms count a lattice whose rows lie apart, and triangles by their mean. Where rows lie
within each other (`a[2 * i + j][i]`), where the range of a loop changes with another's place, and
where several groups meet in an array, the addresses are few enough more often than not: a run of
neighbouring elements is one step, whatever its length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.workload.constants import MOST_RUNS
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
    part of the first loop that runs, `block` (first iteration, iterations) of the first loop in
    their place. `sections` belongs to the caller.
    """

    env: Env
    pieces: Mapping[int, float]
    cut: Cut | None
    line_bytes: float
    sections: Sections = field(default_factory=dict)
    block: tuple[float, float] | None = None


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


def _lines(
    walks: Sequence[Walk], part: Part, fractions: set[float], *, up: bool
) -> Lines | None:  # fmt: skip
    touched: list[Run] = []
    written: list[Run] = []
    for walk in walks:
        steps = _Steps(walk, part, fractions, up=up)
        if not steps.visit(0, 0.0):
            return None
        group = walk.group
        runs = list(steps.runs)
        for apart, threads in walk.team:
            if len(runs) * threads > MOST_RUNS.value:
                return None
            runs = [
                (begin + turn * apart, end + turn * apart)
                for begin, end in runs
                for turn in range(round(threads))
            ]
        if len(runs) * len(group.offsets) > MOST_RUNS.value:
            return None
        for offset in group.offsets:
            moved = [(begin + offset, end + offset) for begin, end in runs]
            touched += moved
            if offset in group.written:
                written += moved
    element = float(min(walk.group.element for walk in walks))
    return Lines(
        lines_of_runs(touched, element, part.line_bytes),
        lines_of_runs(written, element, part.line_bytes),
    )


def lines_of_runs(runs: Iterable[Run], element: float, line_bytes: float) -> float:
    """Lines that runs of elements touch, at an unknown position within a line.

    >>> lines_of_runs([(0.0, 8.0), (8.0, 72.0), (4800.0, 4808.0)], 8.0, 64.0)
    3.0
    """
    lines = 0.0
    begin = end = -math.inf
    for first, last in sorted(runs):
        if first - end < line_bytes - element:  # a gap that leaves no line out
            end = max(end, last)
            continue
        if end > begin:
            lines += 1.0 + (end - begin - element) / line_bytes
        begin, end = first, last
    if end > begin:
        lines += 1.0 + (end - begin - element) / line_bytes
    return lines


class _Steps:
    """Goes through the loops that move one reference, or what moves it; of the others it asks
    whether they run.
    """

    def __init__(self, walk: Walk, part: Part, fractions: set[float], *, up: bool) -> None:
        self.chain = walk.chain
        self.element = float(walk.group.element)
        self.part = part
        self.fractions = fractions
        self.up = up
        self.runs: set[Run] = set()
        slopes = walk.group.slopes
        self.slopes = [slopes.get(loop.variable, 0.0) for loop in walk.chain]
        deeper: set[str] = set()
        self.moves = [False] * len(walk.chain)
        for at in range(len(walk.chain) - 1, -1, -1):
            loop = walk.chain[at]
            self.moves[at] = bool(self.slopes[at]) or loop.variable in deeper
            deeper |= loop.depends
        self.last = max((at for at, moving in enumerate(self.moves) if moving), default=-1)
        inside = {loop.variable for loop in walk.chain}
        self.origin = sum(
            slope * part.env.get(name, 0.0) for name, slope in slopes.items() if name not in inside
        )
        self.env = dict(part.env)
        self.left = int(MOST_RUNS.value)

    def visit(self, at: int, address: float) -> bool:
        """Adds the runs of the loops from a depth on; False where they are too many."""
        if at == len(self.chain):
            begin = self.origin + address
            self.runs.add((begin, begin + self.element))
            return True
        loop = self.chain[at]
        begin, number = self._section(at, loop)
        if number <= 0:
            return True
        self.env[loop.variable] = begin
        slope = self.slopes[at]
        if not self.moves[at]:
            return self.visit(at + 1, address)
        self.left -= number if at < self.last else 1
        stride = slope * loop.step
        if at == self.last and abs(stride) <= self.part.line_bytes:
            if all(self._section(deeper, self.chain[deeper])[1] > 0
                   for deeper in range(at + 1, len(self.chain))):  # fmt: skip
                one = self.origin + address + slope * begin
                other = one + stride * (number - 1)
                self.runs.add((min(one, other), max(one, other) + self.element))
            return self.left >= 0
        if self.left < 0 or len(self.runs) + number > MOST_RUNS.value:
            return False
        for turn in range(number):
            value = begin + loop.step * turn
            self.env[loop.variable] = value
            if not self.visit(at + 1, address + slope * value):
                return False
        return True

    def _section(self, at: int, loop: LoopHeader) -> tuple[float, int]:
        """The first value of a loop, and how many whole iterations run."""
        part = self.part
        first = at == 0
        around = tuple([self.env.get(name, 0.0) for name in sorted(loop.depends)])
        asked = (loop.index, around, first, part.block if first else None)
        known = part.sections.get(asked)
        if known is None:
            if first and part.block is not None:
                known = (loop.begin(self.env) + loop.step * part.block[0], part.block[1])
            else:
                whole = loop.begin(self.env)
                begin, trips = loop.section(
                    self.env, part.pieces.get(loop.index), part.cut if first else None
                )
                # A mean piece begins with an iteration, not between two.
                begin = whole + loop.step * math.floor((begin - whole) / loop.step + 0.5)
                known = (begin, trips)
            part.sections[asked] = known
        begin, trips = known
        number = math.floor(trips + 1e-9)
        more = trips - number
        if more > 1e-6:
            self.fractions.add(more)
            number += self.up
        return begin, number
