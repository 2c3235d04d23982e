"""Converts conditions on floating-point parameters, such as `beta != 0.0`, to exact conditions.

    void matvec(double alpha, ..., double beta, ...) {
      double scale = beta / alpha;
      if (scale != 1.0) ...            beta != alpha, if alpha is not 0

Constant arguments of calls then decide the conditions. Only constants that are small multiples of
1/1024 are supported, since floating-point numbers represent them exactly.
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

# For multiples of 1/1024 up to 2^20, double precision and exact arithmetic agree on whether a
# product or quotient of two numbers equals a third.
_FINEST = 1024
_LARGEST = 1 << 20
_COMPARED = {"==": "eq", "!=": "eq", "<": "lt", "<=": "le"}
_MIRROR = {">": "<", ">=": "<="}


def exact_number(expression: Expression) -> Number | None:
    """Returns the exact value of a floating-point constant. Returns None for other expressions and
    for constants that are not small multiples of 1/1024.
    """
    number = constant_number(expression)
    if number is None or abs(number) > _LARGEST or number * _FINEST != int(number * _FINEST):
        return None
    return int(number) if number == int(number) else Fraction(number)


class _Ratio(NamedTuple):
    """A floating-point value as an exact fraction."""

    numerator: Expr
    denominator: Expr


class FloatConditions:
    """Converts the conditions of one function.

    `context` gives the names of the function's parameters. `is_set` returns whether the function
    assigns a variable.
    """

    def __init__(self, context: Context, is_set: Callable[[Decl], bool]) -> None:
        self._context = context
        self._is_set = is_set
        self._variables: dict[Decl, _Ratio] = {}

    def record_initial_value(self, decl: Decl) -> None:
        """Records the initial value of a variable that is not assigned again."""
        value = self._ratio_of_constants(decl.init) if decl.init is not None else None
        if value is not None:
            self._variables[decl] = value

    def value(self, condition: Expression, frame: Frame) -> Expr:
        """Returns the value of a condition, with exact comparisons of floating-point numbers."""
        exact = self._exact_condition(condition, frame)
        return self._context.value(condition, frame) if exact is None else exact

    def _exact_condition(self, condition: Expression, frame: Frame) -> Expr | None:
        """Returns an exact condition for a comparison of floating-point numbers. Returns None for
        any other condition.
        """
        if isinstance(condition, Unary) and condition.op == "!":
            inner = self._exact_condition(condition.operand, frame)
            return None if inner is None else Expr.atom("not", inner)
        if isinstance(condition, Binary) and condition.op in ("&&", "||"):
            sides = [condition.left, condition.right]
            exact = [self._exact_condition(side, frame) for side in sides]
            if exact == [None, None]:
                return None
            values = [self._context.value(side, frame) if known is None else known
                      for side, known in zip(sides, exact, strict=True)]  # fmt: skip
            return Expr.atom("and" if condition.op == "&&" else "or", *values)
        if isinstance(condition, Binary):
            return self._comparison_value(condition)
        number = self._ratio_of_constants(condition) if type_of(condition).kind == "float" else None
        return None if number is None else _inequality_of(number, _Ratio(ZERO, ONE))

    def _comparison_value(self, condition: Binary) -> Expr | None:
        op, left, right = condition.op, condition.left, condition.right
        if "float" not in (type_of(left).kind, type_of(right).kind):
            return None
        if op in _MIRROR:
            op, left, right = _MIRROR[op], right, left
        first, second = self._ratio_of_constants(left), self._ratio_of_constants(right)
        if op not in _COMPARED or first is None or second is None:
            return None
        if op == "!=":
            return _inequality_of(first, second)
        if op == "==":
            return Expr.atom("not", _inequality_of(first, second))
        if (first.denominator, second.denominator) != (ONE, ONE):
            return None  # the unknown sign of the denominator may reverse the comparison
        return Expr.atom(_COMPARED[op], first.numerator, second.numerator)

    def _ratio_of_constants(self, expression: Expression) -> _Ratio | None:
        number = exact_number(expression)
        if number is not None:
            return _Ratio(Expr.const(number), ONE)
        if isinstance(expression, Name):
            decl = expression.decl
            is_float_parameter = decl.kind == "parameter" and decl.ctype.kind == "float"
            if is_float_parameter and not self._is_set(decl):
                return _Ratio(self._context.value(expression, Frame({})), ONE)
            return self._variables.get(decl)
        if isinstance(expression, Cast):
            return (
                self._ratio_of_constants(expression.operand)
                if expression.ctype.kind == "float"
                else None
            )
        if isinstance(expression, Unary) and expression.op == "-":
            inner = self._ratio_of_constants(expression.operand)
            return None if inner is None else _Ratio(-inner.numerator, inner.denominator)
        if not isinstance(expression, Binary) or type_of(expression).kind != "float":
            return None
        left, right = (
            self._ratio_of_constants(expression.left),
            self._ratio_of_constants(expression.right),
        )
        if left is None or right is None or not (_is_exact(left) and _is_exact(right)):
            return None
        if expression.op == "*":
            return _Ratio(left.numerator * right.numerator, ONE)
        return _Ratio(left.numerator, right.numerator) if expression.op == "/" else None


def _is_exact(number: _Ratio) -> bool:
    """Returns whether the value is a constant or a parameter, without rounding errors."""
    names = [Expr.name(name) for name in number.numerator.names]
    whole = number.numerator.constant is not None or number.numerator in (
        *names,
        *(-name for name in names),
    )
    return whole and number.denominator == ONE


def _inequality_of(left: _Ratio, right: _Ratio) -> Expr:
    """Returns the condition that two values differ. A division by zero differs from every
    number.
    """
    equal = Expr.atom("eq", left.numerator * right.denominator, right.numerator * left.denominator)
    denominator = left.denominator * right.denominator
    if denominator.constant is None:
        equal = Expr.atom("and", equal, Expr.atom("ne", denominator, ZERO))
    return Expr.atom("not", equal)
