"""Evaluates C constants."""

from __future__ import annotations

from typing import Any

from regionpredict.frontend.syntax import INT, CType
from regionpredict.frontend.text.string_literals import PART, character_code


def literal(node: Any) -> int | float | None:
    """Returns the value of a number or character constant. Returns None for a string."""
    text = node.value
    if node.type == "char":
        return character(text)
    if node.type == "string":
        return None
    if "int" in node.type:
        digits = text.rstrip("uUlL").replace("'", "")
        try:
            if digits[:2] in ("0b", "0B"):
                value = int(digits[2:], 2)
            elif len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX":
                value = int(digits, 8)
            else:
                value = int(digits, 0)
        except ValueError:
            return None
        return value if value < 1 << 63 else value - (1 << 64)
    return floating(text)


def floating(text: str) -> float:
    """Returns the value of a floating-point constant, or 0 for an invalid one."""
    try:
        if text[:2] in ("0x", "0X"):
            return float.fromhex(text.rstrip("lLfF") if "p" in text.lower() else text)
        return float(text.rstrip("fFlL"))
    except (ValueError, OverflowError):
        return 0.0


def character(text: str) -> int:
    """Returns the value of a character constant, as an `int` that is converted from a signed
    `char`.
    """
    body = text[text.index("'") + 1 : -1]
    codes = [character_code(match) for match in PART.finditer(body)]
    value = 0
    for code in codes:
        value = (value << 8) + code
    if text[0] == "'" and len(codes) == 1 and 127 < value < 256:
        value -= 256
    return value


def string_length(text: str) -> int:
    """Returns the number of bytes of a string constant, including the terminating zero."""
    return len(PART.findall(text[text.index('"') + 1 : -1])) + 1


def literal_type(node: Any) -> CType:
    """Returns the type of a number or character constant."""
    if node.type == "char":
        return INT
    if "int" in node.type:
        value = literal(node)
        long = "long" in node.type or not (isinstance(value, int) and -(1 << 31) <= value < 1 << 31)
        return CType("int", 64 if long else 32, "unsigned" in node.type)
    bits = 32 if node.type == "float" else 128 if node.type == "long double" else 64
    return CType("float", bits)
