"""From which line to which a region stands in its source: its directive, and its nest of loops."""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.measure.ctext import (
    NotUnderstoodError,
    behind_parentheses,
    need_token,
    next_token,
    statement_end,
)

_DIRECTIVE = re.compile(r"^[ \t]*(?:#|_Pragma\b)(?:[^\n]*\\\r?\n)*[^\n]*", re.MULTILINE)
_WORDS = frozenset(("for", "while", "do", "if", "switch"))


class Extent(NamedTuple):
    """The first and the last line, both of the region."""

    first: int
    last: int

    def away(self, line: int) -> int:
        """How many lines lie between; 0 of a line inside."""
        return max(self.first - line, line - self.last, 0)


def loop_extent(text: str, directive: int, loop: int | None, column: int = 0) -> Extent:
    """The lines of a region whose directive begins on one line and whose loop, where it is known,
    on another, in a column (0: not known). `text` is the source as it is written.

    What is no C to be followed, as a loop that a macro opens but does not close, ends on the line
    on which it begins.

    >>> loop_extent("#pragma omp for \\\\\\n  nowait\\nfor (;;) {\\n}\\n", 1, 3)
    Extent(first=1, last=4)
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    if max(directive, loop or 0) > len(starts):
        return Extent(directive, max(directive, loop or 0))  # of another text than was read
    written = _DIRECTIVE.match(text, starts[directive - 1])
    behind = written.end() if written is not None else starts[directive - 1]
    first, last = directive, 1 + text.count("\n", 0, behind)
    if loop is not None:
        first, last = min(first, loop), max(last, loop)
        behind = max(behind, starts[loop - 1] + max(0, column - 1))
    try:
        end = _loop_end(_DIRECTIVE.sub(_blank, text), behind)
    except NotUnderstoodError:
        return Extent(first, last)
    return Extent(first, max(last, 1 + text.count("\n", 0, end)))


def _blank(directive: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", directive[0])


def _loop_end(text: str, at: int) -> int:
    """The offset behind the loop that begins at an offset, or behind the words of its line."""
    token = need_token(text, at)
    after = next_token(text, token.end)
    if token.text.isidentifier() and token.text not in _WORDS and after and after.text == "(":
        return statement_end(text, behind_parentheses(text, token.end))  # a macro that is a loop
    return statement_end(text, at)
