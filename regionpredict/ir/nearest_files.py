"""Chooses among several files that define the same function, for a call in another file.

A run may contain several programs with their own helper functions, so the file in the nearest
folder is chosen. A program may have variants (`cuda`, `omp`, `serial`), each for one build. Among
equally near folders, the one with the most parallel regions is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import PurePath


def folder_of(file: str) -> str:
    """Returns the folder of a file, in the form that the counts of `nearest_files` use."""
    return str(PurePath(file).parent)


def nearest_files(here: str, files: Sequence[str], directives: Mapping[str, int]) -> list[str]:
    """Returns the `files` nearest to the file `here`, in the folder with the most `directives`.

    `directives` counts the directives per folder.

    >>> nearest_files("a/main.c", ["b/x.c", "a/y.c"], {"b": 9})
    ['a/y.c']
    >>> nearest_files("driver/main.c", ["cuda/x.c", "omp/x.c"], {"cuda": 1, "omp": 9})
    ['omp/x.c']
    """
    if not files:
        return []
    own = PurePath(here).parent.parts
    steps = [_folder_distance(own, PurePath(file).parent.parts) for file in files]
    near = [file for file, away in zip(files, steps, strict=True) if away == min(steps)]
    most = max(directives.get(folder_of(file), 0) for file in near)
    return [file for file in near if directives.get(folder_of(file), 0) == most]


def _folder_distance(first_folder: Sequence[str], second_folder: Sequence[str]) -> int:
    """Returns the number of folders to leave and to enter between two folders."""
    pairs = zip(first_folder, second_folder, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return len(first_folder) + len(second_folder) - 2 * shared
