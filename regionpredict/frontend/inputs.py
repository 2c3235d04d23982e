"""PATHs of the command line -> source requests: a file, a folder, or a compile_commands.json."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regionpredict.errors import InputError
from regionpredict.frontend.unit import SourceRequest

SOURCES = frozenset((".c", ".cc", ".cpp", ".cxx", ".c++", ".C"))
_HEADERS = frozenset((".h", ".hh", ".hpp", ".hxx", ".inc"))
_SKIPPED = frozenset(("build", "dist", "node_modules", "__pycache__", "CMakeFiles"))
_WITH_VALUE = frozenset(("-isystem", "-idirafter", "-iquote", "-include", "-imacros"))


def requests_for(
    paths: Sequence[str],
    defines: Sequence[tuple[str, str]] = (),
    includes: Sequence[str] = (),
    standard: str = "",
) -> list[SourceRequest]:
    """The files to read, each once, in the order given (folders by name).

    Raises InputError for a path that is not there, is no C, or holds none.
    """
    found: dict[str, SourceRequest] = {}
    for path in paths:
        try:
            for request in _expand(path, tuple(defines), tuple(includes), standard):
                found.setdefault(request.path, request)
        except OSError as error:
            raise InputError(
                f"cannot be read: {error.strerror}",
                remedy="check its permissions",
                path=str(error.filename or path),
            ) from error
    return list(found.values())


def _expand(
    path: str, defines: tuple[tuple[str, str], ...], includes: tuple[str, ...], standard: str
) -> list[SourceRequest]:
    given = Path(path)
    if not given.exists():
        raise InputError("no such file or folder", remedy="check the path", path=path)
    if given.is_dir():
        database = given / "compile_commands.json"
        if database.exists():
            return _from_database(database, defines, includes, standard)
        files = _sources_below(given)
        if not files:
            raise InputError(
                "no C or C++ source in this folder", remedy="name a folder with .c files", path=path
            )
        return [SourceRequest(file, defines, includes, standard, path) for file in files]
    if given.name.endswith(".json"):
        return _from_database(given, defines, includes, standard)
    if given.suffix not in SOURCES | _HEADERS:
        raise InputError(
            "not a C or C++ source file", remedy="name a .c, .cc, .cpp or .h file", path=path
        )
    if b"\0" in given.read_bytes()[:4096]:
        raise InputError("not a text file", remedy="name a C source file", path=path)
    return [SourceRequest(path, defines, includes, standard, _project_root(given))]


def _project_root(file: Path) -> str:
    """The nearest folder above that looks like a project's, two levels up at the most."""
    folder = file.resolve().parent
    for level in (folder, *list(folder.parents)[:2]):
        if any(
            (level / mark).exists() for mark in (".git", "Makefile", "CMakeLists.txt", "configure")
        ):
            return str(level)
    return str(folder)


def _sources_below(folder: Path) -> list[str]:
    found = []
    for top, below, files in os.walk(folder):
        below[:] = sorted(d for d in below if not d.startswith(".") and d not in _SKIPPED)
        found += [str(Path(top, name)) for name in sorted(files) if Path(name).suffix in SOURCES]
    return found


def _from_database(
    path: Path, defines: tuple[tuple[str, str], ...], includes: tuple[str, ...], standard: str
) -> list[SourceRequest]:
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
    folder = Path(database.parent, entry.get("directory", "."))
    file = Path(os.path.normpath(folder / entry["file"]))
    if file.suffix not in SOURCES or not file.exists():
        return None
    own_defines, own_includes, own_standard, extra = _flags(words[1:], folder)
    shown = os.path.relpath(file)
    return SourceRequest(
        shown if not shown.startswith("..") else str(file),
        (*own_defines, *defines), (*includes, *own_includes), standard or own_standard,
        str(database.parent), extra,
    )  # fmt: skip


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
