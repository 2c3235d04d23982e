"""What functions of well-known libraries mean for threads; a region in, its locked parts named out.

`functions.py` is the table: which functions take and release locks, hide one, are atomic, are a
barrier, or are rarely called under a condition. `critical_sections.py` makes of the calls in a
region what the directives would give.
"""

from regionpredict.library.critical_sections import with_critical_sections
from regionpredict.library.functions import (
    HIDDEN_LOCKS,
    RARE_UNDER_A_CONDITION,
    is_synchronisation,
    place_argument,
)

__all__ = [
    "HIDDEN_LOCKS", "RARE_UNDER_A_CONDITION", "is_synchronisation", "place_argument",
    "with_critical_sections",
]  # fmt: skip
