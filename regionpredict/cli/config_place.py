"""Finds `regionpredict.toml`. Imports no heavy module, since it runs before the result cache is
checked.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from regionpredict.errors import InputError

NAME = "regionpredict.toml"
_MOST_BYTES = 4 << 20


def nearest_config() -> Path | None:
    """Returns `regionpredict.toml` of this folder or of the nearest one above, or None.

    The search ends at the top of a repository, at the user's home, and below a folder that others
    can write to. Other users' files are not the user's configuration. Raises InputError for a file
    that another user owns or can change, or that is too long.
    """
    try:
        here = Path.cwd()
    except OSError:  # the working folder was deleted
        return None
    home = os.environ.get("HOME", "")
    for folder in (here, *here.parents):
        if folder != here and _is_shared(folder):
            return None
        if _is_file(path := folder / NAME):
            _check_owner(path)
            return path
        if str(folder) == home or _path_exists(folder / ".git"):
            return None
    return None


def _is_file(path: Path) -> bool:
    return _path_exists(path) and path.is_file()


def _path_exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:  # no permission to read a parent folder
        return False


def _is_shared(folder: Path) -> bool:
    return sys.platform != "win32" and bool(folder.stat().st_mode & stat.S_IWOTH)


def _check_owner(path: Path) -> None:
    status = path.stat()
    if status.st_size > _MOST_BYTES:
        raise InputError(
            f"longer than {_MOST_BYTES >> 20} MiB", remedy="is it the right file?", path=str(path)
        )
    if sys.platform == "win32":
        return
    if status.st_uid not in (0, os.geteuid()):
        raise InputError(
            f"belongs to user {status.st_uid}, and is not used",
            remedy="copy it to a file that you own, or pass --no-config", path=str(path),
        )  # fmt: skip
    if status.st_mode & stat.S_IWOTH:
        raise InputError(
            "every user can change it, and it is not used",
            remedy=f"run chmod o-w {NAME}, or pass --no-config", path=str(path),
        )  # fmt: skip
