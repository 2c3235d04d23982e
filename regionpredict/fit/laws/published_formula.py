"""Parses a published efficiency formula of `p` and `n` into a function: `1.55 - 1.02*p^0.25 +
...`.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from regionpredict.errors import InputError

_LONGEST = 1000  # characters
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "log": math.log2,
    "log2": math.log2,
    "log10": math.log10,
    "ln": math.log,
    "sqrt": math.sqrt,
    "min": min,
    "max": max,
}
_REMEDY = (
    "write it with p, n, numbers, + - * / ^, log, sqrt and min, for example 1 - 0.1*p^0.5*log(n)"
)


def published_formula(text: str) -> Callable[[float, float], float]:
    """Returns the function of `p` and `n` that a formula defines. `log` is binary.

    The value is `nan` at points where the formula is undefined. Raises `InputError` for text that
    is not arithmetic.

    >>> published_formula("min{1, (2 + n)/p}")(4, 1)
    0.75
    """
    source = text.replace("{", "(").replace("}", ")").replace("^", "**")
    try:
        if len(text) > _LONGEST:
            raise SyntaxError
        tree = ast.parse(source.strip(), mode="eval").body
        _require_arithmetic(tree)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        raise InputError(f"the formula '{text[:60]}' does not parse", remedy=_REMEDY) from None

    def value(threads: float, size: float) -> float:
        try:
            result = _evaluate_node(tree, {"p": float(threads), "n": float(size)})
        except (ArithmeticError, ValueError):
            return math.nan
        return result if isinstance(result, float) else math.nan

    return value


def _require_arithmetic(node: ast.expr) -> None:
    """Raises ValueError unless the expression is arithmetic of p and n."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _require_arithmetic(left)
            _require_arithmetic(right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _require_arithmetic(operand)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            if len(arguments) != 1 and (name not in ("min", "max") or len(arguments) < 2):
                raise ValueError
            if name in ("min", "max") and len(arguments) < 2:
                raise ValueError
            for argument in arguments:
                _require_arithmetic(argument)
        case ast.Name(id="p" | "n"):
            pass
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            float(number)
        case _:
            raise ValueError


def _evaluate_node(node: ast.expr, variables: Mapping[str, float]) -> float:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](
                _evaluate_node(left, variables), _evaluate_node(right, variables)
            )
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluate_node(operand, variables)
            return -value if isinstance(op, ast.USub) else value
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](
                *(_evaluate_node(argument, variables) for argument in arguments)
            )
        case ast.Name(id=name):
            return variables[name]
        case ast.Constant(value=int() | float() as number):
            return float(number)
    raise ValueError
