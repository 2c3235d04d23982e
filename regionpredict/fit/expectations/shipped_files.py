"""The expectation files that come with the package."""

from __future__ import annotations

from pathlib import Path

from regionpredict.file_presence import exists

_FOLDER = Path(__file__).parent / "shipped"


def expectation_path(name: str) -> Path:
    """The path of a shipped expectation file, or `name` if it is a file.

    >>> expectation_path("openmp").name
    'openmp.yaml'
    """
    shipped = _FOLDER / f"{name}.yaml"
    return shipped if not exists(name) and exists(shipped) else Path(name)
