"""Determines types of expressions by C's conversions, and truncates values to integer types."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from regionpredict.frontend.syntax.nodes import (
    INT,
    UNKNOWN,
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Expression,
    FloatLit,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
)
from regionpredict.frontend.syntax.traversal import subexpressions
from regionpredict.ir import Expr

_INT_RESULT = frozenset(("<", ">", "<=", ">=", "==", "!=", "&&", "||"))
_NARROW = 16
"""Width of narrow types in bits. Values in real programs often exceed their range."""


def usual(left: CType, right: CType) -> CType:
    """Returns the type after the usual arithmetic conversions (C17, 6.3.1.8): kind, width and
    sign.
    """
    if left.kind == "float" or right.kind == "float":
        bits = max(c.bits for c in (left, right) if c.kind == "float")
        return CType("float", bits)
    if left.kind == "unknown" and right.kind == "unknown":
        return UNKNOWN
    bits = max(32, left.bits, right.bits)
    return CType("int", bits, any(c.unsigned and c.bits == bits for c in (left, right)))


def promoted(ctype: CType) -> CType:
    """Returns the type of an operand after promotion, as in a shift or in `-x`."""
    return usual(ctype, INT) if ctype.kind == "int" and ctype.bits < INT.bits else ctype


def type_of(expression: Expression | None) -> CType:
    """Returns the type of an expression. Unknown if its parts have unknown types."""
    of_kind = _TYPES.get(type(expression))
    return UNKNOWN if of_kind is None else of_kind(expression)


def _type_of_choice(if_true: CType, if_false: CType) -> CType:
    """Returns the type of `c ? then : other`. It is a pointer type if one operand is a pointer,
    otherwise a struct type, otherwise a number type.
    """
    for side in (if_true, if_false):
        if side.element is not None:
            return CType("pointer", 64, element=side.element)
    for side in (if_true, if_false):
        if side.kind in ("struct", "void"):
            return side
    return usual(if_true, if_false)


def _type_of_binary(expression: Binary) -> CType:
    if expression.op in _INT_RESULT:
        return INT
    left, right = type_of(expression.left), type_of(expression.right)
    if expression.op == ",":
        return right
    if expression.op in ("<<", ">>"):
        return promoted(left)
    for side in (left, right):
        if side.kind in ("pointer", "array"):
            return side if expression.op == "+" or left.kind != right.kind else CType("int", 64)
    return usual(left, right)


def _type_of_unary(expression: Unary) -> CType:
    inner = type_of(expression.operand)
    if expression.op == "*":
        return inner.element or UNKNOWN
    if expression.op == "&":
        return CType("pointer", 64, element=inner)
    if expression.op == "!":
        return INT
    return promoted(inner) if expression.op in ("-", "~") else inner


def _type_of_pointer_call(call: CallExpr) -> CType:
    """Returns the type of a call through a pointer, which is the type of the function's result."""
    return type_of(call.pointer).element or UNKNOWN


# A table by node type is faster than a chain of tests, which would run for millions of nodes.
_TYPES: dict[type, Callable[[Any], CType]] = {
    IntLit: lambda e: CType("int", e.bits, e.unsigned),
    FloatLit: lambda e: CType("float", e.bits),
    Name: lambda e: e.decl.ctype,
    Cast: lambda e: e.ctype,
    Assign: lambda e: type_of(e.left),
    Member: lambda e: e.field.ctype,
    Index: lambda e: type_of(e.base).element or type_of(e.index).element or UNKNOWN,
    CallExpr: lambda e: e.decl.ctype if e.decl is not None else _type_of_pointer_call(e),
    Opaque: lambda e: CType("struct", name=e.struct) if e.struct else UNKNOWN,
    Ternary: lambda e: _type_of_choice(type_of(e.then), type_of(e.other)),
    Binary: _type_of_binary,
    Unary: _type_of_unary,
}


def struct_behind(expression: Expression | None) -> str:
    """Returns the struct that an expression is, contains or points to, also as bytes:
    `(char *)&grid + 8`. "" if there is no struct.
    """
    struct = type_of(expression).struct
    while not struct and isinstance(expression, (Cast, Unary, Index, Binary, Assign)):
        expression = subexpressions(expression)[0]
        struct = type_of(expression).struct
    return struct


def owner_of(member: Member) -> str:
    """Returns the struct that declares a member, possibly a base class of the object's class. ""
    if the struct is unknown.
    """
    return member.field.owner or struct_behind(member.base)


def converted(value: Expr, ctype: CType, source: CType | None = None) -> Expr:
    """Converts a value to an integer type, as in an assignment to a variable.

    Names are assumed to fit `int` and longer types. A shorter type truncates
    (`unsigned char c = 266` is 10). Pass `source` if no name can exceed its type. Values are then
    also truncated by an unsigned type, and by a type that cannot represent all numbers of `source`.
    """
    if ctype.kind != "int" or not 0 < ctype.bits <= 64:
        return value
    number = value.constant
    if (
        number is None
        and ctype.bits > _NARROW
        and (source is None or _represents_all_of(ctype, source))
    ):
        return value
    if isinstance(number, Fraction):
        return value
    label = f"{'u' if ctype.unsigned else ''}int{ctype.bits}_t"
    sizes = (Expr.const(ctype.bits), Expr.const(int(ctype.unsigned)))
    return Expr.atom("wrap", value, *sizes, label=label)


def _represents_all_of(ctype: CType, source: CType) -> bool:
    """Whether a type can represent all numbers of another type, in signed arithmetic."""
    if ctype.unsigned:
        return False
    return source.kind != "int" or ctype.bits > source.bits - (not source.unsigned)


def whole(value: int, ctype: CType) -> int:
    """Truncates a number to the bits of an integer type.

    >>> whole(300, CType("int", 8)), whole(-1, CType("int", 8, unsigned=True))
    (44, 255)
    """
    if not 0 < ctype.bits <= 64:
        return value
    value &= (1 << ctype.bits) - 1
    negative = not ctype.unsigned and ctype.bits > 1 and value >> (ctype.bits - 1)
    return value - (1 << ctype.bits) if negative else value


def fits(ctype: CType, *operands: Expr) -> bool | None:
    """Whether an integer type can represent all values. None if a value is not a number."""
    if ctype.kind != "int" or not ctype.bits:
        return True
    numbers = [value.constant for value in operands]
    low = 0 if ctype.unsigned else -(1 << (ctype.bits - 1))
    high = (1 << (ctype.bits - (not ctype.unsigned))) - 1
    if any(number is not None and not low <= number <= high for number in numbers):
        return False
    return None if None in numbers else True
