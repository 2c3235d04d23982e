"""Wraps tables to the width of a terminal, with indented continuation lines.

In a pipe or a file, rows have at most 80 columns. Sentences, such as notes and reasons, stay on one
line for searching.
"""

from __future__ import annotations

from regionpredict.report.page_width import wrapped

_FURTHER = 4  # additional columns of indentation of a continuation line
_LEAST = 40  # columns: narrower terminals wrap lines themselves


def within_width(text: str, columns: int) -> str:
    """Wraps the text at spaces to this width. Longer words are not broken.

    >>> print(within_width("  note: one two three four five six seven eight", 40))
      note: one two three four five six
          seven eight
    """
    if columns < _LEAST:
        return text
    lines = []
    for line in text.split("\n"):
        if len(line) <= columns:
            lines.append(line)
            continue
        indent = len(line) - len(line.lstrip(" "))
        lines += wrapped(
            line, columns, subsequent_indent=" " * (indent + _FURTHER), expand_tabs=False,
            replace_whitespace=False,
        )  # fmt: skip
    return "\n".join(lines)
