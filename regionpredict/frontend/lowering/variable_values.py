"""Values of a region's variables, statement by statement and after loops.

int k = 0;                         k is 0
for (int j = 0; j < n; j++)        k grows by 2 in each of n iterations:
    k += 2;                        after the loop it is 2*n
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from regionpredict.frontend.lowering.early_leaves import with_separate_rest
from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.loop_exits import may_end_early
from regionpredict.frontend.lowering.loop_headers import (
    Header,
    has_constant_step,
    may_wrap,
    read_header,
    trips_of,
)
from regionpredict.frontend.lowering.member_pointers import assigned, declared, forget_set_in
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Compound,
    Decl,
    DeclStmt,
    Effects,
    Expression,
    ExprStmt,
    For,
    Name,
    Stmt,
    assigned_place,
    every_expression,
    expressions_in,
    leaves_loop,
)
from regionpredict.frontend.syntax.binary_operators import BY_IF, chosen
from regionpredict.frontend.syntax.integer_types import converted, type_of
from regionpredict.ir import Expr
from regionpredict.ir.expr import ZERO

_MAX_UNROLLED = 64  # iterations: a 64-bit number can be halved this often


class VariableValues:
    """Keeps the values of a frame's variables as statements change them."""

    def __init__(self, context: Context, effects: Effects) -> None:
        self.context = context
        self.effects = effects
        self._writers: dict[Compound, dict[Decl, list[Stmt] | None]] = {}

    def known_iterations(self, loop: For, frame: Frame) -> int | None:
        """Returns the number of iterations of a loop whose condition has a known value at each
        test. Returns None if the result is unknown.
        """
        if loop.condition is None or loop.increment is None or leaves_loop(loop.body):
            return None
        names = {
            inner.decl
            for part in (loop.condition, loop.increment)
            for inner in every_expression(part)
            if isinstance(inner, Name)
        }
        moved = self.effects.written_in(loop.body) & names or self.effects.of(loop.condition)
        if moved or self.may_store(loop):
            return None
        trial = Frame(dict(frame.env), frame.depth)
        for count in range(_MAX_UNROLLED + 1):
            goes_on = self.context.value(loop.condition, trial).constant
            if goes_on is None:
                return None
            if not goes_on:
                return count
            self.assign(loop.increment, trial)
        return None

    def unset(self, decl: Decl, frame: Frame) -> Expr | Pointer | None:
        """Returns the value of a variable that was not set: its own name."""
        use = Name(decl, decl.span)
        if decl.ctype.kind == "pointer":
            return self.context.pointer(use, frame)
        return self.context.value(use, frame)

    def leave(
        self, loop: For, written: Collection[Decl], trips: Expr | None,
        outside: dict[Decl, Expr | Pointer], frame: Frame,
    ) -> None:  # fmt: skip
        """Sets the values after a loop of `trips` iterations. `outside` gives the values before the
        loop.
        """
        if trips is not None and trips.constant is not None and trips.constant < 0:
            trips = ZERO
        for decl in in_order(written):
            start = outside.get(decl)
            advance = self.advance_of_loop(loop, decl, frame) if trips is not None else None
            if advance is not None and start is not None and trips is not None:
                total = advance * trips
                frame.env[decl] = start + total if isinstance(start, Expr) else start.plus(total)
            else:
                self.forget(decl, frame)

    def leave_counter(self, loop: For, header: Header, trips: Expr | None, frame: Frame) -> None:
        """Sets the loop variable to its value after the loop: the first value for which the
        condition is false.
        """
        decl = header.decl
        if isinstance(loop.init, DeclStmt) and decl in loop.init.decls:
            return
        if trips is None or header.start is None or header.step is None or may_end_early(loop):
            self.forget(decl, frame)
            return
        known = trips.constant
        end = header.start + (ZERO if known is not None and known < 0 else trips) * header.step
        frame.env[decl] = header.pointer.plus(end) if header.pointer is not None else end

    def forget(self, decl: Decl, frame: Frame) -> None:
        """Makes a variable unknown."""
        name = self.context.name_of(decl, frame.depth)
        if decl.ctype.kind == "pointer":
            frame.env.pop(decl, None)
            pointer = self.context.pointer(Name(decl, decl.span), frame)
            if pointer is not None:
                frame.env[decl] = pointer.plus(self.context.varying(name))
        elif decl.ctype.kind == "int":
            frame.env[decl] = self.context.varying(name)

    def condition_value(self, condition: Expression, frame: Frame) -> Expr:
        """Returns the value of a condition. Unknown if the condition has side effects."""
        if self.effects.of(condition):
            return self.context.varying("?")
        return self.context.exactly(condition, frame)

    @staticmethod
    def chosen(
        test: Expr | None, then: Expr | Pointer | None, other: Expr | Pointer | None
    ) -> Expr | Pointer | None:
        """Combines two values by a condition. Returns None if the result is unknown."""
        if then == other:
            return then
        if test is None or not isinstance(then, Expr) or not isinstance(other, Expr):
            return None
        plain = all(value.is_plain for value in (test, then, other))
        return chosen(test, then, other, BY_IF) if plain else None

    def advance_of_loop(self, loop: For, decl: Decl, frame: Frame) -> Expr | None:
        """Returns the increment of `decl` in one iteration of a loop, in its body and its
        header.
        """
        return self.advance_of(loop.body, loop.increment, decl, frame)

    def advance_of(
        self, body: Stmt, increment: Expression | None, decl: Decl, frame: Frame
    ) -> Expr | None:
        """Returns the increment of `decl` in a body and the action after it."""
        inside = self.advance(body, decl, frame)
        own = self.effects.of(increment).get(decl, 0) if increment is not None else 0
        return None if inside is None or own is None else inside + own

    def advance(self, body: Stmt, decl: Decl, frame: Frame) -> Expr | None:
        """Returns the increment of `decl` in one execution of `body`, if every write is `v++` or `v
        += c`.
        """
        if decl not in self.effects.written_in(body):
            return ZERO
        if isinstance(body, Compound):
            total = ZERO
            items = self._writers_in(body)[decl]
            if items is None:
                return None
            for item in items:
                part = self.advance(item, decl, frame)
                if part is None:
                    return None
                total = total + part
            return total
        if isinstance(body, ExprStmt):
            amount = self.effects.of(body.expr).get(decl, 0)
            return None if amount is None else Expr.const(amount)
        if isinstance(body, For):
            inner = self.advance_of_loop(body, decl, frame)
            if inner is None or inner == 0:
                return inner
            header = read_header(body, self.context, frame)
            steady = header is not None and has_constant_step(body, header, self.effects)
            trips = trips_of(header) if header is not None and steady else None
            if trips is None or trips.names & set(self.context.open_loops):
                return None
            return inner * trips
        return None

    def _writers_in(self, block: Compound) -> dict[Decl, list[Stmt] | None]:
        """Returns the statements of a block that write each variable. Returns None if an early exit
        precedes a write.
        """
        known = self._writers.get(block)
        if known is None:
            items, rest = with_separate_rest(block.items, in_loop=True)
            writers: defaultdict[Decl, list[Stmt]] = defaultdict(list)
            for item in items:
                for decl in self.effects.written_in(item):
                    writers[decl].append(item)
            skipped = self.effects.written_in(rest) if rest is not None else ()
            known = self._writers[block] = {**writers, **dict.fromkeys(skipped)}
        return known

    def set(self, decl: Decl, value: Expression | None, frame: Frame) -> None:
        """Assigns the value of an expression to the variable."""
        if value is None:
            return
        if decl.ctype.kind == "int":
            wraps = may_wrap(value, self.context, frame)
            held = (self.context.exactly if wraps else self.context.value)(value, frame)
            exact = wraps or self.context.exact
            frame.env[decl] = converted(held, decl.ctype, type_of(value) if exact else None)
        elif decl.ctype.kind == "pointer":
            pointer = self.context.allocate(decl, value, frame) or self.context.pointer(
                value, frame
            )
            if pointer is not None:
                frame.env[decl] = pointer
            elif decl in frame.env:
                self.forget(decl, frame)
        elif decl.ctype.kind == "float" and self.context.open_loops:
            # An integer computed from it, such as an index, is not a size.
            frame.env[decl] = self.context.varying(self.context.name_of(decl, frame.depth))

    def assign(self, expression: Expression, frame: Frame) -> None:
        """Applies all writes of an expression to variables."""
        assigned(expression, self.context, frame)
        if isinstance(expression, Binary) and expression.op == ",":
            self.assign(expression.left, frame)
            self.assign(expression.right, frame)
        elif isinstance(expression, Assign) and isinstance(expression.left, Name):
            decl = expression.left.decl
            if expression.op == "=":
                if isinstance(expression.right, Assign):
                    self.assign(expression.right, frame)
                    self.set(decl, expression.right, frame)
                else:
                    self.set(decl, expression.right, frame)
                    self._apply_side_effects(expression.right, frame, decl)
            else:
                amount = self.effects.of(expression).get(decl)
                changed = self._result_of_update(expression, frame) if amount is None else None
                if changed is not None:
                    frame.env[decl] = changed
                else:
                    self.grow(decl, amount, frame)
        else:
            self._apply_side_effects(expression, frame)

    def declare(self, decl: Decl, value: Expression, frame: Frame) -> None:
        """Declares a variable with an initial value."""
        declared(decl, value, self.context, frame)
        self.set(decl, value, frame)
        self._apply_side_effects(value, frame, decl)

    def _apply_side_effects(
        self, value: Expression, frame: Frame, target: Decl | None = None
    ) -> None:
        """Applies the changes made while a value is computed: `int k = j++;`."""
        if value in self.context.followed and not any(map(assigned_place, every_expression(value))):
            return  # its effect on `n` through `&n` is known
        for inner, amount in self.effects.of(value).items():
            if inner is not target:
                self.grow(inner, amount, frame)

    def expose(self, expression: Expression) -> None:
        """Records the integers whose address an expression takes: `int *p = &n; *p = 3;`."""
        self.context.exposed.update(self.effects.exposed(expression))

    def stored(self, expression: Expression, frame: Frame) -> None:
        """Applies the effect of an expression on integers whose address was taken."""
        if not self.context.exposed:
            return
        for inner in every_expression(expression):
            if (
                isinstance(inner, CallExpr) and not inner.free
                and inner not in self.context.followed
            ):  # fmt: skip
                self._forget_exposed(frame)
            target = _memory_set(inner)
            if target is None:
                continue
            place = self.context.element(target, frame)
            if place is not None and place.array in self.context.arrays:
                continue
            named = self.context.named().get(place.array) if place is not None else None
            if place is None or named is None or place.subscripts != (ZERO,):
                self._forget_exposed(frame)
                continue
            holder = self.context.frame_of(*named, frame)
            if holder is None:
                self._forget_exposed(frame)
            elif inner is expression and isinstance(inner, Assign) and inner.op == "=":
                value = self.context.value(inner.right, frame)
                holder.env[named[0]] = self.context.converted(value, named[0].ctype)
            else:
                self.forget(named[0], holder)

    def forget_stored(self, loop: Stmt, frame: Frame) -> None:
        """Discards the values of members and integers that a loop may set through an address."""
        forget_set_in(loop, self.context, frame)
        if self._stores(loop):
            self._forget_exposed(frame)

    def forget_changed(self, loop: Stmt, written: Collection[Decl], frame: Frame) -> None:
        """Discards all values that a loop with an unknown number of iterations may change."""
        self.forget_stored(loop, frame)
        for decl in in_order(written):
            self.forget(decl, frame)

    def may_store(self, loop: For) -> bool:
        """Returns whether statements may change an integer that the loop's own header reads."""
        read = (part for part in (loop.condition, loop.increment) if part is not None)
        return self._stores(loop) and any(
            isinstance(inner, Name) and inner.decl in self.context.exposed
            for part in read for inner in every_expression(part)
        )  # fmt: skip

    def _stores(self, loop: Stmt) -> bool:
        """Returns whether the loop may set an integer whose address was taken. A store of another
        type cannot set it (C11, sec. 6.5, 7).
        """
        return bool(self.context.exposed) and any(
            type_of(place).kind not in ("float", "pointer")
            if (place := _memory_set(inner)) is not None
            else isinstance(inner, CallExpr) and not inner.free
            for inner in expressions_in(loop)
        )

    def _forget_exposed(self, frame: Frame) -> None:
        for decl in in_order(self.context.exposed):
            for outer in (frame, *self.context.frames):
                if decl in outer.env:
                    self.forget(decl, outer)

    def _result_of_update(self, assign: Assign, frame: Frame) -> Expr | None:
        """Returns the result of an update such as `n /= 2`, if it is supported."""
        value = self.context.value(Binary(assign.op[:-1], assign.left, assign.right), frame)
        if not value.is_plain or not isinstance(assign.left, Name):
            return None
        return self.context.converted(value, assign.left.decl.ctype)

    def grow(self, decl: Decl, amount: int | None, frame: Frame) -> None:
        """Increments the variable by an amount. None makes it unknown."""
        held = frame.env.get(decl)
        if held is None or decl.ctype.kind not in ("int", "pointer"):
            if decl.ctype.kind in ("int", "pointer"):
                self.forget(decl, frame)
        elif amount is None:
            self.forget(decl, frame)
        else:
            step = Expr.const(amount)
            frame.env[decl] = (
                _number_in_type(held + step, decl) if isinstance(held, Expr) else (held.plus(step))
            )


def _memory_set(expression: Expression) -> Expression | None:
    """Returns the place that an expression sets through a pointer or in a member."""
    place = assigned_place(expression)
    return None if isinstance(place, Name) else place


def _number_in_type(value: Expr, decl: Decl) -> Expr:
    """Returns a number as stored in the variable's type. Overflow is handled only for known
    numbers.
    """
    return converted(value, decl.ctype) if value.constant is not None else value


def in_order(decls: Collection[Decl]) -> list[Decl]:
    """Sorts variables in the order of their declaration, so that names are the same in every
    run.
    """
    return sorted(decls, key=lambda decl: (decl.span, decl.name))
