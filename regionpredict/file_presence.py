"""Checks paths that a user gave, even paths that are too long for the file system."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path


def path_exists(name: str | Path) -> bool:
    """Whether the path exists. Raises OSError if a folder cannot be searched.

    >>> path_exists("."), path_exists(5000 * "x")
    (True, False)
    """
    return _answer_question(Path(name).exists)


def is_file(name: str | Path) -> bool:
    """Whether the path is a regular file."""
    return _answer_question(Path(name).is_file)


def is_folder(name: str | Path) -> bool:
    """Whether the path is a folder."""
    return _answer_question(Path(name).is_dir)


def _answer_question(question: Callable[[], bool]) -> bool:
    # pathlib returns False for a missing name, but raises an error for one that is too long.
    try:
        return question()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False
