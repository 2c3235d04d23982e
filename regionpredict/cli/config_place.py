"""Where `regionpredict.toml` lies; loads nothing, as kept answers are asked for before anything."""

from __future__ import annotations

from pathlib import Path

NAME = "regionpredict.toml"


def nearest_config() -> Path | None:
    """The file of this folder or of the nearest one above; None where there is none."""
    here = Path.cwd()
    return next((path for parent in (here, *here.parents) if _is_file(path := parent / NAME)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:  # a folder above that is closed to this user
        return False
