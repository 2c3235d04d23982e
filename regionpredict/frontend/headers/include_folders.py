"""Which include folders a parse uses: the system's, the shipped minimum, and guesses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from regionpredict.file_dependencies import Tree
from regionpredict.frontend.requests import is_regular_file

SHIPPED = str(Path(__file__).parent / "c_library")
_SYSTEM = ("/usr/local/include", "/usr/include")
_GUESSES = ("include", "inc", "common", "src", "headers", "utilities", "util")
_MAX_FOLDERS = 400
_MAX_SHOWN = 100  # letters of a name in a message


_GCC = "/usr/lib/gcc"
# Where compilers put what tells which of them are installed.
_COMPILERS = ("/usr/lib", "/usr/include/c++", _GCC)


def compiler_listings() -> tuple[str, ...]:
    """Folders whose entries tell which compilers' and C++ headers there are."""
    return (*_COMPILERS, *(str(path) for path in sorted(Path(_GCC).glob("*"))))


def system_folders() -> tuple[str, ...]:
    """Folders that are searched for headers besides those that a command names."""
    multiarch = (str(path) for path in sorted(Path("/usr/include").glob("*-linux-*")))
    return (*_SYSTEM, *multiarch, *compiler_headers(), SHIPPED)


def guess_folders(source: str, root: str) -> tuple[str, ...]:
    """The folders that `guess_include` looks into before it looks everywhere below the root."""
    return _guess_folders(Path(source).resolve().parent, _top(source, root))


@lru_cache(maxsize=256)
def _guess_folders(folder: Path, top: Path) -> tuple[str, ...]:
    return tuple(str(level / name) for level in _levels_up(folder, top) for name in ("", *_GUESSES))


def guess_tree(source: str, root: str, guessed: Iterable[str]) -> Tree:
    """Where `guess_include` looks then."""
    names = tuple(sorted({Path(header).name for header in guessed}))
    return Tree(str(_top(source, root)), names=names, most=_MAX_FOLDERS)


def _top(source: str, root: str) -> Path:
    return Path(root).resolve() if root else Path(source).resolve().parent


def _levels_up(folder: Path, top: Path) -> Iterator[Path]:
    for level in (folder, *folder.parents):
        yield level
        if level == top or top not in level.parents:
            break


@lru_cache(maxsize=1)
def compiler_headers() -> tuple[str, ...]:
    """Folders with a compiler's own headers (`stddef.h`, `omp.h`), the newest first."""
    folders = [
        *Path(_GCC).glob("*/*/include"),
        *Path("/usr/lib").glob("llvm-*/lib/clang/*/include"),
    ]
    usable = [path for path in folders if (path / "stddef.h").exists()]
    return tuple(str(path) for path in sorted(usable, key=_version, reverse=True)[:1])


def _version(path: Path) -> tuple[bool, int]:
    digits = "".join(ch for ch in path.parent.name if ch.isdigit() or ch == ".").split(".")[0]
    return "gcc" in str(path), int(digits or 0)


@lru_cache(maxsize=1)
def has_system_headers() -> bool:
    """Whether this machine has a C library's headers."""
    return Path("/usr/include/stdio.h").exists() and bool(compiler_headers())


def is_system_path(path: str) -> bool:
    """Whether a file belongs to the system or to the shipped minimum."""
    return path.startswith((*_SYSTEM, "/usr/lib", SHIPPED))


@lru_cache(maxsize=256)
def _header_folders(root: str) -> dict[str, list[str]]:
    """Header file name -> folders below `root` that hold one, nearest the root first."""
    folders_of: dict[str, list[str]] = {}
    for count, (folder, below, files) in enumerate(os.walk(root)):
        if count > _MAX_FOLDERS:
            break
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in files:
            folders_of.setdefault(name, []).append(folder)
    return folders_of


def guess_include(header: str, source: str, root: str) -> str | None:
    """A folder to add so that `#include "header"` of `source` is found, or None.

    Looked for: the file's neighbours and their usual include folders, upwards to `root`, then
    anywhere below `root`.
    """
    for folder in guess_folders(source, root):
        if is_regular_file(f"{folder}/{header}"):
            return folder
    name = Path(header).name
    for candidate in _header_folders(str(_top(source, root))).get(name, []):
        base = Path(candidate, name)
        for _ in range(len(Path(header).parts)):
            base = base.parent
        if is_regular_file(base / header):
            return str(base)
    return None


def shortened(name: str) -> str:
    """A header's name as messages show it: one that goes on for thousands of letters is cut."""
    return name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}..."
