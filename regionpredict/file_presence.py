"""What stands under a name that somebody gave, which may be too long for any file."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path


def exists(name: str | Path) -> bool:
    """Whether anything has the name; the error of a folder that lets nobody look is left as it is.

    >>> exists("."), exists(5000 * "x")
    (True, False)
    """
    return _answer(Path(name).exists)


def is_file(name: str | Path) -> bool:
    """Whether a regular file has the name."""
    return _answer(Path(name).is_file)


def is_folder(name: str | Path) -> bool:
    """Whether a folder has the name."""
    return _answer(Path(name).is_dir)


def _answer(question: Callable[[], bool]) -> bool:
    # pathlib takes an unknown name for an answer, but one too long for the system for an error.
    try:
        return question()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False
