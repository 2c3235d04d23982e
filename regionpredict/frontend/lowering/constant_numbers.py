"""Expressions of constants as the numbers that a compiler puts in their place."""

from __future__ import annotations

import ctypes
import math
from typing import NamedTuple

from regionpredict.frontend.lowering.integer_types import promoted, usual
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

_MOST_NAMES = 32
"""Constants that are made of constants, one of the other; a chain as long as that has no end."""
_LONGEST = 64
"""Bits of the integers that compilers divide by constants without a division."""


class _Constant(NamedTuple):
    number: int | float
    ctype: CType


def constant_number(expression: Expression | None) -> int | float | None:
    """The number that an expression of constants is; None where something else is in it.

    Constants are literals, enumerators, and variables that are declared `const` with a value that
    is one. Floating-point numbers are as double precision has them, or single where the type says.
    """
    constant = _constant(expression, 0)
    return constant.number if constant is not None else None


def division(kind: str, op: str, left: Expression | None, right: Expression, ctype: CType) -> str:
    """The kind of an operation as `Operation` has it: with what it is divided by, if a constant.

    `op` is the operator that makes an operation of that `kind` on numbers of `ctype`, `left` the
    dividend, None where a place is divided.
    """
    if op not in ("/", "%") or (ctype.kind == "int" and ctype.bits > _LONGEST):
        return kind
    by = _constant(right, 0)
    by = _converted(by, ctype) if by is not None else None
    if by is None or not by.number:
        return kind
    if left is not None and _constant(left, 0) is not None:
        return f"{kind}:folded"
    unsigned = "u" if ctype.kind == "int" and ctype.unsigned else ""
    return f"{kind}:{op}{by.number}{unsigned}"


def _constant(expression: Expression | None, names: int) -> _Constant | None:
    if isinstance(expression, IntLit):
        return _Constant(expression.value, CType("int", expression.bits, expression.unsigned))
    if isinstance(expression, FloatLit):
        return _Constant(expression.value, CType("float", expression.bits))
    if isinstance(expression, Name):
        decl = expression.decl
        if decl.value is not None:
            return _Constant(decl.value, decl.ctype)
        if not decl.is_const or names == _MOST_NAMES:
            return None
        held = _constant(decl.init, names + 1)
        return _converted(held, decl.ctype) if held is not None else None
    if isinstance(expression, Cast):
        held = _constant(expression.operand, names)
        return _converted(held, expression.ctype) if held is not None else None
    if isinstance(expression, Unary):
        return _unary(expression, names)
    return _binary(expression, names) if isinstance(expression, Binary) else None


def _unary(expression: Unary, names: int) -> _Constant | None:
    if expression.op not in ("-", "~"):
        return None
    held = _constant(expression.operand, names)
    if held is None:
        return None
    ctype = promoted(held.ctype)
    if expression.op == "-":
        return _converted(_Constant(-held.number, ctype), ctype)
    number = held.number
    return _converted(_Constant(~number, ctype), ctype) if isinstance(number, int) else None


def _binary(expression: Binary, names: int) -> _Constant | None:
    # What is no constant stands more often at the end of a long sum than at its beginning.
    right = _constant(expression.right, names)
    left = _constant(expression.left, names) if right is not None else None
    if left is None or right is None:
        return None
    shifts = expression.op in ("<<", ">>")
    ctype = promoted(left.ctype) if shifts else usual(left.ctype, right.ctype)
    converted = _converted(left, ctype)
    other = right if shifts else _converted(right, ctype)
    if converted is None or other is None:
        return None
    number = _computed(expression.op, converted.number, other.number)
    return _converted(_Constant(number, ctype), ctype) if number is not None else None


def _computed(op: str, left: int | float, right: int | float) -> int | float | None:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        return left * right
    if not isinstance(left, int) or not isinstance(right, int):
        return left / right if op == "/" and right else None
    if op in ("/", "%") and right:
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if op == "/" else left - quotient * right
    if op in ("<<", ">>") and 0 <= right < _LONGEST:
        return left << right if op == "<<" else left >> right
    return {"&": left & right, "|": left | right, "^": left ^ right}.get(op)


def _converted(constant: _Constant, ctype: CType) -> _Constant | None:
    """The number as one of another type; None where that type has none for it."""
    number = constant.number
    if ctype.kind == "float":
        try:
            rounded = float(number)
        except OverflowError:
            return None
        if ctype.bits == ctypes.sizeof(ctypes.c_float) * 8:
            rounded = ctypes.c_float(rounded).value
        return _Constant(rounded, ctype) if math.isfinite(rounded) else None
    if ctype.kind != "int" or not math.isfinite(number):
        return None
    bits = ctype.bits or 32
    whole = int(number) & ((1 << bits) - 1)
    if not ctype.unsigned and whole >> (bits - 1):
        whole -= 1 << bits
    return _Constant(whole, ctype)
