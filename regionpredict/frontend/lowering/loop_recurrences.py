"""Solves loops without a constant step: the number of iterations, and the values of variables.

    int e = n;                                  recurrence: j' = j + 1, e' = e - 1
    for (int j = 0; j < e; j++) {               solution: (n + 1) / 2 iterations;
        ...                                     in iteration k, j is k and e is n - k
        e--;
    }

The body is evaluated once to find the new values of its variables, which must consist of numbers
and names. If each iteration reduces the distance to the bound by a constant, the number of
iterations has a closed form. For other loops, the recurrence is evaluated when the values are
known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.invariant_values import is_memory_value
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.variable_values import VariableValues, in_declaration_order
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Compound,
    Decl,
    Effects,
    Expression,
    If,
    Index,
    Jump,
    Name,
    Stmt,
    Ternary,
    assigned_place,
    declared_in,
    every_expression,
    every_statement,
    expressions_in,
    jumps_out,
)
from regionpredict.frontend.syntax.integer_types import fits
from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO, Atom

_SIZE = re.compile(r"(?:^|\W)size$")  # `size(v)`, `v.size()`
_LEAST_BITS = 32  # minimum width of unsigned types that are assumed not to overflow


class LoopWithoutInit(NamedTuple):
    """The condition, body and increment of a loop. `condition_last` says that the condition is
    evaluated after the body.
    """

    condition: Expression
    body: Stmt
    increment: Expression | None = None
    condition_last: bool = False


class TrialEvaluator(NamedTuple):
    """Functions that evaluate code only for the values of variables.

    `execute` applies a statement to a frame. `evaluate` returns the value of an expression and
    applies its side effects.
    """

    execute: Callable[[Stmt, Frame], object]
    evaluate: Callable[[Expression, Frame], Expr]


class LoopSolution(NamedTuple):
    """The number of iterations of a loop, and the values of its variables.

    `inside` gives the values in an iteration as functions of the iteration number, and `after` the
    values after the loop. Missing variables have unknown values.
    """

    trips: Expr
    inside: Mapping[Decl, Expr]
    after: Mapping[Decl, Expr]


def solve_recurrence(
    loop: LoopWithoutInit,
    name: str,
    unit: LinkedUnit,
    context: Context,
    frame: Frame,
    trial: TrialEvaluator,
) -> LoopSolution | None:
    """Returns the number of iterations and the variables' values. Returns None if they depend on
    anything other than numbers and names.

    `name` is the name of the iteration number, which starts at 0.
    """
    effects = unit.effects
    last = _last_break(loop.body)
    body = loop.body if last is None else Compound(_statements_of(loop.body)[:-1])
    if _has_jump_out(body) or any(
        _has_conditional_side_effect(e, unit) for e in every_expression(loop.condition)
    ):
        return None
    written = written_by(loop, effects)
    inside = list(expressions_in(body))
    if context.exposed and any(writes_memory(e) or isinstance(e, CallExpr) for e in inside):
        if context.frames:
            return None  # the loop may set variables of enclosing functions
        written |= context.exposed
    own = in_declaration_order(
        {decl for decl in written - declared_in(body) if decl.ctype.kind == "int"}
    )
    return _Recurrence(loop, body, last, own, name, unit, context, frame, trial).solve(written)


def repeated_by_goto(back: Compound) -> LoopWithoutInit | None:
    """Returns the parts of the loop `again: ...; if (c) goto again;`. Returns None for any other
    form.
    """
    first, last = back.items[0], back.items[-1]
    if len(back.items) < 2 or not isinstance(first, Compound) or not isinstance(last, If):
        return None
    inside = _statements_of(last.then)
    only = inside[0] if len(inside) == 1 and last.other is None else None
    if not isinstance(only, Jump) or only.kind != "goto" or only.label != first.label:
        return None
    body = Compound((*first.items, *back.items[1:-1]))
    return (
        None if _has_jump_out(body) else LoopWithoutInit(last.condition, body, condition_last=True)
    )


def written_by(loop: LoopWithoutInit, effects: Effects) -> set[Decl]:
    """Returns the variables that the loop may set."""
    written = set(effects.written_in(loop.body)) | set(effects.of(loop.condition))
    return written | (set(effects.of(loop.increment)) if loop.increment is not None else set())


class _Recurrence:
    """The recurrence of a loop: the first value of each variable, and its next value in terms of
    the current values.
    """

    def __init__(
        self, loop: LoopWithoutInit, body: Stmt, last: Expression | None, own: list[Decl],
        name: str, unit: LinkedUnit, context: Context, frame: Frame, steps: TrialEvaluator,
    ) -> None:  # fmt: skip
        self.loop = loop
        self.context = context
        self.number = Expr.name(name)
        self.trips = ZERO
        self.values = VariableValues(context, unit.effects)
        self.frame = frame
        self.own = own
        self.states = {
            decl: Expr.atom("state", label=f"{context.name_of(decl, frame.depth)}@{name}")
            for decl in own
        }
        self.first: dict[str, Expr | None] = {}
        self.next: dict[str, Expr] = {}
        trial = Frame({**frame.env, **self.states}, frame.depth, frame.calls)
        exact = context.exact
        returned, frames = context.returned, context.frames
        context.returned, context.exact = {}, True
        context.frames = [frame._replace(env=dict(frame.env)) for frame in frames]
        continues = None if loop.condition_last else steps.evaluate(loop.condition, trial)
        steps.execute(body, trial)
        broken = steps.evaluate(last, trial) if last is not None else None
        if loop.increment is not None:
            steps.evaluate(loop.increment, trial)
        again = steps.evaluate(loop.condition, trial) if loop.condition_last else None
        context.exact = exact
        context.returned, context.frames = returned, frames
        for decl, state in self.states.items():
            held = trial.env.get(decl)
            label = _label_of_state(state)
            start = frame.env.get(decl, self.values.initial_value(decl, frame))
            self.first[label] = start if isinstance(start, Expr) else None
            self.next[label] = held if isinstance(held, Expr) else context.varying("?")
        self.continues = continues if continues is not None else again
        self._name_invariant_memory()
        self.breaks = broken is not None
        if broken is not None and self.continues is not None:
            left = Expr.atom("state", label=f"break@{name}")
            self.first[_label_of_state(left)], self.next[_label_of_state(left)] = ZERO, broken
            if self.loop.condition_last:
                self.continues = Expr.atom("and", Expr.atom("not", broken), self.continues)
            else:
                self.continues = Expr.atom("and", Expr.atom("not", left), self.continues)

    def _name_invariant_memory(self) -> None:
        """Replaces values in memory that the loop does not change, such as `size(v)` and `grid[0]`,
        by names.

        A condition without the loop's variables is unchanged, since `while (!flag[0])` waits for
        another thread.
        """
        if self.continues is None or not _states_in(self.continues):
            return
        around = frozenset(self.context.open_loops)

        def named(atom: Atom) -> Expr | None:
            if atom.kind != "ref" and not _SIZE.search(atom.label):
                return None
            moves = atom.names & around or any(_states_in(operand) for operand in atom.args)
            return Expr.name(str(atom)) if is_memory_value(atom) and not moves else None

        self.continues = self.continues.replace_atoms(named)
        for label, after in self.next.items():
            start = self.first[label]
            self.first[label] = start and start.replace_atoms(named)
            self.next[label] = after.replace_atoms(named)

    def solve(self, written: set[Decl]) -> LoopSolution | None:
        """Returns the solution. Returns None if the number of iterations depends on unsupported
        code.
        """
        needed = self._states_needed_for(self.continues)
        if self.continues is None or needed is None or not self._are_invariant(needed, written):
            return None
        once = ONE if self.loop.condition_last else ZERO
        trips = self._trips_by_recurrence(needed)
        if trips.constant is None:
            closed = self._closed_form(needed)
            if closed is not None:
                trips = Expr.atom("max", closed, ZERO) if self.loop.condition_last else closed
        elif trips.constant is not None and not isinstance(trips.constant, int):
            return None
        if not trips.names and trips.constant is None:
            return None  # an endless loop, or too many iterations
        self.trips = trips = trips + once
        inside: dict[Decl, Expr] = {}
        after: dict[Decl, Expr] = {}
        for decl in self.own:
            held = self._value_after(decl, self.number, written)
            if held is not None:
                inside[decl] = held
            end_value = self._value_after(decl, trips, written)
            if (
                end_value is not None
                and not self.breaks
                and not self._is_changed_by_condition(decl)
            ):
                after[decl] = end_value
        return LoopSolution(trips, inside, after)

    def _is_changed_by_condition(self, decl: Decl) -> bool:
        return not self.loop.condition_last and decl in self.values.effects.of(self.loop.condition)

    def _states_needed_for(self, value: Expr | None) -> list[str] | None:
        """Returns the loop variables that a value depends on, directly or indirectly. Returns None
        if one of them is unknown.
        """
        names: list[str] = []
        waiting = [value]
        while waiting:
            expression = waiting.pop()
            if expression is None or not expression.is_plain:
                return None
            for label in _states_in(expression):
                if label in self.next and label not in names:
                    names.append(label)
                    waiting += [self.first[label], self.next[label]]
        return sorted(names)

    def _are_invariant(self, needed: list[str], written: set[Decl]) -> bool:
        """Returns whether all names in the recurrence of the `needed` variables are integers that
        the loop does not change.
        """
        parts = [self.continues, *(self.first[name] for name in needed),
                 *(self.next[name] for name in needed)]  # fmt: skip
        names = frozenset[str]().union(*(part.names for part in parts if part is not None))
        named, around = self.context.declarations(), set(self.context.open_loops)
        changes = any(writes_memory(e) for e in expressions_in(self.loop.body))
        for name in names - around:
            if name not in named:
                if changes:
                    return False
            elif named[name][0].ctype.kind != "int" or named[name][0] in written:
                return False
        return True

    def _recurrence_operands(self, needed: list[str], continues: Expr) -> tuple[Expr, ...]:
        parts = [continues]
        for label in needed:
            first = self.first[label]
            assert first is not None
            parts += [Expr.atom("state", label=label), first, self.next[label]]
        return tuple(parts)

    def _trips_by_recurrence(self, needed: list[str]) -> Expr:
        assert self.continues is not None
        return Expr.atom("trips", *self._recurrence_operands(needed, self.continues))

    def _closed_form(self, needed: list[str]) -> Expr | None:
        """Returns the number of iterations, if each iteration reduces the distance to the bound by
        a constant.
        """
        if self.continues is None or self.breaks:
            return None
        test = self.continues.only_atom
        if test is None or test.kind not in ("lt", "le", "ne"):
            return None
        left, right = (_without_wrap(arg) for arg in test.args)
        if left is None or right is None:
            return None
        gap = right - left + (1 if test.kind == "le" else 0)
        ahead = self._next_value(gap, needed)
        if ahead is None:
            return None
        shrinks = (gap - ahead).constant
        starts = self._initial_value(gap, needed)
        if not isinstance(shrinks, int) or shrinks <= 0 or _states_in(starts):
            return None
        if test.kind == "ne" and shrinks != 1:
            return None
        # A decreasing unsigned number, or a difference of two, may wrap below zero.
        if (left, right) != test.args and not (
            _increases_counter(left, self._next_value(left, needed)) and not _states_in(right)
            and all(_is_never_negative(argument) for argument in
                    (*test.args, *(self.first[label] or -ONE for label in needed)))
        ):  # fmt: skip
            return None
        return Expr.atom("floordiv", starts + (shrinks - 1), Expr.const(shrinks))

    def _next_value(self, value: Expr, needed: list[str]) -> Expr | None:
        """Returns the value of an expression of loop variables after another iteration."""
        after = {label: _without_wrap(self.next[label]) for label in needed}
        if any(expression is None for expression in after.values()):
            return None
        return value.replace_atoms(
            lambda atom: after.get(atom.label) if atom.kind == "state" else None
        )

    def _initial_value(self, value: Expr, needed: list[str]) -> Expr:
        return value.replace_atoms(
            lambda atom: self.first[atom.label]
            if atom.kind == "state" and atom.label in needed else None
        )  # fmt: skip

    def _value_after(self, decl: Decl, number: Expr, written: set[Decl]) -> Expr | None:
        """Returns the value of a variable after `number` iterations. Returns None if it is
        unknown.
        """
        label = _label_of_state(self.states[decl])
        first, after = self.first[label], self.next[label]
        endless = _without_wrap(after)
        advance = (endless - self.states[decl]).constant if endless is not None else None
        if first is not None and isinstance(advance, int) and first.is_plain:
            end = first + self.trips * advance
            if after == endless or (advance > 0 and fits(decl.ctype, first, end) is not False):
                return first + number * advance
        needed = self._states_needed_for(self.states[decl])
        if needed is None or self.continues is None:
            return None
        every = sorted({*needed, *(self._states_needed_for(self.continues) or ())})
        if not self._are_invariant(every, written):
            return None
        return Expr.atom(
            "carried", number, self.states[decl], *self._recurrence_operands(every, self.continues)
        )


def _statements_of(body: Stmt) -> tuple[Stmt, ...]:
    return body.items if isinstance(body, Compound) else (body,)


def _last_break(body: Stmt) -> Expression | None:
    """Returns the condition of an `if (c) break;` at the end of a loop body."""
    last = _statements_of(body)[-1] if _statements_of(body) else None
    if not isinstance(last, If) or last.other is not None:
        return None
    inside = _statements_of(last.then)
    only = inside[0] if len(inside) == 1 else None
    return last.condition if isinstance(only, Jump) and only.kind == "break" else None


def _has_jump_out(body: Stmt) -> bool:
    """Returns whether the body contains a `goto`, or a jump out of the body."""
    return any(jumps_out(body)) or any(
        isinstance(inner, Jump) and inner.kind == "goto" for inner in every_statement(body)
    )


def _has_conditional_side_effect(expression: Expression, unit: LinkedUnit) -> bool:
    """Returns whether operands of `?:`, `&&` or `||` with conditional evaluation have side
    effects.
    """
    if isinstance(expression, Ternary):
        return bool(unit.effects.of(expression))
    return (
        isinstance(expression, Binary) and expression.op in ("&&", "||")
        and bool(unit.effects.of(expression.right))
    )  # fmt: skip


def _label_of_state(state: Expr) -> str:
    return next(iter(state.atoms())).label


def _states_in(value: Expr) -> set[str]:
    return {atom.label for atom in value.atoms() if atom.kind == "state"}


def _without_wrap(value: Expr) -> Expr | None:
    """Returns the value without the wraparound of unsigned types. Returns None for unsigned types
    below 32 bits.
    """
    narrow = [atom for atom in value.atoms()
              if atom.kind == "wrap" and (atom.args[1].constant or 0) < _LEAST_BITS]  # fmt: skip
    if narrow:
        return None
    while "wrap" in value.kinds:
        value = value.replace_atoms(lambda atom: atom.args[0] if atom.kind == "wrap" else None)
    return value


def _is_never_negative(value: Expr) -> bool:
    """Returns whether a value is a sum of names, loop variables and unsigned values without
    negative factors.
    """
    return all(number > 0 for number in value.terms.values()) and all(
        atom.kind == "state" or (atom.kind == "wrap" and _is_never_negative(atom.args[0]))
        for monomial in value.terms for atom, _ in monomial if isinstance(atom, Atom)
    )  # fmt: skip


def _increases_counter(value: Expr, after: Expr | None) -> bool:
    grown = (after - value).constant if after is not None else None
    return grown is not None and grown > 0


def writes_memory(expression: Expression) -> bool:
    """Returns whether an expression writes to memory other than a named variable."""
    place = assigned_place(expression)
    element = (
        isinstance(expression, Assign) and isinstance(place, Index) and _is_array_element(place)
    )
    return place is not None and not isinstance(place, Name) and not element


def _is_array_element(target: Index) -> bool:
    """Returns whether the target is an element of a declared array, not reached through a
    pointer.
    """
    base: Expression = target
    while isinstance(base, Index):
        base = base.base
    return isinstance(base, Name) and base.decl.ctype.kind == "array"
