"""Converts locks of one-sided communication to messages from the location that releases a lock to
the one that waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.recorded_ranks import RECORD, Group, RankEvents

_SEND, _RECEIVE, _LOCK, _UNLOCK = 2, 3, 14, 15  # as mpi_recorder.c numbers them
_FIRST_TAG, _TAGS = 0x60000000, 1 << 24  # a unique tag per message, above the tags of programs
_ALL = -1


@dataclass(frozen=True, slots=True)
class _HeldLock:
    """A lock that a thread held. `granted` is the time at which the acquiring call returned. The
    releasing call began at `releasing` and ended at `released`. `rank` is the rank in the window.
    """

    rank: int
    process: int
    thread: int
    communicator: int
    exclusive: bool
    granted: int
    releasing: int
    released: int


def with_lock_order(ranks: Sequence[RankEvents]) -> list[RankEvents]:
    """Replaces the lock records of the ranks by messages without bytes.

    An exclusive lock follows the release of all locks of its target that were granted before it. A
    shared lock follows the release of the last exclusive lock. If the call that acquires a lock
    returned before this release, the wait is in the call that releases the lock.
    """
    added: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    tag = _FIRST_TAG
    for locks in _locks_by_target(ranks).values():
        for before, after in _pairs_in_order(sorted(locks, key=lambda lock: lock.granted)):
            if before.process == after.process:
                continue
            tag = _FIRST_TAG + (tag + 1) % _TAGS
            late = after.granted < before.releasing
            send = (before.releasing, 0, 0, _SEND, after.rank, before.communicator, tag)
            receive = (
                after.released if late else after.granted,
                0, 0, _RECEIVE, before.rank, after.communicator, tag,
            )  # fmt: skip
            added.setdefault((before.process, before.thread), []).append(send)
            added.setdefault((after.process, after.thread), []).append(receive)
    return [
        replace(
            rank,
            threads=tuple(
                replace(
                    thread,
                    records=_with_messages_for_locks(thread.records, added.get((process, at), ())),
                )
                for at, thread in enumerate(rank.threads)
            ),
        )
        for process, rank in enumerate(ranks)
    ]


def _with_messages_for_locks(
    records: NDArray[Any], added: Iterable[tuple[int, ...]]
) -> NDArray[Any]:
    kept = records[(records["what"] != _LOCK) & (records["what"] != _UNLOCK)]
    merged = np.concatenate([kept, np.array(list(added), dtype=RECORD)])
    # A receive precedes other events at the same time, the end of its call.
    return merged[np.argsort(merged["time"], kind="stable")]


def _locks_by_target(ranks: Sequence[RankEvents]) -> dict[tuple[Group, int, int], list[_HeldLock]]:
    """Returns the locks of each target. A key has the window's group, the window's number, and the
    target rank.
    """
    locks: dict[tuple[Group, int, int], list[_HeldLock]] = {}
    for process, rank in enumerate(ranks):
        for thread, events in enumerate(rank.threads):
            records = events.records
            chosen = records[(records["what"] == _LOCK) | (records["what"] == _UNLOCK)]
            held: dict[tuple[int, int, int], tuple[int, bool]] = {}
            for time, begin, exclusive, what, target, communicator, window in chosen.tolist():
                key = communicator, window, target
                if what == _LOCK:
                    held[key] = time, bool(exclusive)
                    continue
                granted = held.pop(key, None)
                if granted is None:
                    continue
                group = rank.groups[communicator]
                lock = _HeldLock(
                    group[0].index(process), process, thread, communicator, granted[1],
                    granted[0], begin, time,
                )  # fmt: skip
                for one in range(len(group[0])) if target == _ALL else (target,):
                    locks.setdefault((group, window, one), []).append(lock)
    return locks


def _pairs_in_order(locks: Sequence[_HeldLock]) -> Iterable[tuple[_HeldLock, _HeldLock]]:
    """Yields pairs of locks in order of time. The second lock of a pair has to wait for the release
    of the first.
    """
    exclusive: _HeldLock | None = None
    shared: list[_HeldLock] = []
    for lock in locks:
        if lock.exclusive and shared:
            yield from ((before, lock) for before in shared)
        elif exclusive is not None:
            yield exclusive, lock
        if lock.exclusive:
            exclusive, shared = lock, []
        else:
            shared.append(lock)
