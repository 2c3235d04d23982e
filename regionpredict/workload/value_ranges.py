"""Finds a range that contains all values of an expression over its enclosing loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

from regionpredict.ir import Expr
from regionpredict.ir.expr import Atom
from regionpredict.ir.folding import WIDEST_SHIFT


class Interval(NamedTuple):
    """The lowest and the highest value, both included."""

    low: float
    high: float

    def plus(self, other: Interval) -> Interval:
        """Returns the interval of the sum of two values."""
        return Interval(self.low + other.low, self.high + other.high)

    def times(self, other: Interval) -> Interval:
        """Returns the interval of the product of two values."""
        ends = [a * b for a, b in product(self, other)]
        return Interval(min(ends), max(ends))


Intervals = Mapping[str, Interval]
"""The interval of each name. The interval of a constant contains a single value."""


def interval_of(expr: Expr, intervals: Intervals) -> Interval | None:
    """Returns the interval of an expression (interval arithmetic, Moore 1966). None if a part of
    the expression has no known interval.

    >>> i = Expr.name("i")
    >>> interval_of(Expr.atom("mod", i + 9, Expr.const(24)) * 8, {"i": Interval(0, 99)})
    Interval(low=0.0, high=184.0)
    """
    total = Interval(0.0, 0.0)
    for monomial, number in expr.terms.items():
        part = Interval(float(number), float(number))
        for factor, power in monomial:
            own = (
                intervals.get(factor)
                if isinstance(factor, str)
                else _interval_of_atom(factor, intervals)
            )
            if own is None:
                return None
            for _ in range(power):
                part = part.times(own)
        total = total.plus(part)
    return total


def _interval_of_atom(atom: Atom, intervals: Intervals) -> Interval | None:
    rule = _RULES.get(atom.kind)
    if rule is None:
        return None
    # The condition is not evaluated.
    args = atom.args[1:] if atom.kind == "select" else atom.args
    known = [interval for arg in args if (interval := interval_of(arg, intervals)) is not None]
    return rule(*known) if len(known) == len(args) else None


def _remainder_interval(value: Interval, divisor: Interval) -> Interval | None:
    """Returns the interval of a remainder, whose absolute value is below the divisor."""
    most = divisor.low - 1
    if most < 0 or divisor.low != divisor.high:
        return None
    if value.low >= 0:
        return value if value.high <= most else Interval(0.0, most)
    return Interval(-most, most)


def _quotient_interval(value: Interval, divisor: Interval) -> Interval | None:
    """Returns the interval of a quotient that is rounded down or toward zero."""
    if divisor.low <= 0:
        return None
    ends = [end / by for end, by in product(value, divisor)]
    low, high = min(ends), max(ends)
    return Interval(low // 1, high // 1 if high >= 0 else -(-high // 1))


def _masked_range(value: Interval, mask: Interval) -> Interval | None:
    """Returns the interval of `value & mask`, which is at most the smaller nonnegative operand."""
    most = [interval.high for interval in (value, mask) if interval.low >= 0]
    return Interval(0.0, min(most)) if most else None


def _power_of_two(bits: Interval) -> Interval | None:
    """Returns the interval of 2 to the power of a shift width. None for undefined shifts."""
    defined = 0 <= bits.low <= bits.high <= WIDEST_SHIFT
    return Interval(2.0**bits.low, 2.0**bits.high) if defined else None


def _in_integer_type(value: Interval, bits: Interval, unsigned: Interval) -> Interval:
    """Returns the interval of a value after conversion to an integer type. A value that may
    overflow can have any value of the type.
    """
    size = 2.0**bits.low
    low = 0.0 if unsigned.low else -size / 2
    own = Interval(low, low + size - 1)
    return value if own.low <= value.low and value.high <= own.high else own


_RULES: dict[str, Callable[..., Interval | None]] = {
    "mod": _remainder_interval,
    "floordiv": _quotient_interval,
    "bitand": _masked_range,
    "wrap": _in_integer_type,
    "exp2": _power_of_two,
    "min": lambda *sides: Interval(min(s.low for s in sides), min(s.high for s in sides)),
    "max": lambda *sides: Interval(max(s.low for s in sides), max(s.high for s in sides)),
    "select": lambda then, other: Interval(min(then.low, other.low), max(then.high, other.high)),
}
