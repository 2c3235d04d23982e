"""Directives that a false `#if` leaves out, and what would open the branch that they stand in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from regionpredict.frontend.syntax import Pragma
from regionpredict.frontend.text.macros import MacroTable
from regionpredict.frontend.text.pragmas import find_pragmas
from regionpredict.frontend.text.source_text import SourceText, masked
from regionpredict.ir import Diagnostic, Span

_CONDITIONAL = re.compile(
    rb"^[ \t\v]*(?:#|%:|\?\?=)[ \t\v]*(if|ifdef|ifndef|elif|else|endif)\b((?:\\\r?\n|[^\n])*)",
    re.MULTILINE,
)
_DEFINED = re.compile(r"defined\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|([A-Za-z_]\w*))")
_NAME = re.compile(r"[A-Za-z_]\w*")
_FALSE = re.compile(r"\(*\s*0\s*\)*")


class _Branch(NamedTuple):
    """What stands between two lines of one conditional.

    `word` and `condition` are of the line in front of it, `before` is that of the branch before it
    where `word` is `else`.
    """

    word: str
    condition: str
    before: _Branch | None
    begin: int
    end: int

    def opening(self) -> str | None:
        """What has to be done so that it is read; None where nothing opens it."""
        name = _NAME.match(self.condition)
        if self.word == "ifdef":
            return f"add -D {name.group()}" if name else None
        if self.word == "ifndef":
            return f"do without the macro {name.group()}" if name else None
        if self.word in ("if", "elif"):
            return _opening_of(self.condition)
        return self.before.closing() if self.before is not None else None

    def closing(self) -> str | None:
        """What has to be done so that the `#else` behind it is read."""
        name = _NAME.match(self.condition)
        if self.word == "ifndef":
            return f"add -D {name.group()}" if name else None
        if self.word == "ifdef":
            return f"do without the macro {name.group()}" if name else None
        return f"make '{self.condition}' false" if _NAME.search(self.condition) else None


def inactive_loops(
    source: SourceText, macros: MacroTable, active: Iterable[Pragma],
    reads: Callable[[int, int], bool],
) -> list[Diagnostic]:  # fmt: skip
    """RP006 for each loop directive of a file that is not among the `active` ones.

    `reads` says whether the compiler reads anything between two offsets, also where nothing tells:
    the innermost branch around such a directive is one that it does not read. What `#if 0` leaves
    out is not told: nobody means it.
    """
    if not _CONDITIONAL.search(source.data):
        return []
    text = masked(source.data)
    known = {pragma.offset for pragma in active}
    left = [pragma for pragma in find_pragmas(source, macros, text)
            if pragma.is_loop and not pragma.macro and pragma.offset not in known]  # fmt: skip
    if not left:
        return []
    branches = _branches(text.code)
    notes = []
    for pragma in left:
        around = [branch for branch in branches if branch.begin <= pragma.offset < branch.end]
        closed = [pragma for pragma in around if not reads(pragma.begin, pragma.end)]
        opening = (closed or around[-1:])[0].opening() if around else None
        if opening is not None:
            message = f"an OpenMP loop that the preprocessor leaves out: to read it, {opening}"
            span = Span(source.path, pragma.line, pragma.column)
            notes.append(Diagnostic("RP006", span, message))
    return notes


def _branches(code: bytes) -> list[_Branch]:
    """The branches of a text, the outer ones first; none of conditionals that do not match."""
    branches: list[_Branch] = []
    opened: list[list[_Branch]] = []
    for line in _CONDITIONAL.finditer(code):
        word = line.group(1).decode()
        condition = " ".join(line.group(2).decode("utf-8", "replace").replace("\\", " ").split())
        before = None
        if not word.startswith("if"):
            if not opened:
                return []
            ended = opened[-1][-1]._replace(end=line.start())
            opened[-1][-1] = ended
            before = ended
            if word == "endif":
                branches += opened.pop()
                continue
        else:
            opened.append([])
        opened[-1].append(_Branch(word, condition, before, line.end(), line.end()))
    return sorted(branches, key=lambda branch: (branch.begin, -branch.end))


def _opening_of(condition: str) -> str | None:
    """What opens `#if CONDITION`.

    >>> _opening_of("defined(USE_OMP)"), _opening_of("USE_OMP"), _opening_of("0")
    ('add -D USE_OMP', 'add -D USE_OMP', None)
    >>> _opening_of("defined(A) && B > 2")
    "make 'defined(A) && B > 2' true with -D"
    """
    if _FALSE.fullmatch(condition) or not _NAME.search(condition):
        return None
    alone = _DEFINED.fullmatch(condition)
    name = (alone.group(1) or alone.group(2)) if alone else condition
    if _NAME.fullmatch(name):
        return f"add -D {name}"
    return f"make '{condition}' true with -D"
