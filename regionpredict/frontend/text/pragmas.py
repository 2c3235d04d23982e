"""Finds OpenMP directives in source text: `#pragma omp`, `_Pragma("omp ...")`, and in macros.

libclang hides the loop below an OpenMP directive. Directives are therefore read from the text and
attached to the following statement. Comments, strings and text under a false `#if` are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    Pragma,
)
from regionpredict.frontend.text.macros import MacroTable
from regionpredict.frontend.text.source_text import Masked, SourceText
from regionpredict.ir import Clause

# Words in directive names, before the clauses.
_NAME_WORDS = frozenset(
    (
        "parallel", "for", "simd", "sections", "section", "single", "master", "masked", "critical",
        "atomic", "barrier", "ordered", "flush", "task", "taskwait", "taskgroup", "taskloop",
        "taskyield", "teams", "distribute", "target", "data", "enter", "exit", "update", "declare",
        "end", "threadprivate", "cancel", "cancellation", "point", "loop", "scan", "tile", "unroll",
        "interop", "metadirective", "requires", "error", "assume", "allocate", "depobj",
        "reduction", "mapper", "variant", "workshare", "scope", "begin", "assumes", "nothing",
        "dispatch",
    )
)  # fmt: skip
# Words that may follow the first word of a directive. `ordered` and `reduction` are then clauses.
_FOLLOWING_WORDS = frozenset(
    (
        "for", "simd", "sections", "parallel", "distribute", "teams", "loop", "taskloop", "master",
        "masked", "data", "enter", "exit", "update", "declare", "target", "point", "task",
    )
)  # fmt: skip
_CLAUSE = re.compile(r"[,\s]*([A-Za-z_]\w*)")


_PRAGMA_LINE = re.compile(
    rb"^[ \t\v]*(?:\#|%:|\?\?=)[ \t\v]*pragma[ \t\v]+((?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_CONTINUED = re.compile(rb"\\[ \t]*\r?\n")
_PREPROCESSOR_LINE = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")
_PRAGMA_OPERATOR = re.compile(rb"\b_Pragma\b")


def may_hold_directives(data: bytes, macros: MacroTable) -> bool:
    """Whether the text may contain a pragma, or a macro that contains one. This is a fast test."""
    return (b"omp" in data and (b"pragma" in data or b"_Pragma" in data)) or macros.is_used_in(data)


_OPERATOR = re.compile(r'_Pragma\s*\(\s*("(?:\\.|[^"\\])*")\s*\)')
_OPERATORS = re.compile(rf"(?:\s*{_OPERATOR.pattern})*")
_OPENED_BLOCK = re.compile(r"(?:^|[;{}():]|\b(?:do|else))\s*\{")  # not an initializer


def with_numbers(pragma: Pragma, number_of: Callable[[str], int | None]) -> Pragma:
    """Replaces the enumerators in `collapse` clauses by their numbers.

    >>> clause = Clause("collapse", "DEPTH + 1")
    >>> pragma = Pragma("for", (clause,), 0, 0, 1, 1, "")
    >>> with_numbers(pragma, {"DEPTH": 2}.get).clauses[0].text
    '2 + 1'
    """
    clauses = tuple(
        clause._replace(
            text=_NAME.sub(lambda m: str(_enumerator_value(m.group(), number_of)), clause.text)
        )
        if clause.name == "collapse" and clause.text is not None
        else clause
        for clause in pragma.clauses
    )
    return pragma if clauses == pragma.clauses else pragma._replace(clauses=clauses)


def _enumerator_value(name: str, number_of: Callable[[str], int | None]) -> int | str:
    value = number_of(name)
    return name if value is None else value


def find_pragmas(source: SourceText, macros: MacroTable, text: Masked) -> list[Pragma]:
    """Returns the active OpenMP directives of a file, in text order."""
    pragmas: list[Pragma] = []
    for match in _PRAGMA_LINE.finditer(text.bare):
        hash_at = match.start() + len(match.group()) - len(match.group().lstrip())
        body = _CONTINUED.sub(b"", text.code[slice(*match.span(1))]).decode("utf-8", "replace")
        pragma = _parsed_pragma(source, body, hash_at, match.end(), macros)
        if pragma:
            pragmas.append(pragma)
    pragmas.extend(_operator_pragmas(source, text, macros))
    pragmas.sort(key=lambda pragma: pragma.offset)
    return pragmas


def _parsed_pragma(
    source: SourceText, body: str, offset: int, end: int, macros: MacroTable, macro: str = ""
) -> Pragma | None:
    text = " ".join(body.split())
    if not re.match(r"omp\b", text):
        return None
    kind, clauses = parse_directive(macros.expand(text[3:]))
    if not kind:
        return None
    line, column = source.place(offset)
    return Pragma(kind, clauses, offset, end, line, column, text, macro)


def _operator_pragmas(source: SourceText, text: Masked, macros: MacroTable) -> list[Pragma]:
    pragmas: list[Pragma] = []
    names = macros.pragma_macros
    if not names and not _PRAGMA_OPERATOR.search(text.code):
        return pragmas
    escaped = [re.escape(name).encode() for name in sorted(names)] + [b"_Pragma"]
    bare = _PREPROCESSOR_LINE.sub(lambda line: b" " * len(line.group()), text.bare)
    code = text.code.decode("latin-1")
    for match in re.finditer(rb"\b(?:" + b"|".join(escaped) + rb")\b", bare):
        at = match.start()
        name = match.group().decode()
        end, arguments = macros.read_arguments(code, match.end())
        if name == "_Pragma":
            found = [_Operator(_unquote(text)) for text in arguments[:1]]
        else:
            found = _pragmas_in_expansion(macros.expand_call(name, arguments))
        for operator in found:
            pragma = _parsed_pragma(source, operator.text, at, end, macros, macro=name)
            if pragma:
                pragmas.append(pragma._replace(joined=operator.joined, blocks=operator.blocks))
    return pragmas


class _Operator(NamedTuple):
    """A `_Pragma` with its text. `joined` and `blocks` have the same meaning as in `Pragma`."""

    text: str
    joined: bool = False
    blocks: tuple[int, int] | None = None


def _pragmas_in_expansion(expanded: str) -> list[_Operator]:
    """Returns the directives in a macro expansion.

    >>> text = 'x = 1; { f(); } _Pragma("omp parallel") { g(); } _Pragma("omp barrier")'
    >>> [tuple(operator) for operator in _pragmas_in_expansion(text)]
    [('omp parallel', False, (1, 1)), ('omp barrier', False, None)]
    """
    found: list[_Operator] = []
    last_end = -1
    for match in _OPERATOR.finditer(expanded):
        begin, end = match.span()
        joined = last_end >= 0 and not expanded[last_end:begin].strip()
        following = _OPERATORS.match(expanded, end)
        blocks = None
        if following is not None and expanded[following.end() :].lstrip().startswith("{"):
            opened = [found.end() for found in _OPENED_BLOCK.finditer(expanded, 0, begin)]
            depths = [expanded.count("{", 0, at) - expanded.count("}", 0, at) for at in opened]
            blocks = len(opened), depths[::-1].index(1) + 1 if 1 in depths else 0
        found.append(_Operator(_unquote(match.group(1)), joined, blocks))
        last_end = end
    return found


def _unquote(text: str) -> str:
    text = text.strip().lstrip("L")
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\") if text[:1] == '"' else text


def parse_directive(text: str) -> tuple[str, tuple[Clause, ...]]:
    """Parses the words and clauses of a directive after `omp`.

    >>> parse_directive(" parallel for schedule( static, 4 ) nowait")
    ('parallel for', (Clause(name='schedule', text='static, 4'), Clause(name='nowait', text=None)))
    """
    name_tokens: list[str] = []
    clauses: list[Clause] = []
    at = 0
    while match := _CLAUSE.match(text, at):
        word, at = match.group(1), match.end()
        opening = re.compile(r"\s*\(").match(text, at)
        argument = None
        if opening:
            end = _closing_parenthesis(text, opening.end() - 1)
            argument = " ".join(text[opening.end() : end].split())
            at = end + 1
        names = _FOLLOWING_WORDS if name_tokens else _NAME_WORDS
        if not clauses and word in names and (argument is None or not name_tokens):
            name_tokens.append(word)
            if argument is not None:
                clauses.append(Clause(word, argument))
        elif not name_tokens:
            return "", ()
        else:
            clauses.append(Clause(word, argument))
    return " ".join(name_tokens), tuple(clauses)


def _closing_parenthesis(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if not depth:
                return at
    return len(text)
