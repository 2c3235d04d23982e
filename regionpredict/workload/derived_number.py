"""Floats that also store their formula in the program's names.

Arithmetic with derived numbers gives the same values as plain floats, and every result has an
expression. Displayed formulas therefore match the counted values. A formula is valid for all sizes
for which all comparisons of the computation have the same results.

Only a few expressions out of thousands are needed. Each number therefore stores its operation and
operands, and builds its expression on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import cast

from regionpredict.ir import Expr
from regionpredict.ir.folding import Number
from regionpredict.workload.constants import LARGEST_DENOMINATOR, LONGEST_EXPRESSION

Operation = Callable[..., Expr | None]
"""A function from the expressions of the operands to the expression of the result."""


class Derived(float):
    """A float with its formula, `expr`. The formula is None if it is too long or unknown.

    Arithmetic, comparisons and rounding work like those of floats. Two derived numbers are equal
    only if their formulas are equal, too.

    >>> n = Derived(100, Expr.name("n"))
    >>> half = (n - 1) / 2
    >>> half, str(half.expr), half > 49
    (49.5, '(n - 1)/2', True)
    """

    __slots__ = ("_expr", "_operands", "_operation")

    _expr: Expr | None
    _operation: Operation | None
    _operands: tuple[float, ...]

    def __new__(cls, value: float, expr: Expr | None) -> Derived:
        """Creates a number from its value and its formula."""
        made = super().__new__(cls, value)
        made._expr = _short_enough(expr)
        made._operation = None
        made._operands = ()
        return made

    @classmethod
    def from_operation(cls, value: float, operation: Operation, *operands: float) -> Derived:
        """Creates a number whose formula is `operation`, applied to the formulas of the
        `operands`.
        """
        made = super().__new__(cls, value)
        made._expr = None
        made._operation = operation
        made._operands = operands
        return made

    @property
    def expr(self) -> Expr | None:
        """The formula of the value. None if the formula is too long or unknown."""
        if self._operation is not None:
            self._build_formula()
        return self._expr

    def _build_formula(self) -> None:
        """Builds the formulas of all operands, then the formula of this number.

        The loop replaces a recursion, which would be too deep for sums of thousands of terms.
        """
        waiting = [self]
        while waiting:
            number = waiting[-1]
            operation = number._operation
            if operation is None:
                waiting.pop()
                continue
            open_operands = [
                operand for operand in number._operands
                if isinstance(operand, Derived) and operand._operation is not None
            ]  # fmt: skip
            if open_operands:
                waiting += open_operands
                continue
            exprs = [formula_of(operand) for operand in number._operands]
            known = [expr for expr in exprs if expr is not None]
            number._expr = _short_enough(operation(*known)) if len(known) == len(exprs) else None
            number._operation, number._operands = None, ()
            waiting.pop()

    def __reduce__(self) -> tuple[type[Derived], tuple[float, Expr | None]]:
        """Pickles the value and the formula."""
        return Derived, (float(self), self.expr)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return float(self) == float(self)
        same = float.__eq__(self, other)
        return bool(same is True and (not isinstance(other, Derived) or self.expr == other.expr))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return float.__hash__(self)

    def __add__(self, other: float) -> Derived:
        return Derived.from_operation(float(self) + float(other), Expr.__add__, self, other)

    __radd__ = __add__

    def __neg__(self) -> Derived:
        return Derived.from_operation(-float(self), Expr.__neg__, self)

    def __sub__(self, other: float) -> Derived:
        return self + -other

    def __rsub__(self, other: float) -> Derived:
        return -self + other

    def __mul__(self, other: float) -> Derived:
        return Derived.from_operation(float(self) * float(other), Expr.__mul__, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Derived:
        return _quotient_of(self, other)

    def __rtruediv__(self, other: float) -> Derived:
        return _quotient_of(other, self)

    def __floordiv__(self, other: float) -> Derived:
        return _floor_quotient(self, other)

    def __rfloordiv__(self, other: float) -> Derived:
        return _floor_quotient(other, self)

    def __abs__(self) -> Derived:
        return -self if self < 0 else self

    def __pow__(self, power: float, modulo: None = None) -> Derived:
        value = float(self) ** power
        if not power == int(power) >= 0:
            return Derived(value, None)
        return Derived.from_operation(value, partial(_power_formula, power=int(power)), self)

    def __round__(self, digits: int | None = None) -> Derived:  # type: ignore[override]
        rounded = float(round(float(self), digits or 0))
        return self if rounded == float(self) else Derived(rounded, None)


def _short_enough(expr: Expr | None) -> Expr | None:
    """Returns the expression if it is short enough to be shown, else None."""
    return expr if expr is None or expr.size <= LONGEST_EXPRESSION.value else None


def _power_formula(base: Expr, power: int) -> Expr:
    return base**power


def as_number(value: Number | float) -> float:
    """Converts a number to a float, and keeps the formula of a derived number."""
    return value if isinstance(value, Derived) else float(value)


def lines_of_run(begin: float, end: float, element: float, line_bytes: float) -> float:
    """Returns the mean number of lines that elements from byte `begin` to `end` touch, at an
    unknown offset within a line.

    Formulas of long sums stay small, because each run is a single operation.
    """
    if not (isinstance(begin, Derived) or isinstance(end, Derived)):
        return 1.0 + (end - begin - element) / line_bytes
    value = 1.0 + (float(end) - float(begin) - element) / line_bytes
    return Derived.from_operation(value, _lines_formula, end, begin, element, line_bytes)


def _lines_formula(end: Expr, begin: Expr, element: Expr, line_bytes: Expr) -> Expr | None:
    bytes_between = _short_enough(end - begin)
    less = None if bytes_between is None else _short_enough(bytes_between - element)
    if less is None or line_bytes.constant is None:
        return None
    lines = _short_enough(less * _reciprocal_of(line_bytes.constant))
    return None if lines is None else lines + 1


def evaluated(expr: Expr, values: Mapping[str, Number]) -> float | None:
    """Returns the value of an expression. None if a name has no value."""
    derived = {
        name: value for name in expr.names
        if isinstance(value := cast("float | None", values.get(name)), Derived)
    }  # fmt: skip
    if not derived:
        plain = expr.evaluate(values)
        return None if plain is None else float(plain)
    numbers = {name: cast("Number", float(value)) for name, value in derived.items()}
    result = expr.evaluate({**values, **numbers})
    if result is None:
        return None
    return Derived.from_operation(
        float(result), partial(_substituted_formula, expr, tuple(derived)), *derived.values()
    )


def formula_of(value: float) -> Expr | None:
    """Returns the formula of a number in the program's names, or a constant for a plain number.
    None for infinity and NaN.
    """
    if isinstance(value, Derived):
        return value.expr
    if value - value != 0:  # infinite or NaN
        return None
    return _constant_formula(value)


@lru_cache  # long sums contain the same few sizes and steps
def _constant_formula(value: float) -> Expr:
    return Expr.const(Fraction(value).limit_denominator(int(LARGEST_DENOMINATOR.value)))


@lru_cache  # long sums contain the same few divisors
def _reciprocal_of(value: Number) -> Fraction:
    return 1 / Fraction(value)


def _substituted_formula(expr: Expr, names: tuple[str, ...], *known: Expr) -> Expr:
    return expr.substitute(dict(zip(names, known, strict=True)))


def _quotient_of(above: float, below: float) -> Derived:
    value = float(above) / float(below)
    return Derived.from_operation(value, partial(_exact_quotient_formula, value), above, below)


def _exact_quotient_formula(value: float, above: Expr, below: Expr) -> Expr | None:
    """Returns the quotient of two expressions if it is exact, else None. `value` is its value."""
    divisor = below.constant
    if divisor is not None:
        return above * _reciprocal_of(divisor)
    ratio = Fraction(value).limit_denominator(int(LARGEST_DENOMINATOR.value))
    if above == below * ratio:
        return Expr.const(ratio)
    return above.divided(below)


def _floor_quotient(above: float, below: float) -> Derived:
    value = float(above) // float(below)
    exact = float(above) / float(below)
    if exact == value:
        return Derived.from_operation(value, partial(_exact_quotient_formula, exact), above, below)
    return Derived.from_operation(value, _floor_formula, above, below)


def _floor_formula(above: Expr, below: Expr) -> Expr:
    return Expr.atom("floordiv", above, below)
