"""Wraps text to the page width of pipes and files."""

from __future__ import annotations

import textwrap
from typing import Any

PAGE_WIDTH = 80  # columns
_JOINED = "\N{NO-BREAK SPACE}%"


def page_lines(text: str, *, first: str = "", then: str = "    ") -> list[str]:
    """Wraps the text at spaces. Longer words are not broken. The first line begins with `first`,
    and all others with `then`.

    >>> for line in page_lines("E(p) = 1 - 0.5*log2(p) + " + "n" * 60): print(line)
    E(p) = 1 - 0.5*log2(p) +
        nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
    """
    return wrapped(text, PAGE_WIDTH, initial_indent=first, subsequent_indent=then)


def wrapped(text: str, columns: int, **options: Any) -> list[str]:
    """Wraps the text at spaces, with these options of `textwrap`. Longer words are not broken, and
    a number keeps its percent sign.
    """
    lines = textwrap.wrap(
        text.replace(" %", _JOINED), columns, break_long_words=False, break_on_hyphens=False,
        **options,
    )  # fmt: skip
    return [line.replace(_JOINED, " %") for line in lines]
