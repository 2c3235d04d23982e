"""Writes a recommended clause into a directive."""

from __future__ import annotations

import re

_WRITE = re.compile(r"write (?P<clause>[a-z_]+\([^()]*\)|nowait\b)")
_PRAGMA = re.compile(r"\s*#\s*pragma\s+omp\b.*\bfor\b")
_END = re.compile(r"\s*(//.*|/\*.*\*/\s*|\\\s*)?$")


def advised_clause(message: str) -> str | None:
    """Returns the clause that an advice recommends. None if the advice recommends no clause.

    >>> advised_clause("write schedule(static, 1)"), advised_clause("touch a in a parallel loop")
    ('schedule(static, 1)', None)
    >>> advised_clause("write nowait at line 6")
    'nowait'
    """
    match = _WRITE.match(message)
    return None if match is None else match["clause"]


def with_clause(line: str, clause: str) -> str | None:
    """Adds the clause to the directive's line. It replaces a clause of the same name, or follows
    all others. None if the line is not a loop directive or cannot be parsed.

    >>> with_clause("#pragma omp parallel for schedule(dynamic) // why", "schedule(static)")
    '#pragma omp parallel for schedule(static) // why'
    >>> with_clause("  #pragma omp for nowait", "collapse(2)")
    '  #pragma omp for nowait collapse(2)'
    """
    if _PRAGMA.match(line) is None:
        return None
    name = clause.partition("(")[0]
    old = re.findall(rf"\b{name}\s*\([^()]*\)", line)
    if len(old) == 1:
        return line.replace(old[0], clause)
    if old or re.search(rf"\b{name}\b", line):
        return None
    end = _END.search(line)
    assert end is not None  # it may be empty
    return f"{line[: end.start()]} {clause}{line[end.start() :]}"
