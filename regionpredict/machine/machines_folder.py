"""Finds the folder of shipped machine files, and its folder `families` of processor families."""

from __future__ import annotations

from pathlib import Path


def shipped_folder() -> Path:
    """Returns the folder of shipped machine files, in the package or in the source tree."""
    here = Path(__file__).resolve()
    packaged = here.parent / "shipped"
    return packaged if packaged.is_dir() else here.parents[2] / "machines"


def families_folder() -> Path:
    """Returns the folder of processor family files."""
    return shipped_folder() / "families"
