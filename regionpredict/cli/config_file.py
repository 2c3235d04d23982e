"""`regionpredict.toml`: project-wide options for all commands that accept them.

    machine = "machines/node.yaml"     # -m; a path from this file, or a shipped name
    includes = ["include"]             # -I, from this file
    defines = ["N=4000"]               # -D
    set = {n = 1000, "grid[0]" = 64}   # --set
    sizes = "sizes.yaml:production"    # --sizes, from this file
    exclude = ["tests/*", "third_party/*"]

The file is in the current folder, or in the nearest folder above it. The command line takes
precedence: a repeated name in `set` or `defines` is taken from the command line. Repeatable options
are combined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.file_presence import is_file

_REMEDY = "write it as in docs/configuration.md, or leave it out with --no-config"


class Setting(NamedTuple):
    """A key of the configuration file: the command-line parameter that it sets, and its type."""

    parameter: str
    what: str
    read: Callable[[Any, Path], Any]


def _read_text(value: Any, _: Path) -> str | None:
    return value if isinstance(value, str) else None


def _read_number(value: Any, _: Path) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else None


def _read_texts(value: Any, _: Path) -> tuple[str, ...] | None:
    known = isinstance(value, list) and all(isinstance(text, str) for text in value)
    return tuple(value) if known else None


def _read_paths(value: Any, folder: Path) -> tuple[str, ...] | None:
    texts = _read_texts(value, folder)
    return None if texts is None else tuple(_relative_path(folder, text) for text in texts)


def _read_path(value: Any, folder: Path) -> str | None:
    return _relative_path(folder, value) if isinstance(value, str) else None


def _read_machine(value: Any, folder: Path) -> str | None:
    """Returns a path if such a file exists, and otherwise the name of a machine."""
    if not isinstance(value, str):
        return None
    path = _relative_path(folder, value)
    return path if is_file(path) else value


def _read_pairs(value: Any, _: Path) -> tuple[str, ...] | None:
    from regionpredict.sizes.share_texts import share_of_text

    known = isinstance(value, dict) and all(
        (isinstance(number, int) and not isinstance(number, bool))
        or share_of_text(name, str(number)) is not None
        for name, number in value.items()
    )
    return tuple(f"{name}={number}" for name, number in value.items()) if known else None


def _relative_path(folder: Path, path: str) -> str:
    """Converts a path in the configuration file to a path relative to the current folder."""
    joined = folder / path
    try:
        return str(joined.relative_to(Path.cwd()))
    except ValueError:
        return str(joined)


SETTINGS: Mapping[str, Setting] = {
    "machine": Setting("machine_name", "a string", _read_machine),
    "model": Setting("model", "a string", _read_text),
    "frontend": Setting("frontend", "a string", _read_text),
    "std": Setting("standard", "a string", _read_text),
    "bind": Setting("binding", "a string", _read_text),
    "pages": Setting("pages", "a string", _read_text),
    "runtime": Setting("runtime", "a string", _read_text),
    "first-touch": Setting("first_touch", "a string", _read_text),
    "args": Setting("arguments", "a string", _read_text),
    "sizes": Setting("sizes", "a string", _read_path),
    "within": Setting("within", "a number", _read_number),
    "defines": Setting("defines", "a list of texts", _read_texts),
    "includes": Setting("includes", "a list of texts", _read_paths),
    "exclude": Setting("excludes", "a list of texts", _read_texts),
    "set": Setting("given", "a table of whole numbers", _read_pairs),
}
"""The keys of the configuration file and their types."""


def read_config(path: Path) -> dict[str, Any]:
    """Returns the values by command-line parameter. Raises InputError for a file that is not TOML,
    an unknown key, and a wrong type.
    """
    text = read_text(path, _REMEDY)
    parsed = _parse_toml(text, path)
    settings: dict[str, Any] = {}
    for key, value in parsed.items():
        setting = SETTINGS.get(key)
        if setting is None:
            raise InputError(
                f"unknown key '{key}'", remedy=f"there are {', '.join(SETTINGS)}", path=str(path),
                line=_line_of(text, key),
            )  # fmt: skip
        known = setting.read(value, path.parent)
        if known is None:
            raise InputError(
                f"'{key}' must be {setting.what}", remedy=_REMEDY, path=str(path),
                line=_line_of(text, key),
            )  # fmt: skip
        settings[setting.parameter] = known
    return settings


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[import-not-found,no-redef]
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), path) from None
    except RecursionError:
        raise InputError(
            "not TOML: brackets are nested too deeply", remedy=_REMEDY, path=str(path)
        ) from None
    except ValueError:  # a number with thousands of digits, or an invalid date
        raise InputError(
            "not TOML: a value cannot be read", remedy=_REMEDY, path=str(path)
        ) from None


_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _not_toml(said: str, path: Path) -> InputError:
    """Returns the parser's message with its line, and explains common mistakes."""
    place = _PLACE.search(said)
    what = _PLACE.sub("", said)
    line = int(place[1]) if place and place[1] else None
    if place and line is None:
        what = "not closed or not complete at the end of the file"
    elif what == "Invalid value":
        what += "; put text in quotes"
    return InputError(
        f"not TOML: {what[:1].lower()}{what[1:]}", remedy=_REMEDY, path=str(path), line=line,
        column=int(place[2]) if place and line is not None else None,
    )  # fmt: skip


def _line_of(text: str, key: str) -> int | None:
    """Returns the line of a key, or None if it cannot be found."""
    lines = enumerate(text.splitlines(), 1)
    return next((at for at, line in lines if line.lstrip(" [\"'").startswith(key)), None)


def with_config(
    values: tuple[str, ...], config: tuple[str, ...], *, named: bool
) -> tuple[str, ...]:
    """Combines a repeatable option: the values of the file, followed by those of the command line.
    With `named` (NAME=VALUE), values of the command line replace those of the same name.

    >>> with_config(("n=5",), ("n=1", "m=2"), named=True)
    ('m=2', 'n=5')
    """
    names = {entry.rpartition("=")[0].strip() or entry for entry in values} if named else set()
    kept = (entry for entry in config if (entry.rpartition("=")[0].strip() or entry) not in names)
    return (*kept, *values)
