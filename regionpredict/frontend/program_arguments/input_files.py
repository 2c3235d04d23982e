"""The files that a followed program reads, as streams of text (C17, 7.21).

`fopen("input.dat", "r")` gives the text of the file, if it is in a folder where the program may
run. `fgets` and `fscanf` then read its lines and numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from regionpredict.file_presence import exists
from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Memory,
    Place,
    Text,
    Value,
)
from regionpredict.frontend.syntax import CallExpr, CType, Decl

READERS = frozenset(("fgets", "getline", "fgetc", "getc", "fscanf", "feof"))
"""The functions that read a stream, or ask for its end."""
END_OF_FILE = -1
"""The value of `EOF` in all common libraries."""
_MOST_BYTES = 1 << 16
"""A file of parameters is shorter. The contents of longer files are unknown, as are those of
devices and of the process table, whose length is 0.
"""
_FILE = CType("unknown")
_TEXT = "(text)"
"""The step, no member's name, from a stream to its text. The position is past the end after an
attempt to read there, as for `feof`.
"""


class InputPaths(NamedTuple):
    """The paths of the input files that programs `read`, and those of `absent` files."""

    read: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


NO_INPUTS = InputPaths()


@dataclass(slots=True)
class InputFiles:
    """The input files of a program.

    Relative names are searched in `folders`, in this order. `read` are the paths of files that were
    opened, and `absent` those of missing files.
    """

    folders: tuple[Path, ...] = ()
    read: dict[str, None] = field(default_factory=dict)
    absent: dict[str, None] = field(default_factory=dict)

    def find(self, name: str) -> Path | None:
        """The path of a file that exists."""
        for folder in self.folders:
            path = folder / name
            if exists(path):
                return path
            self.absent[str(path)] = None
        return None

    def text(self, path: Path) -> str | None:
        """The text of a file. None if it is none, or too long."""
        try:
            if not path.is_file() or not 0 < path.stat().st_size <= _MOST_BYTES:
                return None
            text = path.read_bytes().decode("latin-1")
        except OSError:
            return None
        self.read[str(path)] = None
        return None if "\0" in text else text


class Stream(NamedTuple):
    """An open file in the memory of the program."""

    memory: Memory
    place: Place

    @property
    def text(self) -> Text | None:
        """The text and the position in it, if they are known."""
        held = self.memory.read(self.place)
        return held if isinstance(held, Text) else None

    def move(self, position: int) -> None:
        """Sets the position, which is past the end if the end was read."""
        text = self.text
        if text is not None:
            self.memory.write(self.place, text._replace(offset=position))

    def take(self, length: int) -> str:
        """Reads up to this many characters. An attempt to read past the end is noted."""
        text = self.text
        if text is None:
            return ""
        taken = text.rest[:length]
        beyond = len(taken) < length
        self.move(min(text.offset, len(text.text)) + len(taken) + beyond)
        return taken

    def line(self, most: int | None = None) -> str:
        """Reads the next line with its end, up to `most` characters."""
        rest = self.text.rest if self.text is not None else ""
        end = rest.find("\n") + 1
        length = end or len(rest) + 1
        return self.take(length if most is None else min(length, most))

    def forget(self) -> None:
        """The position becomes unknown."""
        self.memory.forget(self.place)


def opened(
    files: InputFiles, memory: Memory, call: CallExpr, name: Value, mode: Value, *, assumed: bool
) -> Value:
    """The result of `fopen`. A file that does not exist gives a null pointer if the surroundings of
    the program are `assumed`, otherwise an unknown value.
    """
    stream = Place(Decl("(file)", "local", _FILE, call.span))
    if isinstance(mode, Text) and not mode.rest.startswith("r"):
        return Address(stream)
    if not isinstance(name, Text) or not isinstance(mode, Text):
        return UNKNOWN
    path = files.find(name.rest)
    if path is None:
        return 0 if assumed else UNKNOWN
    text = files.text(path)
    if text is not None:
        memory.write(stream.at(_TEXT), Text(text))
    return Address(stream)


def stream_of(memory: Memory, value: Value) -> Stream | None:
    """The stream of a `FILE *` whose text and position are known."""
    if not isinstance(value, Address):
        return None
    stream = Stream(memory, value.place.at(_TEXT))
    return stream if stream.text is not None else None
