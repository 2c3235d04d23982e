"""The iteration domain of a statement: the ranges of its loops, reduced to nonempty iterations.

In `for (i = 0; i < n; i++) for (j = i + 2; j < n; j++)`, the loop over `j` does not run for the
last two values of `i`. Trip counts by formula would be -1 and 0. Here, the range of `i` ends where
the inner loop still runs, so that sums and boxes are exact. If two bounds cannot be compared (`n`
with `m`), the loops are assumed to run. `guards` are trip counts that must be at least one for the
closed form to be valid. If one of them is smaller, nothing runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from regionpredict.analysis.symbolic.piecewise import Steps
from regionpredict.ir import Expr, Loop
from regionpredict.ir.expr import ONE


@dataclass(frozen=True, slots=True)
class Range:
    """The `trips` values of `variable`: first, first + step, ... The step is not zero."""

    variable: str
    first: Expr
    trips: Expr
    step: int
    bound: Expr  # the last value allowed by the comparison

    @property
    def last(self) -> Expr:
        """The variable's last value."""
        return self.first + (self.trips - 1) * self.step

    @property
    def ends(self) -> tuple[Expr, Expr]:
        """The smallest and the largest value. They are exact for steps of one, otherwise bounds."""
        last = self.last if abs(self.step) == 1 else self.bound
        return (self.first, last) if self.step > 0 else (last, self.first)


@dataclass(frozen=True, slots=True)
class Domain:
    """The ranges of a nest, outermost first. `ranges` is None if the nest is not supported."""

    ranges: tuple[Range, ...] | None

    @property
    def guards(self) -> tuple[Expr, ...]:
        """Trip counts that depend only on parameters. If one is below 1, nothing runs."""
        own = {r.variable for r in self.ranges or ()}
        return tuple(r.trips for r in self.ranges or () if not r.trips.names & own)


def domain_of(loops: tuple[Loop, ...]) -> Domain:
    """Returns the domain of a statement inside `loops`, outermost first.

    >>> from regionpredict.ir import Span
    >>> from regionpredict.ir.expr import ONE
    >>> n, i, zero = Expr.name("n"), Expr.name("i"), Expr.const(0)
    >>> outer = Loop("i", zero, n, "<", ONE, (), Span("f.c", 1))
    >>> inner = Loop("j", i + 2, n, "<", ONE, (), Span("f.c", 2))
    >>> [str(r.trips) for r in domain_of((outer, inner)).ranges]
    ['n - 2', '-i + n - 2']
    """
    ranges: list[Range] = []
    tiles = _tile_loops(loops)
    for position in range(len(loops)):
        # Each iteration over tiles is replaced by one iteration of the inner loop, in the same
        # order.
        own = _range_of(_with_unit_step(_without_tiling(loops, position, tiles)))
        if own is None:
            return Domain(None)
        ranges.append(own)
    for position in range(len(ranges) - 1, 0, -1):
        clipped = _shorten_outer_range(ranges, position)
        if clipped is None:
            return Domain(None)
        ranges = clipped
    return Domain(tuple(ranges))


def steps_of(loops: tuple[Loop, ...]) -> list[Steps] | None:
    """Returns the loops that determine the count, outermost first. None if a loop has no trip
    count.

    For a tiled loop (`for (ii = 0; ii < n; ii += b) for (i = ii; i < min(ii + b, n); i++)`), only
    the inner loop counts, from 0 to n, for any b.
    """
    tiles = _tile_loops(loops)
    steps = []
    for position in range(len(loops)):
        if position in tiles:
            continue
        loop = _without_tiling(loops, position, tiles)
        if loop.trips is None or loop.start is None or loop.step is None:
            return None
        steps.append(Steps(loop.variable, loop.start, loop.trips, loop.step))
    return steps


def _tile_loops(loops: tuple[Loop, ...]) -> dict[int, int]:
    """Returns the loops over tiles, each with the loop inside a tile, by their positions."""
    tiles: dict[int, int] = {}
    for outer, tile in enumerate(loops):
        users = [
            inner for inner in range(outer + 1, len(loops))
            if tile.variable in _names_in_bounds(loops[inner])
        ]  # fmt: skip
        if len(users) == 1 and _is_tile(tile, loops[users[0]]):
            tiles[outer] = users[0]
    return tiles


