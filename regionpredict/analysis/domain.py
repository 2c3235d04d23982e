"""The iteration domain of a statement: its loops' ranges, without iterations that run nothing.

In `for (i = 0; i < n; i++) for (j = i + 2; j < n; j++)` the last two values of `i` run no
iteration of `j`; taken at their word they would count -1 and 0. Here the range of `i` ends where
the inner loop still runs, so that sums and boxes over it are exact. Where two bounds cannot be
compared (`n` with `m`) the loops are taken to run: `guards` are the counts that must be at least
one for the closed form to hold, and where one is not, nothing runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from regionpredict.ir import Expr, Loop


@dataclass(frozen=True, slots=True)
class Range:
    """`variable` = first, first + step, ..., `trips` values; step is not zero."""

    variable: str
    first: Expr
    trips: Expr
    step: int
    bound: Expr  # the furthest value that the comparison allows

    @property
    def last(self) -> Expr:
        """The variable's last value."""
        return self.first + (self.trips - 1) * self.step

    @property
    def ends(self) -> tuple[Expr, Expr]:
        """The smallest and the largest value, exact for steps of one, else the bound's side."""
        last = self.last if abs(self.step) == 1 else self.bound
        return (self.first, last) if self.step > 0 else (last, self.first)


@dataclass(frozen=True, slots=True)
class Domain:
    """The ranges of a nest, outermost first; None in place of `ranges` where not understood."""

    ranges: tuple[Range, ...] | None

    @property
    def guards(self) -> tuple[Expr, ...]:
        """Counts over parameters alone that must be at least one, or nothing runs."""
        own = {r.variable for r in self.ranges or ()}
        return tuple(r.trips for r in self.ranges or () if not r.trips.names & own)


def domain_of(loops: tuple[Loop, ...]) -> Domain:
    """The domain of a statement inside `loops`, outermost first.

    >>> from regionpredict.ir import Span
    >>> from regionpredict.ir.expr import ONE
    >>> n, i, zero = Expr.name("n"), Expr.name("i"), Expr.const(0)
    >>> outer = Loop("i", zero, n, "<", ONE, (), Span("f.c", 1))
    >>> inner = Loop("j", i + 2, n, "<", ONE, (), Span("f.c", 2))
    >>> [str(r.trips) for r in domain_of((outer, inner)).ranges]
    ['n - 2', '-i + n - 2']
    """
    ranges: list[Range] = []
    for loop in loops:
        one = _range_of(loop)
        if one is None:
            return Domain(None)
        ranges.append(one)
    for position in range(len(ranges) - 1, 0, -1):
        clipped = _clip(ranges, position)
        if clipped is None:
            return Domain(None)
        ranges = clipped
    return Domain(tuple(ranges))


def _range_of(loop: Loop) -> Range | None:
    trips, step = loop.trips, loop.step.constant if loop.step is not None else None
    if trips is None or loop.start is None or loop.bound is None or not isinstance(step, int):
        return None
    limit = loop.bound
    if loop.comparison in ("<", ">", "!="):
        limit = limit - 1 if step > 0 else limit + 1
    return Range(loop.variable, loop.start, trips, step, limit)


def _clip(ranges: list[Range], position: int) -> list[Range] | None:
    """Shortens an outer range where the range at `position` would have no iteration."""
    inner = ranges[position]
    moving = [p for p in range(position) if ranges[p].variable in inner.trips.names]
    if not moving:
        return ranges
    if len(moving) > 1:
        return _clip_by_several(ranges, position, moving)
    at = moving[0]
    outer = ranges[at]
    slope = inner.trips.coefficient(outer.variable)
    change = slope.constant if slope is not None else None
    if not isinstance(change, int) or not change:
        return ranges
    falls = change * outer.step < 0
    if not falls:
        lowest = inner.trips.substitute({outer.variable: outer.first}).constant
    elif abs(outer.step) == 1:
        lowest = inner.trips.substitute({outer.variable: outer.last}).constant
    else:
        # The last value of a strided loop lies within a stride of its bound.
        near = inner.trips.substitute({outer.variable: outer.bound}).constant
        return ranges if near is None or near >= 0 else None
    if lowest is None:
        return _clip_by_several(ranges, position, moving)
    if lowest >= 1:
        return ranges
    rate = abs(change * outer.step)
    missing = int(-((lowest - 1) // rate))  # iterations of the outer loop that run nothing
    shorter = replace(outer, trips=outer.trips - missing)
    if falls:
        shorter = replace(shorter, bound=outer.bound - missing * outer.step)
    else:
        shorter = replace(shorter, first=outer.first + missing * outer.step)
    return [*ranges[:at], shorter, *ranges[at + 1 :]]


def _clip_by_several(ranges: list[Range], position: int, moving: list[int]) -> list[Range] | None:
    """With several outer variables in a bound: fine where the count cannot fall below zero."""
    low = ranges[position].trips
    for at in range(moving[-1], -1, -1):
        outer = ranges[at]
        if outer.variable not in low.names:
            continue
        slope = low.coefficient(outer.variable)
        change = slope.constant if slope is not None else None
        if change is None:
            return ranges
        low = low.substitute({outer.variable: outer.ends[0 if change > 0 else 1]})
    lowest = low.constant
    return None if lowest is not None and lowest < 0 else ranges
