"""Applies C's binary operators to two symbolic values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from regionpredict.frontend.syntax.integer_types import converted, type_of, usual
from regionpredict.frontend.syntax.nodes import Binary
from regionpredict.ir import Expr
from regionpredict.ir.folding import TRUNCATES

_COMPARE = {
    "<": "lt", "<=": "le", "==": "eq", "!=": "ne", "&&": "and", "||": "or", "&": "bitand",
    "|": "bitor", "^": "bitxor",
}  # fmt: skip
_NUMBER_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "&&": lambda left, right: bool(left) and bool(right),
    "||": lambda left, right: bool(left) or bool(right),
}  # fmt: skip
_INTEGER_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift,
}  # fmt: skip
_MOST_SHIFT = 64
_MIRROR = {">": "<", ">=": "<="}


BY_IF = "if"
"""The label of a choice between values that separate statements assign."""
_LESSER = frozenset(("min", "MIN", "fmin", "fminf", "imin", "std::min"))
_GREATER = frozenset(("max", "MAX", "fmax", "fmaxf", "imax", "std::max"))
_THREAD_QUERIES = frozenset(("omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads"))


def called_by_name(name: str, operands: Sequence[Expr]) -> Expr | None:
    """Returns the result of a minimum or maximum function, or of a query of the thread number or
    the number of threads.

    None for any other function.
    """
    if name in _THREAD_QUERIES:
        return Expr.name(f"{name}()")
    if len(operands) != 2 or name not in _LESSER | _GREATER:
        return None
    return Expr.atom("min" if name in _LESSER else "max", *operands)


def is_named_operation(name: str) -> bool:
    """Whether `called_by_name` may return the result of the function."""
    return name in _THREAD_QUERIES | _LESSER | _GREATER


def chosen(test: Expr, if_true: Expr, if_false: Expr, label: str = "") -> Expr:
    """Returns one of two values, depending on a condition.

    If the condition compares the two values, the result is their minimum or maximum.

    `label` is stored in any other choice, for example `BY_IF` for choices by statements.
    """
    if if_true == if_false:
        return if_true
    if test.constant is not None:
        return if_true if test.constant else if_false
    compared = test.only_atom
    if compared is not None and compared.kind in ("lt", "le"):
        if compared.args == (if_true, if_false):
            return Expr.atom("min", if_true, if_false)
        if compared.args == (if_false, if_true):
            return Expr.atom("max", if_true, if_false)
    return Expr.atom("select", test, if_true, if_false, label=label)


def exact_result(op: str, left: float, right: float) -> int | float | None:
    """Returns `left op right` for integers or real numbers. None if it is undefined in C."""
    if op in _NUMBER_OPERATORS:
        result = _NUMBER_OPERATORS[op](left, right)
        return int(result) if isinstance(result, bool) else result
    whole = isinstance(left, int) and isinstance(right, int)
    if not whole:
        return left / right if op == "/" and right else None
    first, second = int(left), int(right)
    if op in ("/", "%"):
        if not second:
            return None
        size = abs(first) // abs(second)
        quotient = size if (first < 0) == (second < 0) else -size
        return quotient if op == "/" else first - second * quotient
    if op in ("<<", ">>") and not 0 <= second < _MOST_SHIFT:
        return None
    return _INTEGER_OPERATORS[op](first, second) if op in _INTEGER_OPERATORS else None


def computed(expression: Binary, left: Expr, right: Expr) -> Expr:
    """Returns the result of a binary operator for two symbolic values."""
    op = expression.op
    if left.constant is not None and right.constant is not None:
        ctype = usual(type_of(expression.left), type_of(expression.right))
        if ctype.unsigned:  # negative numbers wrap
            left, right = converted(left, ctype), converted(right, ctype)
            if op in ("+", "-", "*"):
                total = {"+": left + right, "-": left - right, "*": left * right}[op]
                return converted(total, ctype)
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        return left * right
    if op == "/":
        return Expr.atom("floordiv", left, right, label=TRUNCATES)
    if op == "%":
        return Expr.atom("mod", left, right, label=TRUNCATES)
    if op in ("<<", ">>"):
        power = Expr.atom("exp2", right)
        return left * power if op == "<<" else Expr.atom("floordiv", left, power)
    if op in _MIRROR:
        op, left, right = _MIRROR[op], right, left
    if op in _COMPARE:
        return Expr.atom(_COMPARE[op], left, right)
    return Expr.atom("call", left, right, label=op)
