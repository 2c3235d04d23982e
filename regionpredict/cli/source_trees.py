"""Reads OLD and NEW of `regionpredict diff`: a hints file, a tree of sources, or a commit."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.errors import InputError, UsageError
from regionpredict.file_presence import path_exists
from regionpredict.scratch_folder import scratch_folder

_LINK = b"120000"  # the mode of a symbolic link in a tree of git


class Side(NamedTuple):
    """The sources of OLD or NEW: a file of `hints`, or a `path` in the current folder or in a
    `commit`.
    """

    name: str
    hints: Path | None
    path: str
    commit: str | None


def side_of(text: str, other: str) -> Side:
    """Returns the sources of OLD or NEW.

    A commit uses the path of the `other` side, or the whole current folder. Raises InputError if
    the text is not a file, a folder or a commit.
    """
    if path_exists(text):
        if Path(text).suffix == ".json" and Path(text).name != "compile_commands.json":
            return Side(text, Path(text), "", None)
        return Side(text, None, text, None)
    commit = _commit_hash(text)
    if commit is None:
        raise InputError(
            "no such file, folder or commit", path=text,
            remedy="give hints (JSON), sources, or a commit of the current repository",
        )  # fmt: skip
    path = other if path_exists(other) and Path(other).suffix != ".json" else "."
    if Path(path).is_absolute():
        raise UsageError(
            f"{text} with {path}: the path in the commit is unknown",
            remedy=("give a path relative to the working folder"),
        )
    if Path(path).name == "compile_commands.json":
        raise UsageError(
            f"{text} with {path}: it lists the files of one source tree",
            remedy="give the folder instead",
        )
    return Side(text, None, path, commit)


@contextlib.contextmanager
def checked_out(side: Side) -> Iterator[None]:
    """Changes to the folder of the side's sources: the current one, or a temporary checkout of its
    commit.
    """
    if side.commit is None:
        yield
        return
    inside = _find_git("rev-parse", "--show-prefix").strip()
    with scratch_folder() as folder:
        _extract_commit(side, folder)
        place = folder / inside
        if not path_exists(place / side.path):
            raise InputError("not in that commit", path=f"{side.name}:{inside}{side.path}",
                             remedy="give a path that both have")  # fmt: skip
        before = os.getcwd()  # noqa: PTH109 -- goes back by name, whatever becomes of it
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(before)


def _extract_commit(side: Side, folder: Path) -> None:
    """Writes the files of a commit as they are stored, and the links that stay inside `folder`.

    `git archive` would run the filters in the configuration of the repository.
    """
    assert side.commit is not None
    folder = _resolved_path(folder)
    top = _find_git("rev-parse", "--show-toplevel").strip()
    listed = _git_bytes("-C", top, "ls-tree", "-r", "-z", "--full-tree", side.commit)
    entries = [line.partition(b"\t") for line in listed.split(b"\0") if line]
    blobs = [(*head.split(), path) for head, _, path in entries]
    blobs = [blob for blob in blobs if blob[1] == b"blob"]
    links: list[tuple[Path, bytes]] = []
    for (mode, _, _, path), content in zip(
        blobs, _blob_contents(top, [blob[2] for blob in blobs]), strict=True
    ):
        if {b"", b".", b".."} & set(path.split(b"/")):
            continue
        place = folder / os.fsdecode(path)
        if mode == _LINK:
            links.append((place, content))
            continue
        with contextlib.suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    _make_links(links, folder)


def _blob_contents(top: str, names: Sequence[bytes]) -> Iterator[bytes]:
    """Returns the contents of git's blobs."""
    given = b"".join(name + b"\n" for name in names)
    answer = io.BytesIO(_git_bytes("-C", top, "cat-file", "--batch", given=given))
    for _ in names:
        head = answer.readline().split()
        if len(head) != 3:
            raise InputError(
                f"git: {b' '.join(head).decode('utf-8', 'replace')}",
                remedy="give folders or hints files instead",
            )
        yield answer.read(int(head[2]))
        answer.read(1)


def _make_links(links: Sequence[tuple[Path, bytes]], folder: Path) -> None:
    """Creates symbolic links, and removes those that lead out of `folder`."""
    for place, target in links:
        # a null byte in the target causes a ValueError
        with contextlib.suppress(FileExistsError, NotADirectoryError, ValueError):
            place.parent.mkdir(parents=True, exist_ok=True)
            if _resolved_path(place.parent) == place.parent:
                place.symlink_to(os.fsdecode(target))
    for place, _ in links:
        if place.is_symlink() and not _resolved_path(place).is_relative_to(folder):
            place.unlink()


def _resolved_path(path: Path) -> Path:
    return Path(os.path.realpath(path))  # `Path.resolve` raises an error for a loop of links


def _commit_hash(text: str) -> str | None:
    """Returns the hash of a commit. None if there is no such commit."""
    try:
        return _find_git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", text + "^{commit}"
        ).strip()
    except InputError:
        return None


def _find_git(*arguments: str) -> str:
    return _git_bytes(*arguments).decode("utf-8", "surrogateescape")


def _git_bytes(*arguments: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, check=False, input=given)
    except OSError:
        raise InputError(
            "git is not installed", remedy="give folders or hints files, not commits"
        ) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(f"git: {said[-1] if said else 'git gives no reason'}",
                         remedy="give folders or hints files instead")  # fmt: skip
    return done.stdout
