"""Columns of traces. Those of large traces lie in temporary files, so memory holds a part of them.

A file of a column has no name: it goes when the column does. The system writes pages to it when
memory runs short. `rest` takes all pages out of the process until they are used again.
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

MOST_IN_MEMORY = 1 << 25  # events of a trace whose columns need no files: below 3 GB in all

_Scalar = TypeVar("_Scalar", bound=np.generic)
_in_files: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


def column(
    shape: int | tuple[int, ...], kind: type[_Scalar] | np.dtype[_Scalar], events: int
) -> NDArray[_Scalar]:
    """An array without values for a trace of so many events; of zeros where it lies in a file."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    if events > MOST_IN_MEMORY and size:
        try:
            with tempfile.TemporaryFile(prefix="regionpredict-") as file:
                os.posix_fallocate(file.fileno(), 0, size)
                pages = mmap.mmap(file.fileno(), size)
        except OSError:  # no folder, or no room in it
            return np.empty(shape, dtype=kind)
        _in_files.add(pages)
        return np.frombuffer(pages, dtype=kind).reshape(shape)
    return np.empty(shape, dtype=kind)


def gathered(parts: Sequence[NDArray[Any]], rows: NDArray[np.int64], events: int) -> NDArray[Any]:
    """These rows of the parts, one after the other, as a column for a trace of so many events."""
    joined = np.concatenate(parts)
    return np.take(joined, rows, out=column(len(rows), joined.dtype, events), mode="clip")


def rest() -> None:
    """Takes the columns that lie in files out of memory; what reads them brings them back."""
    for pages in list(_in_files):
        pages.madvise(mmap.MADV_DONTNEED)
