"""Counts executions in loops, under conditions and over many calls.

Loops of unknown size are assumed to run `ASSUMED_TRIPS` times. Conditions with an unknown value are
assumed to hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from regionpredict.analysis import loop_enumeration
from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.condition_counts import conjuncts_of
from regionpredict.analysis.facts import count_of_loops
from regionpredict.analysis.iterations import executions_in_loops
from regionpredict.constant import Constant
from regionpredict.ir import Expr, Loop, Span
from regionpredict.ir.folding import Number

ASSUMED_TRIPS = Constant(
    10.0, "iterations", "assumed", "assumed iterations of a serial loop with an unknown trip count"
)


class Runs(NamedTuple):
    """A number of executions as an expression and as a number. Both are None if unknown.

    `weight` is the number under the assumption that each unknown loop runs `ASSUMED_TRIPS` times.
    If `assumed` lists unknown properties of called functions, `weight` is the maximum.
    """

    expr: Expr | None
    value: int | None
    weight: float
    assumed: tuple[str, ...] = ()

    def times(self, other: Runs) -> Runs:
        """Returns the product: the number of executions if each one is repeated `other` times."""
        expr = None
        if self.expr is not None and other.expr is not None:
            expr = self.expr * other.expr
        value = None
        if self.value is not None and other.value is not None:
            value = self.value * other.value
        return Runs(expr, value, self.weight * other.weight, self._assumed_with(other))

    def plus(self, other: Runs) -> Runs:
        """Returns the sum of both numbers of executions."""
        expr = None
        if self.expr is not None and other.expr is not None:
            expr = self.expr + other.expr
        value = None
        if self.value is not None and other.value is not None:
            value = self.value + other.value
        return Runs(expr, value, self.weight + other.weight, self._assumed_with(other))

    def _assumed_with(self, other: Runs) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.assumed, *other.assumed)))

    def at(self, values: Mapping[str, int | Fraction]) -> float:
        """Returns the number for these values of names. If names are missing, returns the
        weight.
        """
        if self.value is not None or self.expr is None:
            return self.weight
        number = self.expr.evaluate(values)
        return self.weight if number is None else max(0.0, float(number))


ONCE = Runs(Expr.const(1), 1, 1.0)
NEVER = Runs(Expr.const(0), 0, 0.0)


def runs_of(loops: Sequence[Loop], bindings: Bindings) -> Runs:
    """Returns the number of executions of the body of a loop nest (outermost loop first).

    >>> from regionpredict.ir.expr import ONE, ZERO
    >>> outer = Loop("t", ZERO, Expr.name("nt"), "<", ONE, (), Span("f.c", 1))
    >>> runs_of((outer,), Bindings({"nt": 7}))[1:3], runs_of((outer,), Bindings({}))[1:3]
    ((7, 7.0), (None, 10.0))
    """
    if not loops:
        return ONCE
    count = count_of_loops(executions_in_loops(tuple(loops)), bindings)
    if count.value is not None:
        return Runs(count.expr, count.value, float(count.value))
    weight = 1.0
    for loop in loops:
        trips = bindings.whole(loop.trips)
        weight *= ASSUMED_TRIPS.value if trips is None else max(0, trips)
    return Runs(count.expr, None, weight)


class Guard(NamedTuple):
    """The condition under which a branch is executed. It is an expression in `counters`, which
    change with loops, and in other names without a value. `text` is the source of the condition at
    `span`. `parameters` are its function parameters with their positions, and `numbers` their
    default values.
    """

    condition: Expr
    text: str
    counters: tuple[tuple[str, Span], ...]
    span: Span
    parameters: tuple[tuple[str, int], ...] = ()
    numbers: tuple[tuple[str, Expr], ...] = ()

    @property
    def is_decided(self) -> bool:
        """Whether the condition is known to be true in all iterations, or false in all."""
        known = [part.constant for part in conjuncts_of(self.condition)]
        return 0 in known or None not in known

    def with_arguments(self, numbers: Mapping[int, Number]) -> Guard:
        """Returns the condition in a function that receives these arguments, by position."""
        if not self.parameters:
            return self
        known = dict(self.numbers)
        known |= {
            name: Expr.const(numbers[at]) for name, at in self.parameters if at in numbers
        }  # fmt: skip
        condition = self.condition.substitute(known)
        return Guard(condition, self.text, self.counters, self.span)


Guards = Mapping[tuple[Span, int], Guard]
"""Maps the location of an `if` or a `switch`, and the number of its branch, to the condition."""


def guarded_runs(loops: Sequence[Loop], bindings: Bindings, guards: Sequence[Guard]) -> Runs:
    """Returns the number of executions of the body of a loop nest (outermost loop first) for which
    all guards hold.
    """
    total_runs = runs_of(loops, bindings)
    conditions: list[Expr] = []
    notes: list[str] = []
    for guard in guards:
        for part in _conditions_on_loops(guard, loops):
            if part.constant == 0:
                return NEVER
            if part.constant is not None:
                continue
            if part.names <= {loop.variable for loop in loops} and not part.has_unreadable_part:
                conditions.append(part)
            else:
                notes.append(_undecided_note(guard, part))
    if conditions:
        total_runs = _runs_satisfying(conditions, loops, bindings, guards, total_runs)
    if not notes:
        return total_runs
    return total_runs.times(Runs(None, None, 1.0, tuple(dict.fromkeys(notes))))


def _conditions_on_loops(guard: Guard, loops: Sequence[Loop]) -> list[Expr]:
    """Returns the conditions of a guard, in terms of the variables of these loops."""
    variables = {loop.span: loop.variable for loop in loops if loop.trips is not None}
    names = {
        name: Expr.name(variables[span]) if span in variables else _MOVED
        for name, span in guard.counters
    }  # fmt: skip
    return conjuncts_of(guard.condition.substitute(names))


_MOVED = Expr.atom("varying", label="an unknown counter", over=("?",))


def _runs_satisfying(
    conditions: Sequence[Expr], loops: Sequence[Loop], bindings: Bindings,
    guards: Sequence[Guard], total_runs: Runs,
) -> Runs:  # fmt: skip
    """Returns the number of executions of a nest for which these conditions on its variables
    hold.
    """
    count = loop_enumeration.count_executions(loops, bindings.values, conditions)
    if count is not None:
        return Runs(None, count, float(count), total_runs.assumed)
    assumed = [_with_assumed_trips(loop, bindings) for loop in loops]
    some = loop_enumeration.count_executions(assumed, bindings.values, conditions)
    if some is not None:
        return Runs(None, None, float(some), total_runs.assumed)
    notes = tuple(_undecided_note(guard, None) for guard in guards)
    return Runs(None, None, total_runs.weight, (*total_runs.assumed, *notes))


def _with_assumed_trips(loop: Loop, bindings: Bindings) -> Loop:
    """Gives a loop with an unknown trip count the assumed number of iterations."""
    if bindings.whole(loop.trips) is not None:
        return loop
    zero, unit = Expr.const(0), Expr.const(1)
    known = bindings.number(loop.start) is not None and bindings.number(loop.step) is not None
    start = loop.start if known and loop.start is not None else zero
    step = loop.step if known and loop.step is not None else unit
    down = (bindings.number(step) or 1) < 0
    bound = start + int(ASSUMED_TRIPS.value) * step
    return replace(loop, start=start, bound=bound, step=step, comparison=">" if down else "<")


def _undecided_note(guard: Guard, part: Expr | None) -> str:
    """Returns the note on an undecided condition, with the name whose value would decide it."""
    where = guard.span.short
    note = f"{guard.text} at {where} is assumed to hold each time"
    if part is None or part.has_unreadable_part:
        return note
    names = sorted(part.names - {name for name, _ in guard.counters})
    return note + "".join(f" (--set {name}=... decides it)" for name in names[:1])
