"""The one error a wrong input raises; the command line turns it into one line and an exit code."""

from __future__ import annotations


class InputError(Exception):
    """A wrong input: where it is, what is wrong, and what to do about it.

    >>> str(InputError("unknown key 'coers'", remedy="write 'cores'", path="m.yaml", line=3))
    "m.yaml:3: unknown key 'coers'; write 'cores'"
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        path: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.message = message
        self.remedy = remedy
        self.path = path
        self.line = line
        self.column = column
        super().__init__(message)

    def __str__(self) -> str:
        path = printable(self.path)
        place = ":".join(str(part) for part in (path, self.line, self.column) if part)
        text = f"{self.message}; {self.remedy}" if self.remedy else self.message
        return f"{place}: {text}" if place else text


def printable(name: str) -> str:
    r"""A file's name on one line of text: what is neither shown nor UTF-8 is escaped.

    >>> print(printable("a\nb\udce9.c"), printable("blå.c"))
    a\nb\xe9.c blå.c
    """
    if name.isprintable():
        return name
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown)


class UsageError(InputError):
    """The command was called wrongly (exit code 2); `InputError`: its input is wrong (1)."""
