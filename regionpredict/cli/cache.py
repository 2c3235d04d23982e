"""The user's cache folder, by this process's environment."""

from __future__ import annotations

import os
from pathlib import Path

from regionpredict.user_cache import private_folder, user_cache_folder


def cache_folder() -> Path:
    """Where compiled pieces of the measuring library are kept between calls.

    Raises InputError where there is no folder that only its owner can write to.
    """
    return private_folder(user_cache_folder(os.environ))
