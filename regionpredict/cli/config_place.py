"""Where `regionpredict.toml` lies; loads nothing, as kept answers are asked for before anything."""

from __future__ import annotations

from pathlib import Path

NAME = "regionpredict.toml"


def nearest_config() -> Path | None:
    """The file of this folder or of the nearest one above; None where there is none."""
    here = Path.cwd()
    return next((path for one in (here, *here.parents) if (path := one / NAME).is_file()), None)
