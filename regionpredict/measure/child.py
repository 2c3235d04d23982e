"""Children that do not outlive the process that started them."""

from __future__ import annotations

import ctypes
import os

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_SET = getattr(ctypes.CDLL(None), "prctl", None)


def end_with_parent(number: int, parent: int) -> None:
    """Has the system send this process signal `number` when process `parent` ends, however.

    For `preexec_fn`; Linux alone can do it, elsewhere nothing happens.
    """
    if _SET is None:
        return
    _SET(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it has ended before we asked
        os.kill(os.getpid(), number)
