"""Represents the files that an interpreted program reads as text streams (C17, 7.21).

`fopen("input.dat", "r")` opens the file if it is in a folder where the program may run. `fgets` and
`fscanf` then read its lines and numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from regionpredict.file_presence import path_exists
from regionpredict.frontend.program_arguments.conversions import Scanned, scanned
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
"""The functions that read a stream or test for its end."""
END_OF_FILE = -1
"""The value of `EOF` in all common libraries."""
_MOST_BYTES = 1 << 16
"""Maximum size in bytes of an input file whose text is read.

The contents of longer files are unknown. This also applies to devices and to files of the process
table, whose size is 0.
"""
_FILE = CType("unknown")
_TEXT = "(text)"
"""The last step of the path to a stream's text. No member has this name.

After an attempt to read past the end, the position exceeds the length by one, as `feof` reports.
"""
_MISSING, _FAILED = "(missing)", "(failed)"
"""The last steps of the paths to the states of a stream."""


class InputPaths(NamedTuple):
    """The paths of input files. `read` are files with known text. `unread` are missing, binary and
    long files.
    """

    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


NO_INPUTS = InputPaths()


@dataclass(slots=True)
class InputFiles:
    """The input files of a program.

    Relative names are searched in `folders`, in this order. `read` are the paths of files with
    known text, `unknown` the paths of other files, and `absent` the paths of missing files.
    """

    folders: tuple[Path, ...] = ()
    read: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    absent: dict[str, None] = field(default_factory=dict)

    def find(self, name: str) -> Path | None:
        """Returns the path of an existing file with this name, or None."""
        for folder in self.folders:
            path = folder / name
            if path_exists(path):
                return path
            self.absent[str(path)] = None
        return None

    def exists(self, name: Value) -> bool:
        """Whether a file with this known name exists."""
        return isinstance(name, Text) and self.find(name.rest) is not None

    def text(self, path: Path) -> str | None:
        """Returns the text of a file. None for a binary file or a file that is too long."""
        text = None
        try:
            if path.is_file() and 0 < path.stat().st_size <= _MOST_BYTES:
                text = path.read_bytes().decode("latin-1")
        except OSError:
            text = None
        known = text is not None and "\0" not in text
        (self.read if known else self.unknown)[str(path)] = None
        return text if known else None


class Stream(NamedTuple):
    """An open file in the memory of the interpreted program."""

    memory: Memory
    place: Place

    @staticmethod
    def open(memory: Memory, place: Place, text: str | None) -> Stream:
        """Stores a stream at a memory location. If `text` is None, the file is missing."""
        stream = Stream(memory, place)
        memory.write(place.at(_TEXT), Text(text or ""))
        if text is None:
            memory.write(place.at(_MISSING), 1)
            stream.fail()
        return stream

    @property
    def text(self) -> Text:
        """The text of the stream, with the current position."""
        content = self.memory.read(self.place.at(_TEXT))
        return content if isinstance(content, Text) else Text("")

    @property
    def missing(self) -> bool:
        """Whether the file is missing."""
        return self.memory.read(self.place.at(_MISSING)) == 1

    @property
    def failed(self) -> bool:
        """Whether reading has failed, like the fail state of a `std::ifstream`."""
        return self.memory.read(self.place.at(_FAILED)) == 1

    @property
    def at_end(self) -> bool:
        """Whether the program tried to read past the end."""
        text = self.text
        return text.offset > len(text.text)

    def fail(self) -> None:
        """Records that reading has failed."""
        self.memory.write(self.place.at(_FAILED), 1)

    def move(self, position: int) -> None:
        """Sets the position. It may be past the end after an attempt to read there."""
        self.memory.write(self.place.at(_TEXT), self.text._replace(offset=position))

    def take(self, length: int) -> str:
        """Reads up to this number of characters. Records an attempt to read past the end."""
        text = self.text
        characters = text.rest[:length]
        beyond = len(characters) < length
        self.move(min(text.offset, len(text.text)) + len(characters) + beyond)
        return characters

    def line(self, most: int | None = None) -> str:
        """Reads the next line including its line end, up to `most` characters."""
        rest = self.text.rest
        end = rest.find("\n") + 1
        length = end or len(rest) + 1
        return self.take(length if most is None else min(length, most))

    def scan(self, form: str) -> Scanned:
        """Reads values like `fscanf`, which reads past the end of numbers and words."""
        rest = self.text.rest
        read = scanned(rest, form)
        left = rest[read.end :]
        if not left or (read.missing and not left.strip()):
            self.take(len(rest) + 1)
        else:
            self.take(read.end)
        return read

    def forget(self) -> None:
        """Makes the position unknown."""
        self.memory.forget(self.place.at(_TEXT))


def stream_of(memory: Memory, value: Value) -> Stream | None:
    """Returns the stream of a `FILE *` or a `std::ifstream`. None if its text is unknown."""
    if not isinstance(value, Address):
        return None
    content = memory.read(value.place.at(_TEXT))
    return Stream(memory, value.place) if isinstance(content, Text) else None


def text_of_input(files: InputFiles, name: Value, *, assumed: bool) -> Value:
    """Returns the text of an input file. Unknown if the file is missing or unreadable.

    If the environment is `assumed` to have no files, the result for a missing file is 0.
    """
    if not isinstance(name, Text):
        return UNKNOWN
    path = files.find(name.rest)
    if path is None:
        return 0 if assumed else UNKNOWN
    text = files.text(path)
    return UNKNOWN if text is None else Text(text)


def opened(
    files: InputFiles, memory: Memory, call: CallExpr, name: Value, mode: Value, *, assumed: bool
) -> Value:
    """Returns the result of `fopen`: a null pointer for a missing file."""
    stream = Place(Decl("(file)", "local", _FILE, call.span))
    if isinstance(mode, Text) and not mode.rest.startswith("r"):
        return Address(stream)
    text = text_of_input(files, name, assumed=assumed) if isinstance(mode, Text) else UNKNOWN
    if isinstance(text, Text):
        Stream.open(memory, stream, text.text)
    return Address(stream) if isinstance(text, Text) or files.exists(name) else text
