"""Finds the header and the body of loops in preprocessed C text, token by token.

Only the syntax of OpenMP loops is parsed. Everything else is skipped by its brackets. The text has
no macros, comments and inactive parts, so this works for C and C++.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\f\v]+ | \\\n | //[^\n]* | /\*.*?\*/)
  | (?P<line>\n)
  | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
  | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?[0-9](?:'[0-9A-Za-z_]|[eEpP][+-]|[0-9A-Za-z_.])*)
  | (?P<name>[^\W\d][\w$]*)
  | (?P<mark><<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"[ \t]*#[^\n]*")
_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_OPENING.values())


class Token(NamedTuple):
    """A token: its text, and its start and end offsets in the whole text."""

    text: str
    begin: int
    end: int


class Header(NamedTuple):
    """A `for` header: its three parts as tokens, the offset of `for`, and the offset after the `)`.
    A range-based `for` has only `init`.
    """

    init: tuple[Token, ...]
    condition: tuple[Token, ...]
    increment: tuple[Token, ...]
    begin: int
    end: int


class NotUnderstoodError(Exception):
    """Raised if a text is not a loop or statement."""


def next_token(text: str, at: int) -> Token | None:
    """Returns the first token from offset `at` on, after whitespace and preprocessor lines."""
    fresh = at == 0 or text[at - 1] == "\n"
    while at < len(text):
        if fresh and (directive := _DIRECTIVE.match(text, at)):
            at, fresh = directive.end(), False
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        if match.lastgroup not in ("space", "line"):
            return Token(match.group(), match.start(), match.end())
        fresh = match.lastgroup == "line" or (fresh and match.lastgroup == "space")
        at = match.end()
    return None


def next_token_or_error(text: str, at: int) -> Token:
    """Like `next_token`, but raises NotUnderstoodError at the end of the text."""
    token = next_token(text, at)
    if token is None:
        raise NotUnderstoodError("the text ends")
    return token


def closing(text: str, opening: Token) -> Token:
    """Returns the bracket that closes `opening`. Raises NotUnderstoodError if it is missing."""
    depth = [_OPENING[opening.text]]
    at = opening.end
    while depth:
        token = next_token_or_error(text, at)
        at = token.end
        if token.text in _OPENING:
            depth.append(_OPENING[token.text])
        elif token.text in _CLOSING and token.text != depth.pop():
            raise NotUnderstoodError(f"'{token.text}' closes nothing")
    return token


def statement_end(text: str, at: int) -> int:
    """Returns the offset after the statement that starts at `at`.

    >>> text = "if (a) for (;;) { x; } else y = f(1, 2); z;"
    >>> text[: statement_end(text, 0)]
    'if (a) for (;;) { x; } else y = f(1, 2);'
    """
    token = next_token_or_error(text, at)
    word = token.text
    if word == "{":
        return closing(text, token).end
    if word in ("for", "while", "switch"):
        return statement_end(text, after_parentheses(text, token.end))
    if word == "if":
        return _if_end(text, token.end)
    if word == "do":
        end = statement_end(text, token.end)
        return _find_semicolon(text, after_parentheses(text, next_token_or_error(text, end).end))
    if word == "try":
        return _try_end(text, token.end)
    if word in ("case", "default"):
        while token.text != ":":
            token = next_token_or_error(text, token.end)
        return statement_end(text, token.end)
    after = next_token(text, token.end)
    if word.isidentifier() and after is not None and after.text == ":":
        return statement_end(text, after.end)
    return _find_semicolon(text, token.begin)


def _if_end(text: str, at: int) -> int:
    token = next_token_or_error(text, at)
    if token.text in ("constexpr", "consteval"):
        at = token.end
    end = statement_end(text, after_parentheses(text, at))
    other = next_token(text, end)
    return statement_end(text, other.end) if other and other.text == "else" else end


def _try_end(text: str, at: int) -> int:
    end = statement_end(text, at)
    while (handler := next_token(text, end)) and handler.text == "catch":
        end = statement_end(text, after_parentheses(text, handler.end))
    return end


def after_parentheses(text: str, at: int) -> int:
    """Returns the offset after the parentheses that start at `at`."""
    opening = next_token_or_error(text, at)
    if opening.text != "(":
        raise NotUnderstoodError(f"'(' expected, not '{opening.text}'")
    return closing(text, opening).end


def _find_semicolon(text: str, at: int) -> int:
    while True:
        token = next_token_or_error(text, at)
        if token.text == ";":
            return token.end
        if token.text in _CLOSING:
            raise NotUnderstoodError(f"'{token.text}' before ';'")
        at = closing(text, token).end if token.text in _OPENING else token.end


def read_header(text: str, at: int) -> Header:
    """Parses the `for` header that starts at `at`. Raises NotUnderstoodError for anything else."""
    word = next_token_or_error(text, at)
    if word.text != "for":
        raise NotUnderstoodError(f"'for' expected, not '{word.text}'")
    opening = next_token_or_error(text, word.end)
    if opening.text != "(":
        raise NotUnderstoodError("'(' expected after 'for'")
    end = closing(text, opening)
    parts: list[list[Token]] = [[]]
    position = opening.end
    depth = 0
    while (token := next_token_or_error(text, position)).begin < end.begin:
        if token.text == ";" and not depth:
            parts.append([])
        else:
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            parts[-1].append(token)
        position = token.end
    if len(parts) not in (1, 3):
        raise NotUnderstoodError("not a 'for' header")
    parts += [[], []]
    return Header(tuple(parts[0]), tuple(parts[1]), tuple(parts[2]), word.begin, end.end)
