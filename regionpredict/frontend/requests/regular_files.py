"""Reads regular files only, since a pipe may block and a device may never end."""

from __future__ import annotations

import os
import stat

from regionpredict.errors import InputError


def is_regular_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a regular file (or a link to one) of that name, also for invalid names."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 (Path.stat parses it first)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode) and not _is_of_the_kernel(path)


def is_special_file(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a pipe or a device, which would be opened like a file."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _is_of_the_kernel(path)


def _is_of_the_kernel(path: str | os.PathLike[str]) -> bool:
    """Whether the kernel generates the text. Reading /proc/kmsg, for example, blocks."""
    return os.path.realpath(path).startswith(("/proc/", "/sys/"))


def read_regular_file(path: str, *, limit: int | None = None) -> bytes:
    """The bytes of a regular file, opened without blocking.

    Raises InputError for a missing or unreadable file, or one with more than `limit` bytes.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        with open(path, "rb", opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or _is_of_the_kernel(path):
                raise InputError(
                    "cannot be read: not a regular file", remedy="name a text file", path=path
                )
            if limit is not None and status.st_size > limit:
                raise InputError(
                    f"has more than {limit >> 20} MiB", remedy="name a smaller file", path=path
                )
            return file.read()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", remedy="check its permissions", path=path
        ) from error
    except ValueError as error:  # a NUL in its name
        raise InputError(f"cannot be read: {error}", remedy="check its name", path=path) from error


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
