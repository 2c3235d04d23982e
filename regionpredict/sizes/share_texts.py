"""How often a condition holds, as text: `0.25` or `25%` of the `if` at a line, `FILE:LINE`.

A share has a point or a percent sign; a whole number may be a size.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

_PLACE = re.compile(r".+:\d+")
_SHARE = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)) *(%?)")
_LONGEST = 24  # characters: more digits than a count of anything has


def share_of_text(name: str, text: str) -> Fraction | None:
    """What is given for a line as a share; None where it is none, or `name` no line.

    >>> share_of_text("f.c:4", "25%"), share_of_text("f.c:4", "4"), share_of_text("n", "0.25")
    (Fraction(1, 4), None, None)
    """
    match = _SHARE.fullmatch(text.strip())
    if match is None or _PLACE.fullmatch(name) is None or len(text) > _LONGEST:
        return None
    number, percent = match.groups()
    if percent:
        return Fraction(number) / 100
    return Fraction(number) if "." in number else None


def text_of(value: int | Fraction) -> str:
    """A value as `--set` takes it.

    >>> text_of(4000), text_of(Fraction(1, 4)), text_of(Fraction(1))
    ('4000', '25%', '100%')
    """
    if isinstance(value, int):
        return str(value)
    percent = 100 * value
    return f"{Decimal(percent.numerator) / Decimal(percent.denominator):f}%"
