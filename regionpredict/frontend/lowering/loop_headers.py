"""Reads the header of a C `for` loop: its variable, start, bound and step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    Assign,
    Binary,
    CType,
    Decl,
    DeclStmt,
    Effects,
    Expression,
    ExprStmt,
    For,
    IntLit,
    Name,
    Stmt,
    Unary,
    every_expression,
    is_null,
    is_variable,
    without_casts,
)
from regionpredict.frontend.syntax.integer_types import converted, fits, type_of, usual
from regionpredict.ir import Expr, Loop, Span
from regionpredict.ir.expr import ONE

_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


class Header(NamedTuple):
    """The variable, start, comparison, bound and step of a loop header. Unknown parts are None.

    `pointer` is the first address if the variable is a pointer. `start` is then 0, and `bound` is
    the distance in elements.
    """

    decl: Decl
    start: Expr | None
    comparison: str
    bound: Expr | None
    step: Expr | None
    pointer: Pointer | None = None


def read_header(loop: For, context: Context, frame: Frame) -> Header | None:
    """Returns the parts of a loop header. Returns None if no variable counts up or down to a
    bound.
    """
    steps = steps_of(loop.increment)
    test = _comparison_in(loop.condition)
    for decl, step in steps:
        if test is None:
            continue
        limit_side = _comparison_with(test, decl)
        if limit_side is not None:
            return _build_header(loop, decl, step, limit_side, context, frame)
    decremented = _decremented_in_condition(loop.condition)
    if decremented is not None and all(decl is not decremented for decl, _ in steps):
        start = start_value(loop.init, decremented, context, frame)
        begin = start - 1 if isinstance(start, Expr) else None
        return Header(decremented, begin, ">=", Expr.const(0), -ONE)
    return None


def outer_loop(loop: For, context: Context, frame: Frame) -> Loop:
    """Returns an enclosing loop without its body, and sets its variable to its name in `frame`."""
    header = read_header(loop, context, frame)
    if header is None:
        return Loop(f"for@{loop.span.line}", None, None, "", None, (), loop.span)
    name = context.name_of(header.decl)
    frame.env[header.decl] = Expr.name(name)
    return Loop(
        name, header.start, header.bound, header.comparison, header.step, (), loop.span,
        unsigned_bits=unsigned_bits(header),
    )  # fmt: skip


def unsigned_bits(header: Header) -> int:
    """Returns the width in bits of an unsigned loop variable that counts up. Returns 0 for any
    other loop.
    """
    ctype = header.decl.ctype
    up = header.comparison in ("<", "<=")
    return ctype.bits if ctype.kind == "int" and ctype.unsigned and up else 0


def with_type_arithmetic(
    loop: For, header: Header, context: Context, frame: Frame
) -> Header | None:
    """Returns the header with the wraparound of the variable's type. Returns None if the number of
    iterations is unknown.

    `for (unsigned j = 9; j < 10; j--)` counts down to 0 and then ends. A signed variable that steps
    away from the bound, or numbers beyond the range of the type, give None.
    """
    ctype, step = header.decl.ctype, header.step.constant if header.step is not None else None
    start, bound = header.start, header.bound
    if start is None or bound is None or header.pointer is not None:
        return header
    ends = [loop.condition] if loop.condition is not None else []
    if isinstance(loop.init, DeclStmt):
        ends += [decl.init for decl in loop.init.decls if decl.init is not None]
    elif isinstance(loop.init, ExprStmt):
        ends.append(loop.init.expr)
    if any(may_wrap(end, context, frame) for end in ends):
        return None
    first, end = start.constant, bound.constant
    test = _comparison_in(loop.condition)
    compared = usual(type_of(test.left), type_of(test.right)) if test is not None else ctype
    if compared.unsigned and any(n is not None and n < 0 for n in (first, end)):
        return None
    if not isinstance(step, int):
        return header
    if header.comparison != "!=" and (step > 0) != (header.comparison in ("<", "<=")):
        gap = (bound - start).constant
        below = gap is not None and gap >= (header.comparison == "<")
        if step == -1 and ctype.unsigned and below and header.comparison in ("<", "<="):
            return header._replace(comparison=">=", bound=Expr.const(0))
        return None
    if header.comparison == ">=" and ctype.unsigned and end == 0:
        return None  # `j >= 0` is always true for an unsigned `j`
    if header.comparison == "!=" and first is not None and end is not None:
        distance = end - first
        if distance % step or distance * step < 0:
            return None
    trips = trips_of(header)
    if first is None or trips is None or not isinstance(trips.constant, int):
        return header
    final_value = start + max(0, trips.constant) * step
    return header if fits(ctype, start, final_value) is not False else None


def may_wrap(end: Expression, context: Context, frame: Frame) -> bool:
    """Returns whether `end` contains an unsigned difference that depends on an enclosing loop, and
    may therefore wrap below zero.
    """
    around = set(context.open_loops)
    for inner in every_expression(end):
        if isinstance(inner, Binary) and inner.op == "-" and type_of(inner).unsigned:
            value = context.value(inner, frame)
            if value.names & around:
                return True
    return False


def has_constant_step(loop: For, header: Header, effects: Effects) -> bool:
    """Returns whether only the header changes the loop variable, and bound and step are constant.

    In `for (i = 0, j = n; i < j; i++, j--)`, the bound is not constant. In `j < w && !done`, only
    the bound `w` must be constant, since the second condition is an exit.
    """
    moved = set(effects.written_in(loop.body))
    if header.decl in moved:
        return False
    for expression in (loop.condition, loop.increment):
        if expression is not None:
            moved |= effects.of(expression).keys()
    moved.discard(header.decl)
    increment = loop.increment
    test = _comparison_in(loop.condition) or loop.condition
    read = [test] if test is not None else []
    if isinstance(increment, Assign):
        if header.decl in _names_in(increment.right) and increment.op != "=":
            return False  # the step of `s += s` changes
        read.append(increment.right)
    return moved.isdisjoint(decl for expression in read for decl in _names_in(expression))


def _names_in(expression: Expression) -> Iterator[Decl]:
    """Yields the variables in an expression."""
    return (e.decl for e in every_expression(expression) if isinstance(e, Name))


def _build_header(
    loop: For, decl: Decl, step: Expression | int, limit_side: tuple[str, Expression],
    context: Context, frame: Frame,
) -> Header:  # fmt: skip
    comparison, limit = limit_side
    moved = Expr.const(step) if isinstance(step, int) else context.value(step, frame)
    start = start_value(loop.init, decl, context, frame)
    if decl.ctype.kind == "pointer":
        bound = context.address_in(limit, frame)
        same = isinstance(start, Pointer) and bound is not None and bound.array == start.array
        distance = None
        begin_at = start_expression(loop.init, decl)
        if same and isinstance(start, Pointer) and bound is not None:
            distance = bound.subscripts[-1] - start.subscripts[-1]
        elif begin_at is not None:  # the length is the difference of two pointers
            distance = context.value(Binary("-", limit, begin_at), frame)
        pointer = (
            start
            if isinstance(start, Pointer)
            else context.address_in(Name(decl, loop.span), frame)
        )
        return Header(decl, Expr.const(0), comparison, distance, moved, pointer)
    begin = start if isinstance(start, Expr) else None
    end: Expr | None = context.value(limit, frame)
    return Header(decl, begin, comparison, end, moved)


def start_value(
    init: Stmt | None, decl: Decl, context: Context, frame: Frame
) -> Expr | Pointer | None:
    """Returns the value that a loop's initializer assigns to a variable, or its previous value."""
    value = start_expression(init, decl)
    if value is None:
        held = frame.env.get(decl)
        if held is not None or (init is not None and not isinstance(init, ExprStmt)):
            return held
        return context.value(Name(decl, decl.span), frame)
    if decl.ctype.kind == "pointer":
        return context.address_in(value, frame)
    return converted(context.value(value, frame), decl.ctype)


