"""Parses string literals of C."""

from __future__ import annotations

import re

_LITERAL = re.compile(r'(?:u8)?"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
_PART = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)|(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def string_value(spelling: str) -> str | None:
    """The text of one literal or of several adjacent ones. None for wide and raw ones.

    >>> string_value('"-s\\\\t" "x\\\\x41"'), string_value('L"a"')
    ('-s\\txA', None)
    """
    pieces = _LITERAL.findall(spelling)
    if not pieces or _LITERAL.sub("", spelling).strip():
        return None
    return "".join(_character(match) for piece in pieces for match in _PART.finditer(piece))


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    if escape is None:
        return match[2]
    if escape[0] == "x":
        return chr(int(escape[1:], 16) & 0xFF)
    if escape[0].isdigit():
        return chr(int(escape, 8) & 0xFF)
    return _ESCAPES.get(escape, escape)
