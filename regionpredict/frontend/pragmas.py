"""OpenMP directives in source text: `#pragma omp`, `_Pragma("omp ...")` and macros that hold one.

libclang shows no loop below an OpenMP directive, so directives are read from the text and
attached to the statement that follows. Comments, strings and text under a false `#if` hold none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from regionpredict.frontend.macros import MacroTable
from regionpredict.ir import Clause

# Words of a directive's name, in front of its clauses.
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
# Of these, the words that may follow another one: `ordered` and `reduction` are clauses there.
_FOLLOWING_WORDS = frozenset(
    (
        "for", "simd", "sections", "parallel", "distribute", "teams", "loop", "taskloop", "master",
        "masked", "data", "enter", "exit", "update", "declare", "target", "point", "task",
    )
)  # fmt: skip
_STANDALONE = frozenset(
    (
        "barrier", "flush", "taskwait", "taskyield", "threadprivate", "cancel", "cancellation",
        "declare", "end", "requires", "error", "nothing", "interop", "depobj", "allocate", "begin",
        "assumes",
    )
)  # fmt: skip
_CLAUSE = re.compile(r"[,\s]*([A-Za-z_]\w*)")


class Pragma(NamedTuple):
    """One OpenMP directive: its words (`parallel for`), clauses and place (offsets in the file).

    `joined` says that it stands directly behind another one of the same macro.
    """

    kind: str
    clauses: tuple[Clause, ...]
    offset: int
    end: int
    line: int
    column: int
    text: str
    macro: str = ""
    joined: bool = False

    @property
    def is_loop(self) -> bool:
        """Whether it shares the iterations of a loop among the threads of a team."""
        words = self.kind.split()
        if words[0] in ("cancel", "cancellation", "declare", "end"):
            return False
        return "for" in words or ("loop" in words and ("parallel" in words or "teams" in words))

    @property
    def standalone(self) -> bool:
        """Whether no statement belongs to it."""
        words = self.kind.split()
        if words[0] == "target":
            return any(word in words for word in ("update", "enter", "exit"))
        if words[0] == "ordered":
            return any(clause.name in ("depend", "doacross") for clause in self.clauses)
        return words[0] in _STANDALONE

    def clause(self, name: str) -> Clause | None:
        """The first clause of that name, or None."""
        return next((clause for clause in self.clauses if clause.name == name), None)


class SourceText:
    """A file's text, its line starts, and a copy in which comments and strings are blank."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.starts = [0]
        find = data.find
        at = find(b"\n")
        while at >= 0:
            self.starts.append(at + 1)
            at = find(b"\n", at + 1)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of a byte offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