def start_expression(init: Stmt | None, decl: Decl) -> Expression | None:
    """Returns the expression that a loop's initializer assigns to a variable. Returns None if it
    does not assign the variable.
    """
    if isinstance(init, DeclStmt) and decl in init.decls:
        return decl.init
    value: Expression | None = None
    for part in _comma_parts(init.expr) if isinstance(init, ExprStmt) else ():
        chain = part
        while isinstance(chain, Assign) and chain.op == "=":  # i = j = 0
            if is_variable(chain.left, decl):
                value = chain.right
                while isinstance(value, Assign):
                    value = value.right
            chain = chain.right
    return value


def _comma_parts(expression: Expression | None) -> list[Expression]:
    if isinstance(expression, Binary) and expression.op == ",":
        return [*_comma_parts(expression.left), *_comma_parts(expression.right)]
    return [expression] if expression is not None else []


def steps_of(increment: Expression | None) -> list[tuple[Decl, Expression | int]]:
    """Returns the variables that a loop's increment changes, each with its step."""
    steps: list[tuple[Decl, Expression | int]] = []
    for part in _comma_parts(increment):
        if isinstance(part, Unary) and isinstance(part.operand, Name):
            if part.op in INCREMENT_OPERATORS:
                steps.append((part.operand.decl, INCREMENT_OPERATORS[part.op]))
        elif isinstance(part, Assign) and isinstance(part.left, Name):
            step = _assigned_step(part, part.left.decl)
            if step is not None:
                steps.append((part.left.decl, step))
    return steps


