"""Selects the include folders of a parse: system folders, shipped minimal headers, and guesses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from regionpredict.file_dependencies import Tree
from regionpredict.frontend.requests import SourceRequest, is_regular_file

SHIPPED = str(Path(__file__).parent / "c_library")
_SYSTEM = ("/usr/local/include", "/usr/include")
_GUESSES = ("include", "inc", "common", "src", "headers", "utilities", "util")
TEMPLATES = (".cmake.in", ".in", ".cmake", ".in.cmake")
"""Endings of template names after the name of the generated header, in order of preference."""
_MAX_FOLDERS = 400
_MAX_SHOWN = 100  # maximum length of a name in a message


_GCC = "/usr/lib/gcc"
# The contents of these folders show which compilers are installed.
_COMPILERS = ("/usr/lib", "/usr/include/c++", _GCC)


def compiler_listings() -> tuple[str, ...]:
    """Returns folders whose entries show which compilers and C++ headers are installed."""
    return (*_COMPILERS, *(str(path) for path in sorted(Path(_GCC).glob("*"))))


def system_folders() -> tuple[str, ...]:
    """Returns the system folders in which headers are searched after the command's folders."""
    multiarch = (str(path) for path in sorted(Path("/usr/include").glob("*-linux-*")))
    return (*_SYSTEM, *multiarch, *compiler_headers(), SHIPPED)


def guess_folders(request: SourceRequest) -> tuple[str, ...]:
    """Returns the folders that `guess_include` searches before it searches whole folder trees."""
    return _guess_folders(Path(request.path).resolve().parent, _root_of(request))


@lru_cache(maxsize=256)
def _guess_folders(folder: Path, top: Path) -> tuple[str, ...]:
    return tuple(str(level / name) for level in _levels_up(folder, top) for name in ("", *_GUESSES))


def guess_trees(request: SourceRequest, guessed: Iterable[str]) -> tuple[Tree, ...]:
    """Returns the folder trees that `guess_include` searches after the guessed folders."""
    bases = {Path(header).name for header in guessed}
    names = tuple(sorted(bases | {base + ending for base in bases for ending in TEMPLATES}))
    return tuple(Tree(top, names=names, most=_MAX_FOLDERS) for top in _searched_roots(request))


def _root_of(request: SourceRequest) -> Path:
    return Path(request.root or Path(request.path).parent).resolve()


def _searched_roots(request: SourceRequest) -> tuple[str, ...]:
    """Returns the folders that may contain a header: the root, other PATHs, and include folders."""
    named = [str(Path(folder).resolve()) for folder in (*request.other_roots, *request.includes)]
    own = [folder for folder in named if not is_system_path(f"{folder}/")]
    return tuple(dict.fromkeys((str(_root_of(request)), *own)))


def _levels_up(folder: Path, top: Path) -> Iterator[Path]:
    for level in (folder, *folder.parents):
        yield level
        if level == top or top not in level.parents:
            break


@lru_cache(maxsize=1)
def compiler_headers() -> tuple[str, ...]:
    """Returns folders with a compiler's own headers (`stddef.h`, `omp.h`), newest first."""
    folders = [
        *Path(_GCC).glob("*/*/include"),
        *Path("/usr/lib").glob("llvm-*/lib/clang/*/include"),
    ]
    usable = [path for path in folders if (path / "stddef.h").exists()]
    return tuple(str(path) for path in sorted(usable, key=_compiler_version, reverse=True)[:1])


def _compiler_version(path: Path) -> tuple[bool, int]:
    digits = "".join(ch for ch in path.parent.name if ch.isdigit() or ch == ".").split(".")[0]
    return "gcc" in str(path), int(digits or 0)


@lru_cache(maxsize=1)
def has_system_headers() -> bool:
    """Whether this machine has the headers of a C library."""
    return Path("/usr/include/stdio.h").exists() and bool(compiler_headers())


def is_system_path(path: str) -> bool:
    """Whether a file belongs to the system or to the shipped headers."""
    return path.startswith((*_SYSTEM, "/usr/lib", SHIPPED))


@lru_cache(maxsize=256)
def _header_folders(root: str) -> dict[str, list[str]]:
    """Maps the name of a header to the folders below `root` that contain it, the folder nearest to
    the root first.
    """
    folders_of: dict[str, list[str]] = {}
    for count, (folder, below, files) in enumerate(os.walk(root)):
        if count > _MAX_FOLDERS:
            break
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in files:
            folders_of.setdefault(name, []).append(folder)
    return folders_of


def project_files(requests: Iterable[SourceRequest]) -> Mapping[str, list[str]]:
    """Maps a file name to the folders that contain such a file, below the requests' roots and
    include folders.
    """
    files: dict[str, list[str]] = {}
    for top in dict.fromkeys(top for request in requests for top in _searched_roots(request)):
        for name, folders in _header_folders(top).items():
            files.setdefault(name, []).extend(folders)
    return files


def guess_include(header: str, request: SourceRequest) -> str | None:
    """Returns a folder that makes `#include "header"` succeed. None if there is no such folder.

    The search starts next to the file and in its usual include folders, and continues upwards to
    the root. It then covers everything below the root, the other PATHs and the include folders. The
    result is a relative path if the file's path is relative.
    """
    folder = _guessed_folder(header, request)
    if folder is None or Path(request.path).is_absolute():
        return folder
    return os.path.relpath(folder)


def _guessed_folder(header: str, request: SourceRequest) -> str | None:
    for folder in guess_folders(request):
        if is_regular_file(f"{folder}/{header}"):
            return folder
    name = Path(header).name
    for top in _searched_roots(request):
        for candidate in _header_folders(top).get(name, []):
            base = Path(candidate, name)
            for _ in range(len(Path(header).parts)):
                base = base.parent
            if is_regular_file(base / header):
                return str(base)
    return None


def shorten_header_name(name: str) -> str:
    """Shortens very long names of headers for messages."""
    return name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}..."
