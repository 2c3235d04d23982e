"""Conditions on floating-point parameters, such as `beta != 0.0`.

    void matvec(double alpha, ..., double beta, ...) {
      double scale = beta / alpha;
      if (scale != 1.0) ...            beta != alpha, as alpha is not 0

They become exact conditions, which constant arguments decide. A constant counts only if
floating-point numbers represent it exactly and it is a small multiple of 1/1024.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from regionpredict.frontend.lowering.constant_numbers import constant_number
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import Binary, Cast, Decl, Expression, Name, Unary
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.ir.folding import Number

_FINEST = 1024  # multiples of 1/1024: products and quotients of two such numbers equal a third
_LARGEST = 1 << 20  # in double precision exactly if they do in exact arithmetic
_COMPARED = {"==": "eq", "!=": "eq", "<": "lt", "<=": "le"}
_MIRROR = {">": "<", ">=": "<="}


def exact_number(expression: Expression) -> Number | None:
    """Returns the exact value of a floating-point constant. Returns None if it has none."""
    number = constant_number(expression)
    if number is None or abs(number) > _LARGEST or number * _FINEST != int(number * _FINEST):
        return None
    return int(number) if number == int(number) else Fraction(number)


class _Ratio(NamedTuple):
    """A floating-point number as a fraction."""

    over: Expr
    under: Expr


class FloatConditions:
    """Converts the conditions of one function.

    `context` gives the names of the function's parameters. `is_set` says whether the function sets
    a variable.
    """

    def __init__(self, context: Context, is_set: Callable[[Decl], bool]) -> None:
        self._context = context
        self._is_set = is_set
        self._variables: dict[Decl, _Ratio] = {}

    def record_initial_value(self, decl: Decl) -> None:
        """Records the initial value of a variable that is not assigned again."""
        value = self._number(decl.init) if decl.init is not None else None
        if value is not None:
            self._variables[decl] = value

    def value(self, condition: Expression, frame: Frame) -> Expr:
        """Returns a condition on integers that replaces a comparison of floating-point numbers."""
        told = self._if_decided(condition, frame)
        return self._context.value(condition, frame) if told is None else told

    def _if_decided(self, condition: Expression, frame: Frame) -> Expr | None:
        """Returns the condition, if known floating-point numbers decide it."""
        if isinstance(condition, Unary) and condition.op == "!":
            inner = self._if_decided(condition.operand, frame)
            return None if inner is None else Expr.atom("not", inner)
        if isinstance(condition, Binary) and condition.op in ("&&", "||"):
            sides = [condition.left, condition.right]
            told = [self._if_decided(side, frame) for side in sides]
            if told == [None, None]:
                return None
            values = [self._context.value(side, frame) if known is None else known
                      for side, known in zip(sides, told, strict=True)]  # fmt: skip
            return Expr.atom("and" if condition.op == "&&" else "or", *values)
        if isinstance(condition, Binary):
            return self._compared(condition)
        number = self._number(condition) if type_of(condition).kind == "float" else None
        return None if number is None else _unequal(number, _Ratio(ZERO, ONE))

    def _compared(self, condition: Binary) -> Expr | None:
        op, left, right = condition.op, condition.left, condition.right
        if "float" not in (type_of(left).kind, type_of(right).kind):
            return None
        if op in _MIRROR:
            op, left, right = _MIRROR[op], right, left
        first, second = self._number(left), self._number(right)
        if op not in _COMPARED or first is None or second is None:
            return None
        if op == "!=":
            return _unequal(first, second)
        if op == "==":
            return Expr.atom("not", _unequal(first, second))
        if (first.under, second.under) != (ONE, ONE):
            return None  # unknown sign, which decides the direction of the comparison
        return Expr.atom(_COMPARED[op], first.over, second.over)

    def _number(self, expression: Expression) -> _Ratio | None:
        number = exact_number(expression)
        if number is not None:
            return _Ratio(Expr.const(number), ONE)
        if isinstance(expression, Name):
            decl = expression.decl
            handed = decl.kind == "parameter" and decl.ctype.kind == "float"
            if handed and not self._is_set(decl):
                return _Ratio(self._context.value(expression, Frame({})), ONE)
            return self._variables.get(decl)
        if isinstance(expression, Cast):
            return self._number(expression.operand) if expression.ctype.kind == "float" else None
        if isinstance(expression, Unary) and expression.op == "-":
            inner = self._number(expression.operand)
            return None if inner is None else _Ratio(-inner.over, inner.under)
        if not isinstance(expression, Binary) or type_of(expression).kind != "float":
            return None
        left, right = self._number(expression.left), self._number(expression.right)
        if left is None or right is None or not (_is_plain(left) and _is_plain(right)):
            return None
        if expression.op == "*":
            return _Ratio(left.over * right.over, ONE)
        return _Ratio(left.over, right.over) if expression.op == "/" else None


def _is_plain(number: _Ratio) -> bool:
    """Returns whether the number is a constant or a parameter. A computed number may differ from
    both.
    """
    names = [Expr.name(name) for name in number.over.names]
    whole = number.over.constant is not None or number.over in (*names, *(-name for name in names))
    return whole and number.under == ONE


def _unequal(left: _Ratio, right: _Ratio) -> Expr:
    """Returns whether two numbers differ. A division by zero differs from every number."""
    equal = Expr.atom("eq", left.over * right.under, right.over * left.under)
    under = left.under * right.under
    if under.constant is None:
        equal = Expr.atom("and", equal, Expr.atom("ne", under, ZERO))
    return Expr.atom("not", equal)
