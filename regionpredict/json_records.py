"""Typed access to JSON: a missing or wrong field raises an InputError.

Files of other programs are validated where they are read, so later code can rely on their types.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from regionpredict.documents import parse_json
from regionpredict.errors import InputError

MOST_WHOLE = (1 << 63) - 1
"""The largest accepted whole number: 64 bits."""
Signed = Annotated[int, -MOST_WHOLE - 1]
"""A whole number of 64 bits in a field of `Record.fill`, with its least value."""
Positive = Annotated[int, 1]
Share = Annotated[float, 0.0, 1.0]
"""A number in a field of `Record.fill`, with its least and its largest value."""
_Kind = TypeVar("_Kind")


class Record(NamedTuple):
    """A JSON object with its place and the remedy for errors.

    `what` is the expected kind of document. `key` is the path to the object, such as `regions[3]`,
    and empty at the top.
    """

    value: dict[str, Any]
    what: str
    path: str
    remedy: str
    line: int | None = None
    key: str = ""

    def error(self, key: str, message: str) -> InputError:
        """An error at a part of this object."""
        return InputError(
            f"not {self.what}: {self._named(key)} {message}", remedy=self.remedy, path=self.path,
            line=self.line,
        )  # fmt: skip

    def _named(self, key: str) -> str:
        return f"'{self.key}.{key}'" if self.key else f"'{key}'"

    def part(self, key: str) -> Any:
        """Any value. The field must exist."""
        if key not in self.value:
            raise self.error(key, "is missing")
        return self.value[key]

    def text(self, key: str) -> str:
        """A string."""
        value = self.part(key)
        if not isinstance(value, str):
            raise self.error(key, f"is {_kind_of_value(value)}; it must be a string")
        return value

    def truth_value(self, key: str) -> bool:
        """True or false."""
        value = self.part(key)
        if not isinstance(value, bool):
            raise self.error(key, f"is {_kind_of_value(value)}; it must be true or false")
        return value

    def whole(self, key: str, least: int = 0) -> int:
        """A whole number of 64 bits, at least `least`."""
        value = self.part(key)
        if type(value) is not int or not least <= value <= MOST_WHOLE:
            raise self.error(
                key, f"is {_kind_of_value(value)}; it must be a whole number from {least} on"
            )
        return value

    def number(self, key: str, least: float = 0.0, most: float = math.inf) -> float:
        """A finite number from `least` to `most`."""
        value = self.part(key)
        if type(value) not in (int, float) or not (
            least <= value <= most and -math.inf < value < math.inf
        ):
            bound = f"from {least:g} to {most:g}" if most < math.inf else f"from {least:g} on"
            raise self.error(key, f"is {_kind_of_value(value)}; it must be a number {bound}")
        return float(value)

    def given(self, key: str) -> bool:
        """Whether the field exists and is not null."""
        return self.value.get(key) is not None

    def is_null(self, key: str) -> bool:
        """Whether the field is null. The field must exist."""
        return self.part(key) is None

    def fill(self, kind: type[_Kind], **known: Any) -> _Kind:
        """A value of a dataclass or tuple: its fields by their types, unless they are `known`.

        A field with a default may be missing.
        """
        readers, defaults = _layout_of(kind)  # type: ignore[arg-type]
        made = {
            name: read(self, name) for name, read in readers.items()
            if name not in known and (name in self.value or name not in defaults)
        }  # fmt: skip
        return kind(**made, **known)

    def inner(self, key: str) -> Record:
        """An object."""
        return self._record(self.part(key), key)

    def inner_records(self, key: str) -> Iterator[Record]:
        """The objects of a list."""
        for index, value in enumerate(self.items(key)):
            yield self._record(value, f"{key}[{index}]")

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self.part(key)
        if not isinstance(value, list):
            raise self.error(key, f"is {_kind_of_value(value)}; it must be a list")
        return value

    def whole_numbers(self, key: str, least: int = 0) -> tuple[int, ...]:
        """A non-empty list of whole numbers, at least `least`."""
        entries = self.items(key)
        if not entries:
            raise self.error(key, "is empty")
        parts = Record(
            {f"{key}[{index}]": value for index, value in enumerate(entries)},
            self.what, self.path, self.remedy, self.line, self.key,
        )  # fmt: skip
        return tuple(parts.whole(name, least) for name in parts.value)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        entries = self.items(key)
        for index, value in enumerate(entries):
            if not isinstance(value, str):
                raise self.error(
                    f"{key}[{index}]", f"is {_kind_of_value(value)}; it must be a string"
                )
        return tuple(entries)

    def _record(self, value: Any, key: str) -> Record:
        if not isinstance(value, dict):
            raise self.error(key, f"is {_kind_of_value(value)}; it must be an object")
        return Record(
            value, self.what, self.path, self.remedy, self.line, f"{self.key}.{key}".lstrip(".")
        )


_Reader = Callable[[Record, str], Any]


@cache
def _layout_of(kind: Any) -> tuple[Mapping[str, _Reader], Container[str]]:
    """Returns for each field the function that reads its type, and the fields with a default."""
    defaults: Container[str]
    if is_dataclass(kind):
        missing = (MISSING, MISSING)
        defaults = {own.name for own in fields(kind)
                    if (own.default, own.default_factory) != missing}  # fmt: skip
    else:
        defaults = kind._field_defaults
    hints = get_type_hints(kind, include_extras=True)
    return {name: _reader_of(hint) for name, hint in hints.items()}, defaults


def _reader_of(hint: Any) -> _Reader:
    parts = get_args(hint)
    if get_origin(hint) is Annotated:
        plain: Callable[..., Any] = _reader_of(parts[0])
        return lambda record, key: plain(record, key, *parts[1:])
    if NoneType in parts:
        some = _reader_of(parts[0])
        return lambda record, key: None if record.is_null(key) else some(record, key)
    if hint == tuple[str, ...]:
        return Record.texts
    if get_origin(hint) is tuple:
        kind = parts[0]
        return lambda record, key: tuple(own.fill(kind) for own in record.inner_records(key))
    simple: dict[Any, _Reader] = {
        str: Record.text, int: Record.whole, float: Record.number, bool: Record.truth_value,
    }  # fmt: skip
    return simple.get(hint, lambda record, key: record.inner(key).fill(hint))


def json_record(
    text: str, file_kind: str, path: str | Path, remedy: str, line: int | None = None
) -> Record:
    """Parses a JSON text that must contain an object. Raises InputError otherwise."""
    value = parse_json(text, path, remedy, line, file_kind=file_kind)
    if not isinstance(value, dict):
        raise InputError(
            f"not {file_kind}: {_kind_of_value(value)}, no object",
            remedy=remedy,
            path=str(path),
            line=line,
        )
    return Record(value, file_kind, str(path), remedy, line)


def _kind_of_value(value: Any) -> str:
    """A short one-line description of a value, for errors.

    >>> _kind_of_value(-4), _kind_of_value("x" * 99), _kind_of_value(None), _kind_of_value([1])
    ('-4', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'", 'null', 'a list')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return f"{value:.6g}" if isinstance(value, float) else _shorten_text(str(value))
    if isinstance(value, str):
        return f"{_shorten_text(value)!r}"
    return "a list" if isinstance(value, list) else "an object"


def _shorten_text(text: str) -> str:
    return text if len(text) <= 32 else text[:29] + "..."
