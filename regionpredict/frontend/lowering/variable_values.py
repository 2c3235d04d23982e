"""Tracks the values of a region's variables through assignments and loops.

int k = 0;                         k is 0
for (int j = 0; j < n; j++)        k grows by 2 in each of n iterations
    k += 2;                        k is 2*n after the loop
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from regionpredict.frontend.lowering.early_leaves import with_exits_as_branches
from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.loop_exits import may_end_early
from regionpredict.frontend.lowering.loop_headers import (
    Header,
    has_constant_step,
    may_wrap,
    read_header,
    trips_of,
)
from regionpredict.frontend.lowering.member_pointers import (
    forget_members_set_in,
    record_declaration,
    record_member_assignment,
)
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

_MAX_UNROLLED = 64  # iterations, which is the number of times a 64-bit number can be halved


class VariableValues:
    """Updates the variable values of a frame as statements change them."""

    def __init__(self, context: Context, effects: Effects) -> None:
        self.context = context
        self.effects = effects
        self._writers: dict[Compound, dict[Decl, list[Stmt] | None]] = {}

    def known_iterations(self, loop: For, frame: Frame) -> int | None:
        """Returns the number of iterations, found by evaluating the condition before each
        iteration. Returns None if it is unknown or above 64.
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
            self.apply_writes(loop.increment, trial)
        return None

    def initial_value(self, decl: Decl, frame: Frame) -> Expr | Pointer | None:
        """Returns the symbolic value of a variable without known assignments: its name."""
        use = Name(decl, decl.span)
        if decl.ctype.kind == "pointer":
            return self.context.address_in(use, frame)
        return self.context.value(use, frame)

    def set_after_loop(
        self, loop: For, written: Collection[Decl], trips: Expr | None,
        outside: dict[Decl, Expr | Pointer], frame: Frame,
    ) -> None:  # fmt: skip
        """Sets the variables in `written` to their values after a loop of `trips` iterations.
        `outside` contains the values before the loop.
        """
        if trips is not None and trips.constant is not None and trips.constant < 0:
            trips = ZERO
        for decl in in_declaration_order(written):
            start = outside.get(decl)
            advance = self.increment_per_iteration(loop, decl, frame) if trips is not None else None
            if advance is not None and start is not None and trips is not None:
                total = advance * trips
                frame.env[decl] = start + total if isinstance(start, Expr) else start.plus(total)
            else:
                self.forget(decl, frame)

    def set_counter_after_loop(
        self, loop: For, header: Header, trips: Expr | None, frame: Frame
    ) -> None:
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
        """Makes the value of a variable unknown."""
        name = self.context.name_of(decl, frame.depth)
        if decl.ctype.kind == "pointer":
            frame.env.pop(decl, None)
            pointer = self.context.address_in(Name(decl, decl.span), frame)
            if pointer is not None:
                frame.env[decl] = pointer.plus(self.context.varying(name))
        elif decl.ctype.kind == "int":
            frame.env[decl] = self.context.varying(name)

    def condition_value(self, condition: Expression, frame: Frame) -> Expr:
        """Returns the value of a condition, which is unknown if the condition has side effects."""
        if self.effects.of(condition):
            return self.context.varying("?")
        return self.context.exact_value(condition, frame)

    @staticmethod
    def select(
        test: Expr | None, then: Expr | Pointer | None, other: Expr | Pointer | None
    ) -> Expr | Pointer | None:
        """Returns `test ? then : other` as one value. Returns None if it is unknown."""
        if then == other:
            return then
        if test is None or not isinstance(then, Expr) or not isinstance(other, Expr):
            return None
        plain = all(value.is_plain for value in (test, then, other))
        return chosen(test, then, other, BY_IF) if plain else None

    def increment_per_iteration(self, loop: For, decl: Decl, frame: Frame) -> Expr | None:
        """Returns the increment of `decl` per iteration of a `for` loop, from its body and its
        header. Returns None if it is unknown.
        """
        return self.increment_in_iteration(loop.body, loop.increment, decl, frame)

    def increment_in_iteration(
        self, body: Stmt, increment: Expression | None, decl: Decl, frame: Frame
    ) -> Expr | None:
        """Returns the increment of `decl` by a loop body and the loop's increment expression."""
        inside = self.increment_in_statement(body, decl, frame)
        own = self.effects.of(increment).get(decl, 0) if increment is not None else 0
        return None if inside is None or own is None else inside + own

    def increment_in_statement(self, body: Stmt, decl: Decl, frame: Frame) -> Expr | None:
        """Returns the increment of `decl` in one execution of `body`, if every write is like `v++`
        or `v += 2`. Returns None for other writes.
        """
        if decl not in self.effects.written_in(body):
            return ZERO
        if isinstance(body, Compound):
            total = ZERO
            items = self._writers_in(body)[decl]
            if items is None:
                return None
            for item in items:
                part = self.increment_in_statement(item, decl, frame)
                if part is None:
                    return None
                total = total + part
            return total
        if isinstance(body, ExprStmt):
            amount = self.effects.of(body.expr).get(decl, 0)
            return None if amount is None else Expr.const(amount)
        if isinstance(body, For):
            inner = self.increment_per_iteration(body, decl, frame)
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
        """Returns the statements of a block that write each variable. The value is None for a
        variable that an early exit may skip.
        """
        known = self._writers.get(block)
        if known is None:
            items, rest = with_exits_as_branches(block.items, in_loop=True)
            writers: defaultdict[Decl, list[Stmt]] = defaultdict(list)
            for item in items:
                for decl in self.effects.written_in(item):
                    writers[decl].append(item)
            skipped = self.effects.written_in(rest) if rest is not None else ()
            known = self._writers[block] = {**writers, **dict.fromkeys(skipped)}
        return known

    def set_variable(self, decl: Decl, value: Expression | None, frame: Frame) -> None:
        """Sets a variable to the value of an expression."""
        if value is None:
            return
        if decl.ctype.kind == "int":
            wraps = may_wrap(value, self.context, frame)
            held = (self.context.exact_value if wraps else self.context.value)(value, frame)
            exact = wraps or self.context.exact
            frame.env[decl] = converted(held, decl.ctype, type_of(value) if exact else None)
        elif decl.ctype.kind == "pointer":
            pointer = self.context.allocated_array(decl, value, frame) or self.context.address_in(
                value, frame
            )
            if pointer is not None:
                frame.env[decl] = pointer
            elif decl in frame.env:
                self.forget(decl, frame)
        elif decl.ctype.kind == "float" and self.context.open_loops:
            # An integer computed from a floating-point number in a loop is not a problem size.
            frame.env[decl] = self.context.varying(self.context.name_of(decl, frame.depth))

    def apply_writes(self, expression: Expression, frame: Frame) -> None:
        """Applies all writes of an expression to the values of variables."""
        record_member_assignment(expression, self.context, frame)
        if isinstance(expression, Binary) and expression.op == ",":
            self.apply_writes(expression.left, frame)
            self.apply_writes(expression.right, frame)
        elif isinstance(expression, Assign) and isinstance(expression.left, Name):
            decl = expression.left.decl
            if expression.op == "=":
                if isinstance(expression.right, Assign):
                    self.apply_writes(expression.right, frame)
                    self.set_variable(decl, expression.right, frame)
                else:
                    self.set_variable(decl, expression.right, frame)
                    self._apply_side_effects(expression.right, frame, decl)
            else:
                amount = self.effects.of(expression).get(decl)
                changed = self._result_of_update(expression, frame) if amount is None else None
                if changed is not None:
                    frame.env[decl] = changed
                else:
                    self.increment_variable(decl, amount, frame)
        else:
            self._apply_side_effects(expression, frame)

    def declare_variable(self, decl: Decl, value: Expression, frame: Frame) -> None:
        """Sets a declared variable to its initial value."""
        record_declaration(decl, value, self.context, frame)
        self.set_variable(decl, value, frame)
        self._apply_side_effects(value, frame, decl)

    def _apply_side_effects(
        self, value: Expression, frame: Frame, target: Decl | None = None
    ) -> None:
        """Applies the side effects of an expression on variables other than `target`: `int k =
        j++;`.
        """
        if value in self.context.followed and not any(map(assigned_place, every_expression(value))):
            return  # lowering the inlined function has applied the effects
        for inner, amount in self.effects.of(value).items():
            if inner is not target:
                self.increment_variable(inner, amount, frame)

    def record_addresses(self, expression: Expression) -> None:
        """Records the integers whose address an expression takes, such as `n` in `p = &n`."""
        self.context.exposed.update(self.effects.exposed(expression))

    def apply_stores(self, expression: Expression, frame: Frame) -> None:
        """Applies the stores of an expression to integers whose address was taken: `*p = 3`."""
        if not self.context.exposed:
            return
        for inner in every_expression(expression):
            if (
                isinstance(inner, CallExpr) and not inner.free
                and inner not in self.context.followed
            ):  # fmt: skip
                self._forget_exposed(frame)
            target = _assigned_memory(inner)
            if target is None:
                continue
            place = self.context.element(target, frame)
            if place is not None and place.array in self.context.arrays:
                continue
            named = self.context.declarations().get(place.array) if place is not None else None
            if place is None or named is None or place.subscripts != (ZERO,):
                self._forget_exposed(frame)
                continue
            holder = self.context.frame_of(*named, frame)
            if holder is None:
                self._forget_exposed(frame)
            elif inner is expression and isinstance(inner, Assign) and inner.op == "=":
                value = self.context.value(inner.right, frame)
                holder.env[named[0]] = self.context.convert_value(value, named[0].ctype)
            else:
                self.forget(named[0], holder)

    def forget_stored(self, loop: Stmt, frame: Frame) -> None:
        """Makes struct members and integers unknown that a loop may set through pointers."""
        forget_members_set_in(loop, self.context, frame)
        if self._may_store_through_pointer(loop):
            self._forget_exposed(frame)

    def forget_changed(self, loop: Stmt, written: Collection[Decl], frame: Frame) -> None:
        """Makes all variables unknown that a loop may change. `written` are those it assigns
        directly.
        """
        self.forget_stored(loop, frame)
        for decl in in_declaration_order(written):
            self.forget(decl, frame)

    def may_store(self, loop: For) -> bool:
        """Returns whether a loop may change an integer in its header through a pointer."""
        read = (part for part in (loop.condition, loop.increment) if part is not None)
        return self._may_store_through_pointer(loop) and any(
            isinstance(inner, Name) and inner.decl in self.context.exposed
            for part in read for inner in every_expression(part)
        )  # fmt: skip

    def _may_store_through_pointer(self, loop: Stmt) -> bool:
        """Returns whether the loop may set an integer whose address was taken. A floating-point or
        pointer store cannot set an integer (C11, sec. 6.5, 7).
        """
        return bool(self.context.exposed) and any(
            type_of(place).kind not in ("float", "pointer")
            if (place := _assigned_memory(inner)) is not None
            else isinstance(inner, CallExpr) and not inner.free
            for inner in expressions_in(loop)
        )

    def _forget_exposed(self, frame: Frame) -> None:
        for decl in in_declaration_order(self.context.exposed):
            for outer in (frame, *self.context.frames):
                if decl in outer.env:
                    self.forget(decl, outer)

    def _result_of_update(self, assign: Assign, frame: Frame) -> Expr | None:
        """Returns the result of an assignment such as `n /= 2`. Returns None if it is unknown."""
        value = self.context.value(Binary(assign.op[:-1], assign.left, assign.right), frame)
        if not value.is_plain or not isinstance(assign.left, Name):
            return None
        return self.context.convert_value(value, assign.left.decl.ctype)

    def increment_variable(self, decl: Decl, amount: int | None, frame: Frame) -> None:
        """Increments the variable by `amount`. The value becomes unknown if `amount` is None."""
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


def _assigned_memory(expression: Expression) -> Expression | None:
    """Returns the lvalue that an expression assigns, unless it is a variable."""
    place = assigned_place(expression)
    return None if isinstance(place, Name) else place


def _number_in_type(value: Expr, decl: Decl) -> Expr:
    """Returns a value after storing it in a variable. Overflow is handled only for constants."""
    return converted(value, decl.ctype) if value.constant is not None else value


def in_declaration_order(decls: Collection[Decl]) -> list[Decl]:
    """Sorts variables by their declaration, so that the region's names are the same in every
    run.
    """
    return sorted(decls, key=lambda decl: (decl.span, decl.name))
