"""Shortens names and paths so that they stay distinct."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import TypeVar

from regionpredict.report.page_width import PAGE_WIDTH

T = TypeVar("T")


def cut(name: str, width: int, head: int) -> str:
    """Shortens a name to `width` characters. The first `head` characters are kept.

    >>> cut("hypre_CSRMatrixMatvecT", 16, 8), cut("short", 16, 8)
    ('hypre_CS…MatvecT', 'short')
    """
    if len(name) <= width:
        return name
    tail = width - 1 - head
    return name[:head] + "…" + (name[-tail:] if tail else "")


def common_folder(paths: Sequence[str]) -> str:
    """Returns the common folder of all paths with a final separator.

    It is empty if there is none or only the root, since a path without the root would look
    relative.

    >>> common_folder(["src/a/x.c", "src/a/y.c"]), common_folder(["x.c", "src/y.c"])
    ('src/a/', '')
    """
    folders = {str(PurePath(path).parent) for path in paths}
    if "." in folders or len({PurePath(folder).is_absolute() for folder in folders}) != 1:
        return ""
    common = os.path.commonpath(sorted(folders))
    return common + os.sep if common.rstrip(os.sep) else ""


def file_titles(files: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Returns a sentence with the common folder of all paths if some are too long, and a title per
    file.
    """
    long = any(len(file) > PAGE_WIDTH for file in files)
    folder = common_folder(files) if long else ""
    names = {file: file.removeprefix(folder) for file in files}
    titles = {file: cut(name, PAGE_WIDTH, PAGE_WIDTH // 2) for file, name in names.items()}
    return [f"Files in {folder}"] if folder else [], titles


def first_of(lines: Sequence[str], most: int, more: str = "more") -> list[str]:
    """Returns the first lines, and the number of omitted lines.

    >>> first_of(["a", "b", "c"], 1)
    ['a', '... and 2 more']
    """
    left = len(lines) - most
    return [*lines[:most], f"... and {left} {more}"] if left > 0 else list(lines)


def evenly_chosen(values: Sequence[T], most: int) -> list[T]:
    """Returns at most this many values: the first, the last, and evenly chosen ones in between.

    >>> evenly_chosen([1, 2, 3, 4, 5, 6, 7], 3)
    [1, 4, 7]
    """
    step = max(1.0, (len(values) - 1) / (most - 1))
    return [values[round(at * step)] for at in range(min(len(values), most))]


def several(names: Sequence[str], most: int = 4) -> str:
    """Joins the first names of a list, and the number of omitted names. A single omitted name is
    listed instead.

    >>> several(["a", "b"]), several(["a", "b", "c", "d", "e"], 3), several(["a", "b"], 1)
    ('a, b', 'a, b, c and 2 more', 'a, b')
    """
    left = len(names) - most
    return f"{', '.join(names[:most])} and {left} more" if left > 1 else ", ".join(names)
