"""The small helpers with which the references fill their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Outputs = dict[str, Array]


def line(n: int, value: Callable[[Array], Any]) -> Array:
    """A vector of n values of a function of the index."""
    return np.asarray(value(np.arange(n)) + np.zeros(n))


def grid(n: int, m: int, value: Callable[[Array, Array], Any]) -> Array:
    """An n x m array of values of a function of row and column."""
    return np.asarray(value(np.arange(n)[:, None], np.arange(m)[None, :]) + np.zeros((n, m)))


def box(k: int, n: int, m: int, value: Callable[[Array, Array, Array], Any]) -> Array:
    """A k x n x m array of values of a function of the three indices."""
    z, y, x = np.arange(k)[:, None, None], np.arange(n)[None, :, None], np.arange(m)
    return np.asarray(value(z, y, x) + np.zeros((k, n, m)))
