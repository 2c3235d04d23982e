"""Distributes independent work over forked processes. The calling process takes part.

A fork starts in milliseconds and shares everything that was imported and read before. Only results
are sent back. Every process takes the next item from a pipe, so the caller lists the longest items
first.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar

from regionpredict.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

_REGIONS_A_PROCESS = 8  # fewer are faster without another process
_TOKEN = 4  # bytes of one piece's number in the pipe
_PIPE = 65536 // _TOKEN  # capacity of a pipe


def allowed_cores() -> int:
    """The number of cores that this process may use, or one if the platform does not report it."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def processes_for(regions: int, processes: int) -> int:
    """How many of `processes` are worth starting for this number of regions."""
    return min(processes, regions // _REGIONS_A_PROCESS)


def _no_progress(done: int) -> None:
    """Ignores progress."""


def spread(
    work: Callable[[T], R], items: Sequence[T], processes: int,
    tell: Callable[[int], None] = _no_progress,
) -> list[R]:  # fmt: skip
    """`[work(item) for item in items]`, in up to `processes` processes.

    On platforms without a safe fork, one process does all the work. Exceptions of `work` are raised
    here. Raises InputError if a process ended before its work was done. `tell` receives the number
    of items that all processes have started.
    """
    count = min(processes, len(items))
    if count < 2 or sys.platform != "linux":
        return [_begun(work, item, at, tell) for at, item in enumerate(items)]
    step = -(-len(items) // _PIPE)
    queue, feed = os.pipe()
    for begin in range(0, len(items), step):
        os.write(feed, begin.to_bytes(_TOKEN, "little"))
    os.close(feed)
    children: list[tuple[int, BinaryIO]] = []
    outcomes: dict[int, R] = {}
    try:
        with suppress(OSError):  # as many as the system allows
            while len(children) < count - 1:
                children.append(_start(work, items, step, queue))
        outcomes.update(_take(work, items, step, queue, tell))
        for _, results in children:
            outcomes.update(_received(results))
    finally:
        os.close(queue)
        for process, results in children:
            results.close()
            os.waitpid(process, 0)
    return [outcomes[at] for at in range(len(items))]


def _begun(work: Callable[[T], R], item: T, at: int, tell: Callable[[int], None]) -> R:
    tell(at)
    return work(item)


def _take(
    work: Callable[[T], R], items: Sequence[T], step: int, queue: int,
    tell: Callable[[int], None] = _no_progress,
) -> Iterator[tuple[int, R]]:  # fmt: skip
    while token := os.read(queue, _TOKEN):
        begin = int.from_bytes(token, "little")
        tell(begin)
        for at in range(begin, min(begin + step, len(items))):
            yield at, work(items[at])


def _start(
    work: Callable[[T], R], items: Sequence[T], step: int, queue: int
) -> tuple[int, BinaryIO]:
    """A child that works until no items are left, and the read end of its result pipe."""
    out, into = os.pipe()
    process = os.fork()
    if process:
        os.close(into)
        return process, os.fdopen(out, "rb")
    status = 1
    try:
        os.close(out)
        with os.fdopen(into, "wb") as results:
            results.write(_answer(work, items, step, queue))
        status = 0
    finally:
        os._exit(status)  # without flushing or cleaning up for the caller


def _answer(work: Callable[[T], R], items: Sequence[T], step: int, queue: int) -> bytes:
    try:
        return pickle.dumps(list(_take(work, items, step, queue)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps(error, pickle.HIGHEST_PROTOCOL)


def _received(results: BinaryIO) -> Any:
    data = results.read()
    if not data:
        raise InputError("a process that read a part of it ended early", remedy="try -j 1")
    answer = pickle.loads(data)
    if isinstance(answer, Exception):
        raise answer
    return answer
