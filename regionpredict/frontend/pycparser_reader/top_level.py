"""Splits the tokens of a file into top-level declarations, and parses each with pycparser.

If pycparser rejects a declaration, only this declaration is lost. Function bodies are parsed on
demand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from regionpredict.frontend.pycparser_reader.token_rewriting import VECTORS, CToken
from regionpredict.frontend.pycparser_reader.tokens import Spot

_MAX_UNKNOWN_TYPES = 30
_TAGGED = frozenset(("struct", "union", "enum"))


class Chunk(NamedTuple):
    """A top-level declaration, as the range [start, stop) of token indices. For a function
    definition, `body` is the index of its `{`.
    """

    start: int
    stop: int
    body: int = -1


def split_declarations(tokens: list[CToken], partner: list[int]) -> Iterator[Chunk]:
    """Yields the top-level declarations of a file in order. `partner` gives the matching
    brackets.
    """
    at, count = 0, len(tokens)
    while at < count:
        start, body, assigned, old_style = at, -1, False, False
        while at < count:
            value = tokens[at].value
            if value == "{":
                before = tokens[at - 1].value if at > start else ""
                function = before == ")" or (old_style and before == ";")
                if function and not assigned:
                    body = at
                tagged = before in _TAGGED or (at > start + 1 and tokens[at - 2].value in _TAGGED)
                at = partner[at] if partner[at] > at else count - 1
                if body >= 0 or not (tagged or assigned):
                    break
            elif value in ("(", "["):
                at = partner[at] if partner[at] > at else at
            elif value == "=":
                assigned = True
            elif value == ";":
                if old_style and at + 1 < count and not _ends_parameters(tokens, at):
                    at += 1
                    continue
                break
            elif (
                not assigned
                and at > start
                and tokens[at - 1].value == ")"
                and tokens[at].type != "COMMA"
            ):
                old_style = old_style or _starts_old_style(tokens, at, partner)
            at += 1
        at += 1
        yield Chunk(start, min(at, count), body)


def _starts_old_style(tokens: list[CToken], at: int, partner: list[int]) -> bool:
    """Returns whether K&R parameter declarations start at a token: `int f(a, b) int a; ...`."""
    opening = partner[at - 1]
    names = tokens[opening + 1 : at - 1]
    plain = bool(names) and all(word.type in ("ID", "TYPEID", "COMMA") for word in names)
    return plain and tokens[at].type not in ("SEMI", "EQUALS", "LBRACKET", "LPAREN", "COLON")


def _ends_parameters(tokens: list[CToken], at: int) -> bool:
    """Returns whether a `;` ends a declaration, because no function body follows K&R parameters."""
    for index in range(at + 1, min(at + 120, len(tokens))):
        if tokens[index].value == "{":
            return tokens[index - 1].value != ";"
        if tokens[index].value in ("}", "="):
            return True
    return True


def declared_names(tokens: list[CToken], chunk: Chunk, partner: list[int]) -> list[str] | None:
    """Returns the names that a simple declaration or function definition declares. Returns None for
    complex declarations, which must be parsed.

    A header declares hundreds of functions. Unused declarations are never parsed.
    """
    names: list[str] = []
    at, stop = chunk.start, chunk.body if chunk.body >= 0 else chunk.stop
    while at < stop:
        word = tokens[at]
        if word.type in ("TYPEDEF", "LBRACE", "_STATIC_ASSERT", "TYPEOF"):
            return None
        if word.value in ("(", "[") and partner[at] > at:
            if not names or tokens[at + 1].value in ("*", "("):  # a declarator such as `(*f)(int)`
                return None
            at = partner[at]
        elif word.type == "EQUALS":
            while at < stop and tokens[at].value not in (",", ";"):
                at = max(at, partner[at]) + 1
            continue
        elif word.type in ("ID", "TYPEID") and at + 1 < stop and tokens[at + 1].value in "([,;=":
            names.append(word.value)
        at += 1
    if chunk.body >= 0 and (len(names) != 1 or tokens[chunk.body - 1].value == ";"):
        return None
    return names or None


class _TokenLexer:
    """A lexer for pycparser that returns tokens from a list instead of a text."""

    def __init__(self, error_func: Callable[[str, int, int], None], **_: Any) -> None:
        self.filename = ""
        self.tokens: Iterator[CToken] = iter(())
        self.last: CToken | None = None

    def input(self, text: str, filename: str = "") -> None:
        """Does nothing, since `tokens` replaces the text."""

    def token(self) -> CToken | None:
        """Returns the next token, or None at the end."""
        word = next(self.tokens, None)
        if word is not None:
            self.last = word
        return word


class ChunkParser:
    """Parses top-level declarations with the type names from previous ones."""

    def __init__(self, tokens: list[CToken]) -> None:
        self.tokens = tokens
        self.typedefs: set[str] = {"__builtin_va_list", *VECTORS}
        self.unknown: set[str] = set()
        self._parser = CParser(lexer=_TokenLexer)

    def parse(
        self,
        start: int,
        stop: int,
        *,
        close: bool = False,
        without: tuple[tuple[int, int], ...] = (),
        guessed: set[str] | None = None,
    ) -> list[c_ast.Node]:
        """Parses the tokens [start, stop) to declarations. `close` adds a `;` at the end.

        An undeclared identifier that can only be a type is assumed to be one, for example after a
        missing header. `guessed` keeps such names for later attempts. The token ranges in `without`
        are skipped. Raises ChunkError with the index of the rejected token.
        """
        tokens: list[CToken] = []
        at = start
        for first, last in without:
            tokens += self.tokens[at:first]
            tokens.append(CToken("SEMI", ";", self.tokens[first].spot, first))
            at = last
        tokens += self.tokens[at:stop]
        if len(tokens) > 1 and tokens[0].type == "ID" and tokens[1].type == "LPAREN":
            tokens.insert(0, CToken("INT", "int", tokens[0].spot, start))  # f(a) int a; { ... }
        guessed = set() if guessed is None else guessed
        for _ in range(_MAX_UNKNOWN_TYPES):
            try:
                nodes = self._parse_once(tokens, close, guessed)
            except (ParseError, ValueError, AssertionError, AttributeError, TypeError) as error:
                place = self._error_index(error)
                name = self._undeclared_type(place, start, guessed)
                if name is None:
                    raise ChunkError(str(error), place) from error
                guessed.add(name)
            except RecursionError as error:
                raise ChunkError("nested too deeply", start) from error
            else:
                self.typedefs |= guessed
                self.unknown |= guessed
                return nodes
        raise ChunkError("too many unknown types", start)

    def _parse_once(self, tokens: list[CToken], close: bool, guessed: set[str]) -> list[c_ast.Node]:
        named = {word.value for word in tokens if word.type in ("ID", "TYPEID")}
        used = (self.typedefs | guessed) & named if guessed else self.typedefs & named
        feed: list[CToken] = []
        nowhere = Spot("", 0, 0, 0)
        for name in sorted(used):
            for kind, value in (
                ("TYPEDEF", "typedef"),
                ("INT", "int"),
                ("ID", name),
                ("SEMI", ";"),
            ):
                feed.append(CToken(kind, value, nowhere, -1))
        feed += tokens
        if close:
            feed.append(CToken("SEMI", ";", tokens[-1].spot, tokens[-1].column))
        lexer: Any = self._parser.clex
        lexer.tokens = iter(feed)
        lexer.last = None
        tree = self._parser.parse("", "")
        return list(tree.ext[len(used) :])

    def _error_index(self, error: Exception) -> int:
        match = re.match(r".*?:\d+:(\d+): ", str(error))
        if match:
            return int(match.group(1))
        last: CToken | None = getattr(self._parser.clex, "last", None)
        return last.column if last is not None else 0

    def _undeclared_type(self, place: int, start: int, guessed: set[str]) -> str | None:
        for index in range(place, max(start, place - 4) - 1, -1):
            if index + 1 >= len(self.tokens):
                continue
            word, following = self.tokens[index], self.tokens[index + 1]
            if word.type not in ("ID", "TYPEID") or word.value in self.typedefs | guessed:
                continue
            if following.type in ("ID", "TYPEID") or following.value in ("*", ")", ","):
                return word.value
        return None


def statement_around(
    tokens: list[CToken], partner: list[int], place: int, body: int
) -> tuple[int, int]:
    """Returns the token range of the innermost statement in a function body that contains the token
    `place`.
    """
    start = at = place
    while at > body + 1:  # leave parentheses, and search the start of the statement
        value = tokens[at - 1].value
        if value in (")", "]", "}") and partner[at - 1] >= 0:
            at = partner[at - 1]
            if value == "}" and tokens[at - 1].value not in ("=", ",", "{"):
                at = partner[at] + 1
                break
        elif value in ("(", "["):
            at -= 1
            start = at
        elif value == ";" and _inside_parentheses(tokens, partner, at - 1, body):
            at -= 1
        elif value in (";", "{"):
            break
        else:
            at -= 1
    return at, _statement_end(tokens, partner, at, max(place, start))


def _inside_parentheses(tokens: list[CToken], partner: list[int], at: int, body: int) -> bool:
    while at > body:
        at -= 1
        if tokens[at].value in (")", "]", "}") and partner[at] >= 0:
            at = partner[at]
        elif tokens[at].value in ("(", "["):
            return True
        elif tokens[at].value == "{":
            return False
    return False


def _statement_end(tokens: list[CToken], partner: list[int], at: int, place: int) -> int:
    headed = at + 1 < len(tokens) and tokens[at].value in ("for", "while", "if", "switch")
    if headed and partner[at + 1] > at:
        return _statement_end(tokens, partner, partner[at + 1] + 1, place)
    while at < len(tokens):
        value = tokens[at].value
        if value == ";":
            return at + 1
        if value == "}":
            return at
        if partner[at] > at:
            jump = partner[at]
            if value == "{" and (jump >= place or tokens[at - 1].value not in ("=", ",")):
                return jump + 1
            at = jump
        at += 1
    return at


class ChunkError(Exception):
    """Raised if pycparser rejects a declaration. `place` is the index of the rejected token."""

    def __init__(self, message: str, place: int) -> None:
        text = re.sub(r"^.*?:\d+:\d+: |^: ", "", message)
        super().__init__(text)
        self.place = place
