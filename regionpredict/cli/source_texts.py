"""Reads the current texts of sources, for HTML pages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path


def source_texts(files: Iterable[str]) -> dict[str, str]:
    """Returns the texts of readable files by name."""
    texts = {}
    for file in dict.fromkeys(files):
        with contextlib.suppress(OSError):
            texts[file] = Path(file).read_text("utf-8", errors="replace")
    return texts
