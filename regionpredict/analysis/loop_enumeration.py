"""Enumerates loops with numeric sizes, for exact counts and bounding boxes.

Closed forms are valid for all sizes, and symbolic boxes compare bounds as if sizes were large. If
the values are known, the loops can be evaluated instead. A loop whose variable does not occur in
inner bounds contributes its trip count. If all subscripts are affine in the variable of a loop,
only its first and last values are needed. Only other loops are enumerated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from regionpredict.analysis.condition_counts import (
    UndecidedError,
    Values,
    condition_holds,
    count_satisfying,
)
from regionpredict.ir import Expr, Loop
from regionpredict.ir.expr import ZERO
from regionpredict.ir.folding import Number

_MOST_STEPS = 20_000
"""Maximum number of iterations enumerated per result, which takes about a tenth of a second."""


class TooManyError(Exception):
    """Raised if the number of iterations to enumerate exceeds the limit."""


class _Steps(NamedTuple):
    """The values of a loop variable: `trips` values that start at `first` and advance by `step`."""

    first: int
    trips: int
    step: int

    @property
    def last(self) -> int:
        return self.first + (self.trips - 1) * self.step


def count_executions(
    loops: Sequence[Loop], values: Mapping[str, Number], conditions: Sequence[Expr] = ()
) -> int | None:
    """Returns the number of executions of the body of the loops (outermost first) for which all
    `conditions` on their variables hold. None if unknown.

    >>> from regionpredict.ir import Span
    >>> n, i, zero, one = Expr.name("n"), Expr.name("i"), Expr.const(0), Expr.const(1)
    >>> outer = Loop("i", zero, n, "<", one, (), Span("f.c", 1))
    >>> inner = Loop("j", i + 4, Expr.const(9), "<", one, (), Span("f.c", 2))
    >>> count_executions((outer, inner), {"n": 1000})
    15
    """
    if not conditions:
        loops, _ = _counted_from_zero(loops, values)
    try:
        return _ExecutionCounter(loops, values, conditions).whole()
    except (TooManyError, _UnknownError, UndecidedError):
        return None


class Extent(NamedTuple):
    """The lowest and the highest value of an expression."""

    low: int
    high: int


def extents_over_loops(
    subscripts: Sequence[Expr], loops: Sequence[Loop], values: Mapping[str, Number]
) -> tuple[Extent, ...] | None:
    """Returns the extents of expressions over all iterations of the loops. Empty if no iteration
    runs.

    None if the extents are unknown, or if there are too many iterations. A loop with an unknown
    trip count is assumed to run (`has_unknown_trips`).
    """
    used = frozenset().union(
        *(subscript.names for subscript in subscripts), *map(_names_in_header, loops)
    )
    loops = [
        loop for loop in loops if loop.variable in used or _has_known_trips(loop, loops, values)
    ]
    loops, moved = _counted_from_zero(loops, values)
    subscripts = [subscript.substitute(moved) for subscript in subscripts]
    enumerated_loops = _loops_to_enumerate(loops, subscripts)
    ranges: tuple[Extent, ...] = ()
    budget = _IterationBudget()
    ends = [loop.variable for loop, own in zip(loops, enumerated_loops, strict=True) if not own]
    loop_variables = frozenset(loop.variable for loop in loops)
    bound = [(_with_fixed_values(subscript, values, loop_variables), [name for name in ends
                                                     if name in subscript.names])
             for subscript in subscripts]  # fmt: skip
    try:
        for _, steps in _enumerated_iterations(loops, enumerated_loops, values, budget):
            at = dict(values)
            at.update((name, step) for name, step in steps.items() if isinstance(step, int))
            met = [_linear_extent(subscript, own, steps, at, budget) for subscript, own in bound]
            ranges = tuple(
                Extent(min(a.low, b.low), max(a.high, b.high))
                for a, b in zip(ranges or met, met, strict=True)
            )
    except (TooManyError, _UnknownError):
        return None
    return ranges


def extents_of_all(
    references: Sequence[Sequence[Expr]], loops: Sequence[Loop], values: Mapping[str, Number]
) -> Iterator[tuple[Extent, ...] | None]:
    """Yields the extents of the subscripts of each reference in the same loops. The loops are
    evaluated once for all references, unless this takes too long.
    """
    every = dict.fromkeys(subscript for own in references for subscript in own)
    enumerated = (
        None if has_unknown_trips(loops, values) else extents_over_loops([*every], loops, values)
    )
    if enumerated is None:
        yield from (extents_over_loops(own, loops, values) for own in references)
        return
    known = dict(zip(every, enumerated, strict=False))
    for own in references:
        yield tuple(known[subscript] for subscript in own) if enumerated else ()


def has_unknown_trips(loops: Sequence[Loop], values: Mapping[str, Number]) -> bool:
    """Whether the trip count of one of the loops is unknown."""
    return any(not _has_known_trips(loop, loops, values) for loop in loops)


def _has_known_trips(
    loop: Loop, enclosing_loops: Sequence[Loop], values: Mapping[str, Number]
) -> bool:
    own = {other.variable for other in enclosing_loops}
    return (
        loop.trips is not None
        and _names_in_header(loop) <= own | values.keys()
        and not any(
            end is not None and end.has_unreadable_part
            for end in (loop.start, loop.bound, loop.step)
        )
    )


def _names_in_header(loop: Loop) -> frozenset[str]:
    ends = (end for end in (loop.start, loop.bound, loop.step) if end is not None)
    return frozenset().union(*(end.names for end in ends))


class _UnknownError(Exception):
    """Raised if a bound or a subscript has no value."""


class _IterationBudget:
    """Counts enumerated iterations and raises TooManyError above the limit."""

    def __init__(self) -> None:
        self.left = _MOST_STEPS

    def spend_steps(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooManyError


def _counted_from_zero(
    loops: Sequence[Loop], values: Mapping[str, Number]
) -> tuple[Sequence[Loop], dict[str, Expr]]:
    """Makes loops count from zero if their start depends on an outer loop and their trip count is
    constant.

    `for (p = 64*box; p < 64*box + n; p++)` becomes `for (p = 0; p < n; p++)` over `64*box + p`, so
    that the iterations of the outer loop need no enumeration. Also returns the expressions for the
    changed variables.
    """
    outer: set[str] = set()
    moved: dict[str, Expr] = {}
    made: list[Loop] = []
    if len({loop.variable for loop in loops}) < len(loops):
        return loops, moved
    for loop in loops:
        start, bound, step = (
            None if end is None else end.substitute(moved)
            for end in (loop.start, loop.bound, loop.step)
        )
        own = replace(loop, start=start, bound=bound, step=step) if moved else loop
        if start is not None and bound is not None and not outer.isdisjoint(start.names):
            trips = bound - start
            whole = all(isinstance(number, int) for number in start.terms.values())
            known = start.names <= outer | values.keys() and not any(True for _ in start.atoms())
            if whole and known and outer.isdisjoint(trips.names):
                own = replace(loop, start=ZERO, bound=trips, step=step)
                moved[loop.variable] = start + Expr.name(loop.variable)
        made.append(own)
        outer.add(loop.variable)
    return (made, moved) if moved else (loops, moved)


def _loops_to_enumerate(loops: Sequence[Loop], subscripts: Sequence[Expr]) -> list[bool]:
    """Returns for each loop whether it must be enumerated, because inner bounds or subscripts are
    not affine in its variable.
    """
    enumerated_loops = []
    for position, loop in enumerate(loops):
        name = loop.variable
        inner = any(
            bound is None or name in bound.names
            for other in loops[position + 1 :]
            for bound in (other.start, other.bound, other.step)
        )
        redefined = any(other.variable == name for other in loops[position + 1 :])
        not_affine = any(name in s.names and s.coefficient(name) is None for s in subscripts)
        enumerated_loops.append(inner or not_affine or redefined)
    return enumerated_loops


def _enumerated_iterations(
    loops: Sequence[Loop],
    enumerated_loops: Sequence[bool],
    values: Mapping[str, Number],
    budget: _IterationBudget,
) -> Iterator[tuple[int, dict[str, int | _Steps]]]:
    """Yields every combination of iterations of the enumerated loops that executes the body, with
    the number of iterations of the other loops.

    The dictionary contains the value of each enumerated loop variable, and the steps of every other
    loop.
    """

    loop_variables = frozenset(loop.variable for loop in loops)
    ends = [_header_with_values(loop, values, loop_variables) for loop in loops]
    rounds = [_needs_execution(loop) for loop in loops]

    def below(
        depth: int, at: dict[str, Number], steps: dict[str, int | _Steps], weight: int
    ) -> Iterator[tuple[int, dict[str, int | _Steps]]]:
        if depth == len(loops):
            yield weight, steps
            return
        loop = loops[depth]
        own = _steps_of(loop, ends[depth], at)
        if rounds[depth]:
            budget.spend_steps(own.trips)
        if not own.trips:
            return
        if enumerated_loops[depth] and own.trips > budget.left:
            raise TooManyError
        if not enumerated_loops[depth]:
            yield from below(depth + 1, at, {**steps, loop.variable: own}, weight * own.trips)
            return
        for number in range(own.trips):
            budget.spend_steps()
            value = own.first + number * own.step
            at[loop.variable] = value
            yield from below(depth + 1, at, {**steps, loop.variable: value}, weight)
        at.pop(loop.variable, None)

    yield from below(0, dict(values), {}, 1)


class _ExecutionCounter:
    """Counts the executions of the body of loops without storing the iterations."""

    def __init__(
        self, loops: Sequence[Loop], values: Mapping[str, Number], conditions: Sequence[Expr]
    ) -> None:
        self._loops = loops
        self._loops_to_enumerate = _loops_to_enumerate(loops, ())
        self._always: list[Expr] = []  # conditions without loop variables
        self._conditions: list[list[Expr]] = [[] for _ in loops]  # by the loop that decides them
        self._assign_conditions(conditions)
        self._rounds = [_needs_execution(loop) for loop in loops]
        self._budget = _IterationBudget()
        loop_variables = frozenset(loop.variable for loop in loops)
        # The value of a counter outside its loop does not matter for the loop.
        self._at = {name: value for name, value in values.items() if name not in loop_variables}
        self._ends = [_header_with_values(loop, values, loop_variables) for loop in loops]

    def _assign_conditions(self, conditions: Sequence[Expr]) -> None:
        """Assigns each condition to the innermost loop that it depends on. The outer loops of the
        condition are enumerated, so that their variables have values.
        """
        names = [loop.variable for loop in self._loops]
        if conditions and len(set(names)) < len(names):
            raise _UnknownError
        for condition in conditions:
            depths = [depth for depth, name in enumerate(names) if name in condition.names]
            for depth in depths[:-1]:
                self._loops_to_enumerate[depth] = True
            (self._conditions[depths[-1]] if depths else self._always).append(condition)

    def whole(self) -> int:
        """Returns the number of executions of the body."""
        if not all(condition_holds(condition, self._at) for condition in self._always):
            return 0
        return self.executions_from(0)

    def _fulfilling_iterations(self, depth: int, own: _Steps) -> int:
        """Returns the number of iterations of a loop for which its conditions hold."""
        conditions = self._conditions[depth]
        if not conditions:
            return own.trips
        known = {name: Expr.const(value) for name, value in self._at.items()}
        bound = [condition.substitute(known) for condition in conditions]
        taken = Values(own.first, own.trips, own.step)
        return count_satisfying(self._loops[depth].variable, taken, bound)

    def executions_from(self, depth: int) -> int:
        """Returns the number of executions of the body in all iterations of the loop at `depth` and
        its inner loops.
        """
        weight = 1
        while depth < len(self._loops):
            loop = self._loops[depth]
            own = _steps_of(loop, self._ends[depth], self._at)
            if self._rounds[depth]:
                self._budget.spend_steps(own.trips)
            if not own.trips:
                return 0
            if self._loops_to_enumerate[depth]:
                return weight * self._enumerate_loop(depth, own)
            weight *= self._fulfilling_iterations(depth, own)
            depth += 1
        return weight

    def _enumerate_loop(self, depth: int, own: _Steps) -> int:
        if own.trips > self._budget.left:
            raise TooManyError
        name, total = self._loops[depth].variable, 0
        for number in range(own.trips):
            self._budget.spend_steps()
            self._at[name] = own.first + number * own.step
            if all(condition_holds(condition, self._at) for condition in self._conditions[depth]):
                total += self.executions_from(depth + 1)
        self._at.pop(name, None)
        return total


_End = Expr | int | None


def _header_with_values(
    loop: Loop, values: Mapping[str, Number], loop_variables: Collection[str]
) -> tuple[_End, _End, _End]:
    return (
        _with_fixed_values(loop.start, values, loop_variables),
        _with_fixed_values(loop.bound, values, loop_variables),
        _with_fixed_values(loop.step, values, loop_variables),
    )


def _with_fixed_values(
    end: Expr | None, values: Mapping[str, Number], loop_variables: Collection[str]
) -> _End:
    """Replaces the names in a polynomial that no loop changes by their values."""
    if end is None or any(True for _ in end.atoms()):
        return end
    fixed = {name: Expr.const(values[name]) for name in end.names
             if name in values and name not in loop_variables}  # fmt: skip
    bound = end.substitute(fixed) if fixed else end
    return bound.constant if isinstance(bound.constant, int) else bound


def _needs_execution(loop: Loop) -> bool:
    """Whether the trip count of a loop is known only by executing the loop."""
    return loop.bound is not None and "trips" in loop.bound.kinds


def steps_of(loop: Loop, values: Mapping[str, Number]) -> _Steps:
    """Returns the values that a loop's variable takes when C executes the loop."""
    return _steps_of(loop, (loop.start, loop.bound, loop.step), values)


