"""Reads files, YAML and JSON with limits on their size and depth.

All files except source code are read through this module. The limits are far beyond real files. If
a file exceeds one, the error is one line. All errors are `InputError`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from regionpredict.errors import InputError

MOST_BYTES = 256 << 20
"""The limit of one file. A campaign of a thousand runs over a hundred regions has a fifth."""
MOST_YAML_BYTES = 4 << 20
"""The limit of a machine or expectation file. Shipped files are below 20 kB."""
MOST_VALUES = 20_000_000
"""The limit of one JSON text. That campaign has two million."""
MOST_YAML_VALUES = 200_000
"""An alias counts as many nodes as its target."""
MOST_DEPTH = 64
"""Nested lists and objects. Files of this package have at most nine levels."""
MOST_DIGITS = 400
"""The limit of one number as text. The largest double has 309."""

_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_DATA_ERRORS = (
    csv.Error, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError,
    struct.error, zlib.error, ElementTree.ParseError,
)  # fmt: skip
"""Exceptions that invalid data cause in a reader. Any other exception is a bug."""


@contextmanager
def input_errors_while_reading(
    path: str | Path, file_kind: str, remedy: str, line: int | None = None
) -> Iterator[None]:
    """Turns every exception that data cause in a reader into one InputError.

    `file_kind` is the expected kind of file with its article: `a hints file`.
    """
    shown = str(path)
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        said = error.strerror or str(error)
        raise InputError(f"cannot be read: {said}", remedy=remedy, path=shown) from None
    except (RecursionError, MemoryError):
        raise InputError(
            f"too large for {file_kind}", remedy=remedy, path=shown, line=line
        ) from None
    except _DATA_ERRORS:
        raise InputError(f"not {file_kind}", remedy=remedy, path=shown, line=line) from None


def read_bytes(path: Path, remedy: str, *, most: int = MOST_BYTES, shown: str = "") -> bytes:
    """Reads a regular file. Error messages contain `shown` instead of the path, if given.

    Raises InputError if the file does not exist, cannot be read, or is longer than `most` bytes.
    Pipes and devices are refused, since they could block.
    """
    shown = shown or str(path)
    with input_errors_while_reading(shown, "a file name", remedy):
        # Without O_NONBLOCK, opening a pipe would wait for its writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC)
        try:
            status = os.fstat(handle)
            if stat.S_ISDIR(status.st_mode):
                raise InputError("is a folder", remedy=remedy, path=shown)
            if not stat.S_ISREG(status.st_mode):
                raise InputError("is not a regular file", remedy=remedy, path=shown)
            with os.fdopen(handle, "rb", closefd=False) as stream:
                data = stream.read(most + 1) if status.st_size <= most else b""
        finally:
            os.close(handle)
        if status.st_size > most or len(data) > most:
            raise InputError(
                f"longer than {most >> 20} MiB", remedy="is it the right file?", path=shown
            )
        return data


def check_regular(path: Path, remedy: str) -> None:
    """Raises InputError if this is not a regular file. Reading a pipe could block."""
    with input_errors_while_reading(path, "a file name", remedy):
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError("is not a regular file", remedy=remedy, path=str(path))


def read_text(path: Path, remedy: str, *, most: int = MOST_BYTES, shown: str = "") -> str:
    """Reads a text file in UTF-8. Raises like `read_bytes`, and if the bytes are not UTF-8."""
    data = read_bytes(path, remedy, most=most, shown=shown)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "not a text file", remedy=remedy, path=shown or str(path),
            line=data.count(b"\n", 0, error.start) + 1,
        ) from None  # fmt: skip


def parse_json(
    text: str, path: str | Path, remedy: str, line: int | None = None, *, file_kind: str = "JSON"
) -> Any:
    """Parses a JSON text. `line` is its line in a file of several texts, and `file_kind` its
    expected kind.

    NaN and infinities are accepted, since other programs write them. Raises InputError with the
    place of a syntax error, or if the text exceeds a limit.
    """
    shown = str(path)
    _check_size(text, shown, line)
    try:
        return json.loads(text, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not {file_kind}: {describe_json_error(error)}", remedy=remedy, path=shown,
            line=line or error.lineno, column=error.colno if line is None else None,
        ) from None  # fmt: skip
    except ValueError as error:
        raise InputError(
            f"not {file_kind}: {error}", remedy=remedy, path=shown, line=line
        ) from None


def describe_json_error(error: json.JSONDecodeError) -> str:
    """Describes a JSON syntax error in words that need no knowledge of parsers.

    >>> for text in ('{"a": ', "{a: 1}", "{} x", ""):
    ...     try:
    ...         json.loads(text)
    ...     except json.JSONDecodeError as error:
    ...         print(describe_json_error(error))
    it ends too early
    'a' does not belong here
    'x' follows its end
    it is empty
    """
    rest = error.doc[error.pos :].split(maxsplit=1)
    if not error.doc.strip():
        return "it is empty"
    if not rest or error.msg.startswith("Unterminated"):
        return "it ends too early"
    word = re.match(r"\w{1,12}|.", rest[0], re.DOTALL)
    printable = word is not None and word[0].isprintable() and word[0] != "\ufffd"
    quoted = f"'{word[0]}'" if word is not None and printable else "a byte that is not text"
    return (
        f"{quoted} follows its end"
        if error.msg == "Extra data"
        else (f"{quoted} does not belong here")
    )


def whole_number(text: str) -> int | None:
    """A text of at most `MOST_DIGITS` decimal digits as a number. None for any other text.

    >>> whole_number("12"), whole_number("-1"), whole_number("²"), whole_number("9" * 5000)
    (12, None, None, None)
    """
    known = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if known else None


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _check_size(text: str, path: str, line: int | None) -> None:
    opened = text.count("[") + text.count("{")
    value_count = opened + text.count(",")
    if value_count > MOST_VALUES:
        raise InputError(
            f"more than {MOST_VALUES} values", remedy="is it the right file?", path=path, line=line
        )
    if opened <= MOST_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket[0], 0)
        if depth > MOST_DEPTH:
            raise InputError(
                f"more than {MOST_DEPTH} nested lists and objects",
                remedy="is it the right file?", path=path,
                line=line or text.count("\n", 0, bracket.start()) + 1,
            )  # fmt: skip


def parse_xml(
    data: bytes, path: str | Path, remedy: str, *, depth: int = MOST_DEPTH
) -> ElementTree.Element:
    """The root of an XML text with at most `depth` nested elements.

    Raises InputError for invalid XML, a text that exceeds a limit, or entity definitions, which
    could expand to any length.
    """
    shown = str(path)
    if b"<!ENTITY" in data:
        raise InputError("defines entities", remedy=remedy, path=shown)
    open_ = 0
    root: ElementTree.Element | None = None
    try:
        for event, element in ElementTree.iterparse(io.BytesIO(data), events=("start", "end")):
            root = element if root is None else root
            open_ += 1 if event == "start" else -1
            if open_ > depth:
                raise InputError(f"more than {depth} nested elements", remedy=remedy, path=shown)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(
            "not XML", remedy=remedy, path=shown, line=line, column=column + 1
        ) from None
    except (ValueError, LookupError):  # an unknown encoding
        root = None
    if root is None:
        raise InputError("not XML", remedy=remedy, path=shown)
    return root


_YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def compose_yaml(text: str, path: str, remedy: str) -> yaml.Node | None:
    """The tree of one YAML document, whose nodes have line numbers. None if the text is empty.

    Raises InputError with the line, if the YAML is invalid, contains itself, or exceeds a limit.
    """
    with _yaml_errors(path, remedy):
        _check_yaml(text, path)
        node: yaml.Node | None = yaml.compose(text, Loader=_YAML_LOADER)
        return node


def load_yaml(text: str, path: str, remedy: str) -> Any:
    """The plain value of one YAML document. Raises like `compose_yaml`."""
    with _yaml_errors(path, remedy):
        _check_yaml(text, path)
        return yaml.load(
            text, Loader=_YAML_LOADER
        )  # a safe loader, which creates plain values only


@contextmanager
def _yaml_errors(path: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # The scanner reads ahead, and may fail before anything can be counted.
        too_deep = "nesting" in str(error.problem)
        raise InputError(
            f"more than {MOST_DEPTH} nested lists and mappings" if too_deep
            else f"not YAML: {error.problem}",
            remedy="is it the right file?" if too_deep else remedy, path=path,
            line=mark.line + 1 if mark else None, column=mark.column + 1 if mark else None,
        ) from None  # fmt: skip
    except yaml.YAMLError as error:
        said = (str(error).splitlines() or ["bad text"])[0]
        raise InputError(f"not YAML: {said}", remedy="save it as text", path=path) from None
    except (*_DATA_ERRORS, RecursionError):  # for example, an invalid date
        raise InputError("not YAML: a value cannot be read", remedy=remedy, path=path) from None


def _check_yaml(text: str, path: str) -> None:
    """Counts the nodes of the expanded document before it is built.

    Parsing into events needs no more memory than the text, and no recursion.
    """
    if len(text) > MOST_YAML_BYTES:
        raise InputError(
            f"longer than {MOST_YAML_BYTES >> 20} MiB", remedy="is it the right file?", path=path
        )
    value_count, expanded_counts = 0, dict[str | None, int]()
    open_: list[tuple[str | None, int]] = []
    events: Iterator[Any] = yaml.parse(text, Loader=_YAML_LOADER)
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_):
                raise InputError(
                    f"'{event.anchor}' contains itself", remedy="remove the alias", path=path,
                    line=line,
                )  # fmt: skip
            value_count += expanded_counts.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, value_count))
            value_count += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                expanded_counts[anchor] = value_count - before
        elif isinstance(event, yaml.ScalarEvent):
            value_count += 1
            if event.anchor is not None:
                expanded_counts[event.anchor] = 1
            if not event.style and _is_number_of(event.value, MOST_DIGITS):
                raise InputError(
                    f"a number of {len(event.value)} digits", remedy="write fewer", path=path,
                    line=line,
                )  # fmt: skip
        if value_count > MOST_YAML_VALUES or len(open_) > MOST_DEPTH:
            bound = (
                f"{MOST_YAML_VALUES} values, counting what its aliases refer to"
                if value_count > MOST_YAML_VALUES
                else f"{MOST_DEPTH} nested lists and mappings"
            )
            raise InputError(
                f"more than {bound}", remedy="is it the right file?", path=path, line=line
            )


def _is_number_of(text: str, digits: int) -> bool:
    """Whether a plain scalar of more than this many characters may be a number."""
    return len(text) > digits and text.lstrip("+-")[:1].isdigit() and " " not in text
