"""Applies C's operators to known values: numbers, addresses, strings, and expressions in names."""

from __future__ import annotations

from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Arguments,
    Place,
    Text,
    Value,
    as_type,
    in_names,
    short,
)
from regionpredict.frontend.syntax import Binary, Unary
from regionpredict.frontend.syntax.binary_operators import computed, exact_result
from regionpredict.frontend.syntax.integer_types import type_of, usual
from regionpredict.ir import Expr

_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^"))


def truth_value(value: Value) -> bool | None:
    """Whether C treats a value as true. None if unknown."""
    if isinstance(value, (int, float)):
        return value != 0
    return True if isinstance(value, (Text, Arguments, Address)) else None


def add_distance(value: Value, distance: Value) -> Value:
    """Returns the sum `value + distance` of numbers and addresses."""
    if isinstance(value, (int, float)) and isinstance(distance, (int, float)):
        return value + distance
    if isinstance(value, Expr) and isinstance(distance, int):
        return value + distance
    if not isinstance(distance, int):
        return add_distance(distance, value) if isinstance(value, int) else UNKNOWN
    if isinstance(value, Text):
        return value._replace(offset=value.offset + distance)
    if isinstance(value, Arguments):
        return Arguments(value.first + distance)
    if isinstance(value, Address):
        last = value.place.steps[-1] if value.place.steps else None
        if isinstance(last, int):
            steps = (*value.place.steps[:-1], last + distance)
            return Address(Place(value.place.decl, steps))
        return value if distance == 0 else UNKNOWN
    return UNKNOWN


def apply_operator(op: str, left: Value, right: Value) -> Value:
    """Returns the result of `left op right` in C."""
    if op == "+":
        return add_distance(left, right)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        result = exact_result(op, left, right)
        return UNKNOWN if result is None else result
    if op == "-":
        if isinstance(right, int):
            return add_distance(left, -right)
        if isinstance(left, Text) and isinstance(right, Text) and left.text == right.text:
            return left.offset - right.offset
        return UNKNOWN
    first, second = truth_value(left), truth_value(right)
    if op in ("==", "!=") and first is not None and second is not None and first != second:
        return int(op == "!=")  # a null pointer and another pointer
    return UNKNOWN


def apply_unary(expression: Unary, value: Value) -> Value:
    """Returns the result of `-`, `+` or `~` for a value."""
    if expression.op == "~" and isinstance(value, int):
        return as_type(~value, type_of(expression))
    if expression.op in ("!", "~") and isinstance(value, Expr):
        return Expr.atom("not" if expression.op == "!" else "bitnot", value)
    if expression.op not in ("+", "-") or not isinstance(value, (int, float, Expr)):
        return UNKNOWN
    return value if expression.op == "+" else as_type(-value, type_of(expression))


def apply_binary(expression: Binary, left: Value, right: Value) -> Value:
    """Returns the result of a binary operator, converted according to the types of its operands."""
    if isinstance(left, Expr) or isinstance(right, Expr):
        return _in_names(expression, left, right)
    plain = apply_operator(expression.op, left, right)
    if not isinstance(plain, float) and _fits_all_types(left, right, plain):
        return plain
    return _in_type(expression.op, left, right, expression)


def _fits_all_types(left: Value, right: Value, result: Value) -> bool:
    """Whether an operation has the same result in all integer types, because no value is negative
    or too large.

    This test is done first because it is fast.
    """
    for operand in (left, right, result):
        if isinstance(operand, int) and not 0 <= operand < 1 << 31:
            return False
    return True


def _in_names(expression: Binary, left: Value, right: Value) -> Value:
    """Returns the result of an operation on expressions in names."""
    first, second = in_names(left), in_names(right)
    if first is None or second is None:
        return UNKNOWN
    return short(computed(expression, first, second))


def _in_type(op: str, left: Value, right: Value, expression: Binary) -> Value:
    """Returns the result of an operation in the common type of its operands, which may be
    unsigned.
    """
    common = usual(type_of(expression.left), type_of(expression.right))
    if common.kind == "int" and isinstance(left, int) and isinstance(right, int):
        if op in ("<<", ">>"):
            return as_type(apply_operator(op, left, right), type_of(expression))
        if common.unsigned and op in _ARITHMETIC | _COMPARISONS:
            modulus = 1 << common.bits
            result = apply_operator(op, left % modulus, right % modulus)
            return result % modulus if op in _ARITHMETIC and isinstance(result, int) else result
    result = apply_operator(op, left, right)
    return as_type(result, common) if isinstance(result, float) else result
