"""Loads the C functions of readers and analyses, which are compiled at first use and cached per
user.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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


@cache
def _load_library(compiler: Sequence[str], folder: Path, source: str) -> ctypes.CDLL:
    return ctypes.CDLL(str(shared_library(compiler, private_folder(folder), FOLDER / source)))
