"""Reads a loop's source lines, and computes their digest, which shows whether a measured loop has
changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from regionpredict.documents import read_bytes
from regionpredict.errors import InputError

_DIGITS = 16


def source_lines(file: str, first: int, last: int) -> list[str]:
    """Returns the lines `first` to `last` of a file, from 1. Empty if the file cannot be read."""
    return lines_of(file)[first - 1 : last]


def lines_of(file: str) -> list[str]:
    """Returns all lines of a source file. Empty if the file cannot be read."""
    try:
        return read_bytes(Path(file), "").decode("utf-8", "replace").splitlines()
    except InputError:
        return []


def digest_of(lines: Sequence[str]) -> str:
    """Returns a digest that ignores white space at the ends of lines. Empty without lines.

    >>> digest_of(["for (;;)"]) == digest_of(["  for (;;) "]), digest_of([])
    (True, '')
    """
    if not lines:
        return ""
    text = "\n".join(line.strip() for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
