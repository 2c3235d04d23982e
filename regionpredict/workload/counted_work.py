"""Measures the cost of the prediction itself in enumerated references.

Budgets of optional work use this unit instead of seconds. Results therefore do not depend on the
speed or load of the host.
"""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.workload.constants import FIRST_WORK, FOOTPRINT_WORK


@dataclass(slots=True)
class GroupWork:
    """The cost of one traffic counter, in evaluated closed forms.

    `limited` says that the counter has a budget. `first` holds until the first result is complete.
    `closed` says that the first result exceeded the budget, so that closed forms replace
    enumeration. `done` is the cost of all results.
    """

    limited: bool = False
    closed: bool = False
    first: bool = True
    done: float = 0.0

    def count(self, work: float) -> None:
        """Adds `work` closed forms. Exceeding the budget of the first result sets `closed`."""
        self.done += work
        if self.limited and self.first and self.done > FIRST_WORK.value:
            self.closed = True


class _ProcessWork:
    """The number of references that this process has enumerated."""

    references = 0.0


def count_references(number: float) -> None:
    """Adds `number` enumerated references to the cost of this process."""
    _ProcessWork.references += number


def count_footprint() -> None:
    """Adds the cost of one footprint that was counted by enumeration."""
    _ProcessWork.references += FOOTPRINT_WORK.value


def work_so_far() -> float:
    """Returns the cost of all counting since the process started, in enumerated references."""
    return _ProcessWork.references
