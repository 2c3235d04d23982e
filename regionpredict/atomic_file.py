"""Writing a file whole or not at all: the one way in which this package writes files.

The bytes go into a new file beside it, of a name that nobody knows before and that is made
exclusively, which then takes its place.
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
    """Writes a text in UTF-8, or bytes; a file that is there keeps its permissions.

    A link is followed, and a pipe or device is written to as it is. Raises InputError where that
    cannot be done; nothing is left behind then.
    """
    try:
        if path.is_dir():
            raise InputError("is a folder", remedy=remedy, path=str(path))
        data = content if isinstance(content, bytes) else _encoded(content)
        real = path.resolve()
        if real.exists() and not real.is_file():
            with real.open("wb", buffering=0) as device:
                write_all(device.fileno(), data)
            return
        replace_file(real, data)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise InputError(
            f"cannot be written: {reason(error)}", remedy=remedy, path=str(path)
        ) from None


def replace_file(path: Path, data: bytes, *, mode: int = 0o666, durable: bool = True) -> None:
    """Puts a file of these bytes in the place of whatever stands there, be it a link.

    `mode` are the permissions of a file that was not there, less the umask; `durable` waits until
    the bytes are on the disk. Raises OSError; nothing is left behind then.
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
    """Writes all of it, in as many calls as the system takes."""
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(handle, unwritten) :]


def reason(error: Exception) -> str:
    """What the system says of a failure, without number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _encoded(text: str) -> bytes:
    """The text in UTF-8; what is no text, as in a file's name, is escaped.

    >>> _encoded("caf\\udce9.c")
    b'caf\\\\udce9.c'
    """
    return text.encode("utf-8", "backslashreplace")


def _new_file(path: Path, mode: int) -> tuple[Path, int]:
    """A file that was not there before, nor a link of its name, open for writing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_ATTEMPTS):
        part = path.with_name(f".regionpredict-{os.urandom(8).hex()}.part")
        with contextlib.suppress(FileExistsError):
            return part, os.open(part, flags, mode)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
