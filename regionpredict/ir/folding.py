"""Evaluates operators on numbers, with C's rules."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

Number = int | Fraction
TRUNCATES = "towards zero"
"""The label of a division that rounds towards zero."""


def _converted(value: Number, bits: Number, unsigned: Number) -> Number:
    """Converts a number to an integer type with this number of bits (C17, 6.3.1.3)."""
    size = 1 << int(bits)
    kept = int(value) % size
    return kept if unsigned or kept < size // 2 else kept - size


WIDEST_SHIFT = 63
"""The widest shift in bits. Longer and negative shifts are undefined in C (C17, 6.5.7)."""


def _power_of_two(bits: Number) -> Number:
    """Returns two to the power of `bits`, or zero if the shift is undefined.

    With zero, `l > 0 ? 1 << (l - 1) : 1` is known for l = 0, where the undefined operand is not
    evaluated.
    """
    return 1 << int(bits) if 0 <= bits <= WIDEST_SHIFT else 0


_FOLD: dict[str, Callable[..., Number]] = {
    "floordiv": lambda a, b: int(a // b),
    "mod": lambda a, b: a - b * (a // b),
    "min": min,
    "max": max,
    "select": lambda condition, then, other: then if condition else other,
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "and": lambda a, b: int(bool(a) and bool(b)),
    "or": lambda a, b: int(bool(a) or bool(b)),
    "not": lambda a: int(not a),
    "bitand": lambda a, b: int(a) & int(b),
    "bitor": lambda a, b: int(a) | int(b),
    "bitxor": lambda a, b: int(a) ^ int(b),
    "bitnot": lambda a: ~int(a),
    "exp2": _power_of_two,
    "wrap": _converted,
}


def _quotient(a: Number, b: Number) -> int:
    """Returns C's quotient, rounded towards zero (C17, 6.5.5)."""
    whole = (-a if a < 0 else a) // (-b if b < 0 else b)
    return whole if (a < 0) == (b < 0) else -whole


_FOLD_TRUNCATED: dict[str, Callable[..., Number]] = {
    "floordiv": _quotient,
    "mod": lambda a, b: a - b * _quotient(a, b),
}


def fold_of(kind: str, label: str = "") -> Callable[..., Number] | None:
    """Returns the function that an atom of this kind and label applies. None if it is not a
    function of numbers.
    """
    if label == TRUNCATES:
        return _FOLD_TRUNCATED.get(kind)
    return _FOLD.get(kind)
