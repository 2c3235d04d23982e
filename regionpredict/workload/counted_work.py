"""How much work counting has been, in references gone through: the same on every machine.

Optional work has a budget in this unit, so that an answer never depends on how fast or how busy
a machine is.
"""

from __future__ import annotations

from regionpredict.workload.constants import FOOTPRINT_WORK


class _Tally:
    """The counts of this process so far."""

    references = 0.0


def count_references(number: float) -> None:
    """Adds references that were gone through one by one."""
    _Tally.references += number


def count_footprint() -> None:
    """Adds one footprint that was counted run by run."""
    _Tally.references += FOOTPRINT_WORK.value


def work_so_far() -> float:
    """References since this process began; the difference of two is what was done between."""
    return _Tally.references
