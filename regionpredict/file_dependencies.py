"""What an answer depends on in the file system, as questions that can be asked again.

Files that were read are only half of it: an answer also depends on headers that were looked for and
not there, and on which sources a folder holds. So the questions are kept, not their answers: asked
again, they give the same fingerprint as long as nothing changed that the answer depends on.
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
    """Which files stand below a folder: those with one of the names or suffixes.

    Hidden folders and those called as `skipped` says are left out, as is what comes after the
    first `most` folders; `most` 0: all of them.
    """

    top: str
    names: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    most: int = 0


class FileDependencies(NamedTuple):
    """The questions; relative paths are those of the folder that the program runs in.

    `contents`: files by their text. `identities`: files by inode, size and times, for those too
    many to read, which nobody edits. `presence`: paths that are, or are not, there. `searches`:
    folders, and names, with or without folders in front, that were or may have been looked for in
    each. `listings`: folders with all their names.
    """

    contents: tuple[str, ...] = ()
    identities: tuple[str, ...] = ()
    presence: tuple[str, ...] = ()
    searches: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    listings: tuple[str, ...] = ()
    trees: tuple[Tree, ...] = ()


class Fingerprint(NamedTuple):
    """The digest of all answers, and the latest change (ns since 1970) of anything they tell of."""

    digest: str
    changed_ns: int


def fingerprint(dependencies: FileDependencies) -> Fingerprint | None:
    """Asks all questions now; None where a file cannot be read or is not a regular file."""
    answers = _Answers()
    try:
        for path in dependencies.contents:
            answers.content(path)
        for path in dependencies.identities:
            answers.identity(path)
        for path in dependencies.presence:
            answers.presence(path)
        for folders, names in dependencies.searches:
            wanted = _Wanted(names)
            for folder in folders:
                answers.search(folder, wanted)
        for folder in dependencies.listings:
            answers.listing(folder)
        for tree in dependencies.trees:
            answers.tree(tree)
    except OSError:
        return None
    return Fingerprint(answers.hash.hexdigest(), answers.changed_ns)


def files_below(tree: Tree) -> list[str]:
    """The files of a tree, folder by folder, each folder's by name."""
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


class _Wanted:
    """Names that are looked for: those of the folder itself, and by folder below it."""

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
        self.below = {first: _Wanted(below[first]) for first in sorted(below)}


class _Answers:
    """A hash over answers, each with its length, so that no two lists of answers look alike."""

    def __init__(self) -> None:
        self.hash: _Hash = sha256()
        self.changed_ns = 0

    def _add(self, kind: bytes, answer: bytes) -> None:
        self.hash.update(b"%s %d\n" % (kind, len(answer)))
        self.hash.update(answer)

    def _note(self, status: os.stat_result) -> None:
        self.changed_ns = max(self.changed_ns, status.st_ctime_ns)

    def content(self, path: str) -> None:
        # a pipe that took the file's place is not waited for
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:  # noqa: PTH123 (a handle)
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise OSError
            self._note(status)
            self._add(b"content", file.read())

    def identity(self, path: str) -> None:
        status = os.stat(path)  # noqa: PTH116 (pathlib is slow to start)
        if not stat.S_ISREG(status.st_mode):
            raise OSError
        self._note(status)
        stamp = (
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
        )  # fmt: skip
        self._add(b"identity", b"%d %d %d %d %d" % stamp)

    def presence(self, path: str) -> None:
        self._add(b"presence", b"yes" if os.path.exists(path) else b"no")  # noqa: PTH110

    def search(self, folder: str, wanted: _Wanted) -> None:
        """Which of the names a folder has; those in folders below it are looked for there."""
        try:
            there = set(os.listdir(folder))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            self._add(b"search", b"no folder")
            return
        present = sorted(
            name
            for name in there & wanted.here
            if os.path.isfile(f"{folder}/{name}")  # noqa: PTH113
        )
        if present:
            self._note(os.stat(folder))  # noqa: PTH116
        self._add(b"search", os.fsencode("\0".join(present)))
        for first, rest in wanted.below.items():
            if first in there or first in _UP or not first:
                self.search(f"{folder}/{first}" if first else "/", rest)

    def listing(self, folder: str) -> None:
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            names = []
        self._add(b"listing", os.fsencode("\0".join(names)))

    def tree(self, tree: Tree) -> None:
        self._add(b"tree", os.fsencode("\0".join(files_below(tree))))
