"""Reads members of a plain tar archive on demand.

It supports only the archives of profiles: uncompressed regular files with names of at most 100
characters. The standard library's reader is unsuitable: it also decompresses, follows extended
headers, and accepts negative sizes, for some of which it does not terminate. Format: POSIX.1-1988,
"Extended tar Format" (ustar).
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from regionpredict.errors import InputError

_BLOCK = 512
_REGULAR = (b"0", b"\0", b"7")
MOST_MEMBERS = 100_000


class TarMembers:
    """An open tar archive. Raises ValueError if the file is not a tar archive.

    `most` is the largest size of a member in bytes.
    """

    def __init__(self, stream: BinaryIO, path: Path, most: int) -> None:
        self._stream = stream
        self._path = str(path)
        self._most = most
        self._members: dict[str, tuple[int, int]] = {}
        size = stream.seek(0, 2)
        at = headers = 0
        while at + _BLOCK <= size:
            stream.seek(at)
            header = stream.read(_BLOCK)
            if not header.strip(b"\0"):
                break
            headers += 1
            if headers > MOST_MEMBERS:
                raise self._input_error(f"more than {MOST_MEMBERS} members")
            length = _parse_octal(header[124:136])
            if header[257:262] != b"ustar":  # checksums are useless: those of Cube 4.8 are wrong
                raise ValueError("not a header")
            at += _BLOCK
            if at + length > size:
                raise ValueError("a member ends after the end of the archive")
            name = header[:100].split(b"\0", 1)[0].decode("utf-8")
            if header[156:157] in _REGULAR:
                self._members[name] = (at, length)
            at += -(-length // _BLOCK) * _BLOCK

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """Reads a member. Raises KeyError if it does not exist, and InputError if it is too
        long.
        """
        at, length = self._members[name]
        if length > self._most:
            raise self._input_error(f"{name} is longer than {self._most >> 20} MiB")
        self._stream.seek(at)
        return self._stream.read(length)

    def _input_error(self, message: str) -> InputError:
        return InputError(message, remedy="is it a profile?", path=self._path)


def _parse_octal(field: bytes) -> int:
    text = field.strip(b"\0 ")
    if not all(48 <= digit < 56 for digit in text):
        raise ValueError("a header's number is wrong")
    return int(text or b"0", 8)
