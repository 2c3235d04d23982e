"""Source locations, and diagnostics that refer to them."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A location in a source file. Lines and columns start at 1, and 0 means unknown."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"
        )

    @property
    def short(self) -> str:
        """The location without folders, for use in a sentence.

        >>> Span("src/solve.c", 7, 3).short
        'solve.c:7'
        """
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}"


class Diagnostic(NamedTuple):
    """A message about a location: the id of a rule (`RP104`), the location, and one sentence."""

    id: str
    span: Span
    message: str

    def __str__(self) -> str:
        return f"{self.span}: {self.id}: {self.message}"
