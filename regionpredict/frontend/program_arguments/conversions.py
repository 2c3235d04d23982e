"""Parses numbers in strings like the C library (C11, 7.22.1 and 7.21.6.2)."""

from __future__ import annotations

import re
from typing import NamedTuple

_SPACE = " \t\n\v\f\r"
_FLOAT = re.compile(
    r"[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?"
    r"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])"
)
_DIRECTIVE = re.compile(r"%(\*?)(\d*)(hh|h|ll|l|L|q|j|z|t)?([diuoxXfFeEgGaAscn]|\[\^?\]?[^]]*\])")


class Read(NamedTuple):
    """A parsed number, and the length of its text. The length is 0 if there is no number."""

    value: int | float
    length: int


def whole_number(text: str, base: int = 10, *, unsigned: bool = False) -> Read:
    """Returns the 64-bit result of `strtol` at the start of a text, or of `strtoul` if `unsigned`.

    >>> whole_number(" -12x"), whole_number("0x1F", 0), whole_number("017", 0), whole_number("z")
    (Read(value=-12, length=4), Read(value=31, length=4), Read(value=15, length=3), \
Read(value=0, length=0))
    """
    at = _after_space(text)
    negative = text[at : at + 1] == "-"
    at += text[at : at + 1] in ("+", "-") and at < len(text)
    hexadecimal = re.match(r"0[xX][0-9a-fA-F]", text[at:]) is not None
    if base == 0:
        base = 16 if hexadecimal else 8 if text[at : at + 1] == "0" else 10
    if base == 16 and hexadecimal:
        at += 2
    begin, value = at, 0
    while at < len(text) and (digit := _digit(text[at])) < base:
        value, at = value * base + digit, at + 1
    if at == begin:
        return Read(0, 0)
    if unsigned:
        most = (1 << 64) - 1
        return Read(most if value > most else -value % (1 << 64) if negative else value, at)
    most = (1 << 63) - 1
    return Read(max(-most - 1, -value) if negative else min(most, value), at)


def real_number(text: str) -> Read:
    """Returns the result of `strtod` at the start of a text.

    >>> real_number("1.5e2,"), real_number(".")
    (Read(value=150.0, length=5), Read(value=0.0, length=0))
    """
    at = _after_space(text)
    match = _FLOAT.match(text, at)
    if match is None:
        return Read(0.0, 0)
    number = match.group()
    try:
        value = float.fromhex(number) if "x" in number.lower() else float(number)
    except OverflowError:
        value = float("inf")
    return Read(value, match.end())


class Scanned(NamedTuple):
    """The result of `sscanf`: the assigned values in order, and their number without `%n`.

    `end` is the end of the parsed text. `missing` says whether the text ended before a value.
    """

    values: list[int | float | str]
    counted: int
    end: int
    missing: bool = False


def scanned(text: str, form: str) -> Scanned:
    """Returns the result of `sscanf` for a text.

    >>> scanned("64x32,2.5", "%dx%d,%lf").values, scanned("a 7", "%d")
    ([64, 32, 2.5], Scanned(values=[], counted=0, end=0, missing=True))
    >>> scanned("12 x", "%d%n")
    Scanned(values=[12, 2], counted=1, end=2, missing=False)
    """
    converted: list[int | float | str] = []
    counted = 0
    at = position = 0
    while position < len(form):
        if form[position] in _SPACE:
            at, position = at + _after_space(text[at:]), position + 1
            continue
        if form[position] != "%" or form[position : position + 2] == "%%":
            wanted = form[position + 1] if form[position] == "%" else form[position]
            if text[at : at + 1] != wanted:
                break
            at, position = at + 1, position + (2 if form[position] == "%" else 1)
            continue
        directive = _DIRECTIVE.match(form, position)
        if directive is None:
            break
        position = directive.end()
        width = int(directive[2]) if directive[2] else None
        read = _converted_value(text, at, directive[4], width)
        if read is None:
            return Scanned(converted, counted, at, missing=True)
        value, at = read
        if not directive[1]:
            converted.append(value)
            counted += directive[4] != "n"
    return Scanned(converted, counted, at)


def _converted_value(
    text: str, at: int, kind: str, width: int | None
) -> tuple[int | float | str, int] | None:
    """Returns a value of one conversion and the position after it. None if there is no value."""
    if kind == "n":
        return at, at
    if kind == "c":
        characters_read = text[at : at + (width or 1)]
        return (characters_read, at + len(characters_read)) if characters_read else None
    if kind[0] == "[":
        inner = kind[1:-1]
        negated = inner.startswith("^")
        characters = re.escape(inner[negated:]).replace(r"\-", "-")
        match = re.compile(f"[{'^' * negated}{characters}]+").match(text[at:][:width])
        return (match.group(), at + match.end()) if match else None
    at += _after_space(text[at:])
    rest = text[at:] if width is None else text[at : at + width]
    if kind == "s":
        word = re.compile(r"[^ \t\n\v\f\r]+").match(rest)
        return (word.group(), at + word.end()) if word else None
    bases = {"d": 10, "u": 10, "i": 0, "o": 8, "x": 16, "X": 16}
    read = whole_number(rest, bases[kind]) if kind in bases else real_number(rest)
    return (read.value, at + read.length) if read.length else None


def _after_space(text: str) -> int:
    return len(text) - len(text.lstrip(_SPACE))


def _digit(character: str) -> int:
    if character.isascii() and character.isalnum():
        return int(character, 36)
    return 99
