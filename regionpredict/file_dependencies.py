"""Lists what a result depends on in the file system, so that changes can be detected.

A result depends not only on the files that were read. It also depends on missing headers that were
searched, and on the sources in a folder. Therefore, the queries are stored. Repeating them gives
the same fingerprint as long as nothing relevant has changed.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from hashlib import _Hash

_UP = (".", "..")


class Tree(NamedTuple):
    """A query for all files below a folder with one of these names or suffixes.

    Hidden folders, folders named in `skipped`, and folders after the first `most` are left out.
    With `most` 0, there is no limit.
    """

    top: str
    names: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    most: int = 0


class FileDependencies(NamedTuple):
    """The queries. Relative paths start at the current folder.

    `contents`: files whose text matters. `identities`: files compared by inode, size and times.
    They are rarely edited, and too many to read. `presence`: paths that exist or do not exist.
    `searches`: folders with the names that were or may be searched in each. Names may include
    subfolders. `listings`: folders whose entries matter.
    """

    contents: tuple[str, ...] = ()
    identities: tuple[str, ...] = ()
    presence: tuple[str, ...] = ()
    searches: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    listings: tuple[str, ...] = ()
    trees: tuple[Tree, ...] = ()


class Fingerprint(NamedTuple):
    """The digest of all query results, and the latest change of any file in them (ns since
    1970).
    """

    digest: str
    changed_ns: int


def dependency_fingerprint(dependencies: FileDependencies) -> Fingerprint | None:
    """Executes all queries. None if a file cannot be read or is not a regular file."""
    answers = _Answers()
    try:
        for path in dependencies.contents:
            answers.content_of(path)
        for path in dependencies.identities:
            answers.identity(path)
        for path in dependencies.presence:
            answers.presence_of(path)
        for folders, names in dependencies.searches:
            wanted = _SearchedNames(names)
            for folder in folders:
                answers.search(folder, wanted)
        for folder in dependencies.listings:
            answers.listing_of(folder)
        for tree in dependencies.trees:
            answers.tree(tree)
    except (OSError, ValueError):  # a path with a null byte
        return None
    return Fingerprint(answers.hash.hexdigest(), answers.changed_ns)


def files_below(tree: Tree) -> list[str]:
    """The files of a tree, folder by folder, sorted by name."""
    paths: list[str] = []
    names = frozenset(tree.names)
    for count, (folder, below, files) in enumerate(os.walk(tree.top)):
        if tree.most and count > tree.most:
            break
        below[:] = sorted(
            name for name in below if not name.startswith(".") and name not in tree.skipped
        )
        for name in sorted(files):
            if name in names or name.endswith(tree.suffixes):
                paths.append(f"{folder}/{name}")
    return paths


class _SearchedNames:
    """Searched names in a folder, and by subfolder."""

    def __init__(self, names: Iterable[str]) -> None:
        below: dict[str, list[str]] = {}
        here: list[str] = []
        for name in names:
            first, slash, rest = name.partition("/")
            if slash:
                below.setdefault(first, []).append(rest.lstrip("/"))
            else:
                here.append(first)
        self.here = frozenset(here)
        self.below = {first: _SearchedNames(below[first]) for first in sorted(below)}


class _Answers:
    """A hash of query results. Each is hashed with its length, so that different lists have
    different hashes.
    """

    def __init__(self) -> None:
        self.hash: _Hash = sha256()
        self.changed_ns = 0

    def _add_answer(self, kind: bytes, answer: bytes) -> None:
        self.hash.update(b"%s %d\n" % (kind, len(answer)))
        self.hash.update(answer)

    def _note_status(self, status: os.stat_result) -> None:
        self.changed_ns = max(self.changed_ns, status.st_ctime_ns)

    def content_of(self, path: str) -> None:
        # do not wait for a pipe that replaced the file
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:  # noqa: PTH123 (a handle)
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise OSError
            self._note_status(status)
            self._add_answer(b"content", file.read())

    def identity(self, path: str) -> None:
        status = os.stat(path)  # noqa: PTH116 (pathlib is slow to start)
        if not stat.S_ISREG(status.st_mode):
            raise OSError
        self._note_status(status)
        stamp = (
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
        )  # fmt: skip
        self._add_answer(b"identity", b"%d %d %d %d %d" % stamp)

    def presence_of(self, path: str) -> None:
        self._add_answer(b"presence", b"yes" if os.path.exists(path) else b"no")  # noqa: PTH110

    def search(self, folder: str, wanted: _SearchedNames) -> None:
        """Finds which of the names exist in a folder and its subfolders."""
        try:
            there = set(os.listdir(folder))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            self._add_answer(b"search", b"no folder")
            return
        present = sorted(
            name
            for name in there & wanted.here
            if os.path.isfile(f"{folder}/{name}")  # noqa: PTH113
        )
        if present:
            self._note_status(os.stat(folder))  # noqa: PTH116
        self._add_answer(b"search", os.fsencode("\0".join(present)))
        for first, rest in wanted.below.items():
            if first in there or first in _UP or not first:
                self.search(f"{folder}/{first}" if first else "/", rest)

    def listing_of(self, folder: str) -> None:
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            names = []
        self._add_answer(b"listing", os.fsencode("\0".join(names)))

    def tree(self, tree: Tree) -> None:
        self._add_answer(b"tree", os.fsencode("\0".join(files_below(tree))))
