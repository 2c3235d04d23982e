"""Parses integers for sizes: `4000`, `0x1000`, `1e6`, `1.5e3`."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

_MOST_DIGITS = 30  # beyond any 64-bit value, so `1e999999999` is not evaluated


def integer_of_text(text: str) -> int:
    """Parses an integer in C syntax or with a power of ten. Raises ValueError for any other text.

    >>> integer_of_text("0x10"), integer_of_text("1e4"), integer_of_text("1.5e3")
    (16, 10000, 1500)
    >>> integer_of_text("0.5")
    Traceback (most recent call last):
    ValueError: no integer: 0.5
    """
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"no integer: {text}") from None
    whole = "e" in text.lower() and number.is_finite() and number.adjusted() < _MOST_DIGITS
    if not whole or number != number.to_integral_value():
        raise ValueError(f"no integer: {text}")
    return int(number)
