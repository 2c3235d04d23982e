"""Ends optional work after a time limit: trials of unknown sizes, and the search for changes to the
source.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple


class TimeLimit(NamedTuple):
    """The time, in seconds of a clock, after which no optional work begins."""

    end: float = math.inf
    clock: Callable[[], float] = lambda: 0.0

    @property
    def reached(self) -> bool:
        """Whether optional work ends now."""
        return self.clock() >= self.end


class LeftOut(NamedTuple):
    """Counts what a time limit left out: trials of `sizes` by loop, and the search for changes by
    parallel region (`advice`).
    """

    sizes: int = 0
    advice: int = 0


NO_LIMIT = TimeLimit()
NOTHING_LEFT_OUT = LeftOut()
