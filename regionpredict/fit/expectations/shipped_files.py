"""Finds the expectation files that are part of the package."""

from __future__ import annotations

from pathlib import Path

from regionpredict.file_presence import path_exists

_FOLDER = Path(__file__).parent / "shipped"


def expectation_path(name: str) -> Path:
    """Returns the path of a shipped expectation file, or `name` if it is a file.

    >>> expectation_path("openmp").name
    'openmp.yaml'
    """
    shipped = _FOLDER / f"{name}.yaml"
    return shipped if not path_exists(name) and path_exists(shipped) else Path(name)