_TOKEN = re.compile(
    rb"""//(?:\\\r?\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_PRAGMA_LINE = re.compile(
    rb"^[ \t\v]*(?:\#|%:|\?\?=)[ \t\v]*pragma[ \t\v]+((?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_CONTINUED = re.compile(rb"\\[ \t]*\r?\n")
_PREPROCESSOR_LINE = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_PRAGMA_OPERATOR = re.compile(rb"\b_Pragma\b")


class Masked(NamedTuple):
    """A text twice, at its own length: comments blank (`code`), strings blank too (`bare`).

    Line ends stay, but for those inside a comment, which become vertical tabs.
    """

    code: bytes
    bare: bytes


def masked(data: bytes) -> Masked:
    """The text without its comments, and without its strings."""
    code: list[bytes] = []
    bare: list[bytes] = []
    at = 0
    for match in _TOKEN.finditer(data):
        text, begin = match.group(), match.start()
        code.append(data[at:begin])
        bare.append(data[at:begin])
        at = match.end()
        # To C a comment is one blank: a directive goes on behind it.
        blank = _blank(text, b"\v" if text[:2] == b"/*" else b"\n")
        bare.append(blank)
        # A string that goes on over lines may hold what looks like a directive.
        code.append(blank if text[:1] == b"/" or b"\n" in text else text)
    code.append(data[at:])
    bare.append(data[at:])
    return Masked(b"".join(code), b"".join(bare))


def _blank(text: bytes, line_end: bytes) -> bytes:
    return line_end.join([b" " * len(line) for line in text.split(b"\n")])


def blank_comments(data: bytes) -> bytes:
    """The same bytes with comments as blanks, as `masked` has them."""
    return masked(data).code


def blank_ranges(data: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """The same bytes with the given ranges as spaces; newlines and length stay."""
    parts, at = [], 0
    for start, end in sorted(ranges):
        if end > at:
            parts += [data[at:start], _blank(data[max(at, start) : end], b"\n")]
            at = end
    return b"".join([*parts, data[at:]])


def may_hold_directives(data: bytes, macros: MacroTable) -> bool:
    """A quick look: does the text hold a pragma, or a macro that does?"""
    return (b"omp" in data and (b"pragma" in data or b"_Pragma" in data)) or macros.used_in(data)


def find_pragmas(source: SourceText, macros: MacroTable, text: Masked) -> list[Pragma]:
    """The OpenMP directives of a file, in the order of the text: that is what is active of it."""
    found: list[Pragma] = []
    for match in _PRAGMA_LINE.finditer(text.bare):
        hash_at = match.start() + len(match.group()) - len(match.group().lstrip())
        body = _CONTINUED.sub(b"", text.code[slice(*match.span(1))]).decode("utf-8", "replace")
        pragma = _make(source, body, hash_at, match.end(), macros)
        if pragma:
            found.append(pragma)
    found.extend(_operator_pragmas(source, text, macros))
    found.sort(key=lambda pragma: pragma.offset)
    return found


def _make(
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
    found: list[Pragma] = []
    names = macros.pragma_macros
    if not names and not _PRAGMA_OPERATOR.search(text.code):
        return found
    words = [re.escape(name).encode() for name in sorted(names)] + [b"_Pragma"]
    bare = _PREPROCESSOR_LINE.sub(lambda line: b" " * len(line.group()), text.bare)
    code = text.code.decode("latin-1")
    for match in re.finditer(rb"\b(?:" + b"|".join(words) + rb")\b", bare):
        at = match.start()
        name = match.group().decode()
        end, arguments = macros.read_arguments(code, match.end())
        if name == "_Pragma":
            texts = [_unquote(arguments[0])] if arguments else []
            joined = [False] * len(texts)
        else:
            expanded = macros.expand_call(name, arguments)
            texts, joined = _pragma_texts(expanded)
        for body, glued in zip(texts, joined, strict=True):
            pragma = _make(source, body, at, end, macros, macro=name)
            if pragma:
                found.append(pragma._replace(joined=glued))
    return found


def _pragma_texts(expanded: str) -> tuple[list[str], list[bool]]:
    texts: list[str] = []
    joined: list[bool] = []
    last_end = -1
    for match in re.finditer(r'_Pragma\s*\(\s*("(?:\\.|[^"\\])*")\s*\)', expanded):
        texts.append(_unquote(match.group(1)))
        joined.append(last_end >= 0 and not expanded[last_end : match.start()].strip())
        last_end = match.end()
    return texts, joined


def _unquote(text: str) -> str:
    text = text.strip().lstrip("L")
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\") if text[:1] == '"' else text


def parse_directive(text: str) -> tuple[str, tuple[Clause, ...]]:
    """Directive words and clauses of what stands behind `omp`.

    >>> parse_directive(" parallel for schedule( static, 4 ) nowait")
    ('parallel for', (Clause(name='schedule', text='static, 4'), Clause(name='nowait', text=None)))
    """
    words: list[str] = []
    clauses: list[Clause] = []
    at = 0
    while match := _CLAUSE.match(text, at):
        word, at = match.group(1), match.end()
        opening = re.compile(r"\s*\(").match(text, at)
        argument = None
        if opening:
            end = _closing(text, opening.end() - 1)
            argument = " ".join(text[opening.end() : end].split())
            at = end + 1
        names = _FOLLOWING_WORDS if words else _NAME_WORDS
        if not clauses and word in names and (argument is None or not words):
            words.append(word)
            if argument is not None:
                clauses.append(Clause(word, argument))
        elif not words:
            return "", ()
        else:
            clauses.append(Clause(word, argument))
    return " ".join(words), tuple(clauses)


def _closing(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if not depth:
                return at
    return len(text)
