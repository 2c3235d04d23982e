"""Results to standard output or into a file, whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from pathlib import Path

import click

from regionpredict.errors import InputError, one_line

_ATTEMPTS = 16
_REMEDY = "choose another -o FILE"


def write_result(text: str, output: str | Path | None) -> None:
    """The result on standard output, or into a file, of which standard error then tells.

    Raises InputError where it cannot be written.
    """
    if output is None:
        write_standard_output(text)
        return
    write_file(Path(output), text)
    click.echo(f"written: {one_line(str(output))}", err=True)


def write_standard_output(text: str) -> None:
    """Text on standard output; raises InputError where it takes none."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_standard_output()
        raise unwritable(error) from None


def unwritable(error: OSError) -> InputError:
    """The error of a standard output that takes nothing, as of a full device."""
    return InputError(
        f"cannot be written: {error.strerror}", remedy="send it elsewhere, or give -o FILE",
        path="standard output",
    )  # fmt: skip


def discard_standard_output() -> None:
    """Nothing more is written there: what is left unwritten would fail again at the exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _encoded(text: str) -> bytes:
    """The text in UTF-8; what is no text, as in a file's name, is escaped.

    >>> _encoded("caf\\udce9.c")
    b'caf\\\\udce9.c'
    """
    return text.encode("utf-8", "backslashreplace")


def write_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all; one that is there keeps its permissions.

    The text goes into a new file beside it, of a name that nobody knows before, which then takes
    its place. A link is followed, and a pipe or device is written to as it is. Raises InputError
    where that cannot be done; nothing is left behind then.
    """
    try:
        if path.is_dir():
            raise InputError("is a folder", remedy=_REMEDY, path=str(path))
        data = _encoded(text)
        real = path.resolve()
        if real.exists() and not real.is_file():
            with real.open("wb", buffering=0) as device:
                _write_all(device.fileno(), data)
            return
        _replace(real, data)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise InputError(
            f"cannot be written: {_reason(error)}", remedy=_REMEDY, path=str(path)
        ) from None


def _replace(path: Path, data: bytes) -> None:
    part, handle = _new_file(path)
    try:
        try:
            _write_all(handle, data)
            if path.exists():
                os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))
            os.fsync(handle)
        finally:
            os.close(handle)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _new_file(path: Path) -> tuple[Path, int]:
    """A file that was not there before, nor a link of its name, open for writing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_ATTEMPTS):
        part = path.with_name(f".regionpredict-{secrets.token_hex(8)}.part")
        with contextlib.suppress(FileExistsError):
            return part, os.open(part, flags, 0o666)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
