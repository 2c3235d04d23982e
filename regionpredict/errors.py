"""The exceptions for invalid input, which the command line prints as one line."""

from __future__ import annotations

import shutil


class InputError(Exception):
    """An invalid input: its place, the problem, and what to do.

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
        parts = (one_line(self.path), self.line, self.column)
        place = ":".join(str(part) for part in parts if part)
        text = f"{self.message}; {self.remedy}" if self.remedy else self.message
        return one_line(f"{place}: {text}" if place else text)


class UsageError(InputError):
    """An invalid command line (exit code 2). The exit code of `InputError` is 1."""


_BLANKS = "\n\t\xa0"
_WITHOUT_BLANKS = {ord(blank): None for blank in _BLANKS}


def one_line(text: str) -> str:
    r"""Escapes line breaks, control characters and undecodable bytes.

    >>> print(one_line("a\nb.c"), one_line("caf\udce9.c"), one_line("caf\u00e9.c"))
    a\nb.c caf\xe9.c café.c
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape_character(char) for char in text)


def escape_control_characters(text: str) -> str:
    """Escapes control characters except newline and tab.

    >>> escape_control_characters("a" + chr(27) + "[31m") == "a" + chr(92) + "x1b[31m"
    True
    """
    if text.translate(_WITHOUT_BLANKS).isprintable():
        return text
    return "".join(
        char if char in _BLANKS or char.isprintable() else _escape_character(char) for char in text
    )


def plural(count: float, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "region"), plural(3, "region"), plural(1.0, "load")
    ('1 region', '3 regions', '1 load')
    """
    shown = f"{count:g}" if isinstance(count, float) else count
    return f"{shown} {noun}" if count == 1 else f"{shown} {noun}s"


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.42)
    '42 %'
    """
    return f"{100 * share:.0f} %"


def with_extra(name: str) -> str:
    """Explains how to install a missing optional package, in the words of the README.

    >>> with_extra("plot")
    "python3 -m pip install 'regionpredict[plot]'"
    """
    return f"python3 -m pip install 'regionpredict[{name}]'"


def _escape_character(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # an invalid byte of UTF-8, as Python represents it
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape", "surrogatepass").decode()


def is_missing(program: str, error: OSError) -> bool:
    """Whether a program could not be started because no folder of PATH contains it.

    If the user may not read one of these folders, the system reports this instead (execve(2),
    EACCES).

    >>> is_missing("no-such-program", PermissionError())
    True
    """
    unknown = "/" not in program and shutil.which(program) is None
    return isinstance(error, FileNotFoundError) or unknown
