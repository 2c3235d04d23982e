"""Converts a compile_commands.json to source requests with macros, include folders and
standards.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regionpredict.documents import describe_json_error
from regionpredict.errors import InputError
from regionpredict.frontend.requests.regular_files import is_regular_file, read_regular_file
from regionpredict.frontend.requests.source_request import SOURCES, SourceRequest

DATABASE = "compile_commands.json"
_WITH_VALUE = frozenset(("-isystem", "-idirafter", "-iquote", "-include", "-imacros"))
_ALLOW_REORDERING = frozenset((
    "-Ofast", "-ffast-math", "-funsafe-math-optimizations", "-fassociative-math", "-fast", "-Kfast",
    "-fp-model=fast", "-fp-model=fast=1", "-fp-model=fast=2",
))  # fmt: skip
_FORBID_REORDERING = frozenset((
    "-fno-fast-math", "-fno-unsafe-math-optimizations", "-fno-associative-math",
    "-fp-model=precise", "-fp-model=strict", "-fp-model=consistent",
))  # fmt: skip
_FAST_BY_DEFAULT = frozenset(("icc", "icpc", "icx", "icpx"))
_MAX_BYTES = 256 << 20  # a large project's database has tens of megabytes


def requests_from_database(
    path: Path, defines: tuple[tuple[str, str], ...], includes: tuple[str, ...], standard: str
) -> list[SourceRequest]:
    """Returns requests for the existing C and C++ files in a compilation database.

    Raises InputError, and no other exception, for any contents of the file.
    """
    try:
        return _listed_requests(path, defines, includes, standard)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {describe_json_error(error)}", remedy="give a compile_commands.json",
            path=str(path), line=error.lineno, column=error.colno,
        ) from error  # fmt: skip
    except RecursionError as error:
        raise InputError("nested too deeply", remedy="write it again", path=str(path)) from error
    except UnicodeError as error:
        raise InputError("not UTF-8 text", remedy="write it again", path=str(path)) from error
    except (OSError, ValueError) as error:  # numbers with thousands of digits, NULs in names, ...
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise InputError(
            f"not a compilation database: {reason}", remedy="write it again", path=str(path)
        ) from error


def _listed_requests(
    path: Path, defines: tuple[tuple[str, str], ...], includes: tuple[str, ...], standard: str
) -> list[SourceRequest]:
    entries = json.loads(read_regular_file(str(path), limit=_MAX_BYTES).decode("utf-8"))
    if not isinstance(entries, list):
        raise InputError("not a compilation database", remedy="it must be a list", path=str(path))
    requests = []
    for entry in entries:
        if not isinstance(entry, dict) or "file" not in entry:
            raise InputError(
                "an entry without 'file'",
                remedy="write it again with cmake or bear",
                path=str(path),
            )
        request = _request_from_entry(entry, path, defines, includes, standard)
        if request is not None:
            requests.append(request)
    return requests


def _request_from_entry(
    entry: dict[str, Any], database: Path, defines: tuple[tuple[str, str], ...],
    includes: tuple[str, ...], standard: str,
) -> SourceRequest | None:  # fmt: skip
    argv = _command_line(entry, database)
    folder = _folder_of(entry, database)
    file = _file_of(entry, folder)
    if file.suffix not in SOURCES or not is_regular_file(file):
        return None
    own_defines, own_includes, own_standard, extra = _parsed_options(argv[1:], folder)
    shown = os.path.relpath(file)
    return SourceRequest(
        shown if not shown.startswith("..") else str(file),
        (*own_defines, *defines), (*includes, *own_includes), standard or own_standard,
        str(database.parent), extra, _reassociates(argv),
        is_from_build=True,
    )  # fmt: skip


def request_of_call(path: str, argv: Sequence[str], folder: str) -> SourceRequest:
    """Returns the request for a file with the options of a compiler call, which ran in `folder`."""
    defines, includes, standard, extra = _parsed_options(argv, Path(folder))
    return SourceRequest(path, tuple(defines), tuple(includes), standard, folder, extra,
        is_from_build=True,
    )  # fmt: skip


def listed_files(database: Path) -> list[str]:
    """Returns the paths in a compilation database, including missing files."""
    entries = json.loads(database.read_text())
    return [str(_file_of(entry, _folder_of(entry, database))) for entry in entries]


def _folder_of(entry: dict[str, Any], database: Path) -> Path:
    return Path(database.parent, entry.get("directory", "."))


def _file_of(entry: dict[str, Any], folder: Path) -> Path:
    return Path(os.path.normpath(folder / entry["file"]))


def _command_line(entry: dict[str, Any], database: Path) -> list[str]:
    """Returns the entry's command as arguments. Raises InputError for an invalid field."""
    texts = [entry.get(key, "") for key in ("file", "directory", "command")]
    argv = entry.get("arguments", [])
    if not isinstance(argv, list) or not all(isinstance(text, str) for text in [*texts, *argv]):
        raise InputError(
            "an entry whose fields are not text", remedy="write it again", path=str(database)
        )
    for text in (*texts, *argv):
        text.encode()  # rejects half surrogate pairs in file names and macros
        if "\0" in text:
            raise InputError("an entry with a NUL", remedy="write it again", path=str(database))
    try:
        return argv or shlex.split(entry.get("command", ""))
    except ValueError as error:
        raise InputError(
            f"a command that is not a shell command ({str(error).lower()})",
            remedy="write it again",
            path=str(database),
        ) from error


def _reassociates(argv: Sequence[str]) -> bool:
    """Whether a command permits reordering of floating-point sums. The last option is decisive.

    >>> _reassociates(["gcc", "-O3", "-ffast-math"]), _reassociates(["icx", "-O2"])
    (True, True)
    >>> _reassociates(["icx", "-fp-model=precise"]), _reassociates(["gcc", "-O3"])
    (False, False)
    """
    allowed = Path(argv[0]).name.rstrip("0123456789.-") in _FAST_BY_DEFAULT if argv else False
    rest = iter(argv[1:])
    for word in rest:
        flag = f"{word}={next(rest, '')}" if word == "-fp-model" else word
        if flag in _ALLOW_REORDERING:
            allowed = True
        elif flag in _FORBID_REORDERING:
            allowed = False
    return allowed


def _parsed_options(
    arguments: Sequence[str], folder: Path
) -> tuple[list[tuple[str, str]], list[str], str, tuple[str, ...]]:
    """Returns the -D, -I, -std and other include options of a compile command."""
    defines: list[tuple[str, str]] = []
    includes: list[str] = []
    extra: list[str] = []
    standard = ""
    rest = iter(arguments)
    for word in rest:
        if word.startswith("-D"):
            name, _, value = (word[2:] or next(rest, "")).partition("=")
            defines.append((name, value if "=" in word or _ else "1"))
        elif word.startswith("-I"):
            includes.append(str(Path(folder, word[2:] or next(rest, "."))))
        elif word in _WITH_VALUE:
            value = next(rest, "")
            extra += [word, str(Path(folder, value)) if word != "-imacros" else value]
        elif word.startswith("-std="):
            standard = word[5:]
        elif word.startswith("-U"):
            extra.append(word)
    return defines, includes, standard, tuple(extra)
