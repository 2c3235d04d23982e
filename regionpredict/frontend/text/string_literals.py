"""Parses string literals of C."""

from __future__ import annotations

import re

_LITERAL = re.compile(r'(?:u8)?"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
_ESCAPE = r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)"
_ESCAPED = re.compile(_ESCAPE, re.DOTALL)
PART = re.compile(rf"{_ESCAPE}|(.)", re.DOTALL)
"""Matches a character of a literal, or an escape sequence without its backslash."""
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27}


def string_value(spelling: str) -> str | None:
    """Returns the text of adjacent string literals. None for wide and raw literals.

    >>> string_value('"-s\\\\t" "x\\\\x41"'), string_value('L"a"')
    ('-s\\txA', None)
    """
    pieces = _LITERAL.findall(spelling)
    if not pieces or _LITERAL.sub("", spelling).strip():
        return None
    return "".join([_ESCAPED.sub(_character, piece) for piece in pieces])


def _character(escape: re.Match[str]) -> str:
    return chr(character_code(escape))


def character_code(match: re.Match[str]) -> int:
    r"""Returns the code of a match of `PART`. An escape sequence that C does not define has the
    code of its character.

    >>> [character_code(match) for match in PART.finditer(r"a\x41\101\n\x\8")]
    [97, 65, 65, 10, 120, 56]
    """
    escape = match[1]
    if escape is None:
        return ord(match[2])
    if escape[0] in "01234567":
        return int(escape, 8) & 0xFF
    return int(escape[1:], 16) & 0xFF if len(escape) > 1 else _ESCAPES.get(escape, ord(escape))
