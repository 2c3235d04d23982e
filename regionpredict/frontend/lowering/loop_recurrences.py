"""Loops without a constant step: the number of iterations, and the values of their variables.

    int e = n;                                  two numbers are carried from one iteration
    for (int j = 0; j < e; j++) {               to the next; j gains 1 on e, e loses 1:
        ...                                     (n + 1) / 2 iterations, in number k of which
        e--;                                    j is k and e is n - k
    }

The body is evaluated once to find the new values of its variables. The loop is supported if they
consist of numbers and names. If the remaining distance shrinks by a constant, the number of
iterations has a closed form. Otherwise it is a recurrence, which is evaluated when the values are
known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.invariant_values import is_place_value
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.variable_values import VariableValues, in_order
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
_LEAST_BITS = 32  # minimum width of types that are assumed to hold all values of names


class Repeated(NamedTuple):
    """A loop without its first statement. The condition is before or after the body."""

    condition: Expression
    body: Stmt
    increment: Expression | None = None
    behind: bool = False


class Trial(NamedTuple):
    """Evaluates statements for the values that they assign.

    `body` evaluates a statement. `asked` evaluates an expression, applies its side effects and
    returns its value.
    """

    body: Callable[[Stmt, Frame], object]
    asked: Callable[[Expression, Frame], Expr]


class CarriedLoop(NamedTuple):
    """The number of iterations, and the values of the variables in an iteration and after the loop.
    A value in an iteration is a function of the iteration's number.

    A variable that is not in `inside` or `after` has an unknown value.
    """

    trips: Expr
    inside: Mapping[Decl, Expr]
    after: Mapping[Decl, Expr]


def carried_loop(
    loop: Repeated, name: str, unit: LinkedUnit, context: Context, frame: Frame, trial: Trial
) -> CarriedLoop | None:
    """Returns the loop as a recurrence. Returns None if it depends on anything other than numbers
    and names.

    `name` is the name of the iteration number, which starts at 0.
    """
    effects = unit.effects
    last = _last_break(loop.body)
    body = loop.body if last is None else Compound(_items(loop.body)[:-1])
    if _jumps(body) or any(_may_not_change(e, unit) for e in every_expression(loop.condition)):
        return None
    written = written_by(loop, effects)
    inside = list(expressions_in(body))
    if context.exposed and any(writes_memory(e) or isinstance(e, CallExpr) for e in inside):
        if context.frames:
            return None  # it may set variables of enclosing functions
        written |= context.exposed
    own = in_order({decl for decl in written - declared_in(body) if decl.ctype.kind == "int"})
    return _Recurrence(loop, body, last, own, name, unit, context, frame, trial).counted(written)


def repeated_by_goto(back: Compound) -> Repeated | None:
    """Returns the loop formed by `again: ...; if (c) goto again;`. Returns None for any other
    form.
    """
    first, last = back.items[0], back.items[-1]
    if len(back.items) < 2 or not isinstance(first, Compound) or not isinstance(last, If):
        return None
    inside = _items(last.then)
    only = inside[0] if len(inside) == 1 and last.other is None else None
    if not isinstance(only, Jump) or only.kind != "goto" or only.label != first.label:
        return None
    body = Compound((*first.items, *back.items[1:-1]))
    return None if _jumps(body) else Repeated(last.condition, body, behind=True)


def written_by(loop: Repeated, effects: Effects) -> set[Decl]:
    """Returns the variables that the loop may set."""
    written = set(effects.written_in(loop.body)) | set(effects.of(loop.condition))
    return written | (set(effects.of(loop.increment)) if loop.increment is not None else set())


class _Recurrence:
    """The variables of one loop, each with its first value and its value after an iteration."""

    def __init__(
        self, loop: Repeated, body: Stmt, last: Expression | None, own: list[Decl], name: str,
        unit: LinkedUnit, context: Context, frame: Frame, steps: Trial,
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
        goes_on = None if loop.behind else steps.asked(loop.condition, trial)
        steps.body(body, trial)
        broken = steps.asked(last, trial) if last is not None else None
        if loop.increment is not None:
            steps.asked(loop.increment, trial)
        again = steps.asked(loop.condition, trial) if loop.behind else None
        context.exact = exact
        context.returned, context.frames = returned, frames
        for decl, state in self.states.items():
            held = trial.env.get(decl)
            label = _label(state)
            start = frame.env.get(decl, self.values.unset(decl, frame))
            self.first[label] = start if isinstance(start, Expr) else None
            self.next[label] = held if isinstance(held, Expr) else context.varying("?")
        self.goes_on = goes_on if goes_on is not None else again
        self._name_places()
        self.breaks = broken is not None
        if broken is not None and self.goes_on is not None:
            left = Expr.atom("state", label=f"break@{name}")
            self.first[_label(left)], self.next[_label(left)] = ZERO, broken
            if loop.behind:
                self.goes_on = Expr.atom("and", Expr.atom("not", broken), self.goes_on)
            else:
                self.goes_on = Expr.atom("and", Expr.atom("not", left), self.goes_on)

    def _name_places(self) -> None:
        """Gives names to values in memory that the loop does not change: `size(v)`, `grid[0]`.

        If a condition does not depend on the loop's variables, as in `while (!flag[0])`, the loop
        waits for another thread.
        """
        if self.goes_on is None or not _states_in(self.goes_on):
            return
        around = frozenset(self.context.open_loops)

        def named(atom: Atom) -> Expr | None:
            if atom.kind != "ref" and not _SIZE.search(atom.label):
                return None
            moves = atom.names & around or any(_states_in(operand) for operand in atom.args)
            return Expr.name(str(atom)) if is_place_value(atom) and not moves else None

        self.goes_on = self.goes_on.replace_atoms(named)
        for label, after in self.next.items():
            start = self.first[label]
            self.first[label] = start and start.replace_atoms(named)
            self.next[label] = after.replace_atoms(named)

    def counted(self, written: set[Decl]) -> CarriedLoop | None:
        """Returns the loop. Returns None if its number of iterations depends on unsupported
        code.
        """
        needed = self._needed(self.goes_on)
        if self.goes_on is None or needed is None or not self._are_names(needed, written):
            return None
        once = ONE if self.loop.behind else ZERO
        trips = self._carried_out(needed)
        if trips.constant is None:
            closed = self._closed_form(needed)
            if closed is not None:
                trips = Expr.atom("max", closed, ZERO) if self.loop.behind else closed
        elif trips.constant is not None and not isinstance(trips.constant, int):
            return None
        if not trips.names and trips.constant is None:
            return None  # too many iterations, or endless
        self.trips = trips = trips + once
        inside: dict[Decl, Expr] = {}
        after: dict[Decl, Expr] = {}
        for decl in self.own:
            held = self._value_after(decl, self.number, written)
            if held is not None:
                inside[decl] = held
            behind = self._value_after(decl, trips, written)
            if behind is not None and not self.breaks and not self._moved_by_condition(decl):
                after[decl] = behind
        return CarriedLoop(trips, inside, after)

    def _moved_by_condition(self, decl: Decl) -> bool:
        return not self.loop.behind and decl in self.values.effects.of(self.loop.condition)

    def _needed(self, value: Expr | None) -> list[str] | None:
        """Returns the states that a value depends on, directly or indirectly. Returns None if one
        is unknown.
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

    def _are_names(self, needed: list[str], written: set[Decl]) -> bool:
        """Returns whether the needed names are integers that the loop does not change."""
        parts = [self.goes_on, *(self.first[name] for name in needed),
                 *(self.next[name] for name in needed)]  # fmt: skip
        names = frozenset[str]().union(*(part.names for part in parts if part is not None))
        named, around = self.context.named(), set(self.context.open_loops)
        changes = any(writes_memory(e) for e in expressions_in(self.loop.body))
        for name in names - around:
            if name not in named:
                if changes:
                    return False
            elif named[name][0].ctype.kind != "int" or named[name][0] in written:
                return False
        return True

    def _parts(self, needed: list[str], goes_on: Expr) -> tuple[Expr, ...]:
        parts = [goes_on]
        for label in needed:
            first = self.first[label]
            assert first is not None
            parts += [Expr.atom("state", label=label), first, self.next[label]]
        return tuple(parts)

    def _carried_out(self, needed: list[str]) -> Expr:
        assert self.goes_on is not None
        return Expr.atom("trips", *self._parts(needed, self.goes_on))

    def _closed_form(self, needed: list[str]) -> Expr | None:
        """Returns the number of iterations, if each iteration reduces the remaining distance by a
        constant.
        """
        if self.goes_on is None or self.breaks:
            return None
        test = self.goes_on.only_atom
        if test is None or test.kind not in ("lt", "le", "ne"):
            return None
        left, right = (_as_if_unbounded(arg) for arg in test.args)
        if left is None or right is None:
            return None
        gap = right - left + (1 if test.kind == "le" else 0)
        ahead = self._next_value(gap, needed)
        if ahead is None:
            return None
        shrinks = (gap - ahead).constant
        starts = self._at_first(gap, needed)
        if not isinstance(shrinks, int) or shrinks <= 0 or _states_in(starts):
            return None
        if test.kind == "ne" and shrinks != 1:
            return None
        # A decreasing unsigned number, or a difference of two, may wrap below zero.
        if (left, right) != test.args and not (
            _rises(left, self._next_value(left, needed)) and not _states_in(right)
            and all(_never_below_zero(argument) for argument in
                    (*test.args, *(self.first[label] or -ONE for label in needed)))
        ):  # fmt: skip
            return None
        return Expr.atom("floordiv", starts + (shrinks - 1), Expr.const(shrinks))

    def _next_value(self, value: Expr, needed: list[str]) -> Expr | None:
        """Returns the value after another iteration."""
        after = {label: _as_if_unbounded(self.next[label]) for label in needed}
        if any(expression is None for expression in after.values()):
            return None
        return value.replace_atoms(
            lambda atom: after.get(atom.label) if atom.kind == "state" else None
        )

    def _at_first(self, value: Expr, needed: list[str]) -> Expr:
        return value.replace_atoms(
            lambda atom: self.first[atom.label]
            if atom.kind == "state" and atom.label in needed else None
        )  # fmt: skip

    def _value_after(self, decl: Decl, number: Expr, written: set[Decl]) -> Expr | None:
        """Returns the value of a variable after this number of iterations."""
        label = _label(self.states[decl])
        first, after = self.first[label], self.next[label]
        endless = _as_if_unbounded(after)
        advance = (endless - self.states[decl]).constant if endless is not None else None
        if first is not None and isinstance(advance, int) and first.is_plain:
            end = first + self.trips * advance
            if after == endless or (advance > 0 and fits(decl.ctype, first, end) is not False):
                return first + number * advance
        needed = self._needed(self.states[decl])
        if needed is None or self.goes_on is None:
            return None
        every = sorted({*needed, *(self._needed(self.goes_on) or ())})
        if not self._are_names(every, written):
            return None
        return Expr.atom("carried", number, self.states[decl], *self._parts(every, self.goes_on))


