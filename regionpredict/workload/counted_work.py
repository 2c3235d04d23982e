"""The amount of counting work, in enumerated references, which does not depend on the machine.

Optional work has a budget in this unit, so that results do not depend on the speed or load of the
machine.
"""

from __future__ import annotations

from regionpredict.workload.constants import FOOTPRINT_WORK


class _Tally:
    """The counts of this process."""

    references = 0.0


def count_references(number: float) -> None:
    """Adds enumerated references."""
    _Tally.references += number


def count_footprint() -> None:
    """Adds one footprint that was counted by enumeration."""
    _Tally.references += FOOTPRINT_WORK.value


def work_so_far() -> float:
    """References counted since the process started. The difference of two values is the work in
    between.
    """
    return _Tally.references
