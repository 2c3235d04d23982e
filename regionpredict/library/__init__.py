"""Replaces the locks in a region by equivalent constructs.

`functions.py` is the table of known functions: locks, functions with a hidden lock, atomic
operations, barriers, and functions that are rarely called. `critical_sections.py` replaces calls by
`critical`, `atomic` and `barrier` constructs.
"""

from regionpredict.library.critical_sections import with_critical_sections
from regionpredict.library.functions import (
    HIDDEN_LOCKS,
    MESSAGES,
    RARE_UNDER_A_CONDITION,
    is_synchronisation,
    place_argument,
)

__all__ = [
    "HIDDEN_LOCKS", "MESSAGES", "RARE_UNDER_A_CONDITION", "is_synchronisation", "place_argument",
    "with_critical_sections",
]  # fmt: skip
