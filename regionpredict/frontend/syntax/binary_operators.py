"""The result of C's binary operators for two symbolic values."""

from __future__ import annotations

from regionpredict.frontend.syntax.integer_types import converted, type_of, usual
from regionpredict.frontend.syntax.nodes import Binary
from regionpredict.ir import Expr
from regionpredict.ir.expr import TRUNCATES

_COMPARE = {
    "<": "lt", "<=": "le", "==": "eq", "!=": "ne", "&&": "and", "||": "or", "&": "bitand",
    "|": "bitor", "^": "bitxor",
}  # fmt: skip
_MIRROR = {">": "<", ">=": "<="}


def computed(expression: Binary, left: Expr, right: Expr) -> Expr:
    """The result of an operator for two values."""
    op = expression.op
    if left.constant is not None and right.constant is not None:
        ctype = usual(type_of(expression.left), type_of(expression.right))
        if ctype.unsigned:  # of numbers below zero it keeps others
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
