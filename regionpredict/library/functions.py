"""The table of library functions that synchronize threads or are rarely called.

Sources: OpenMP 5.2, sec. 18.9 (lock routines). POSIX.1-2017 (`pthread_mutex_lock`,
`pthread_spin_lock`, `pthread_barrier_wait`) and its sec. 2.5 (locks of `stdio` functions). ISO C
17, sec. 7.26 (`mtx_lock`). ISO C++ 20, sec. 32.5 (`std::mutex`) and 32.7 (semaphores). The manual
of the GNU C library, sec. 19.8: `rand` and `random` lock their state. Its chapter "Date and Time":
conversions of times lock the time zone.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class LockCall(NamedTuple):
    """A call that acquires or releases the lock to which an argument points.

    `action` is 'take', 'try' (may fail), 'share' (other readers may hold the lock, too) or
    'release'.
    """

    action: str
    argument: int = 0


def _lock_table(**names: str) -> dict[str, LockCall]:
    return {name: LockCall(action) for action, listed in names.items() for name in listed.split()}


LOCK_CALLS = _lock_table(
    take="omp_set_lock omp_set_nest_lock pthread_mutex_lock pthread_spin_lock "
    "pthread_rwlock_wrlock mtx_lock std::mutex::lock sem_wait",
    share="pthread_rwlock_rdlock std::mutex::lock_shared",
    release="omp_unset_lock omp_unset_nest_lock pthread_mutex_unlock pthread_spin_unlock "
    "pthread_rwlock_unlock mtx_unlock std::mutex::unlock std::mutex::unlock_shared sem_post "
    "atomic_flag_clear atomic_flag_clear_explicit __atomic_clear __sync_lock_release",
    **{"try": "omp_test_lock omp_test_nest_lock pthread_mutex_trylock pthread_mutex_timedlock "
    "pthread_spin_trylock pthread_rwlock_trywrlock mtx_trylock mtx_timedlock std::mutex::try_lock "
    "sem_trywait sem_timedwait "
    "atomic_flag_test_and_set atomic_flag_test_and_set_explicit __atomic_test_and_set"},
)  # fmt: skip
"""Functions that acquire or release a lock argument. Semaphores are locks that start at 1."""

HIDDEN_LOCKS = frozenset((
    "rand", "srand", "random", "srandom", "drand48", "lrand48", "mrand48", "srand48", "std::rand",
    "localtime", "localtime_r", "gmtime", "gmtime_r", "ctime", "ctime_r", "mktime", "timegm",
))  # fmt: skip
"""Functions whose shared state is protected by an internal lock."""

OUTPUT_OBJECTS = frozenset(
    f"std::{name}" for name in ("cout", "cerr", "clog", "wcout", "wcerr", "wclog")
)
"""The objects of C++ that write to the streams of C and share their locks (ISO C++ 20, sec. 29.4).
As the name of a call, it is the object's `<<`.
"""

MESSAGES = OUTPUT_OBJECTS | frozenset((
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


SHARED_COPY = "std::shared_ptr::copy"
"""A copy of a `std::shared_ptr`, which atomically updates the number of owners (ISO C++ 20, sec.
20.11.3).
"""

_ATOMIC = re.compile(
    r"__sync_(?:fetch_and_\w+|\w+_and_fetch|(?:bool|val)_compare_and_swap|lock_test_and_set)\w*|"
    r"__atomic_(?:fetch_\w+|\w+_fetch|exchange|compare_exchange|store)(?:_n)?|"
    r"atomic_(?:fetch_\w+|exchange|compare_exchange_\w+|store)(?:_explicit)?|" + SHARED_COPY
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


def may_acquire(name: str) -> bool:
    """Returns whether a loop that repeats a call until it succeeds can acquire a lock."""
    return action_of(name) == "try" or (
        is_atomic(name) and any(part in name for part in ("exchange", "test_and_set", "compare"))
    )


def may_release(name: str) -> bool:
    """Returns whether a call can release a lock, such as an atomic store of 0."""
    return action_of(name) == "release" or (is_atomic(name) and "store" in name)


def action_of(name: str) -> str:
    """Returns what a call does with a lock, as in `LockCall`. Returns "" for any other call."""
    known = _lock_call(name)
    return known.action if known is not None else ""


def _lock_call(name: str) -> LockCall | None:
    if name.startswith("__sync_"):  # clang adds the size of the operand: `__sync_lock_release_4`
        name = name.rstrip("_0123456789")
    return LOCK_CALLS.get(name)


def place_argument(name: str) -> int | None:
    """Returns the position of the argument that points to the lock or the updated variable, or
    None.
    """
    known = _lock_call(name)
    if known is not None:
        return known.argument
    return 0 if is_atomic(name) else None


def hides_lock(name: str) -> bool:
    """Whether a function uses a lock that is not an argument."""
    return name in HIDDEN_LOCKS or name in STREAMS


def is_synchronisation(name: str) -> bool:
    """Whether a function only synchronizes threads: a lock call or a barrier."""
    return _lock_call(name) is not None or name in BARRIERS
