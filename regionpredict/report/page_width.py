"""The page width in pipes and files, and text wrapped to it."""

from __future__ import annotations

import textwrap

PAGE_WIDTH = 80  # columns


def page_lines(text: str, *, first: str = "", then: str = "    ") -> list[str]:
    """The text wrapped at spaces. Longer words are not broken, and a number keeps its percent sign.

    The first line begins with `first`, and all others with `then`.

    >>> for line in page_lines("E(p) = 1 - 0.5*log2(p) + " + "n" * 60): print(line)
    E(p) = 1 - 0.5*log2(p) +
        nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
    """
    lines = textwrap.wrap(
        text.replace(" %", "\N{NO-BREAK SPACE}%"), PAGE_WIDTH, initial_indent=first,
        subsequent_indent=then, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace("\N{NO-BREAK SPACE}%", " %") for line in lines]
