"""Sorts and numbers long columns that have few different values or are already sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.paraver.records import Integers

_LARGEST_TABLE = 1 << 24  # maximum entries of a table; for more, sorting needs less memory


def by_location(location: NDArray[np.integer[Any]], time: Integers) -> NDArray[np.intp]:
    """Returns the order of rows by location and time. Rows with equal location and time keep their
    order.

    Files are usually sorted by time. In this case, a linear-time sort by location is enough.
    """
    if len(time) and int(location.max()) < 1 << 16 and bool((time[1:] >= time[:-1]).all()):
        return np.argsort(location.astype(np.uint16), kind="stable")
    return np.lexsort((time, location))


def distinct_values(values: NDArray[Any]) -> tuple[Integers, Integers]:
    """Returns the different values in ascending order, and the index in them of each value.

    >>> [part.tolist() for part in distinct_values(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if high - low >= min(_LARGEST_TABLE, 4 * len(values) + 1024):
        different, inverse = np.unique(values, return_inverse=True)
        return different, inverse.reshape(-1)
    used = np.zeros(high - low + 1, dtype=bool)
    used[values - low] = True
    position = np.cumsum(used) - 1
    return np.flatnonzero(used) + low, position[values - low]