def _names_in_bounds(loop: Loop) -> frozenset[str]:
    bounds = (bound for bound in (loop.start, loop.bound) if bound is not None)
    return frozenset().union(*(bound.names for bound in bounds))


def _is_tile(tile: Loop, inner: Loop) -> bool:
    if inner.step != ONE or tile.step is None or inner.start != Expr.name(tile.variable):
        return False
    end, within = _upper_end(tile), _upper_end(inner)
    if end is None or within is None:
        return False
    reach = Expr.name(tile.variable) + tile.step
    return within in (Expr.atom("min", reach, end), Expr.atom("min", end, reach))


def _upper_end(loop: Loop) -> Expr | None:
    """Returns the exclusive upper bound of an upward loop. For an inclusive bound `min(a, b)`, it
    is `min(a + 1, b + 1)`.
    """
    if loop.bound is None or loop.comparison not in ("<", "<="):
        return None
    if loop.comparison == "<":
        return loop.bound
    atom = next(iter(loop.bound.atoms()), None)
    if atom is not None and atom.kind == "min" and loop.bound == Expr.atom("min", *atom.args):
        return Expr.atom("min", *(arg + 1 for arg in atom.args))
    return loop.bound + 1


def _without_tiling(loops: tuple[Loop, ...], position: int, tiles: dict[int, int]) -> Loop:
    """Returns the loop with the bounds of the whole range instead of those of a tile."""
    loop = loops[position]
    if position in tiles:
        return replace(loop, step=ONE)
    around = next((outer for outer, inner in tiles.items() if inner == position), None)
    if around is None:
        return loop
    return replace(loop, start=loops[around].start, bound=_upper_end(loops[around]), comparison="<")


def _with_unit_step(loop: Loop) -> Loop:
    """Replaces a loop with a variable step by a loop over all values up to its bound."""
    if loop.step is None or loop.step.constant is not None:
        return loop
    return replace(loop, step=ONE if loop.comparison in ("<", "<=") else -ONE)


def _range_of(loop: Loop) -> Range | None:
    trips, step = loop.trips, loop.step.constant if loop.step is not None else None
    if trips is None or loop.start is None or loop.bound is None or not isinstance(step, int):
        return None
    limit = loop.bound
    if loop.comparison in ("<", ">", "!="):
        limit = limit - 1 if step > 0 else limit + 1
    return Range(loop.variable, loop.start, trips, step, limit)


def _shorten_outer_range(ranges: list[Range], position: int) -> list[Range] | None:
    """Shortens an outer range such that the range at `position` is never empty."""
    inner = ranges[position]
    outer_positions = [p for p in range(position) if ranges[p].variable in inner.trips.names]
    if not outer_positions:
        return ranges
    if len(outer_positions) > 1:
        return _shorten_for_several_variables(ranges, position, outer_positions)
    at = outer_positions[0]
    outer = ranges[at]
    slope = inner.trips.coefficient(outer.variable)
    change = slope.constant if slope is not None else None
    if not isinstance(change, int) or not change:
        return ranges
    decreasing = change * outer.step < 0
    if not decreasing:
        lowest = inner.trips.substitute({outer.variable: outer.first}).constant
    elif abs(outer.step) == 1:
        lowest = inner.trips.substitute({outer.variable: outer.last}).constant
    else:
        # The last value of a strided loop is less than a stride from its bound.
        near = inner.trips.substitute({outer.variable: outer.bound}).constant
        return ranges if near is None or near >= 0 else None
    if lowest is None:
        return _shorten_for_several_variables(ranges, position, outer_positions)
    if lowest >= 1:
        return ranges
    rate = abs(change * outer.step)
    missing = int(-((lowest - 1) // rate))  # outer iterations whose inner loop does not run
    shorter = replace(outer, trips=outer.trips - missing)
    if decreasing:
        shorter = replace(shorter, bound=outer.bound - missing * outer.step)
    else:
        shorter = replace(shorter, first=outer.first + missing * outer.step)
    return [*ranges[:at], shorter, *ranges[at + 1 :]]


def _shorten_for_several_variables(
    ranges: list[Range], position: int, outer_positions: list[int]
) -> list[Range] | None:
    """Handles bounds with several outer variables. The result is valid if the count is
    nonnegative.
    """
    low = ranges[position].trips
    for at in range(outer_positions[-1], -1, -1):
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
