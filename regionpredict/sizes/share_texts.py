"""Parses the share of executions in which a condition is true: `0.25` or `25%` for the `if` at
`FILE:LINE`.

A share contains a decimal point or a percent sign, because an integer may be a size. A skew,
`skew(row)` or `powerlaw(row)`, may be any number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from regionpredict.analysis.given_shares import skew_name

_PLACE = re.compile(r".+:\d+")
_SHARE = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)) *(%?)")
_LONGEST = 24  # characters, more than any valid number needs


def share_of_text(name: str, text: str) -> Fraction | None:
    """Parses the share of a condition or a skew. None for other values, and for names that are
    neither a line nor a skew.

    >>> share_of_text("f.c:4", "25%"), share_of_text("f.c:4", "4"), share_of_text("skew(row)", "4")
    (Fraction(1, 4), None, Fraction(4, 1))
    """
    match = _SHARE.fullmatch(text.strip())
    if match is None or len(text) > _LONGEST:
        return None
    number, percent = match.groups()
    if skew_name(name) is not None:
        return None if percent else Fraction(number)
    if _PLACE.fullmatch(name) is None:
        return None
    if percent:
        return Fraction(number) / 100
    return Fraction(number) if "." in number else None


def text_of(value: int | Fraction) -> str:
    """Formats a value as an argument of `--set`.

    >>> text_of(4000), text_of(Fraction(1, 4)), text_of(Fraction(1))
    ('4000', '25%', '100%')
    """
    if isinstance(value, int):
        return str(value)
    percent = 100 * value
    return f"{Decimal(percent.numerator) / Decimal(percent.denominator):f}%"