def _steps_of(loop: Loop, ends: tuple[_End, _End, _End], values: Mapping[str, Number]) -> _Steps:
    """Returns the values of a loop's variable if the loop's `ends` are known."""
    first, bound, step = ends
    return _steps_between(
        loop.comparison,
        first if isinstance(first, int) else _integer_value(first, values),
        bound if isinstance(bound, int) else _integer_value(bound, values),
        step if isinstance(step, int) else _integer_value(step, values),
    )


def _steps_between(comparison: str, first: int, bound: int, step: int) -> _Steps:
    distance = bound - first
    if comparison == "!=":
        if distance == 0:
            return _Steps(first, 0, step)
        if step == 0 or distance % step or (distance > 0) != (step > 0):
            raise _UnknownError
        return _Steps(first, distance // step, step)
    rising = comparison in ("<", "<=")
    if comparison in ("<=", ">="):
        distance += 1 if rising else -1
    if (distance <= 0) if rising else (distance >= 0):
        return _Steps(first, 0, step)
    if step == 0 or (step > 0) != rising:
        raise _UnknownError  # the variable moves away from its bound until it overflows
    return _Steps(first, -(-abs(distance) // abs(step)), step)


def _integer_value(expression: Expr | None, values: Mapping[str, Number]) -> int:
    value = expression.evaluate(values) if expression is not None else None
    if value is None or isinstance(value, Fraction):
        raise _UnknownError
    return value


def _linear_extent(
    subscript: _End, loop_variables: Sequence[str], steps: Mapping[str, int | _Steps],
    at: dict[str, Number], budget: _IterationBudget,
) -> Extent:  # fmt: skip
    """Returns the extent of an expression that is linear in each variable. It has its extremes at
    the extremes of the variables.
    """
    numbers = []
    choices = []
    for name in loop_variables:
        own = steps[name]
        choices.append((own.first, own.last) if isinstance(own, _Steps) else (own,))
    for corner in product(*choices):
        budget.spend_steps()
        at.update(zip(loop_variables, corner, strict=True))
        numbers.append(subscript if isinstance(subscript, int) else _integer_value(subscript, at))
    return Extent(min(numbers), max(numbers))
