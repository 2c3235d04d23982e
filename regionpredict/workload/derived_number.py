"""A number that remembers how it was computed from the program's names.

Counting with such numbers for sizes gives the same results as counting with plain ones, step by
step, and with each result its expression: what is shown as a formula is what was counted. Whatever
a comparison decided on the way, the expression holds where it is decided alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from regionpredict.ir import Expr
from regionpredict.ir.expr import ZERO, Monomial, Number
from regionpredict.workload.constants import LARGEST_DENOMINATOR, LONGEST_EXPRESSION


class Derived(float):
    """A float with `expr`, its value as an expression; None where it is none that can be shown.

    It is computed with, compared and rounded as a float. Two of them are equal where their
    expressions are, too.

    >>> n = Derived(100, Expr.name("n"))
    >>> half = (n - 1) / 2
    >>> half, str(half.expr), half > 49
    (49.5, '(n - 1)/2', True)
    """

    __slots__ = ("expr",)

    expr: Expr | None

    def __new__(cls, value: float, expr: Expr | None) -> Derived:
        """A `value` and what it is of."""
        made = super().__new__(cls, value)
        made.expr = expr if expr is None or expr.size <= LONGEST_EXPRESSION.value else None
        return made

    def __reduce__(self) -> tuple[type[Derived], tuple[float, Expr | None]]:
        """The value and the expression travel."""
        return Derived, (float(self), self.expr)

    def __eq__(self, other: object) -> bool:
        same = float.__eq__(self, other)
        return bool(same is True and (not isinstance(other, Derived) or self.expr == other.expr))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return float.__hash__(self)

    def __add__(self, other: float) -> Derived:
        left, right = self.expr, expression(other)
        known = None if left is None or right is None else left + right
        return Derived(float(self) + float(other), known)

    __radd__ = __add__

    def __neg__(self) -> Derived:
        return Derived(-float(self), None if self.expr is None else -self.expr)

    def __sub__(self, other: float) -> Derived:
        return self + -other

    def __rsub__(self, other: float) -> Derived:
        return -self + other

    def __mul__(self, other: float) -> Derived:
        left, right = self.expr, expression(other)
        known = None if left is None or right is None else left * right
        return Derived(float(self) * float(other), known)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Derived:
        return _quotient(self, other)

    def __rtruediv__(self, other: float) -> Derived:
        return _quotient(other, self)

    def __floordiv__(self, other: float) -> Derived:
        return _floor_quotient(self, other)

    def __rfloordiv__(self, other: float) -> Derived:
        return _floor_quotient(other, self)

    def __abs__(self) -> Derived:
        return -self if self < 0 else self

    def __pow__(self, power: float, modulo: None = None) -> Derived:
        known = self.expr
        if known is not None:
            known = known ** int(power) if power == int(power) >= 0 else None
        return Derived(float(self) ** power, known)

    def __round__(self, digits: int | None = None) -> Derived:  # type: ignore[override]
        rounded = float(round(float(self), digits or 0))
        return Derived(rounded, self.expr if rounded == float(self) else None)


def as_number(value: Number | float) -> float:
    """A float, which keeps its expression if it has one."""
    return value if isinstance(value, Derived) else float(value)


def evaluated(expr: Expr, values: Mapping[str, Number]) -> float | None:
    """The value of an expression; None where a name in it has none."""
    value = expr.evaluate(values)
    if value is None:
        return None
    known: dict[str, Expr] = {}
    for name in expr.names:
        of: object = values.get(name)
        if isinstance(of, Derived):
            if of.expr is None:
                return Derived(float(value), None)
            known[name] = of.expr
    return Derived(float(value), expr.substitute(known)) if known else float(value)


def expression(value: float) -> Expr | None:
    """What a number is of the program's names; a plain one is itself, None where it has no end."""
    if isinstance(value, Derived):
        return value.expr
    if value - value != 0:  # infinite, or none
        return None
    return Expr.const(Fraction(value).limit_denominator(int(LARGEST_DENOMINATOR.value)))


def _quotient(above: float, below: float) -> Derived:
    value = float(above) / float(below)
    left, right = expression(above), expression(below)
    if left is None or right is None:
        return Derived(value, None)
    if right.constant is not None:
        return Derived(value, left * (1 / Fraction(right.constant)))
    ratio = Fraction(value).limit_denominator(int(LARGEST_DENOMINATOR.value))
    if left == right * ratio:
        return Derived(value, Expr.const(ratio))
    return Derived(value, _divided(left, right) if len(right.terms) == 1 else None)


def _divided(above: Expr, below: Expr) -> Expr | None:
    """`16*m*w` over `8*m`: the exact quotient by one product, None where there is none."""
    ((factors, number),) = below.terms.items()
    terms: dict[Monomial, Number] = {}
    for monomial, coefficient in above.terms.items():
        powers = dict(monomial)
        for factor, power in factors:
            powers[factor] = powers.get(factor, 0) - power
        if min(powers.values(), default=0) < 0:
            return None
        left = tuple((factor, powers[factor]) for factor, _ in monomial if powers[factor])
        terms[left] = Fraction(coefficient) / number
    return ZERO + Expr(terms)


def _floor_quotient(above: float, below: float) -> Derived:
    value = float(above) // float(below)
    exact = _quotient(above, below)
    if float(exact) == value:
        return Derived(value, exact.expr)
    left, right = expression(above), expression(below)
    if left is None or right is None:
        return Derived(value, None)
    return Derived(value, Expr.atom("floordiv", left, right))
