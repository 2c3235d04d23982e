"""Represents a file to read, with its options and its language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCES = frozenset((".c", ".cc", ".cpp", ".cxx", ".c++", ".C"))
HEADERS = frozenset((".h", ".hh", ".hpp", ".hxx", ".inc"))
_CPP = frozenset((".cc", ".cpp", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx", ".cu"))


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A file to read, with macros as (name, value), include folders and language standard.

    A missing header is searched below `root`, then below `other_roots`, the roots of the other
    PATHs. `reassociates` says that the compiler may reorder sums of floating-point numbers
    (`-ffast-math`). `is_from_build` says that the options come from a compile command.
    """

    path: str
    defines: tuple[tuple[str, str], ...] = ()
    includes: tuple[str, ...] = ()
    standard: str = ""
    root: str = ""
    extra: tuple[str, ...] = ()
    reassociates: bool = False
    other_roots: tuple[str, ...] = ()
    is_from_build: bool = False

    @property
    def macro_text(self) -> bytes:
        """The values of all macros, as UTF-8 text. Invalid bytes are kept."""
        return " ".join(value for _, value in self.defines).encode("utf-8", "surrogateescape")


def is_cpp(path: str) -> bool:
    """Whether the file name has an ending of C++ files."""
    return Path(path).suffix in _CPP