def _items(body: Stmt) -> tuple[Stmt, ...]:
    return body.items if isinstance(body, Compound) else (body,)


def _last_break(body: Stmt) -> Expression | None:
    """Returns the condition of `if (c) break;` at a body's end."""
    last = _items(body)[-1] if _items(body) else None
    if not isinstance(last, If) or last.other is not None:
        return None
    inside = _items(last.then)
    only = inside[0] if len(inside) == 1 else None
    return last.condition if isinstance(only, Jump) and only.kind == "break" else None


def _jumps(body: Stmt) -> bool:
    """Returns whether the body contains a `goto`, or a jump to a place outside."""
    return any(jumps_out(body)) or any(
        isinstance(inner, Jump) and inner.kind == "goto" for inner in every_statement(body)
    )


def _may_not_change(expression: Expression, unit: LinkedUnit) -> bool:
    """Returns whether the expression has side effects in parts that are not always evaluated."""
    if isinstance(expression, Ternary):
        return bool(unit.effects.of(expression))
    return (
        isinstance(expression, Binary) and expression.op in ("&&", "||")
        and bool(unit.effects.of(expression.right))
    )  # fmt: skip


def _label(state: Expr) -> str:
    return next(iter(state.atoms())).label


def _states_in(value: Expr) -> set[str]:
    return {atom.label for atom in value.atoms() if atom.kind == "state"}


def _as_if_unbounded(value: Expr) -> Expr | None:
    """Returns the value if unsigned types had no limit. Returns None if it has a narrow unsigned
    type.
    """
    narrow = [atom for atom in value.atoms()
              if atom.kind == "wrap" and (atom.args[1].constant or 0) < _LEAST_BITS]  # fmt: skip
    if narrow:
        return None
    while "wrap" in value.kinds:
        value = value.replace_atoms(lambda atom: atom.args[0] if atom.kind == "wrap" else None)
    return value


def _never_below_zero(value: Expr) -> bool:
    """Returns whether a value is a sum of names and numbers without subtraction."""
    return all(number > 0 for number in value.terms.values()) and all(
        atom.kind == "state" or (atom.kind == "wrap" and _never_below_zero(atom.args[0]))
        for monomial in value.terms for atom, _ in monomial if isinstance(atom, Atom)
    )  # fmt: skip


def _rises(value: Expr, after: Expr | None) -> bool:
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
    """Returns whether a store certainly writes an array element, and not a variable through a
    pointer.
    """
    base: Expression = target
    while isinstance(base, Index):
        base = base.base
    return isinstance(base, Name) and base.decl.ctype.kind == "array"
