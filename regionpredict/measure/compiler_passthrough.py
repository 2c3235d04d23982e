"""Calls that are none of ours: the compiler takes the place of this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from regionpredict.errors import InputError


def run_as_it_is(command: Sequence[str]) -> None:
    """Becomes the compiler; returns only by raising InputError."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        raise missing_compiler(command[0], error) from None


def missing_compiler(name: str, error: OSError) -> InputError:
    """What to say of a compiler that does not start."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"no compiler '{name}'", remedy="name an installed one after --")
    return InputError(
        f"the compiler '{name}' does not run: {error.strerror}", remedy="name another after --"
    )
