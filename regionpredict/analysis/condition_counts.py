"""Counts the values of a loop variable that satisfy a condition: `t % 10 == 0`, `t > 5`,
`t == last`.

A few values are evaluated one by one. Otherwise, the range is split at the points where a
comparison changes. Between two such points, only periodic remainders and masks change. One period
is evaluated, and its count is multiplied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

from regionpredict.ir import Expr
from regionpredict.ir.expr import Atom
from regionpredict.ir.folding import Number

_FEW = 512  # maximum number of values that are enumerated without splitting
_MOST_TRIED = 20_000  # maximum number of tried values per pass
_COMPARING = frozenset(("lt", "le", "eq", "ne"))
_LOGICAL = frozenset(("and", "or", "not"))


class UndecidedError(Exception):
    """Raised if a condition has no value, or if too many values would have to be evaluated."""


class Values:
    """The values of a loop variable: `trips` values that start at `first` and advance by `step`."""

    __slots__ = ("first", "step", "trips")

    def __init__(self, first: int, trips: int, step: int) -> None:
        self.first, self.trips, self.step = first, trips, step


def conjuncts_of(condition: Expr) -> list[Expr]:
    """Returns the conditions that must all hold for a condition to hold.

    >>> t = Expr.name("t")
    >>> both = Expr.atom("and", Expr.atom("lt", t, Expr.const(9)), Expr.atom("not", t))
    >>> [str(part) for part in conjuncts_of(both)]
    ['(t < 9)', '!(t)']
    """
    atom = condition.only_atom
    if atom is not None and atom.kind == "and":
        return [part for arg in atom.args for part in conjuncts_of(arg)]
    inner = atom.args[0].only_atom if atom is not None and atom.kind == "not" else None
    if inner is not None and inner.kind == "or":
        return [part for arg in inner.args for part in conjuncts_of(Expr.atom("not", arg))]
    if inner is not None and inner.kind == "not":
        return conjuncts_of(inner.args[0])
    return [condition]


def condition_holds(condition: Expr, values: Mapping[str, Number]) -> bool:
    """Whether a condition holds. Raises UndecidedError if a name in it has no value."""
    value = condition.evaluate(values)
    if value is None:
        raise UndecidedError
    return value != 0


def count_satisfying(name: str, values: Values, conditions: Sequence[Expr]) -> int:
    """Returns the number of values of a variable that satisfy all conditions. The conditions
    contain no other variable.

    Raises UndecidedError if counting takes too long.

    >>> every_tenth = Expr.atom("not", Expr.atom("mod", Expr.name("t"), Expr.const(10)))
    >>> count_satisfying("t", Values(0, 3_000_001, 1), [every_tenth])
    300001
    """
    if values.trips <= _FEW:
        return _count_one_by_one(name, values, conditions)
    if values.step == 0:
        raise UndecidedError
    breakpoints: set[int] = set()  # values at which a condition may change
    period = 1
    for condition in conditions:
        period = lcm(period, _period_of_condition(condition, name, values, breakpoints))
    period //= gcd(period, values.step)
    total, at = 0, 0
    for end in _piece_ends(values, breakpoints):
        total += _count_piece(name, values, (at, end), period, conditions)
        at = end
    return total


def _piece_ends(values: Values, breakpoints: set[int]) -> list[int]:
    """Returns the iteration numbers at which pieces end. No comparison changes inside a piece."""
    ends = {values.trips}
    for value in breakpoints:
        number = -((values.first - value) // values.step)
        if 0 < number < values.trips:
            ends.add(number)
    return sorted(ends)


def _count_piece(
    name: str, values: Values, piece: tuple[int, int], period: int, conditions: Sequence[Expr]
) -> int:
    begin, end = piece
    first, length = values.first + begin * values.step, end - begin
    if length <= period:
        return _count_one_by_one(name, Values(first, length, values.step), conditions)
    rounds, rest = divmod(length, period)
    whole = _count_one_by_one(name, Values(first, period, values.step), conditions)
    return rounds * whole + _count_one_by_one(name, Values(first, rest, values.step), conditions)


def _count_one_by_one(name: str, values: Values, conditions: Sequence[Expr]) -> int:
    if values.trips > _MOST_TRIED:
        raise UndecidedError
    return sum(
        all(
            condition_holds(condition, {name: values.first + at * values.step})
            for condition in conditions
        )
        for at in range(values.trips)
    )


def _period_of_condition(condition: Expr, name: str, values: Values, breakpoints: set[int]) -> int:
    """Returns the period of a condition. Adds the `breakpoints` at which the condition may
    change.
    """
    atom = condition.only_atom
    if atom is not None and atom.kind in _LOGICAL:
        return lcm(*(_period_of_condition(arg, name, values, breakpoints) for arg in atom.args))
    value = condition
    if atom is not None and atom.kind in _COMPARING:
        value = atom.args[0] - atom.args[1]
    slope = value.coefficient(name)
    if slope is not None:
        _add_breakpoints(value, slope, name, breakpoints)
        return 1
    if any(name in part.names for part in _terms_without_remainders(value)):
        raise UndecidedError
    parts = [part for part in value.atoms() if name in part.names]
    if len(parts) == 1 and _add_wraps(value, parts[0], name, values, breakpoints):
        return 1
    return lcm(*(_period_of(part, name, breakpoints) for part in parts))


def _add_wraps(value: Expr, atom: Atom, name: str, values: Values, breakpoints: set[int]) -> bool:
    """Adds the jumps of a remainder that wraps around only a few times. Between jumps, the
    remainder is linear. Returns False for any other remainder.
    """
    if atom.kind != "mod" or value.terms.get(((atom, 1),)) is None:
        return False
    divided, size = atom.args[0], atom.args[1].constant
    slope, rest = divided.coefficient(name), Expr(
        {monomial: number for monomial, number in value.terms.items() if monomial != ((atom, 1),)}
    ).constant  # fmt: skip
    if slope is None or not isinstance(size, int) or size <= _FEW or rest is None:
        return False
    ends = [
        divided.evaluate({name: values.first + at * values.step}) for at in (0, values.trips - 1)
    ]
    if None in ends:
        return False
    low, high = sorted(int(end) // size for end in ends if end is not None)
    if high - low > _FEW:
        return False
    wanted = -rest / Fraction(value.terms[((atom, 1),)])
    for number in range(low, high + 2):
        for beyond in (0, wanted):
            _add_breakpoints(divided - size * number - beyond, slope, name, breakpoints)
    return True


def _terms_without_remainders(value: Expr) -> list[Expr]:
    """Returns the terms of a sum, except remainders and masked values."""
    return [
        Expr({monomial: number}) for monomial, number in value.terms.items()
        if not (len(monomial) == 1 and isinstance(monomial[0][0], Atom))
    ]  # fmt: skip


def _period_of(atom: Atom, name: str, breakpoints: set[int]) -> int:
    """Returns the period of a remainder (`i % 4`) or of a masked value (`i & 3`)."""
    if atom.kind not in ("mod", "bitand"):
        raise UndecidedError
    value, size = atom.args
    if atom.kind == "bitand" and value.constant is not None:
        value, size = size, value
    slope, number = value.coefficient(name), size.constant
    if slope is None or not isinstance(number, int) or not isinstance(slope.constant, int):
        raise UndecidedError
    if atom.kind == "bitand":
        if number < 0:
            raise UndecidedError
        return 1 << number.bit_length()
    if number == 0:
        raise UndecidedError
    # C's remainder has the sign of the dividend.
    _add_breakpoints(value, slope, name, breakpoints)
    return abs(number)


def _add_breakpoints(value: Expr, slope: Expr, name: str, breakpoints: set[int]) -> None:
    """Adds the zero of a linear expression, and the integers next to the zero."""
    rise, rest = slope.constant, (value - slope * Expr.name(name)).constant
    if rise is None or rest is None:
        raise UndecidedError
    if rise:
        zero = int(-Fraction(rest) // rise)
        breakpoints.update((zero - 1, zero, zero + 1))  # valid for rising and falling expressions
