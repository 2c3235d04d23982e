"""Temporary folders that are cleaned up even after a process was killed.

A process locks its folder as long as it lives. The next process that makes such a folder removes
the unlocked ones.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = "regionpredict-scratch-"
_RANDOM = re.compile(r"[a-z0-9_]{8}")  # what `mkdtemp` adds to a prefix


@contextmanager
def scratch_folder(within: Path | None = None, prefix: str = PREFIX) -> Iterator[Path]:
    """A new folder in `within` or the system's temporary folder. It is removed at the end."""
    parent = Path(tempfile.gettempdir()) if within is None else within
    if sys.platform == "win32":
        with tempfile.TemporaryDirectory(dir=parent, prefix=prefix) as name:
            yield Path(name)
        return
    _sweep(parent, prefix)
    folder, lock = _make_locked_folder(parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make_locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder and its lock. Another process may remove the folder before it is locked, so this
    is repeated.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        with contextlib.suppress(OSError):  # a file system without locks, so nothing is removed
            fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)


def _sweep(parent: Path, prefix: str) -> None:
    """Removes the user's unlocked folders with this prefix."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            ours = entry.name.startswith(prefix) and _RANDOM.fullmatch(entry.name[len(prefix) :])
            if ours and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_unlocked(Path(entry.path))


def _remove_unlocked(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(lock)
        if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o700:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
    finally:
        os.close(lock)
