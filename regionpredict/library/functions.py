"""The table of library functions that synchronize threads or are rarely called.

Sources: OpenMP 5.2, sec. 18.9 (lock routines). POSIX.1-2017 (`pthread_mutex_lock`,
`pthread_spin_lock`, `pthread_barrier_wait`) and its sec. 2.5 (locks of `stdio` functions). ISO C
17, sec. 7.26 (`mtx_lock`). ISO C++ 17, sec. 33.4 (`std::mutex`). The manual of the GNU C library,
sec. 19.8 (`rand` and `random` lock their state).
"""

from __future__ import annotations

import re
from typing import NamedTuple


class LockCall(NamedTuple):
    """A call that acquires or releases the lock to which an argument points.

    `action` is 'take', 'try' (may fail) or 'release'.
    """

    action: str
    argument: int = 0


def _lock_table(take: str, attempts: str, release: str) -> dict[str, LockCall]:
    table = {name: LockCall("take") for name in take.split()}
    table |= {name: LockCall("try") for name in attempts.split()}
    return table | {name: LockCall("release") for name in release.split()}


LOCK_CALLS = _lock_table(
    "omp_set_lock omp_set_nest_lock pthread_mutex_lock pthread_spin_lock pthread_rwlock_wrlock "
    "mtx_lock std::mutex::lock",
    "omp_test_lock omp_test_nest_lock pthread_mutex_trylock pthread_mutex_timedlock "
    "pthread_spin_trylock pthread_rwlock_trywrlock mtx_trylock mtx_timedlock std::mutex::try_lock "
    "atomic_flag_test_and_set atomic_flag_test_and_set_explicit __atomic_test_and_set",
    "omp_unset_lock omp_unset_nest_lock pthread_mutex_unlock pthread_spin_unlock "
    "pthread_rwlock_unlock mtx_unlock std::mutex::unlock "
    "atomic_flag_clear atomic_flag_clear_explicit __atomic_clear",
)
"""Functions that acquire or release a lock argument."""

HIDDEN_LOCKS = frozenset((
    "rand", "srand", "random", "srandom", "drand48", "lrand48", "mrand48", "srand48", "std::rand",
))  # fmt: skip
"""Functions whose shared state is protected by an internal lock."""

MESSAGES = frozenset((
    "printf", "fprintf", "vprintf", "vfprintf", "__printf_chk", "__fprintf_chk", "puts", "fputs",
    "perror",
))  # fmt: skip
"""Functions that write a text for the user."""

STREAMS = MESSAGES | {
    "putchar", "putc", "fputc", "fflush", "fwrite", "fread", "fgets", "fgetc", "getc", "getchar",
    "scanf", "fscanf",
}  # fmt: skip
"""Functions that lock the stream that they read or write."""

RARE_UNDER_A_CONDITION = STREAMS | {"malloc", "calloc", "realloc", "reallocarray"}
"""Functions that are rarely called in a branch, because they print messages or handle a full
buffer.
"""

BARRIERS = frozenset(("pthread_barrier_wait",))
"""Functions in which all threads wait for each other."""


_ATOMIC = re.compile(
    r"__sync_(?:fetch_and_\w+|\w+_and_fetch|(?:bool|val)_compare_and_swap|lock_test_and_set)\w*|"
    r"__atomic_(?:fetch_\w+|\w+_fetch|exchange|compare_exchange|store)(?:_n)?|"
    r"atomic_(?:fetch_\w+|exchange|compare_exchange_\w+|store)(?:_explicit)?"
)
"""Atomic operations, which need exclusive access to a cache line. Sources: GCC's manual, sec. 6.57
and 6.58 ("Legacy __sync Built-in Functions", "Built-in Functions for Memory Model Aware Atomic
Operations"); ISO C 17, sec. 7.17.7. Loads are excluded.
"""


def is_atomic(name: str) -> bool:
    """Whether a function atomically updates the target of its first argument."""
    return _ATOMIC.fullmatch(name) is not None


def swaps(name: str) -> bool:
    """Whether an atomic update happens only if the old value equals an expected value."""
    return is_atomic(name) and "compare" in name


def place_argument(name: str) -> int | None:
    """Returns the position of the argument that points to the lock or the updated variable, or
    None.
    """
    known = LOCK_CALLS.get(name)
    if known is not None:
        return known.argument
    return 0 if is_atomic(name) else None


def hides_lock(name: str) -> bool:
    """Whether a function uses a lock that is not an argument."""
    return name in HIDDEN_LOCKS or name in STREAMS


def is_synchronisation(name: str) -> bool:
    """Whether a function only synchronizes threads: a lock call or a barrier."""
    return name in LOCK_CALLS or name in BARRIERS
