"""Splits C text into preprocessing tokens for pcpp, with source positions.

pcpp's own lexer stores no columns, and splits numbers such as `1.` and `1E-5`. A token from a macro
has the position of the macro's name, as in libclang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Spot(NamedTuple):
    """A source position: the file, the line and column (from 1), and the byte offset."""

    file: str
    line: int
    column: int
    offset: int


class Token:
    """A preprocessing token. `type` is one of pcpp's token types, and `source` its position."""

    __slots__ = ("hidden", "lexpos", "lineno", "source", "type", "value")

    def __init__(
        self, kind: str | None, value: str, spot: Spot | None, hidden: frozenset[str] = frozenset()
    ) -> None:
        self.type = kind
        self.value = value
        self.source = spot
        self.hidden = hidden  # macros that created the token, which are not expanded again
        self.lineno = spot.line if spot is not None else 0
        self.lexpos = 0

    def __copy__(self) -> Token:
        return Token(self.type, self.value, self.source, self.hidden)


SPACE = "CPP_WS"
_NAMES = {
    "#": "POUND", "##": "DPOUND", "+": "PLUS", "-": "MINUS", "*": "STAR", "/": "FSLASH",
    "%": "PERCENT", "|": "BAR", "&": "AMPERSAND", "~": "TILDE", "^": "HAT", "<": "LESS",
    ">": "GREATER", "=": "EQUAL", "!": "EXCLAMATION", "?": "QUESTION", "(": "LPAREN",
    ")": "RPAREN", "[": "LBRACKET", "]": "RBRACKET", "{": "LCURLY", "}": "RCURLY", ".": "DOT",
    ",": "COMMA", ";": "SEMICOLON", ":": "COLON", "\\": "BSLASH", "'": "SQUOTE", '"': "DQUOTE",
    "->": "DEREFERENCE", "-=": "MINUSEQUAL", "--": "MINUSMINUS", "<<": "LSHIFT",
    "<=": "LESSEQUAL", ">>": "RSHIFT", ">=": "GREATEREQUAL", "||": "LOGICALOR", "|=": "OREQUAL",
    "&&": "LOGICALAND", "&=": "ANDEQUAL", "==": "EQUALITY", "!=": "INEQUALITY",
    "^=": "XOREQUAL", "*=": "MULTIPLYEQUAL", "/=": "DIVIDEEQUAL", "+=": "PLUSEQUAL",
    "++": "PLUSPLUS", "%=": "PERCENTEQUAL", "<<=": "LSHIFTEQUAL", ">>=": "RSHIFTEQUAL",
}  # fmt: skip
OPERATORS = {text: f"CPP_{name}" for text, name in _NAMES.items()}
_HASHES = frozenset(("#", "%:", "??="))
_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uUlL]*\Z")
_SCAN = re.compile(
    r"""
    (?P<space>(?:[ \t\f\v\r]|\\[ \t]*\r?\n)+)
  | (?P<newline>\n)
  | (?P<id>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?!\w|["']))
  | (?P<number>\.?\d(?:[eEpP][-+]|[\w.])*)
  | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<string>(?:u8|[LuU])?"(?:\\\r?\n|\\.|[^"\\\n])*")
  | (?P<char>(?:u8|[LuU])?'(?:\\.|[^'\\\n])+')
  | (?P<word>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)
  | (?P<op>%:|\?\?=|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\#\#|[-+*/%&^|]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SPLICE = re.compile(r"\\[ \t]*\r?\n")


def lines_of(text: str, file: str) -> Iterator[list[Token]]:
    """Yields the tokens of each logical line with its newline. Spaces are kept only in directive
    lines.

    `text` is decoded byte by byte (latin-1), so that its offsets are those of the file.
    """
    line, start = 1, 0
    current: list[Token] = []
    directive = False
    for match in _SCAN.finditer(text):
        kind, at = match.lastgroup, match.start()
        if kind in ("space", "comment"):
            value = match.group()
            if directive:
                current.append(Token(SPACE, " ", Spot(file, line, at - start + 1, at)))
            breaks = value.count("\n")
            if breaks:
                line += breaks
                start = at + value.rfind("\n") + 1
            continue
        spot = Spot(file, line, at - start + 1, at)
        value = match.group()
        if kind == "newline":
            current.append(Token(SPACE, "\n", spot))
            yield current
            current, directive = [], False
            line += 1
            start = at + 1
            continue
        if not current and value in _HASHES:
            directive, value = True, "#"
        current.append(Token(_kind(kind or "op", value), value, spot))
        if kind == "string" and "\n" in value:
            current[-1].value = _SPLICE.sub("", value)
            line += value.count("\n")
            start = at + value.rfind("\n") + 1
    if current:
        current.append(Token(SPACE, "\n", current[-1].source))
        yield current


def _kind(kind: str, value: str) -> str:
    if kind in ("id", "word"):
        return "CPP_ID"
    if kind == "number":
        return "CPP_INTEGER" if _INTEGER.match(value) else "CPP_FLOAT"
    if kind == "string":
        return "CPP_STRING"
    if kind == "char":
        return "CPP_CHAR"
    return OPERATORS.get(value, value)
