"""Where the shipped machine files are, and in its folder `families` those of processor families."""

from __future__ import annotations

from pathlib import Path


def shipped_folder() -> Path:
    """The folder of the shipped machines: inside the package, or of the source tree."""
    here = Path(__file__).resolve()
    packaged = here.parent / "shipped"
    return packaged if packaged.is_dir() else here.parents[2] / "machines"


def families_folder() -> Path:
    """The folder of the processor families."""
    return shipped_folder() / "families"
