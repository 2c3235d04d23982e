"""Loads the C functions of readers and analyses, which are compiled at first use and cached per
user.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from regionpredict.measure.runtime_library import shared_library
from regionpredict.user_cache import private_folder

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Kernels:
    """The C compiler, and the private folder for the compiled libraries."""

    compiler: tuple[str, ...]
    folder: Path

    def load(self, source: str) -> ctypes.CDLL:
        """Returns the library compiled from a C file of this package.

        Raises InputError if it cannot be compiled or stored.
        """
        return _load_library(self.compiler, self.folder, source)


def c_struct(**members: Any) -> Any:
    """Returns a C structure with these members, in this order. It keeps the arrays alive.

    Integers are `int64_t`, and other numbers `double`. Arrays and None are pointers. Other values
    have their type of ctypes.
    """
    types = {int: ctypes.c_int64, float: ctypes.c_double, np.ndarray: ctypes.c_void_p,
             type(None): ctypes.c_void_p}  # fmt: skip
    layout = [(name, types.get(type(value), type(value))) for name, value in members.items()]
    kind = type("structure", (ctypes.Structure,), {"_fields_": layout, "_arrays_": members})
    return kind(**{
        name: value.ctypes.data if isinstance(value, np.ndarray) else value
        for name, value in members.items()
    })  # fmt: skip


@cache
def _load_library(compiler: Sequence[str], folder: Path, source: str) -> ctypes.CDLL:
    return ctypes.CDLL(str(shared_library(compiler, private_folder(folder), FOLDER / source)))
