"""Parses the option `--set NAME=VALUE`, whose value is an integer or a share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from regionpredict.errors import UsageError
from regionpredict.sizes.integer_texts import integer_of_text
from regionpredict.sizes.share_texts import share_of_text, text_of


def parse_given(pairs: Sequence[str]) -> dict[str, int | Fraction]:
    """Parses pairs `NAME=VALUE`. The value is an integer, or the share of a condition if the name
    is its line.
    """
    sizes: dict[str, int | Fraction] = {}
    for pair in pairs:
        name, _, value = (part.strip() for part in pair.rpartition("="))
        number: int | Fraction | None = share_of_text(name, value)
        try:
            number = integer_of_text(value if name else "") if number is None else number
        except ValueError:
            raise UsageError(
                f"--set {pair}: not NAME=INTEGER", remedy="write --set n=4000"
            ) from None
        if not -(1 << 63) <= number < 1 << 63:
            raise UsageError(
                f"--set {pair}: does not fit 64 bits", remedy="no C integer holds such a value"
            )
        if sizes.setdefault(name, number) != number:
            raise UsageError(
                f"--set {name}: two values, {text_of(sizes[name])} and {text_of(number)}",
                remedy="give it once",
            )
    return sizes
