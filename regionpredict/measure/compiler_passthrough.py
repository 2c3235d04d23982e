"""Passes calls without instrumentation to the compiler, which replaces this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from regionpredict.errors import InputError, is_missing


def exec_compiler(command: Sequence[str]) -> None:
    """Replaces this process by the compiler. Raises InputError if the compiler cannot be
    started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        raise missing_compiler(command[0], error) from None


def missing_compiler(name: str, error: OSError) -> InputError:
    """Returns the error for a compiler that cannot be started."""
    if is_missing(name, error):
        return InputError(f"no compiler '{name}'", remedy="name an installed one after --")
    return InputError(
        f"the compiler '{name}' does not run: {error.strerror}", remedy="name another after --"
    )
