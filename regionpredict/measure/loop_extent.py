"""Finds the lines of a region in its source: its directive and its loops."""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.measure.ctext import (
    NotUnderstoodError,
    after_parentheses,
    next_token,
    next_token_or_error,
    statement_end,
)

_DIRECTIVE = re.compile(r"^[ \t]*(?:#|_Pragma\b)(?:[^\n]*\\\r?\n)*[^\n]*", re.MULTILINE)
_WORDS = frozenset(("for", "while", "do", "if", "switch"))


class Extent(NamedTuple):
    """The lines of a region, from the first to the last inclusive."""

    first: int
    last: int

    def away(self, line: int) -> int:
        """Returns the distance of a line in lines, 0 for a line inside the region."""
        return max(self.first - line, line - self.last, 0)


def loop_extent(text: str, directive: int, loop: int | None, column: int = 0) -> Extent:
    """Returns the lines of a region, from its directive to the end of its loop.

    The loop, if known, starts on another line in a column (0: unknown). `text` is the original
    source. Text that cannot be parsed, such as a loop that a macro opens but does not close, ends
    on its first line.

    >>> loop_extent("#pragma omp for \\\\\\n  nowait\\nfor (;;) {\\n}\\n", 1, 3)
    Extent(first=1, last=4)
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    if max(directive, loop or 0) > len(starts):
        return Extent(
            directive, max(directive, loop or 0)
        )  # the text has changed since it was read
    written = _DIRECTIVE.match(text, starts[directive - 1])
    behind = written.end() if written is not None else starts[directive - 1]
    first, last = directive, 1 + text.count("\n", 0, behind)
    if loop is not None:
        first, last = min(first, loop), max(last, loop)
        behind = max(behind, starts[loop - 1] + max(0, column - 1))
    try:
        end = _loop_end(_DIRECTIVE.sub(_blank_directive, text), behind)
    except NotUnderstoodError:
        return Extent(first, last)
    return Extent(first, max(last, 1 + text.count("\n", 0, end)))


def _blank_directive(directive: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", directive[0])


def _loop_end(text: str, at: int) -> int:
    """Returns the offset after the loop that starts at an offset. For text that cannot be parsed,
    returns the end of the words on its line.
    """
    token = next_token_or_error(text, at)
    after = next_token(text, token.end)
    if token.text.isidentifier() and token.text not in _WORDS and after and after.text == "(":
        return statement_end(text, after_parentheses(text, token.end))  # the loop is inside a macro
    return statement_end(text, at)
