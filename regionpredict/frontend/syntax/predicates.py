"""Tests of a single expression: what it refers to, and what it assigns."""

from __future__ import annotations

from regionpredict.frontend.syntax.nodes import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Decl,
    Expression,
    Index,
    IntLit,
    Member,
    Name,
    Unary,
    is_virtual_table,
)
from regionpredict.frontend.syntax.traversal import every_expression

INCREMENT_OPERATORS = {"++": 1, "p++": 1, "--": -1, "p--": -1}
"""The prefix and postfix (`p`) operators that change a variable by one, with their step."""


def without_casts(expression: Expression) -> Expression:
    """Returns the operand of nested casts."""
    while isinstance(expression, Cast):
        expression = expression.operand
    return expression


def is_null(value: Expression | None) -> bool:
    """Whether the value is zero or a null pointer, possibly inside casts."""
    plain = without_casts(value) if value is not None else None
    return isinstance(plain, IntLit) and plain.value == 0


def is_variable(expression: Expression | None, decl: Decl) -> bool:
    """Whether the expression is the variable `decl`. An external variable has a different
    declaration in each unit.
    """
    return isinstance(expression, Name) and is_same_variable(expression.decl, decl)


def is_same_variable(decl: Decl, other: Decl) -> bool:
    """Whether two declarations refer to the same variable or function."""
    return decl is other or bool(decl.symbol and decl.symbol == other.symbol)


def is_member(place: Expression | None, field: Decl) -> bool:
    """Whether the expression is the member `field` of any object. Each unit that reads the header
    has a different declaration of the member.
    """
    if not isinstance(place, Member):
        return False
    other = place.field
    return other is field or (other.name, other.span) == (field.name, field.span)


def is_virtual(place: Expression | None) -> bool:
    """Whether the expression is a virtual method, so that the object's class determines the
    function.
    """
    base = place.base if isinstance(place, Member) else None
    return isinstance(base, Cast) and is_virtual_table(base.ctype)


def is_by_member_pointer(call: CallExpr) -> bool:
    """Whether a call goes through a pointer to a method: `(p->*f)(x)`."""
    return call.method and call.pointer is not None and not is_virtual(call.pointer)


def is_memory(expression: Expression | None) -> bool:
    """Whether the expression is a memory location: `a[i]`, `s.x` or `*p`."""
    if isinstance(expression, Unary):
        return expression.op == "*"
    return isinstance(expression, (Index, Member))


def is_place(expression: Expression) -> bool:
    """Whether the expression is a variable or memory location whose address can be taken."""
    return isinstance(expression, Name) or is_memory(expression)


def named_function(value: Expression | None) -> Decl | None:
    """Returns the function that an expression names, as in `f`, `&f`, `*f` or `(type)f`."""
    while isinstance(value, Cast) or (isinstance(value, Unary) and value.op in ("&", "*")):
        value = value.operand
    named = isinstance(value, Name) and value.decl.kind == "function"
    return value.decl if isinstance(value, Name) and named else None


def tested_pointer(condition: Expression) -> Expression:
    """Returns the pointer `p` in the conditions `p` and `p != NULL`."""
    plain = without_casts(condition)
    if isinstance(plain, Binary) and plain.op == "!=" and is_null(plain.right):
        return without_casts(plain.left)
    return plain


def assigned_place(expression: Expression) -> Expression | None:
    """Returns the lvalue that an expression itself assigns by `=`, `+=`, `++` and similar
    operators. None if there is no assignment.
    """
    if isinstance(expression, Assign):
        return expression.left
    if isinstance(expression, Unary) and expression.op in INCREMENT_OPERATORS:
        return expression.operand
    return None


def set_place(expression: Expression) -> Expression | None:
    """Returns the lvalue that an expression itself assigns or whose address it takes, or None."""
    if isinstance(expression, Unary) and expression.op == "&":
        return expression.operand
    return assigned_place(expression)


def address_taken(expression: Expression) -> Expression | None:
    """Returns the lvalue `x` in `&x`. None for any other expression."""
    plain = without_casts(expression)
    return plain.operand if isinstance(plain, Unary) and plain.op == "&" else None


def has_side_effects(*expressions: Expression) -> bool:
    """Whether expressions have effects in addition to their value: assignments, calls or
    constructors.
    """
    return any(
        isinstance(part, CallExpr)
        or assigned_place(part) is not None
        or (isinstance(part, Cast) and part.constructor is not None)
        for expression in expressions for part in every_expression(expression)
    )  # fmt: skip
