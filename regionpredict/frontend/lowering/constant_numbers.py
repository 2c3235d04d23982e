"""Evaluates constant expressions with the rules of C compilers."""

from __future__ import annotations

import math

from regionpredict.frontend.program_arguments.memory import UNKNOWN, Value, as_type
from regionpredict.frontend.program_arguments.operators import apply_binary, apply_unary
from regionpredict.frontend.syntax import (
    Binary,
    Cast,
    CType,
    Expression,
    FloatLit,
    IntLit,
    Name,
    Unary,
)
from regionpredict.frontend.syntax.integer_types import type_of

_MOST_NAMES = 32
"""Maximum length of a chain of constants that are defined by other constants. A longer chain is
assumed to be circular.
"""
_MAX_DIVIDEND_BITS = 64
"""Maximum width in bits of integers that compilers divide by constants without a division."""


def constant_number(expression: Expression | None) -> int | float | None:
    """Returns the value of a constant expression. Returns None if it contains anything else.

    Constants are literals, enumerators, and variables declared `const` with a constant value.
    Floating-point arithmetic has double precision, or single if the type requires it.
    """
    number = _constant_number(expression, 0)
    return number if isinstance(number, (int, float)) and math.isfinite(number) else None


def division_kind(
    kind: str, op: str, left: Expression | None, right: Expression, ctype: CType
) -> str:
    """Returns the operation kind of a division or remainder. A constant divisor is appended, as in
    `int_div:/8u`.

    `kind` is the kind without a divisor, and `ctype` is the type of the operands. The dividend
    `left` is None for `/=` and `%=`.
    """
    if op not in ("/", "%") or (ctype.kind == "int" and ctype.bits > _MAX_DIVIDEND_BITS):
        return kind
    by = as_type(_constant_number(right, 0), ctype)
    if not isinstance(by, (int, float)) or not by or not math.isfinite(by):
        return kind
    if left is not None and constant_number(left) is not None:
        return f"{kind}:folded"
    unsigned = "u" if ctype.kind == "int" and ctype.unsigned else ""
    return f"{kind}:{op}{by}{unsigned}"


def _constant_number(expression: Expression | None, names: int) -> Value:
    if isinstance(expression, (IntLit, FloatLit)):
        return as_type(expression.value, type_of(expression))
    if isinstance(expression, Name):
        decl = expression.decl
        if decl.value is not None:
            return decl.value
        known = decl.is_const and names < _MOST_NAMES
        return as_type(_constant_number(decl.init, names + 1), decl.ctype) if known else UNKNOWN
    if isinstance(expression, Cast) and expression.ctype.kind in ("int", "float"):
        return as_type(_constant_number(expression.operand, names), expression.ctype)
    if isinstance(expression, Unary):
        return apply_unary(expression, _constant_number(expression.operand, names))
    if not isinstance(expression, Binary):
        return UNKNOWN
    # The right operand comes first: in long sums, non-constant terms are more often at the end.
    right = _constant_number(expression.right, names)
    left = UNKNOWN if right is UNKNOWN else _constant_number(expression.left, names)
    return apply_binary(expression, left, right)
