"""The texts of sources as they are now, for pages that show them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path


def source_texts(files: Iterable[str]) -> dict[str, str]:
    """By name, as far as they can be read."""
    texts = {}
    for file in dict.fromkeys(files):
        with contextlib.suppress(OSError):
            texts[file] = Path(file).read_text("utf-8", errors="replace")
    return texts
