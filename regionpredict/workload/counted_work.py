"""Measures the work of counting in enumerated references. This unit does not depend on the machine.

Optional work has a budget in this unit, so that results do not depend on the speed or load of the
machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.workload.constants import FIRST_WORK, FOOTPRINT_WORK


@dataclass(slots=True)
class GroupWork:
    """The work of one traffic counter on the lines of groups in closed form.

    `limited` says that the counter has a budget. `closed` says that its first result took too long,
    so that closed forms replace enumeration. `done` is the work for all results.
    """

    limited: bool = False
    closed: bool = False
    first: bool = True
    done: float = 0.0

    def count(self, work: float) -> None:
        """Adds work. The first result has a separate budget."""
        self.done += work
        if self.limited and self.first and self.done > FIRST_WORK.value:
            self.closed = True


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
