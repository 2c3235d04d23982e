"""Finds the user's cache folder, and makes folders that only the user can write to.

Files in such a folder may be loaded into a program. Therefore, the folder must belong to the user,
and no one else may write to it or replace it. A folder without these properties is not used, and
there is no fallback.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from regionpredict.errors import InputError

NAME = "regionpredict"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ELSEWHERE = "or set XDG_CACHE_HOME to another folder"
_UNMAPPED_UIDS = Path("/proc/sys/kernel/overflowuid")


def user_cache_folder(environment: Mapping[str, str]) -> Path:
    """The cache folder from `XDG_CACHE_HOME`, `HOME`, or the user database. It is not created.

    A relative XDG_CACHE_HOME is ignored (XDG Base Directory Specification 0.8, "Basics"). Raises
    InputError if none of them gives a folder.

    >>> user_cache_folder({"HOME": "/home/ann", "XDG_CACHE_HOME": "here"}).as_posix()
    '/home/ann/.cache/regionpredict'
    """
    named = environment.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named, NAME)
    home = environment.get("HOME", "") or _home_of_account()
    if Path(home).is_absolute():
        return Path(home, ".cache", NAME)
    raise InputError("no folder for the cache: this user has no home", remedy="set XDG_CACHE_HOME")


def _home_of_account() -> str:
    if sys.platform == "win32":
        return str(Path.home())
    import pwd  # noqa: PLC0415 (absent on other systems)

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def private_folder(path: Path) -> Path:
    """The folder, created with mode 0700 if it is missing. The returned path has no links in its
    parents.

    Raises InputError if the folder cannot be created, is not a folder, has another owner, or is
    writable by others. The same error is raised if another user could replace a parent folder.
    """
    path = path.absolute()
    try:
        for folder in (*reversed(path.parents), path):
            _make_folder(folder)
            if folder != path:  # checked before anything is created in it
                _check_above(folder)
        real = path.parent.resolve(strict=True) / path.name
        for folder in real.parents:
            _check_above(folder)
        _check_own(path)
    except OSError as error:
        raise InputError(
            f"cannot be made a folder for the cache: {error.strerror}",
            remedy=f"make it yours, {_ELSEWHERE}", path=str(path),
        ) from None  # fmt: skip
    return real


def is_private_file(path: Path) -> bool:
    """Whether this is a regular file that only its owner, the current user, can change."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    mine = sys.platform == "win32" or (
        status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE
    )
    return stat.S_ISREG(status.st_mode) and mine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return
    except OSError:  # an existing folder on a read-only file system
        if not folder.is_dir():
            raise


def _check_own(path: Path) -> None:
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode) or not stat.S_ISDIR(status.st_mode):
        what = "a link" if stat.S_ISLNK(status.st_mode) else "no folder"
        raise _refused_folder_error(
            f"is {what}, which is not a folder for the cache", "remove it", path
        )
    if sys.platform == "win32":
        return
    if status.st_uid != os.geteuid():
        raise _refused_folder_error(
            f"belongs to user {status.st_uid}, and its contents would be executed",
            "remove it",
            path,
        )
    if status.st_mode & _OTHERS_WRITE:
        raise _refused_folder_error(
            "is writable by others, and its contents would be executed", "remove it", path
        )


def _check_above(path: Path) -> None:
    """Only root and the user may be able to replace entries of this folder."""
    if sys.platform == "win32":
        return
    status = os.lstat(path)
    if status.st_uid not in (0, os.geteuid(), _uid_of_unmapped()):
        raise _refused_folder_error(
            f"belongs to user {status.st_uid}, who could replace the cache in it",
            "give it to its user", path,
        )  # fmt: skip
    shared = status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX
    if shared and not stat.S_ISLNK(status.st_mode):
        raise _refused_folder_error(
            "is writable by others, who could replace the cache in it", "chmod go-w", path
        )


def _uid_of_unmapped() -> int:
    """The user id shown for root's files in a container that maps only its own user."""
    try:
        return int(_UNMAPPED_UIDS.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 65534


def _refused_folder_error(message: str, remedy: str, path: Path) -> InputError:
    return InputError(message, remedy=f"{remedy}, {_ELSEWHERE}", path=str(path))
