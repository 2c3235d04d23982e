"""Represents the text of a source file, and makes copies in which comments, strings or ranges are
blank.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

_TOKEN = re.compile(
    rb"""//(?:\\\r?\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


class SourceText:
    """The text of a file, and the offsets at which its lines start."""

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
        """Returns the line and column, starting at 1, of a byte offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


class Masked(NamedTuple):
    """A text in two versions of equal length: without comments (`code`), and also without strings
    (`bare`).

    Line ends are kept. Inside a comment, they become vertical tabs.
    """

    code: bytes
    bare: bytes


def masked(data: bytes) -> Masked:
    """Returns the text with blanked comments, and with blanked comments and strings."""
    code: list[bytes] = []
    bare: list[bytes] = []
    at = 0
    for match in _TOKEN.finditer(data):
        text, begin = match.group(), match.start()
        code.append(data[at:begin])
        bare.append(data[at:begin])
        at = match.end()
        # In C, a comment counts as one blank, so that a directive continues after a comment.
        blank = _blank(text, b"\v" if text[:2] == b"/*" else b"\n")
        bare.append(blank)
        # A multi-line string may contain text that looks like a directive.
        code.append(blank if text[:1] == b"/" or b"\n" in text else text)
    code.append(data[at:])
    bare.append(data[at:])
    return Masked(b"".join(code), b"".join(bare))


def _blank(text: bytes, line_end: bytes) -> bytes:
    return line_end.join([b" " * len(line) for line in text.split(b"\n")])


def blank_comments(data: bytes) -> bytes:
    """Returns the text with blanked comments, like `code` of `masked`."""
    return masked(data).code


def unterminated_comment(data: bytes) -> int:
    """Returns the start of a comment that is not terminated, or -1.

    >>> unterminated_comment(b"a /* b */ c /* d"), unterminated_comment(b"'/*'")
    (12, -1)
    """
    return masked(data).bare.find(b"/*") if b"/*" in data else -1


def blank_ranges(data: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """Returns the text with the given ranges blanked, except newlines."""
    parts, at = [], 0
    for start, end in sorted(ranges):
        if end > at:
            parts += [data[at:start], _blank(data[max(at, start) : end], b"\n")]
            at = end
    return b"".join([*parts, data[at:]])
