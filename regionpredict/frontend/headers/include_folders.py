"""Which include folders a parse uses: the system's, the shipped minimum, and guesses."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

SHIPPED = str(Path(__file__).parent / "c_library")
_SYSTEM = ("/usr/local/include", "/usr/include")
_GUESSES = ("include", "inc", "common", "src", "headers", "utilities", "util")
_MAX_FOLDERS = 400


@lru_cache(maxsize=1)
def compiler_headers() -> tuple[str, ...]:
    """Folders with a compiler's own headers (`stddef.h`, `omp.h`), the newest first."""
    found = [
        *Path("/usr/lib/gcc").glob("*/*/include"),
        *Path("/usr/lib").glob("llvm-*/lib/clang/*/include"),
    ]
    usable = [path for path in found if (path / "stddef.h").exists()]
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
    found: dict[str, list[str]] = {}
    for count, (folder, below, files) in enumerate(os.walk(root)):
        if count > _MAX_FOLDERS:
            break
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in files:
            found.setdefault(name, []).append(folder)
    return found


def guess_include(header: str, source: str, root: str) -> str | None:
    """A folder to add so that `#include "header"` of `source` is found, or None.

    Looked for: the file's neighbours and their usual include folders, upwards to `root`, then
    anywhere below `root`.
    """
    folder = Path(source).resolve().parent
    top = Path(root).resolve() if root else folder
    for level in (folder, *folder.parents):
        for name in ("", *_GUESSES):
            if (level / name / header).is_file():
                return str(level / name)
        if level == top or top not in level.parents:
            break
    name = Path(header).name
    for candidate in _header_folders(str(top)).get(name, []):
        base = Path(candidate, name)
        for _ in range(len(Path(header).parts)):
            base = base.parent
        if (base / header).is_file():
            return str(base)
    return None
