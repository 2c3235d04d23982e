"""Reads regular files of limited size. Reading a pipe may block, and a device may be endless."""

from __future__ import annotations

import os
import stat

from regionpredict.errors import InputError

MOST_SOURCE_BYTES = 64 << 20
"""Maximum size of a source file or header. The largest known amalgamations have a seventh of it."""


def is_regular_file(path: str | os.PathLike[str]) -> bool:
    """Whether `read_regular_file` accepts the file with this name. The name may be invalid."""
    status = _status(path)
    return status is not None and _is_accepted(status, path)


def is_special_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a file that `read_regular_file` rejects although a parser would open it: a
    pipe, a device, or a file that is too long.
    """
    status = _status(path)
    return not (status is None or stat.S_ISDIR(status.st_mode) or _is_accepted(status, path))


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 (Path.stat parses it first)
    except (OSError, ValueError):
        return None


def _is_accepted(status: os.stat_result, path: str | os.PathLike[str]) -> bool:
    regular = stat.S_ISREG(status.st_mode) and not _is_kernel_file(path)
    return regular and status.st_size <= MOST_SOURCE_BYTES


def _is_kernel_file(path: str | os.PathLike[str]) -> bool:
    """Whether the kernel generates the contents. Reading /proc/kmsg, for example, blocks."""
    return os.path.realpath(path).startswith(("/proc/", "/sys/"))


def read_regular_file(path: str, *, limit: int = MOST_SOURCE_BYTES) -> bytes:
    """Returns the bytes of a regular file, which is opened without blocking.

    Raises InputError for a missing or unreadable file, and for a file with more than `limit` bytes.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        with open(path, "rb", opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or _is_kernel_file(path):
                raise InputError(
                    "cannot be read: not a regular file", remedy="name a text file", path=path
                )
            if status.st_size > limit:
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
