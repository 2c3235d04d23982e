"""The struct of an expression, from declarations only."""

from __future__ import annotations

from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Expression,
    Index,
    Member,
    Name,
    Ternary,
    Unary,
)


def struct_of(ctype: CType | None) -> str:
    """The struct of a value, or the struct that it contains or points to. "" without a struct."""
    while ctype is not None and ctype.kind in ("pointer", "array"):
        ctype = ctype.element
    return ctype.name if ctype is not None and ctype.kind == "struct" else ""


def owner_of(member: Member) -> str:
    """The struct that declares a member, which may be a base class of its object's class. "" if it
    is unknown.
    """
    return member.field.owner or struct_of(type_of(member.base))


def type_of(expression: Expression | None) -> CType | None:
    """A type that contains the struct of an expression."""
    while expression is not None:
        if isinstance(expression, (Name, CallExpr)):
            return expression.decl.ctype if expression.decl is not None else None
        if isinstance(expression, Member):
            return expression.field.ctype
        if isinstance(expression, Cast):
            if struct_of(expression.ctype):
                return expression.ctype
            expression = expression.operand
        elif isinstance(expression, Unary):
            expression = expression.operand
        elif isinstance(expression, Index):
            expression = expression.base
        elif isinstance(expression, (Binary, Assign)):
            expression = expression.left
        elif isinstance(expression, Ternary):
            expression = expression.then
        else:
            return None
    return None
