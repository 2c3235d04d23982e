"""Tables of known library functions, and the conversion of lock calls to OpenMP constructs.

`functions.py` lists locks, functions with a hidden lock, atomic operations, barriers, and functions
that are rarely called. `memory_accesses.py` lists the memory accesses of known functions.
`linear_algebra.py` recognizes the names of BLAS routines. `critical_sections.py` replaces calls by
`critical`, `atomic` and `barrier` constructs.
"""

from regionpredict.library.critical_sections import with_critical_sections
from regionpredict.library.functions import (
    HIDDEN_LOCKS,
    MESSAGES,
    OUTPUT_OBJECTS,
    RARE_UNDER_A_CONDITION,
    SHARED_COPY,
    STREAMS,
    is_synchronisation,
    place_argument,
)
from regionpredict.library.linear_algebra import blas_routine
from regionpredict.library.memory_accesses import (
    FILLED_CONTAINER,
    MemoryIntrinsic,
    allocated,
    arithmetic_of,
    costs_nothing,
    ends_run,
    memory_intrinsic,
    touches_no_memory,
    written_arguments,
)

__all__ = [
    "FILLED_CONTAINER",
    "HIDDEN_LOCKS",
    "MESSAGES",
    "OUTPUT_OBJECTS",
    "RARE_UNDER_A_CONDITION",
    "SHARED_COPY",
    "STREAMS",
    "MemoryIntrinsic",
    "allocated",
    "arithmetic_of",
    "blas_routine",
    "costs_nothing",
    "ends_run",
    "is_synchronisation",
    "memory_intrinsic",
    "place_argument",
    "touches_no_memory",
    "with_critical_sections",
    "written_arguments",
]  # fmt: skip
