"""A directive with its clauses, wrapped to the page width so that it can be pasted into source
code.

    34: #pragma omp parallel for schedule(static) reduction(+ : s0, s1, s2, s3) \\
            num_threads(40) proc_bind(close)
"""

from __future__ import annotations

import re

from regionpredict.report.page_width import PAGE_WIDTH, page_lines

_COMMENT = "// "
_SPLICE = " \\"
_GO_ON = 4  # additional indentation, in columns
_PIECE = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s,])*,?\s*""")
"""Breaks after a blank or a comma, between two C tokens, where a line may be continued (C17,
5.1.1.2). Blanks in string literals are kept.
"""


def clause_lines(number: int, directive: str, clauses: str) -> list[str]:
    """The directive of line `number`, followed by clauses or a comment.

    >>> for line in clause_lines(7, "#pragma omp parallel for collapse(2) private(t, u, v)",
    ...                          "num_threads(n < 90 ? 1 : 36) proc_bind(close)"): print(line)
         7: #pragma omp parallel for collapse(2) private(t, u, v) \\
                num_threads(n < 90 ? 1 : 36) proc_bind(close)
    >>> told = "// num_threads(36) proc_bind(close): fix RP221 in line 9 first"
    >>> for line in clause_lines(7, "#pragma omp for", told): print(line)
         7: #pragma omp for
            // num_threads(36) proc_bind(close): fix RP221 in line 9 first
    """
    head = f"{number:>6}: "
    line = f"{head}{directive}   {clauses}"
    if len(line) <= PAGE_WIDTH:
        return [line]
    within, further = " " * len(head), " " * (len(head) + _GO_ON)
    own = _continued(directive, head, further)
    if clauses.startswith(_COMMENT):
        begin = within + _COMMENT
        return [*own, *page_lines(clauses.removeprefix(_COMMENT), first=begin, then=begin)]
    return [*own[:-1], own[-1] + _SPLICE, *_continued(clauses, further, further)]


def _continued(text: str, first: str, then: str) -> list[str]:
    """The text of a directive with continuation lines. Longer words are not broken."""
    lines, line = [], ""
    indent = first
    for piece in _PIECE.findall(text):
        if line and len(indent + line + piece.rstrip() + _SPLICE) > PAGE_WIDTH:
            lines.append(indent + line.rstrip() + _SPLICE)
            line, indent = "", then
        line += piece
    return [*lines, indent + line.rstrip()]
