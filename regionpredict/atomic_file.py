"""Writes a file completely or not at all.

The bytes are written to a new file in the same folder, with an unpredictable name. Then this file
is renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from regionpredict.errors import InputError

_ATTEMPTS = 16
_REMEDY = "choose another -o FILE"


def write_file(path: Path, content: str | bytes, remedy: str = _REMEDY) -> None:
    """Writes bytes, or a text in UTF-8. An existing file keeps its permissions.

    Symbolic links are followed. Pipes and devices are written to directly. Raises InputError if
    this fails, and removes the new file.
    """
    try:
        if path.is_dir():
            raise InputError("is a folder", remedy=remedy, path=str(path))
        data = content if isinstance(content, bytes) else _as_utf8(content)
        real = path.resolve()
        if real.exists() and not real.is_file():
            with real.open("wb", buffering=0) as device:
                write_all(device.fileno(), data)
            return
        replace_file(real, data)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: circular links
        raise InputError(
            f"cannot be written: {system_message(error)}", remedy=remedy, path=str(path)
        ) from None


def replace_file(path: Path, data: bytes, *, mode: int = 0o666, durable: bool = True) -> None:
    """Replaces the file or symbolic link at this path by a file with these bytes.

    `mode` are the permissions of a new file, without the bits of the umask. `durable` waits until
    the bytes are on the disk. Raises OSError if this fails, and removes the new file.
    """
    part, handle = _new_file(path, mode)
    try:
        try:
            write_all(handle, data)
            if path.is_file() and not path.is_symlink():
                os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_all(handle: int, data: bytes) -> None:
    """Writes all bytes, in as many system calls as needed."""
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(handle, unwritten) :]


def system_message(error: Exception) -> str:
    """The system's message for an error, without its number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _as_utf8(text: str) -> bytes:
    """The text in UTF-8. Undecodable bytes, as in file names, are escaped.

    >>> _as_utf8("caf\\udce9.c")
    b'caf\\\\udce9.c'
    """
    return text.encode("utf-8", "backslashreplace")


def _new_file(path: Path, mode: int) -> tuple[Path, int]:
    """Opens a new file for writing. The path must not exist, not even as a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_ATTEMPTS):
        part = path.with_name(f".regionpredict-{os.urandom(8).hex()}.part")
        with contextlib.suppress(FileExistsError):
            return part, os.open(part, flags, mode)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
