"""Defines the wait states, and their names in results."""

from __future__ import annotations

from enum import IntEnum


class Wait(IntEnum):
    """Wait states as Scalasca classifies them (Boehme 2014, table 2.2; section 2.4.2)."""

    LATE_SENDER = 0
    LATE_RECEIVER = 1
    LATE_BROADCAST = 2
    EARLY_REDUCE = 3
    WAIT_NXN = 4
    WAIT_BARRIER = 5
    OMP_EXPLICIT_BARRIER = 6
    OMP_IMPLICIT_BARRIER = 7
    WAIT_FINALIZE = 8
    EARLY_SCAN = 9  # without a synchronization point, since several ranks may cause it
    INIT_COMPLETION = 10  # not a wait: time in MPI_Init after the first rank has left it

    @property
    def metric(self) -> str:
        """The name of the wait state in results."""
        return self.name.lower()


# Wait states with delay costs.
CAUSED = tuple(wait for wait in Wait if wait < Wait.EARLY_SCAN)
# Wait states that may delay later events. Waits in MPI_Finalize delay no event.
PROPAGATING = tuple(wait for wait in CAUSED if wait is not Wait.WAIT_FINALIZE)
NO_WAIT = 255  # a synchronization point at which its location does not wait
