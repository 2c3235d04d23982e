"""Allocates the columns of traces. Columns of large traces are in temporary files, with a part in
memory.

The file of a column has no name and is deleted with the column. The system writes pages to it if
memory is short. `rest` removes all file pages from the memory of the process until they are used
again.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

MOST_IN_MEMORY = 1 << 25  # maximum number of events without temporary files, below 3 GB in total

_Scalar = TypeVar("_Scalar", bound=np.generic)
_in_files: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


def empty_column(
    shape: int | tuple[int, ...], kind: type[_Scalar] | np.dtype[_Scalar], events: int
) -> NDArray[_Scalar]:
    """Returns an uninitialized array for a trace of this many events. An array in a file contains
    zeros.
    """
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    if events > MOST_IN_MEMORY and size:
        try:
            with tempfile.TemporaryFile(prefix="regionpredict-") as file:
                os.posix_fallocate(file.fileno(), 0, size)
                pages = mmap.mmap(file.fileno(), size)
        except OSError:  # no folder, or not enough space
            return np.empty(shape, dtype=kind)
        _in_files.add(pages)
        return np.frombuffer(pages, dtype=kind).reshape(shape)
    return np.empty(shape, dtype=kind)


class GrowingColumn:
    """A column to which rows are appended piece by piece, in memory or in a temporary file
    (`in_file`).
    """

    def __init__(self, kind: type[np.generic], in_file: bool) -> None:
        self._kind = kind
        self._parts: list[NDArray[Any]] = []
        self._file = (
            tempfile.TemporaryFile(prefix="regionpredict-")  # noqa: SIM115 (`whole` closes it)
            if in_file
            else None
        )

    def append(self, rows: NDArray[Any]) -> None:
        """Appends rows. Raises OSError if the file cannot grow."""
        if self._file is not None:
            self._file.write(rows.data)
        else:
            self._parts.append(rows.copy())

    def whole(self) -> NDArray[Any]:
        """Returns all rows, which are read-only if they are in a file. This can be called once."""
        parts, self._parts = self._parts, []
        if self._file is None or not self._file.tell():
            return np.concatenate([np.zeros(0, dtype=self._kind), *parts])
        self._file.flush()
        with self._file as file:
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        _in_files.add(pages)
        return np.frombuffer(pages, dtype=self._kind)


def gather_rows(
    parts: Sequence[NDArray[Any]], rows: NDArray[np.int64], events: int
) -> NDArray[Any]:
    """Concatenates the parts, and returns the selected rows as a column for a trace of this many
    events.
    """
    joined = np.concatenate(parts)
    return np.take(joined, rows, out=empty_column(len(rows), joined.dtype, events), mode="clip")


def release_file_memory() -> None:
    """Removes columns in temporary files from memory. The next access reads them again."""
    for pages in list(_in_files):
        pages.madvise(mmap.MADV_DONTNEED)
