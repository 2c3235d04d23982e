"""Distributes independent work over forked processes. The calling process takes part.

A fork starts in milliseconds and shares everything that was imported and read before. Only results
are sent back, arrays without a copy of their pages. Every process takes the next item from a pipe,
so the caller lists the longest items first.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TypeVar

from regionpredict.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

_REGIONS_A_PROCESS = 8  # fewer are faster without another process
_TOKEN = 4  # bytes of one piece's number in the pipe
_SIZE = 8  # bytes of the size of a part of the results
_ALIGNMENT = 64  # of each part: arrays may begin at any cache line
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
    report_count: Callable[[int], None] = _no_progress,
) -> list[R]:  # fmt: skip
    """`[work(item) for item in items]`, in up to `processes` processes.

    On platforms without a safe fork, one process does all the work. Exceptions of `work` are raised
    here. Raises InputError if a process ended before its work was done. `report_count` receives the
    number of items that all processes have started.
    """
    count = min(processes, len(items))
    if count < 2 or sys.platform != "linux":
        return [_record_begin(work, item, at, report_count) for at, item in enumerate(items)]
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
                children.append(_start_child(work, items, step, queue))
        outcomes.update(_take_items(work, items, step, queue, report_count))
    finally:
        os.close(queue)
        answers = [_received_file(process, results) for process, results in children]
    for answer in answers:
        outcomes.update(_load_results(answer))
    return [outcomes[at] for at in range(len(items))]


def _record_begin(
    work: Callable[[T], R], item: T, at: int, report_count: Callable[[int], None]
) -> R:
    report_count(at)
    return work(item)


def _take_items(
    work: Callable[[T], R], items: Sequence[T], step: int, queue: int,
    report_count: Callable[[int], None] = _no_progress,
) -> Iterator[tuple[int, R]]:  # fmt: skip
    while token := os.read(queue, _TOKEN):
        begin = int.from_bytes(token, "little")
        report_count(begin)
        for at in range(begin, min(begin + step, len(items))):
            yield at, work(items[at])


def _start_child(
    work: Callable[[T], R], items: Sequence[T], step: int, queue: int
) -> tuple[int, BinaryIO]:
    """A child that works until no items are left, and the file in memory for its results."""
    results = _file_in_memory()
    try:
        process = os.fork()
    except OSError:
        results.close()
        raise
    if process:
        return process, results
    status = 1
    try:
        with results:
            _write_answer(results, _answer_items(work, items, step, queue))
        status = 0
    finally:
        os._exit(status)  # without flushing or cleaning up for the caller


def _file_in_memory() -> BinaryIO:
    """A file without a name. On other systems than Linux, it may be on disk."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("results"), "w+b")
    return TemporaryFile()


def _answer_items(
    work: Callable[[T], R], items: Sequence[T], step: int, queue: int
) -> list[tuple[int, R]] | Exception:
    try:
        return list(_take_items(work, items, step, queue))
    except Exception as error:
        return error


def _write_answer(results: BinaryIO, answer: object) -> None:
    """Writes the sizes of all parts, then the parts: the pickled answer, and its arrays. The caller
    uses their pages without a copy.
    """
    arrays: list[pickle.PickleBuffer] = []
    data = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    parts = [memoryview(data), *(array.raw() for array in arrays)]
    sizes = struct.pack(f"<{1 + len(parts)}q", len(parts), *(part.nbytes for part in parts))
    for part in (memoryview(sizes), *parts):
        results.write(part)
        results.write(bytes(-part.nbytes % _ALIGNMENT))


def _received_file(process: int, results: BinaryIO) -> memoryview:
    """The file of a child, after its end. Empty if the child failed."""
    _, status = os.waitpid(process, 0)
    with results:
        return memoryview(b"" if status else mmap.mmap(results.fileno(), 0))


def _load_results(written: memoryview) -> Any:
    if not written:
        raise InputError("a process that read a part of it ended early", remedy="try -j 1")
    (count,) = struct.unpack_from("<q", written)
    sizes = struct.unpack_from(f"<{count}q", written, _SIZE)
    parts, at = [], _SIZE * (1 + count)
    for size in sizes:
        at += -at % _ALIGNMENT
        parts.append(written[at : at + size])
        at += size
    answer = pickle.loads(parts[0], buffers=parts[1:])
    if isinstance(answer, Exception):
        raise answer
    return answer