def _assigned_step(assign: Assign, decl: Decl) -> Expression | int | None:
    if assign.op == "+=":
        return assign.right
    if assign.op == "-=":
        return _negated_step(assign.right, assign)
    right = without_casts(assign.right)
    if assign.op == "=" and isinstance(right, Binary) and right.op in ("+", "-"):
        left, other = without_casts(right.left), without_casts(right.right)
        if is_variable(left, decl):
            return other if right.op == "+" else _negated_step(other, assign)
        if is_variable(other, decl) and right.op == "+":
            return left
    return None


def _negated_step(expression: Expression, assign: Assign) -> Expression:
    if isinstance(expression, IntLit):
        return expression._replace(value=-expression.value)
    return Unary("-", expression, assign.span)


def _comparison_in(condition: Expression | None) -> Binary | None:
    while isinstance(condition, Binary) and condition.op == "&&":
        left = _comparison_in(condition.left)
        return left if left is not None else _comparison_in(condition.right)
    if isinstance(condition, Binary) and condition.op in _MIRROR:
        return condition
    return None


def _comparison_with(test: Binary, decl: Decl) -> tuple[str, Expression] | None:
    left, right = without_casts(test.left), without_casts(test.right)
    if is_variable(left, decl):
        return test.op, test.right
    if is_variable(right, decl):
        return _MIRROR[test.op], test.left
    # `i + c < n` is equivalent to `i < n - c`.
    if isinstance(left, Binary) and left.op in ("+", "-"):
        inner = without_casts(left.left)
        if is_variable(inner, decl):
            return test.op, Binary("-" if left.op == "+" else "+", test.right, left.right)
    return None


def _decremented_in_condition(condition: Expression | None) -> Decl | None:
    bare = without_casts(condition) if condition is not None else None
    if isinstance(bare, Binary) and bare.op in (">", "!=") and is_null(bare.right):
        bare = without_casts(bare.left)
    if isinstance(bare, Unary) and bare.op == "p--" and isinstance(bare.operand, Name):
        return bare.operand.decl
    return None


def trips_of(header: Header) -> Expr | None:
    """Returns the number of iterations of a loop with this header. Returns None if it is
    unknown.
    """
    return Loop(
        "", header.start, header.bound, header.comparison, header.step, (), Span("", 0)
    ).trips


def loop_of_one_iteration(name: str, body: Stmt, span: Span) -> For:
    """Returns the loop `for (int name = 0; name < 1; name++) body`."""
    return counting_loop(name, IntLit(1), body, span)


def counting_loop(name: str, bound: Expression, body: Stmt, span: Span) -> For:
    """Returns the loop `for (int name = 0; name < bound; name++) body`."""
    counter = Decl(name, "local", CType("int", 32), span, init=IntLit(0))
    own = Name(counter, span)
    return For(
        DeclStmt((counter,), span), Binary("<", own, bound), Unary("p++", own, span), body, span
    )  # fmt: skip
