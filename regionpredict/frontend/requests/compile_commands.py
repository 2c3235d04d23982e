"""A compile_commands.json -> source requests with the macros, folders and standard it says."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regionpredict.errors import InputError
from regionpredict.frontend.requests.source_request import SOURCES, SourceRequest

DATABASE = "compile_commands.json"
_WITH_VALUE = frozenset(("-isystem", "-idirafter", "-iquote", "-include", "-imacros"))


def requests_from_database(
    path: Path, defines: tuple[tuple[str, str], ...], includes: tuple[str, ...], standard: str
) -> list[SourceRequest]:
    """The C and C++ files that a compilation database lists and that exist.

    Raises InputError where it is none.
    """
    try:
        entries = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg}", remedy="give a compile_commands.json", path=str(path),
            line=error.lineno, column=error.colno,
        ) from error  # fmt: skip
    if not isinstance(entries, list):
        raise InputError("not a compilation database", remedy="it must be a list", path=str(path))
    found = []
    for entry in entries:
        if not isinstance(entry, dict) or "file" not in entry:
            raise InputError(
                "an entry without 'file'", remedy="write it anew with cmake or bear", path=str(path)
            )
        request = _from_entry(entry, path, defines, includes, standard)
        if request is not None:
            found.append(request)
    if not found:
        raise InputError(
            "no C or C++ file listed that exists", remedy="write it anew", path=str(path)
        )
    return found


def _from_entry(
    entry: dict[str, Any], database: Path, defines: tuple[tuple[str, str], ...],
    includes: tuple[str, ...], standard: str,
) -> SourceRequest | None:  # fmt: skip
    words = _command_words(entry, database)
    folder = _folder_of(entry, database)
    file = _file_of(entry, folder)
    if file.suffix not in SOURCES or not file.exists():
        return None
    own_defines, own_includes, own_standard, extra = _flags(words[1:], folder)
    shown = os.path.relpath(file)
    return SourceRequest(
        shown if not shown.startswith("..") else str(file),
        (*own_defines, *defines), (*includes, *own_includes), standard or own_standard,
        str(database.parent), extra,
    )  # fmt: skip


def listed_files(database: Path) -> list[str]:
    """The files of a compilation database that was read, there or not."""
    entries = json.loads(database.read_text())
    return [str(_file_of(entry, _folder_of(entry, database))) for entry in entries]


def _folder_of(entry: dict[str, Any], database: Path) -> Path:
    return Path(database.parent, entry.get("directory", "."))


def _file_of(entry: dict[str, Any], folder: Path) -> Path:
    return Path(os.path.normpath(folder / entry["file"]))


def _command_words(entry: dict[str, Any], database: Path) -> list[str]:
    """The entry's command as words; InputError where a field is not what it must be."""
    text = all(isinstance(entry.get(key, ""), str) for key in ("file", "directory", "command"))
    words = entry.get("arguments", [])
    if not text or not isinstance(words, list) or not all(isinstance(w, str) for w in words):
        raise InputError(
            "an entry whose fields are no text", remedy="write it anew", path=str(database)
        )
    try:
        return words or shlex.split(entry.get("command", ""))
    except ValueError as error:
        raise InputError(
            f"a command that is no shell command ({str(error).lower()})",
            remedy="write it anew",
            path=str(database),
        ) from error


def _flags(
    words: Sequence[str], folder: Path
) -> tuple[list[tuple[str, str]], list[str], str, tuple[str, ...]]:
    """-D, -I, -std and other include options of a compile command."""
    defines: list[tuple[str, str]] = []
    includes: list[str] = []
    extra: list[str] = []
    standard = ""
    rest = iter(words)
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
