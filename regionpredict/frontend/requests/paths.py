"""Converts PATHs of the command line to source requests: a file, a folder, or a
compile_commands.json.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from regionpredict.errors import InputError
from regionpredict.file_dependencies import FileDependencies, Tree
from regionpredict.frontend.requests.compile_commands import (
    DATABASE,
    listed_files,
    requests_from_database,
)
from regionpredict.frontend.requests.regular_files import is_regular_file, read_regular_file
from regionpredict.frontend.requests.source_request import HEADERS, SOURCES, SourceRequest

_SKIPPED = frozenset(("build", "dist", "node_modules", "__pycache__", "CMakeFiles"))
_REPOSITORY = ".git"
_PROJECT_MARKS = (_REPOSITORY, "Makefile", "CMakeLists.txt", "configure")


def requests_for(
    paths: Sequence[str],
    defines: Sequence[tuple[str, str]] = (),
    includes: Sequence[str] = (),
    standard: str = "",
    excludes: Sequence[str] = (),
) -> list[SourceRequest]:
    """Returns the files to read without duplicates, in the given order (folders by name). Files
    that a pattern of `excludes` matches are omitted (`is_excluded`).

    Raises InputError for a missing path, a path without C files, and an empty result.
    """
    requests: dict[str, SourceRequest] = {}
    for path in paths:
        try:
            for request in _expand(path, tuple(defines), tuple(includes), standard):
                requests.setdefault(request.path, request)
        except OSError as error:
            raise InputError(
                f"cannot be read: {error.strerror}",
                remedy="check its permissions",
                path=str(error.filename or path),
            ) from error
    return _without_excluded(_with_other_roots(list(requests.values())), excludes)


def _with_other_roots(requests: list[SourceRequest]) -> list[SourceRequest]:
    """Adds to each request the folders of the other requests, since the PATHs of a program share
    headers.
    """
    roots = tuple(dict.fromkeys(request.root for request in requests if request.root))
    if len(roots) < 2:
        return requests
    return [
        replace(request, other_roots=tuple(root for root in roots if root != request.root))
        for request in requests
    ]


def _without_excluded(
    requests: list[SourceRequest], excludes: Sequence[str]
) -> list[SourceRequest]:
    kept = [
        request
        for request in requests
        if not any(is_excluded(request.path, each) for each in excludes)
    ]
    if requests and not kept:
        raise InputError(
            f"--exclude {' --exclude '.join(excludes)}: leaves no file", remedy="leave one out"
        )
    return kept


def is_excluded(path: str, pattern: str) -> bool:
    """Whether a pattern matches the path of a file, the end of the path, or a folder that contains
    the file.

    >>> [is_excluded("src/old/a.c", one) for one in ("old", "old/*", "a.c", "src/*", "b*", "o*d")]
    [True, True, True, True, False, True]
    """
    parts = PurePath(path).parts
    wanted = pattern.strip("/")
    ends = ["/".join(parts[first:last]) for first in range(len(parts))
            for last in range(first + 1, len(parts) + 1)]  # fmt: skip
    return any(fnmatchcase(end, wanted) for end in ends)


def _expand(
    path: str, defines: tuple[tuple[str, str], ...], includes: tuple[str, ...], standard: str
) -> list[SourceRequest]:
    given = Path(path)
    try:
        exists = given.exists()
    except ValueError:  # a NUL in its name
        exists = False
    if not exists:
        raise InputError("no such file or folder", remedy="check the path", path=path)
    if given.is_dir():
        database = given / DATABASE
        listed = database.exists() and requests_from_database(database, defines, includes, standard)
        if listed:  # a database from another machine lists no file that exists
            return listed
        files = _files_below(given, SOURCES)
        if not files:
            headers = _files_below(given, HEADERS)
            raise InputError(
                "only headers in this folder" if headers else "no C or C++ source in this folder",
                remedy=f"name those to read, such as {headers[0]}" if headers
                else "name a folder with .c files",
                path=path,
            )  # fmt: skip
        root = project_root(given)
        return [SourceRequest(file, defines, includes, standard, root) for file in files]
    if given.name.endswith(".json"):
        listed = requests_from_database(given, defines, includes, standard)
        if not listed:
            raise InputError(
                "no C or C++ file listed that exists", remedy="write it again", path=path
            )
        return listed
    if given.suffix not in SOURCES | HEADERS:
        raise InputError(
            "not a C or C++ source file", remedy="name a .c, .cc, .cpp or .h file", path=path
        )
    if b"\0" in read_regular_file(path)[:4096]:
        raise InputError("not a text file", remedy="name a C source file", path=path)
    return [SourceRequest(path, defines, includes, standard, project_root(given.parent))]


def project_root(folder: Path) -> str:
    """Returns the highest folder that looks like the root of a project, at most two levels above.
    If there is none, returns the folder itself. The root of a program that is built in parts
    contains the common headers.
    """
    root = own = folder.resolve()
    try:
        for level in _levels(own):
            if level != own and _is_shared(level):
                break
            if any((level / mark).exists() for mark in _PROJECT_MARKS):
                root = level
            if (level / _REPOSITORY).exists():
                break
    except PermissionError:  # a parent folder is not readable
        return str(root)
    return str(root)


def _levels(folder: Path) -> tuple[Path, ...]:
    return (folder, *list(folder.parents)[:2])


def _is_shared(folder: Path) -> bool:
    """Whether every user can write to the folder, as in the system's folder for temporary files."""
    return bool(folder.stat().st_mode & stat.S_IWOTH)


def path_dependencies(paths: Sequence[str]) -> FileDependencies:
    """Returns the file system queries that `requests_for` makes for these paths. The contents of
    sources are excluded.
    """
    contents: list[str] = []
    presence: list[str] = []
    trees: list[Tree] = []
    for path in paths:
        given = Path(path)
        database = given if path.endswith(".json") else given / DATABASE
        listed = listed_files(database) if database.is_file() else []
        presence += listed
        if database.is_file():
            contents.append(str(database))
        if given.is_dir():
            presence.append(str(database))
            if not any(map(is_regular_file, listed)):
                suffixes = tuple(sorted(SOURCES))
                trees.append(Tree(path, suffixes=suffixes, skipped=tuple(sorted(_SKIPPED))))
        if not listed:
            levels = _levels((given if given.is_dir() else given.parent).resolve())
            presence += [str(level / mark) for level in levels for mark in _PROJECT_MARKS]
    return FileDependencies(tuple(contents), presence=tuple(presence), trees=tuple(trees))


def _files_below(folder: Path, suffixes: Collection[str]) -> list[str]:
    found = []
    for top, below, files in os.walk(folder):
        below[:] = sorted(d for d in below if not d.startswith(".") and d not in _SKIPPED)
        found += [str(Path(top, name)) for name in sorted(files) if Path(name).suffix in suffixes]
    return found
