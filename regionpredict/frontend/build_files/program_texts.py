"""Reads the texts of a program that its build files may depend on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.frontend.headers import project_files
from regionpredict.frontend.requests import HEADERS, SourceRequest, read_regular_file

_MOST_HEADERS = 8_000_000  # maximum total size of searched headers in bytes


def program_texts(requests: Sequence[SourceRequest]) -> Iterator[tuple[str, bytes]]:
    """Yields the paths and texts of the requests, and of the headers below their roots."""
    for request in requests:
        yield request.path, bytes_of(request.path)
    left = _MOST_HEADERS
    for name, folders in project_files(requests).items():
        for folder in folders if Path(name).suffix in HEADERS else ():
            if left > 0:
                path = f"{folder}/{name}"
                text = bytes_of(path)
                left -= len(text)
                yield path, text


def text_of(path: str) -> str:
    """Returns a file's text. Empty if the file cannot be read."""
    return bytes_of(path).decode("utf-8", "surrogateescape")


def bytes_of(path: str) -> bytes:
    """Returns a file's bytes. Empty if the file cannot be read, which the parser reports."""
    try:
        return read_regular_file(path)
    except InputError:
        return b""
